"""Coefficients of the recursions at order 1/width, as expressions in Gaussian expectations."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr

from derive.gaussian.node import single
from derive.gaussian.numbers import differentiate
from derive.program.symbols import Q


@dataclass(frozen=True)
class Forward:
    """What carries the kernel's law from one layer to the next, given the variance q of the layer.

    kernel        sigma_w^2 E phi^2 + sigma_b^2
    transport     d kernel/dq = chi_parallel: sigma_w^2 E phi^2 (z^2 - q)/(2 q^2), no derivative of phi
    curvature     d^2 kernel/dq^2 = sigma_w^2 E phi^2 (z^4 - 6 q z^2 + 3 q^2)/(4 q^4)
    source        sigma_w^4 (E phi^4 - (E phi^2)^2): the width times the variance that one layer adds
    source_slope  d source/dq
    third_source  sigma_w^6 times the third cumulant of phi^2
    """

    kernel: Expr
    transport: Expr
    curvature: Expr
    source: Expr
    source_slope: Expr
    third_source: Expr


@dataclass(frozen=True)
class Tangent:
    """The same for a tangent v of the input: (z_i, v_i) are i.i.d. over neurons, centred, Cov = [[G, M], [M, H]].

    gain, gain_slope, gain_curvature   chi = sigma_w^2 E phi'^2 and its derivatives in q
    cross_source   sigma_w^4 E phi^2 phi'^2: what n E M^2 gains, by H
    mixed_source   sigma_w^4 (E phi^2 phi'^2 - E phi^2 E phi'^2): what n Cov(G, H) gains, by H
    norm_source    sigma_w^4 (3 E phi'^4 - (E phi'^2)^2): what n Var H gains, by H^2
    gain_source    sigma_w^4 (E phi'^4 - (E phi'^2)^2): width times the variance of the empirical gain
    """

    gain: Expr
    gain_slope: Expr
    gain_curvature: Expr
    cross_source: Expr
    mixed_source: Expr
    norm_source: Expr
    gain_source: Expr


def forward(phi: Expr, weight: Expr, bias: Expr) -> Forward:
    """The coefficients for a function of x, sigma_w^2 and sigma_b^2.

    Given a layer's kernel G the next one is G' = sigma_b^2 + (sigma_w^2/n) sum_j phi(z_j)^2 with z_j i.i.d. N(0, G).
    Source of the statement: Hanin 2022 (arXiv 2204.01058), section 2; the coefficients are its moments expanded in
    the fluctuation of G. They hold for every phi with finite E phi^4, kinks and jumps included.
    """
    second, fourth, sixth = (single(phi**k) for k in (2, 4, 6))
    kernel = weight * second + bias
    source = weight**2 * (fourth - second**2)
    transport = differentiate(kernel, Q)
    return Forward(
        kernel,
        transport,
        differentiate(transport, Q),
        source,
        differentiate(source, Q),
        weight**3 * (sixth - 3 * fourth * second + 2 * second**3),
    )


def tangent(phi: Expr, dphi: Expr, weight: Expr) -> Tangent:
    """The coefficients for a continuous function and its derivative away from kinks."""
    second, slope = single(phi**2), single(dphi**2)
    both, fourth = single(phi**2 * dphi**2), single(dphi**4)
    gain = weight * slope
    rising = differentiate(gain, Q)
    return Tangent(
        gain,
        rising,
        differentiate(rising, Q),
        weight**2 * both,
        weight**2 * (both - second * slope),
        weight**2 * (3 * fourth - slope**2),
        weight**2 * (fourth - slope**2),
    )


__all__ = ["Forward", "Tangent", "forward", "tangent"]
