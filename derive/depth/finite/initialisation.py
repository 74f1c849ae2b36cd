"""Weights for a given width: gains, layer by layer, that keep the mean or the typical kernel where width moves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from derive.depth.finite.recursion import Coefficients, Gradient, Kernel, gradient_step, step
from derive.program.init_source import fixed_init_code

At = Callable[[float], Coefficients]


@dataclass(frozen=True, eq=False)
class WidthAware:
    """sigma_w of each layer of a network of L layers with its widths.

    sigma_w    entry l - 1 for the weights that make layer l; entry 0 is left as given
    sigma_b    of every layer
    widths     of layers 1 to L - 1
    power      what is kept: (E G^p)^(1/p) = K; p = 1 the mean, p = 0 the typical kernel exp(E log G)
    exact      whether it holds at every width; otherwise up to 1/n^2 in each layer
    kernel     K, the infinite network's kernel of each layer
    spread     Var log G of each layer, to leading order: no choice of sigma_w removes it
    gradient   relative shift of the mean squared gradient along depth, to order 1/n; None where phi jumps
    """

    sigma_w: np.ndarray
    sigma_b: float
    widths: tuple[int, ...]
    power: float
    exact: bool
    kernel: np.ndarray
    spread: np.ndarray
    gradient: np.ndarray | None

    def code(self) -> str:
        """Source text of `init_(model)` for torch: fills the weights of a stack of nn.Linear of these widths."""
        return fixed_init_code([float(gain) for gain in self.sigma_w], self.sigma_b, self.widths)


def width_aware(
    at: At, q0: float, widths: Sequence[int], weight: float, bias: float, power: float, jumps: bool,
    factor: Callable[[int], float] | None = None,
) -> WidthAware:  # fmt: skip
    """sigma_w^2 (1 + delta_l) such that (E G^p)^(1/p) = K in every layer, to order 1/width.

    (E G^p)^(1/p) = K + (K1 - (1 - p) V/(2 K))/n: the target is K1 = (1 - p) V/(2 K), and one layer with its gain
    changed by delta has K1'/n' = (chi K1 + chi' V/2)/n + delta sigma_w^2 E phi^2.

    factor   width -> (1 + delta) where that is known exactly (scale-invariant functions)
    """
    kernel, tangent, shift = Kernel(q0), Gradient(), 0.0
    sigma2, rows, spreads, shifts = [weight], [q0], [0.0], [0.0]
    for i, n in enumerate(widths):
        here, below = at(kernel.kernel), widths[i - 1] if i else 1.0
        ratio = n / below if i else 1.0
        moved = step(kernel, here, ratio)
        target = (1 - power) * moved.vertex / (2 * moved.kernel)
        delta = (target - moved.correction) / n / (here.kernel - bias)
        if not jumps:
            tangent = gradient_step(kernel, tangent, here, ratio)
            tangent = Gradient(
                tangent.norm, tangent.overlap, tangent.mixed, tangent.spread,
                tangent.correction + n * delta * tangent.norm,
            )  # fmt: skip
            shift = tangent.correction / n / tangent.norm
        sigma2.append(weight * (1 + delta if factor is None else factor(n)))
        kernel = Kernel(moved.kernel, moved.vertex, target)
        rows.append(kernel.kernel)
        spreads.append(kernel.vertex / n / kernel.kernel**2)
        shifts.append(shift)
    return WidthAware(
        np.sqrt(sigma2), bias**0.5, tuple(widths), power, factor is not None, np.array(rows), np.array(spreads),
        None if jumps else np.array(shifts),
    )  # fmt: skip


__all__ = ["WidthAware", "width_aware"]
