"""Where to put a deep network of one activation: a stable point where gradients keep their size."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from derive.records import EocError
from verify.models.moments import Moments

QS = 2.0 ** np.arange(-26, 9, 0.25)
"""Variances that are tried; the choice is then certified."""
BIAS_SHARE = 0.1
"""The largest share of the variance that may come from biases, which all inputs have in common."""
ROUNDING = 1e-7


@dataclass(frozen=True)
class OperatingPoint:
    """sigma_w, sigma_b and the variance q they keep: V(q) = q.

    chi           factor of squared gradients a layer
    chi_parallel  factor of a small change of q a layer; at most 1
    reason        why this point
    """

    formula: str
    q: float
    sigma_w: float
    sigma_b: float
    chi: float
    chi_parallel: float
    reason: str


def operating_point(moments: Moments, depth: int) -> OperatingPoint:
    """The point of an activation for a network of `depth` layers.

    On the edge of chaos (chi = 1, V(q) = q) one variance q can be chosen; sigma_w^2 = 1/E phi'^2 and
    sigma_b^2 = q - sigma_w^2 E phi^2 follow. Taken are variances with sigma_b^2 >= 0, chi_parallel <= 1 and at most a
    tenth of q from biases; of these the one whose variance fluctuates least in a finite network,
    sigma_w^4 (E phi^4 - (E phi^2)^2)/q^2 sum_l chi_parallel^2l. Where there is none, the weights keep the variance
    without a bias at the stable q whose chi is closest to 1. Raises EocError where there is none either.
    """
    table = _Table.of(moments)
    with np.errstate(all="ignore"):
        sw2 = 1 / table.slope
        sb2 = QS - sw2 * table.second
    parallel = sw2 * table.parallel
    invariant = np.abs(sb2) < ROUNDING * QS
    usable = np.isfinite(sw2) & (sb2 >= 0) & (parallel <= 1) & (sb2 <= BIAS_SHARE * QS)
    if invariant.all():
        return _scale_invariant(moments)
    if not usable.any():
        return _variance_preserving(moments, table, depth)
    fluctuation = sw2**2 * (table.fourth - table.second**2) / QS**2 * _sum(parallel, depth)
    q = Fraction(f"{QS[np.where(usable, fluctuation, np.inf).argmin()]:.3g}")
    return _certified(moments, q, _why(usable, sb2, parallel))


def _why(usable: Any, sb2: Any, parallel: Any) -> str:
    one = int(np.abs(np.log(QS)).argmin())
    text = "on the edge of chaos (chi = 1)"
    if usable[one]:
        return f"{text}; of the stable variances the one that fluctuates least"
    if parallel[one] > 1:
        return f"{text}; q = 1 is unstable there (chi_parallel = {parallel[one]:.3f}), this q is stable"
    if sb2[one] < 0:
        return f"{text}; at q = 1 it would need sigma_b^2 = {sb2[one]:.3g}"
    return f"{text}; at q = 1 biases would be {sb2[one]:.0%} of the variance"


def _sum(parallel: Any, depth: int) -> Any:
    with np.errstate(all="ignore"):
        ratio = np.minimum(parallel, 1 - 1e-9) ** 2
        return (1 - ratio**depth) / (1 - ratio)


@dataclass(frozen=True)
class _Table:
    second: Any
    fourth: Any
    slope: Any
    parallel: Any

    @classmethod
    def of(cls, moments: Moments) -> _Table:
        step = 1e-4
        with np.errstate(all="ignore"):
            high, low = moments.second(QS * (1 + step)), moments.second(QS * (1 - step))
            parallel = (high - low) / (2 * step * QS)
            columns = (moments.second(QS), moments.fourth(QS), moments.slope(QS))
        second, fourth, slope = (np.broadcast_to(column, QS.shape) for column in columns)
        return cls(second, fourth, slope, parallel)


def _scale_invariant(moments: Moments) -> OperatingPoint:
    one = np.array([1.0])
    sigma_w = float(moments.slope(one)[0] if np.ndim(moments.slope(one)) else moments.slope(one)) ** -0.5
    reason = "scale-invariant: chi = chi_parallel = 1 at every q, without bias"
    return OperatingPoint(moments.name, 1.0, sigma_w, 0.0, 1.0, 1.0, reason)


def _certified(moments: Moments, q: Fraction, reason: str) -> OperatingPoint:
    from derive import theory

    point = next(p for p in theory(moments.activation).edge_of_chaos(q=q).points if p.valid)
    return OperatingPoint(
        moments.name, float(q), float(point.sigma_w), float(point.sigma_b), float(point.chi),
        float(point.chi_parallel), reason,
    )  # fmt: skip


def _variance_preserving(moments: Moments, table: _Table, depth: int) -> OperatingPoint:
    with np.errstate(all="ignore"):
        sw2 = QS / table.second
        chi, parallel = sw2 * table.slope, sw2 * table.parallel
    usable = np.isfinite(chi) & (chi > 0) & (parallel < 1)
    if not usable.any():
        raise EocError(
            f"{moments.name} has no stable operating point",
            why="neither on the edge of chaos nor with the variance kept",
            instead="a norm before it",
        )
    i = int(np.where(usable, np.abs(np.log(np.where(usable, chi, 1.0))), np.inf).argmin())
    reason = (
        f"no stable edge of chaos: the weights keep the variance without a bias; squared gradients change by "
        f"{chi[i] ** depth:.2g} over {depth} layers"
    )
    q, sigma_w = float(QS[i]), float(sw2[i]) ** 0.5
    return OperatingPoint(moments.name, q, sigma_w, 0.0, float(chi[i]), float(parallel[i]), reason)
