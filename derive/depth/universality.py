"""The universality class of a function at its critical points, with its reasons: a decision, not a list of names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import flint
import mpmath
from sympy import Expr, Integer, sqrt

from derive.depth.algebra import named_zero
from derive.depth.critical import CriticalPoint, critical_points, gap
from derive.depth.edge import CONSTANT, closed_forms, flat
from derive.depth.enclosures import to_ball
from derive.depth.isolate import Zeros
from derive.depth.rates import Rate
from derive.depth.reasons import at_root, far_out, judged, one_sign, short
from derive.depth.zero import AtZero, at_zero, critical_sigma_w
from derive.gaussian.asymptotics.moments import certified
from derive.gaussian.numbers import to_enclosure
from derive.program.symbols import Q
from derive.records import Enclosure, Kind, Unsupported

ZERO = Enclosure(mpmath.mpf(0), mpmath.mpf(0))


@dataclass(frozen=True)
class Universality:
    """The class of an activation under criticality, chi_parallel = chi = 1 at a fixed point q of V.

    name      "scale-invariant", "zero" (the critical point is q = 0 and attracts), "half-stable" (q > 0, attracting
              from one side) or "none"
    q, sigma_w, sigma_b   the critical point, Enclosures (Results where a parameter is left open); q is None where
              every q is a fixed point; all None for "none"
    p_0, p_perp, p_par    q ~ l^(-p_0), chi ~ 1 - p_perp/l, chi_parallel ~ 1 - p_par/l after l layers; None where
              undefined. For "half-stable" they describe the approach from the attracting side
    subclass  for "zero": "analytic" (phi smooth at 0), "kinked", or "linear" (phi linear on both sides of 0)
    reasons   plain sentences with the numbers the verdict rests on
    rate      how q approaches the critical value
    points    every critical point with sigma_b^2 >= 0
    exact     SymPy expressions by name, where a value is known exactly
    kind      EXACT or ENCLOSURE

    Source of the classes: Roberts, Yaida, Hanin, The Principles of Deep Learning Theory (arXiv 2106.10165), chapter 5;
    the one-sided expansions and the kinked sub-class are derived in docs/theory/universality.md.
    """

    name: str
    reasons: tuple[str, ...]
    q: Any = None
    sigma_w: Any = None
    sigma_b: Any = None
    p_0: Any = None
    p_perp: Any = None
    p_par: Any = None
    subclass: str = ""
    rate: Rate | None = None
    points: tuple[CriticalPoint, ...] = ()
    exact: Mapping[str, Expr] = field(default_factory=dict)
    kind: Kind = Kind.ENCLOSURE

    def __repr__(self) -> str:
        place = "" if self.sigma_w is None else f": sigma_w = {self.sigma_w}, sigma_b = {self.sigma_b}"
        return f"<Universality {self.name}{place}{'' if self.q is None else f', q = {self.q}'}>"


def scale_invariant(slope: Expr, values: Mapping[str, Any]) -> Universality:
    """The class of phi(t x) = t phi(x): V(q) = sigma_w^2 A q, chi = sigma_w^2 A with A = E phi'^2 free of q."""
    reasons = (
        "phi(t x) = t phi(x) for every t > 0: its normal form is one line on each side of 0",
        f"E phi^2 = A q and E phi'^2 = A with A = {slope}: chi_parallel = chi = 1 at sigma_w^2 = 1/A, sigma_b = 0",
    )
    exact = {"sigma_w": 1 / sqrt(slope), "sigma_b": Integer(0)}
    sigma_w = None if slope.free_symbols - _known(slope, values) else certified(exact["sigma_w"], values)
    zero = Integer(0)
    rate = Rate("q", "none", why="every variance is a fixed point")
    return Universality(
        "scale-invariant", reasons, None, sigma_w, ZERO, zero, zero, zero, rate=rate, exact=exact, kind=Kind.EXACT
    )


def _known(expr: Expr, values: Mapping[str, Any]) -> set:
    return {s for s in expr.free_symbols if s.name in values}


def classify(second: Expr, slope: Expr, phi: Expr, values: Mapping[str, Any]) -> Universality:
    """The class of a continuous activation that is not scale-invariant, its parameters given as exact numbers.

    second, slope   E phi^2 and E phi'^2 under N(0, q), as expressions in nodes

    Raises Unsupported where an expansion or a zero is not decided.
    """
    if flat(slope):
        return Universality("none", (CONSTANT,), kind=Kind.EXACT)
    zero = at_zero(phi)
    verdict, sentence = judged(zero, values)
    if verdict:
        return _at_zero(zero, values, sentence)
    between = gap(second, slope, phi, values)
    reasons = [sentence]
    if between.sign is not None:
        reasons.append(one_sign(between))
        return Universality("none", tuple(reasons))
    assert between.zeros is not None
    found = critical_points(second, slope, values, between.zeros)
    valid = tuple(p for p in found if p.point.valid)
    for point in found:
        reasons.append(at_root(point))
    if not found:
        reasons.append(f"E phi phi'' has no zero: {between.how}")
    reasons.append(far_out(phi, slope, between, values))
    if not valid:
        _demand_complete(between.zeros, zero)
        return Universality("none", tuple(reasons))
    return _half_stable(valid, (*reasons, between.how), _named(second, slope, between.zeros, valid, found))


