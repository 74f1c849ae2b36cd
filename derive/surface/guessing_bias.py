"""Initial guessing bias of a block: what its random networks prefer before training, through `Theory.guessing_bias`."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Expr

from derive.depth.approach import critical_correlation, scale_invariant_correlation
from derive.depth.bias.depth import CertifiedLayer, Drift, certified, drift
from derive.depth.bias.dictionary import Guessing, first_layer
from derive.depth.bias.floats import LayerMaps, ScaleFree, layer_maps
from derive.depth.bias.gradients import ClassGradients
from derive.depth.bias.guess import Classes, TwoClasses
from derive.depth.bias.level import LevelPoint, level_line, level_points
from derive.depth.bias.phases import BiasGrid, BiasPoint, bias_grid, notes_at
from derive.layers.nested import every_stage
from derive.program.symbols import Q1, Q2, C, K, Q
from derive.records import EocError
from derive.surface.exact import deviation, exact
from derive.surface.results import Result


@dataclass(frozen=True)
class GuessingBias:
    """The drift ratio gamma = sigma_mu^2/sigma_y^2 of a block, its laws, phases and recursions.

    gamma compares how far the centre of a unit's values over the data lies from 0 with how far the values spread; it
    is c/(1 - c) of the mean correlation. Sources: Francazi, Lucchi & Baity-Jesi 2024 (arXiv 2306.00809); Bassi et al.
    2026 (arXiv 2505.12096).
    """

    theory: Any
    kept: dict = field(default_factory=dict, compare=False, repr=False)

    @property
    def ratio_map(self) -> Result:
        """gamma of the next pre-activation, (sigma_w^2 C + sigma_b^2)/(sigma_w^2 (V - C)), given q and c."""
        second, cross = self._moments(C)
        return self._result(cross / (second - cross), ("q", "c"), "drift ratio of the next layer", r"\gamma'")

    @property
    def complement_map(self) -> Result:
        """e' = 1 - c' = (V - C)/(V + sigma_b^2/sigma_w^2) of the next pre-activation: what is iterated over depth."""
        second, cross = self._moments(C)
        return self._result((second - cross) / second, ("q", "c"), "complement of the correlation", r"\varepsilon'")

    @property
    def amplification(self) -> Result:
        """gamma that one layer without biases makes from centred data: m^2/(E phi^2 - m^2), m = E phi, given q."""
        output = self.theory.maps.output
        mean, second = output.mean1.xreplace({Q1: Q}), output.second1.xreplace({Q1: Q})
        return self._result(mean**2 / (second - mean**2), ("q",), "drift ratio made by one layer", r"\gamma")

    def generates(self, q: Any = 1, **parameters: Any) -> bool | None:
        """Whether one layer makes a bias from centred data at variance q: it does iff E phi is not 0.

        None where an enclosure of E phi contains 0 without being it.
        """
        mean = self.theory.mean
        if mean.closed == 0 or mean.template == 0:
            return False
        found = mean.number({"q": q, **parameters})
        if 0 in found:
            return False if found.rad == 0 else None
        return True

    def _moments(self, c: Expr) -> tuple[Expr, Expr]:
        cycle = self.theory.maps.cycle
        equal = {Q1: Q, Q2: Q}
        return cycle.second1.xreplace(equal), cycle.cross.xreplace(equal).xreplace({K: c * Q})

    def _result(self, template: Expr, law: tuple[str, ...], title: str, symbol: str) -> Result:
        return self.theory._result(template, law, title, symbol, sigmas=True)

    def _maps(self, parameters: dict[str, Any]) -> LayerMaps:
        values = self.theory._values(parameters)
        key = tuple(sorted(values.items()))
        if key not in self.kept:
            self.kept[key] = layer_maps(self.theory, values)
        return self.kept[key]

    def depth(
        self,
        layers: int,
        sigma_w: Any,
        sigma_b: Any = 0,
        *,
        start: Guessing | None = None,
        mean: Any = 0.0,
        covariance: Any = 1.0,
        **parameters: Any,
    ) -> Drift:
        """q, 1 - c, gamma, chi and dV/dq at pre-activation layers 1 to `layers`, for numbers or arrays of sigma.

        start              the state of layer 1; without it that of data with this mean and covariance
        mean, covariance   of the data (see `derive.depth.bias.dictionary.first_layer`)

        Batch normalisation acts on the whole data set: each unit's centre is removed. Raises Unsupported for dropout,
        whose masks part two copies of one input.
        """
        maps = self._maps(parameters)
        w, b = np.asarray(sigma_w, float), np.asarray(sigma_b, float)
        if not (np.isfinite(w) & (w > 0)).all() or not (np.isfinite(b) & (b >= 0)).all():
            raise EocError("sigma_w and sigma_b are standard deviations", instead="sigma_w > 0, sigma_b >= 0")
        if start is None:
            unit = first_layer(1, 0, mean=mean, covariance=covariance)
            centre, spread = w**2 * unit.sigma_mu2 + b**2, w**2 * unit.sigma_y2
        else:
            centre, spread = np.asarray(start.sigma_mu2, float), np.asarray(start.sigma_y2, float)
        return drift(maps, layers, centre + spread, spread / (centre + spread), w, b)

    def certified_depth(
        self, layers: int, sigma_w: Any, sigma_b: Any = 0, *, q: Any, c: Any = 0, digits: int = 20, **parameters: Any
    ) -> tuple[CertifiedLayer, ...]:
        """The same recursion in certified enclosures, from variance q and correlation c at layer 1.

        Kind: ENCLOSURE. Radii grow with depth; a layer costs what two expectations cost.
        """
        values: dict[str, Any] = {**self.theory._values(parameters)}
        values |= {"sigma_w": deviation(sigma_w, "sigma_w"), "sigma_b": deviation(sigma_b, "sigma_b")}
        cycle = self.theory.maps.cycle
        return certified(cycle.second1, cycle.cross, values, layers, exact(q, "q"), 1 - exact(c, "c"), digits)

    def at(self, sigma_w: Any, sigma_b: Any = 0, q0: Any = 1, **parameters: Any) -> BiasPoint:
        """The phase, both critical conditions, how gamma grows, and notes on what the label does not say."""
        maps = self._maps(parameters)
        w, b = deviation(sigma_w, "sigma_w"), deviation(sigma_b, "sigma_b")
        grid = bias_grid(maps, np.array([float(w)]), np.array([float(b)]), float(q0))
        mean_free = self.theory.mean.closed == 0
        pooled = any("pool" in type(stage).__name__.lower() for stage in every_stage(self.theory.block.stages))
        notes = notes_at(maps, grid, mean_free, pooled)
        chi, slope, c, q, approach = (float(a[0, 0]) for a in (grid.chi, grid.slope, grid.c, grid.q, grid.approach))
        name = str(grid.names[0, 0])
        law, exponent, factor = "converges", None, None
        if c == 1:
            law = "exponential" if approach < 1 - 1e-10 else "power"
        if any(note.code == "no-bias" for note in notes):
            name, c, law = "none", 0.0, "converges"
        elif law == "power":
            exponent, factor = self._power(w, q, slope, float(b) > 0, parameters)
        gamma = float("inf") if c == 1 else c / (1 - c)
        shown = approach if law == "exponential" else None
        return BiasPoint(name, q, chi, slope, c, gamma, law, shown, exponent, factor, notes)

    def _power(self, w: Fraction, q: float, slope: float, biased: bool, parameters: dict) -> tuple:
        """(exponent, factor) of gamma ~ factor l^exponent; (None, None) for blocks of several layers."""
        phi = self.theory._only_phi()
        if phi is None:
            return None, None
        values = self.theory._values(parameters)
        if isinstance(self._maps(parameters), ScaleFree):
            rate = scale_invariant_correlation(phi, biased and abs(slope - 1) < 1e-10)
            by_name = {s: float(values[s.name]) for s in rate.prefactor.free_symbols}
            return int(rate.exponent), 1 / float(rate.prefactor.subs(by_name))
        rate = critical_correlation(phi, {**values, "q": exact(q, "q"), "sigma_w": w})
        if rate.exponent is None:
            return None, None
        return int(rate.exponent), 1 / float(rate.prefactor)

    def phase(
        self,
        sigma_w: Any = (0.5, 3),
        sigma_b: Any = (0, 1),
        n: int = 100,
        q0: float = 1,
        layers: int | None = None,
        **given: Any,
    ) -> Any:
        """Phases over a rectangle: a BiasDiagram of arrays with `.plot(path)`.

        layers  draw the contours of gamma at this depth, from centred data, instead of those of the limit: where every
                node's limit is infinite (ReLU), depth still tells them apart
        """
        from derive.show.bias import BiasDiagram
        from derive.show.phase import axis

        w, b = axis(sigma_w, n, "sigma_w", positive=True), axis(sigma_b, n, "sigma_b")
        grid: BiasGrid = bias_grid(self._maps(given), w, b, float(q0))
        if layers is None:
            return BiasDiagram(grid, repr(self.theory.block))
        columns, rows = np.meshgrid(w, b)
        found = self.depth(layers, columns, rows, **given)
        return BiasDiagram(grid, repr(self.theory.block), layers, found.c[-1])

    def line(self, gamma: Any = 1) -> tuple[Result, Result]:
        """(sigma_w^2, sigma_b^2) as functions of q on the line where a deep stack settles at this gamma.

        gamma = 1 is the neutrality line of two classes. Valid where sigma_b^2 >= 0.
        """
        value = exact(gamma, "gamma")
        output = self.theory.maps.output
        weight, bias = level_line(output.second1, output.cross, value / (1 + value))
        title = f"on the line gamma = {gamma}"
        return (
            self._result(weight, ("q",), f"sigma_w^2 {title}", r"\sigma_w^2"),
            self._result(bias, ("q",), f"sigma_b^2 {title}", r"\sigma_b^2"),
        )

    def neutrality(self, sigma_b: Any, gamma: Any = 1, **parameters: Any) -> tuple[LevelPoint, ...]:
        """Certified points of that line with this sigma_b > 0."""
        weight, bias = self.line(gamma)
        values, level = self.theory._values(parameters), exact(gamma, "gamma")
        line, maps = (weight.template, bias.template), self._maps(parameters)
        return level_points(line, values, deviation(sigma_b, "sigma_b"), level / (1 + level), maps)

    @staticmethod
    def classes(gamma: Any, k: int = 2) -> TwoClasses | Classes:
        """The law of the class fractions at the drift ratio of the output layer."""
        return TwoClasses(float(gamma)) if k == 2 else Classes(float(gamma), k)

    @staticmethod
    def gradients(q: float, c: float = 1.0) -> ClassGradients:
        """The law of the ratio of the two classes' gradients at variance q and correlation c of the outputs."""
        return ClassGradients(q, c)

    def __repr__(self) -> str:
        return f"<GuessingBias of {self.theory.block}: one layer makes {self.amplification.closed}>"


__all__ = ["GuessingBias"]
