"""Zeros in closed form: guessed from their digits, proved by substitution."""

from __future__ import annotations

from fractions import Fraction

import flint
import mpmath
from sympy import Add, CRootOf, Dummy, Expr, Integer, Poly, Pow, Rational, exp, factor_terms, log, roots, together

from derive.gaussian.numbers import plain_ball
from derive.program.symbols import Q

DEGREE = 4
LARGEST = 1000
BITS = 400


def named_zero(equation: Expr, low: Fraction, high: Fraction) -> Expr | None:
    """The zero of an equation in q inside a bracket that holds exactly one, as an expression; None where none is found.

    If q occurs in exponentials only, the unknown is y = exp(a q). Digits of the zero give the integer polynomial of
    degree at most 4 that it seems to satisfy; only if the equation vanishes exactly at its roots, the root in the
    bracket is returned: it is then the one zero of the bracket.
    """
    rate = _rate(equation)
    target = _digits(equation, low, high)
    if target is None:
        return None
    with mpmath.workdps(90):
        value = mpmath.mpf(target.str(80, radius=False))
        if rate is not None:
            value = mpmath.exp(value * mpmath.mpf(rate.p) / rate.q)
        guess = mpmath.findpoly(value, DEGREE, maxcoeff=LARGEST, tol=mpmath.mpf(10) ** -60)
    if not guess:
        return None
    x = Dummy("x")
    for factor, _ in Poly([int(c) for c in guess], x).factor_list()[1]:
        for root in _real(factor):
            place = root if rate is None else log(root) / rate
            with flint.ctx.workprec(BITS):
                near = plain_ball(place, {})
                if not near.overlaps(target) or not _vanishes(equation, rate, factor):
                    continue
            return place
    return None


def _rate(equation: Expr) -> Rational | None:
    """a, where q occurs in powers of exp(a q) only; None for another equation."""
    found = equation.atoms(exp)
    rates = [e.args[0] / Q for e in found]
    if not found or not all(r.is_Rational for r in rates) or equation.xreplace({e: Integer(1) for e in found}).has(Q):
        return None
    unit = rates[0]
    for r in rates[1:]:
        unit = unit.gcd(r)
    return unit


def _digits(equation: Expr, low: Fraction, high: Fraction) -> flint.arb | None:
    """The zero to about 80 digits, by secant steps."""
    with flint.ctx.workprec(BITS):
        a, b = (flint.arb(end.numerator) / end.denominator for end in (low, high))
        fa, fb = (plain_ball(equation, {"q": end}).mid() for end in (a, b))
        for _ in range(60):
            if fa == fb or abs(b - a) < abs(b) * flint.arb(2) ** (60 - BITS):
                break
            a, fa, b = b, fb, (b - fb * (b - a) / (fb - fa)).mid()
            fb = plain_ball(equation, {"q": b}).mid()
        inside = flint.arb(low.numerator) / low.denominator < b < flint.arb(high.numerator) / high.denominator
        return b + flint.arb(0, (abs(b) * flint.arb(2) ** (100 - BITS)).upper()) if inside else None


def _real(factor: Poly) -> list[Expr]:
    """Real roots of an irreducible polynomial in radicals."""
    return [r for r in roots(factor) if abs(r.evalf(30).as_real_imag()[1]) < Rational(1, 10**20) and not r.has(CRootOf)]


def _vanishes(equation: Expr, rate: Rational | None, factor: Poly) -> bool:
    """Whether the equation is zero exactly at the roots of an irreducible polynomial.

    Its numerator is reduced modulo r^2 = p(q) for its square root r and then modulo the polynomial: if nothing is left
    of the part with r and of that without, it vanishes. Constants such as 1/pi in front of all terms do not matter.
    """
    y, r = Dummy("y", positive=True), Dummy("r", positive=True)
    if rate is not None:
        flat = equation.xreplace({e: y ** int(e.args[0] / Q / rate) for e in equation.atoms(exp)})
        base = Integer(1)
    else:
        bare = equation.replace(_is_root, lambda e: factor_terms(together(e.base).factor()) ** e.exp)
        inside = {e.base for e in bare.atoms(Pow) if _is_root(e)}
        if len(inside) > 1:
            return False
        base = inside.pop() if inside else Integer(1)
        flat = bare.replace(_is_root, lambda e: r ** int(2 * e.exp)).subs(Q, y)
    top = together(flat).as_numer_denom()[0].expand()
    constants = {term.as_independent(y, r, as_Add=False)[0].as_coeff_Mul()[1] for term in Add.make_args(top)}
    if len(constants) != 1 or not base.is_polynomial(Q):
        return False
    whole = Poly((top / constants.pop()).expand(), y, r)
    parts = [Integer(0), Integer(0)]
    for (n, k), coefficient in whole.terms():
        parts[k % 2] += coefficient * y**n * base.subs(Q, y) ** (k // 2)
    modulus = Poly(factor.as_expr(*[y]), y)
    return all(Poly(part.expand(), y).rem(modulus).is_zero for part in parts)


def _is_root(e: Expr) -> bool:
    return isinstance(e, Pow) and e.exp.is_Rational and e.exp.q == 2 and e.base.has(Q)


__all__ = ["named_zero"]
