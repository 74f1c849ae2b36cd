"""One layer's step of the statistics at order 1/width, for floats, balls or expressions alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Coefficients:
    """The coefficients of `templates` at one variance, as numbers; those of tangents are None without one."""

    kernel: Any
    transport: Any
    curvature: Any
    source: Any
    source_slope: Any
    third_source: Any
    gain: Any = None
    gain_slope: Any = None
    gain_curvature: Any = None
    cross_source: Any = None
    mixed_source: Any = None
    norm_source: Any = None
    gain_source: Any = None


@dataclass(frozen=True)
class Kernel:
    """A layer's random kernel G, fed by a layer of width n: the law of G up to order 1/n.

    kernel      its limit q for n -> infinity
    vertex      n Var G
    correction  n (E G - q)
    third       n^2 times the third cumulant of G
    """

    kernel: Any
    vertex: Any = 0
    correction: Any = 0
    third: Any = 0


@dataclass(frozen=True)
class Gradient:
    """A tangent's squared norm H (a coordinate of z differentiated along a direction), with M its overlap with z.

    norm        its limit for n -> infinity, the product of the gains
    overlap     n E M^2
    mixed       n Cov(G, H)
    spread      n Var H
    correction  n (E H - norm)
    """

    norm: Any = 1
    overlap: Any = 0
    mixed: Any = 0
    spread: Any = 0
    correction: Any = 0


def step(state: Kernel, at: Coefficients, ratio: Any = 1) -> Kernel:
    """The kernel of the next layer.

    ratio   n_l/n_(l-1), the width of this layer over that of the layer that feeds it

    With m(G) = E[G'|G] and s(G)/n = Var[G'|G], both exact, expand in G - q:
    Var G' = s/n + m'^2 Var G, E G' - m(q) = m' (E G - q) + m'' Var G/2,
    kappa_3 G' = E kappa_3[G'|G] + 3 Cov(m, s)/n + kappa_3 m (law of total cumulance; Brillinger 1969).
    """
    moved = at.transport * state.vertex
    third = 3 * moved * (at.source_slope + ratio * at.transport * at.curvature * state.vertex)
    return Kernel(
        at.kernel,
        at.source + ratio * at.transport * moved,
        ratio * (at.transport * state.correction + at.curvature * state.vertex / 2),
        at.third_source + ratio * (third + ratio * at.transport**3 * state.third),
    )


def on_the_sphere(state: Kernel, bias: Any = 0) -> Kernel:
    """The kernel's law as `step` wants it where the weights are orthogonal, not Gaussian.

    The Gram matrix of W x is then fixed, so that its rows are what is left of Gaussian ones once the fluctuation of
    their own Gram matrix is taken away: 2 A^2/n in variance and 8 A^3/n^2 in third cumulant, A = q - sigma_b^2.
    """
    part = state.kernel - bias
    vertex = state.vertex - 2 * part**2
    return Kernel(state.kernel, vertex, state.correction, state.third - 12 * part * vertex - 8 * part**3)


def tangent_on_the_sphere(state: Kernel, tangent: Gradient, bias: Any = 0) -> Gradient:
    """The same for a tangent: the Gram matrix of (W x, W v) is fixed."""
    h = tangent.norm
    overlap, spread = tangent.overlap - (state.kernel - bias) * h, tangent.spread - 2 * h**2
    return Gradient(h, overlap, tangent.mixed, spread, tangent.correction)


def gradient_step(state: Kernel, tangent: Gradient, at: Coefficients, ratio: Any = 1) -> Gradient:
    """The tangent of the next layer, with E phi'^2 v^2 = H e(G) + 2 M^2 e'(G) for Cov(z, v) = [[G, M], [M, H]]."""
    h, rise = tangent.norm, at.gain_slope
    passed = at.gain * tangent.mixed + rise * h * state.vertex
    spread = at.gain**2 * tangent.spread + 2 * at.gain * rise * h * tangent.mixed + (rise * h) ** 2 * state.vertex
    correction = (
        at.gain * tangent.correction
        + rise * (tangent.mixed + h * state.correction + 2 * tangent.overlap)
        + at.gain_curvature * h * state.vertex / 2
    )
    return Gradient(
        at.gain * h,
        at.cross_source * h + ratio * at.transport**2 * tangent.overlap,
        at.mixed_source * h + ratio * at.transport * passed,
        at.norm_source * h**2 + ratio * spread,
        ratio * correction,
    )


def gain_statistics(state: Kernel, at: Coefficients, ratio: Any = 1) -> tuple[Any, Any]:
    """(n (E - chi), n Var) of the empirical gain (sigma_w^2/n) sum_j phi'(z_j)^2 of a layer of width n."""
    mean = ratio * (at.gain_slope * state.correction + at.gain_curvature * state.vertex / 2)
    return mean, at.gain_source + ratio * at.gain_slope**2 * state.vertex


__all__ = [
    "Coefficients",
    "Gradient",
    "Kernel",
    "gain_statistics",
    "gradient_step",
    "on_the_sphere",
    "step",
    "tangent_on_the_sphere",
]