def _demand_complete(found: Zeros, zero: AtZero) -> None:
    """Refuse to say that there is no critical point where a part of the line of variances was not decided."""
    at_start = len(found.undecided) == 1 and found.undecided[0][0] <= found.lower * 1.01
    if found.reason or (found.undecided and not (at_start and zero.power is None and zero.value == 0)):
        raise Unsupported("whether there is a critical point is open", why=found.how)


def _named(
    second: Expr, slope: Expr, zeros: Zeros, valid: tuple[CriticalPoint, ...], found: tuple[CriticalPoint, ...]
) -> dict[str, Expr]:
    """The first critical point in closed form, where its equation has one."""
    closed = closed_forms(second, slope)
    if closed is None:
        return {}
    m2, d1 = closed
    low, high = zeros.brackets[found.index(valid[0])]
    q = named_zero((m2.diff(Q) - d1).expand(), low, high)
    if q is None:
        return {}
    w2 = 1 / d1.subs(Q, q)
    return {"q": q, "sigma_w": sqrt(w2), "sigma_b": sqrt(q - w2 * m2.subs(Q, q))}


def _at_zero(zero: AtZero, values: Mapping[str, Any], sentence: str) -> Universality:
    sigma_w = critical_sigma_w(zero)
    exact = {"q": Integer(0), "sigma_w": sigma_w, "sigma_b": Integer(0)}
    subclass = "linear" if zero.power is None else "analytic" if zero.smooth else "kinked"
    p_0, p_perp, p_par, rate = exponents(zero)
    reasons = (
        f"phi(0) = 0 and E phi'^2 -> {short(certified(zero.slope, values))} for q -> 0: chi = 1 at q = 0",
        sentence,
    )
    return Universality(
        "zero",
        reasons,
        ZERO,
        certified(sigma_w, values),
        ZERO,
        p_0,
        p_perp,
        p_par,
        subclass,
        rate,
        (),
        exact,
        Kind.EXACT,
    )


def exponents(zero: AtZero) -> tuple[Any, Any, Any, Rate]:
    """(p_0, p_perp, p_par, rate) of q' = q (1 - c q^sigma): q^sigma ~ 1/(c sigma l), with c = -forward.

    chi_parallel = 1 - c (1 + sigma) q^sigma and chi = 1 + gain q^sigma give p_par = 1 + 1/sigma and
    p_perp = -gain/(c sigma).
    """
    if zero.power is None:
        assert zero.break_at is not None
        prefactor = zero.break_at**2 / 2
        why = "q' = q - O(exp(-B^2/(2q))), B the distance of the nearest breakpoint"
        return Integer(0), None, Integer(1), Rate("q", "logarithmic", prefactor=prefactor, why=why)
    sigma, c = zero.power, -zero.forward
    p_perp = (
        (-zero.gain / (c * sigma)).expand().nsimplify() if (zero.gain / c).is_Rational else -zero.gain / (c * sigma)
    )
    prefactor = (c * sigma) ** (-1 / sigma)
    rate = Rate("q", "power", exponent=1 / sigma, prefactor=prefactor, why=f"q' = q (1 - c q^{sigma}), c = {c}")
    return 1 / sigma, p_perp, 1 + 1 / sigma, rate


def _half_stable(
    points: tuple[CriticalPoint, ...], reasons: tuple[str, ...], exact: Mapping[str, Expr]
) -> Universality:
    """The class at the first point: K - K* ~ -1/(a l), a = chi_parallel'/2, on the side that is attracted."""
    first = points[0]
    p = first.point
    with flint.ctx.workprec(100):
        curvature, tilt = (to_ball(e) for e in (first.curvature, first.tilt))
        p_perp = to_enclosure(2 * tilt / curvature)
        prefactor = to_enclosure(2 / abs(curvature))
    rate = Rate("|q - q*|", "power", exponent=Integer(1), prefactor=prefactor, why="V'(q*) = 1 and V''(q*) is not 0")
    if exact:
        reasons = (*reasons, f"that q solves chi_parallel = chi exactly: q = {exact['q']}")
    values = (p.q, p.sigma_w, p.sigma_b, Integer(0), p_perp, Integer(2))
    return Universality(
        "half-stable", reasons, *values, "", rate, points, exact, Kind.EXACT if exact else Kind.ENCLOSURE
    )


__all__ = ["Universality", "classify", "exponents", "scale_invariant"]
