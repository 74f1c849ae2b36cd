"""The statistics at order 1/width through a deep stack, in floats or in balls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sympy import Expr

from derive.depth.finite.moments import Moments
from derive.depth.finite.recursion import (
    Coefficients,
    Gradient,
    Kernel,
    gain_statistics,
    gradient_step,
    on_the_sphere,
    step,
    tangent_on_the_sphere,
)
from derive.depth.finite.templates import Forward, Tangent
from derive.gaussian.numbers import ball, evaluate, to_enclosure
from derive.records import EocError

At = Callable[[Any], Coefficients]
"""The coefficients at a variance."""


@dataclass(frozen=True, eq=False)
class FiniteDepth:
    """What width does to layers 1 to L, entry l - 1 for layer l; floats, or Enclosures where they were asked for.

    widths      width of the layer that feeds layer l; entry 0 is nan: layer 1 is fed by the input, and exactly Gaussian
    kernel      K: the kernel of the infinite network
    vertex      V: width times the variance of the kernel
    correction  K1: width times (mean kernel - K)
    third       width^2 times the third cumulant of the kernel
    gradient_*  the same for the squared norm of a tangent orthogonal to the input, 1 at layer 1 (None where phi jumps)
    gain_*      width of layer l times the mean correction and the variance of its empirical gain; for the last layer
                the width that feeds it
    kind        "float" or "ENCLOSURE"
    """

    widths: np.ndarray
    kernel: np.ndarray
    vertex: np.ndarray
    correction: np.ndarray
    third: np.ndarray
    gradient_norm: np.ndarray | None
    gradient_overlap: np.ndarray | None
    gradient_mixed: np.ndarray | None
    gradient_spread: np.ndarray | None
    gradient_correction: np.ndarray | None
    gain_correction: np.ndarray | None
    gain_spread: np.ndarray | None
    kind: str

    def _per_width(self, values: np.ndarray) -> np.ndarray:
        out = _floats(values) / self.widths
        out[0] = 0.0
        return out

    @property
    def mean(self) -> np.ndarray:
        """E G = K + K1/n, float."""
        return _floats(self.kernel) + self._per_width(self.correction)

    @property
    def variance(self) -> np.ndarray:
        """Var G = V/n, float."""
        return self._per_width(self.vertex)

    @property
    def log_mean(self) -> np.ndarray:
        """E log G = log K + (K1/K - V/(2 K^2))/n, float."""
        k = _floats(self.kernel)
        return np.log(k) + self._per_width(_floats(self.correction) / k - _floats(self.vertex) / (2 * k**2))

    @property
    def log_variance(self) -> np.ndarray:
        """Var log G = V/(n K^2), float."""
        return self._per_width(_floats(self.vertex) / _floats(self.kernel) ** 2)

    @property
    def excess_kurtosis(self) -> np.ndarray:
        """That of one pre-activation: 3 V/(n K^2), float."""
        return 3 * self.log_variance

    @property
    def gradient_mean(self) -> np.ndarray:
        """E H, float."""
        return _floats(self._tangent("gradient_norm")) + self._per_width(self._tangent("gradient_correction"))

    @property
    def gradient_log_variance(self) -> np.ndarray:
        """Var log H = n Var H/(n H^2), float."""
        norm = _floats(self._tangent("gradient_norm"))
        return self._per_width(_floats(self._tangent("gradient_spread")) / norm**2)

    def _tangent(self, name: str) -> np.ndarray:
        found = getattr(self, name)
        if found is None:
            raise EocError("the activation jumps", why="its gradient gain is infinite, so that tangents have no law")
        return found


def _floats(values: np.ndarray) -> np.ndarray:
    return np.array([float(v) for v in values])


def widths_of(widths: Any, layers: int) -> tuple[int, ...]:
    """Widths of layers 1 to layers - 1, from one number or one number a layer. Raises EocError for what are none."""
    if not isinstance(layers, int) or layers < 1:
        raise EocError(f"layers = {layers!r}", why="layers are counted from 1", instead="layers=20")
    given: Sequence[Any] = [widths] * (layers - 1) if np.ndim(widths) == 0 else list(widths)
    if len(given) not in (layers - 1, layers) or any(int(n) != n or n < 1 for n in given):
        raise EocError(
            f"widths = {widths!r}",
            why=f"{layers} layers have {layers - 1} layers below the last, each of a width of at least 1",
            instead=f"widths=256, or a list of {layers - 1}",
        )
    return tuple(int(n) for n in given[: layers - 1])


def floats(phi: Expr, dphi: Expr, weight: float, bias: float, values: Mapping[str, Any]) -> At:
    """The coefficients in floats."""
    return from_moments(Moments(phi, dphi, values), weight, bias)


def from_moments(moments: Moments, weight: float, bias: float) -> At:
    """The coefficients in floats from the moments of an activation."""

    def at(q: float) -> Coefficients:
        m, w, w2 = moments(q), weight, weight**2
        return Coefficients(
            w * m.g + bias, w * m.g_slope, w * m.g_curvature, w2 * (m.fourth - m.g**2),
            w2 * (m.fourth_slope - 2 * m.g * m.g_slope),
            w**3 * (m.sixth - 3 * m.fourth * m.g + 2 * m.g**3),
            w * m.e, w * m.e_slope, w * m.e_curvature, w2 * m.both, w2 * (m.both - m.g * m.e),
            w2 * (3 * m.slope_fourth - m.e**2), w2 * (m.slope_fourth - m.e**2),
        )  # fmt: skip

    return at


def balls(forward: Forward, tangent: Tangent | None, values: Mapping[str, Any], digits: int) -> At:
    """The coefficients in balls, at the precision that is set."""
    templates = [getattr(part, f.name) for part in (forward, tangent) if part is not None for f in fields(part)]

    def at(q: Any) -> Coefficients:
        return Coefficients(*(evaluate(t, {**values, "q": q}, digits)[0] for t in templates))

    return at


def through(
    at: At, start: Any, layers: int, widths: tuple[int, ...], jumps: bool, exact: bool = False, fixed: Any = None
) -> FiniteDepth:
    """The statistics of layers 1 to `layers` from the variance of layer 1; `widths` of layers 1 to layers - 1.

    fixed   sigma_b^2 where the weights are orthogonal, None where they are Gaussian
    """
    number = ball if exact else float
    kernel, tangent = Kernel(start), Gradient()
    rows, slopes, gains = [kernel], [tangent], []
    for layer in range(layers):
        # the vertex and every other fluctuation vanish in layer 1, so that the ratio to the input's width is void
        inside = 1 <= layer < layers - 1
        ratio = number(widths[layer]) / number(widths[layer - 1]) if inside else 1
        if layer == layers - 1 and jumps:
            break
        here = at(kernel.kernel)
        given, along = kernel, tangent
        if fixed is not None:
            given, along = on_the_sphere(kernel, fixed), tangent_on_the_sphere(kernel, tangent, fixed)
        if not jumps:
            gains.append(gain_statistics(given, here, ratio))
        if layer == layers - 1:
            break
        if not jumps:
            tangent = gradient_step(given, along, here, ratio)
            slopes.append(tangent)
        kernel = step(given, here, ratio)
        rows.append(kernel)
    pack = _enclosures if exact else np.array
    columns: dict[str, Any] = {f.name: pack([getattr(row, f.name) for row in rows]) for f in fields(Kernel)}
    for f in fields(Gradient):
        columns[f"gradient_{f.name}"] = None if jumps else pack([getattr(row, f.name) for row in slopes])
    for i, name in enumerate(("gain_correction", "gain_spread")):
        columns[name] = None if jumps else pack([pair[i] for pair in gains])
    kind = "ENCLOSURE" if exact else "float"
    return FiniteDepth(widths=np.array([np.nan, *widths], float), kind=kind, **columns)


def _enclosures(column: Sequence[Any]) -> np.ndarray:
    made = np.empty(len(column), object)
    made[:] = [to_enclosure(ball(value)) for value in column]
    return made


__all__ = ["FiniteDepth", "balls", "floats", "from_moments", "through", "widths_of"]
