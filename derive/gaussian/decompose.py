"""From an integrand to the atoms whose sum it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sympy import (
    Abs,
    Add,
    Expr,
    Heaviside,
    Integer,
    Max,
    Min,
    Mul,
    Piecewise,
    Pow,
    Rational,
    Symbol,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    log,
    sign,
    sin,
    sinh,
    sqrt,
)

from derive.gaussian.atoms import Atom, gathered, multiply, scale
from derive.gaussian.conditions import linear_pieces
from derive.gaussian.halves import half_space
from derive.gaussian.polynomials import as_affine, as_polynomial
from derive.gaussian.special import NormalCdf
from derive.gaussian.stops import Blocked
from derive.program.symbols import X
from derive.records import Unsupported

KINKS = (Abs, Max, Min, Heaviside, sign, Piecewise)
MAX_ATOMS = 400
MAX_PRODUCTS = 5000
"""Products of coefficients in one product of sums: beyond it the expansion alone takes longer than an answer may."""


def decompose(body: Expr, zs: tuple[Symbol, ...]) -> list[Atom]:
    """The atoms whose sum is `body`, for almost every value of the variables `zs`.

    Raises Blocked with the smallest subexpressions that are no atoms.
    """
    return _walk(body, zs)


def _walk(expr: Expr, zs: tuple[Symbol, ...]) -> list[Atom]:
    mine = [z for z in zs if expr.has(z)]
    if not mine:
        return [Atom({(0,) * len(zs): expr})]
    polynomial = as_polynomial(expr, zs)
    if polynomial is not None:
        return [Atom(polynomial)]
    if len(mine) == 1 and expr.has(*KINKS):
        try:
            return _from_normal_form(expr, mine[0], zs)
        except Unsupported:
            if isinstance(expr, Piecewise):
                raise Blocked([expr]) from None
            # breakpoints of unknown order or sign: half-spaces still do for Max(a*x, 0)
    if isinstance(expr, Add):
        return _bounded([atom for part in _each(expr.args, zs) for atom in part])
    if isinstance(expr, Mul):
        return _product(_each(_factors_by_variable(expr, zs), zs))
    if isinstance(expr, Pow) and not isinstance(expr, exp):
        return _power(expr, zs)
    return _function(expr, zs)


def _each(parts: Iterable[Expr], zs) -> list[list[Atom]]:
    """The atoms of each part; where parts are blocked, all their blockers together."""
    results: list[list[Atom]] = []
    blockers: list[str] = []
    for part in parts:
        try:
            results.append(_walk(part, zs))
        except Blocked as error:
            blockers += error.parts
    if blockers:
        raise Blocked(blockers)
    return results


def _factors_by_variable(expr: Mul, zs) -> list[Expr]:
    """The factors, those of one same variable multiplied together when one of them has a kink."""
    groups: dict[object, list[Expr]] = {}
    for position, factor in enumerate(expr.args):
        mine = [z for z in zs if factor.has(z)]
        groups.setdefault(mine[0] if len(mine) == 1 else position, []).append(factor)
    factors = []
    for group in groups.values():
        factors += [Mul(*group)] if len(group) < len(expr.args) and Mul(*group).has(*KINKS) else group
    return factors


def _from_normal_form(expr: Expr, z: Symbol, zs) -> list[Atom]:
    from derive.activation.normal_form import normal_form

    terms = normal_form(expr.subs(z, X)).terms
    values = _each([term.value.subs(X, z) for term in terms], zs)
    atoms = []
    for term, value in zip(terms, values, strict=True):
        if term.threshold is not None:
            half = half_space({_unit(z, zs): Integer(term.side), _none(zs): -term.side * term.threshold}, zs)
            value = [replace(atom, halves=(half,)) for atom in value]
        atoms += value
    return _bounded(atoms)


def _power(expr: Pow, zs) -> list[Atom]:
    base, power = expr.base, expr.exp
    if not base.has(*zs) and base.is_positive:
        return _walk_exp(power * log(base), expr, zs)
    if power.is_Integer and power > 0 and base.has(*zs):
        atoms = _walk(base, zs)
        return _product([atoms] * int(power))
    raise Blocked([expr])


def _function(expr: Expr, zs) -> list[Atom]:
    none = _none(zs)
    if isinstance(expr, exp):
        return _walk_exp(expr.args[0], expr, zs)
    if isinstance(expr, cosh | sinh):
        up, down = (_walk_exp(side * expr.args[0], expr, zs) for side in (1, -1))
        factor = Rational(1, 2) if isinstance(expr, cosh) else -Rational(1, 2)
        return [scale(up[0], Rational(1, 2)), scale(down[0], factor)]
    if isinstance(expr, erf | erfc | NormalCdf | sin | cos):
        affine = as_affine(expr.args[0], zs)
        if affine is None:
            raise Blocked([expr])
        if isinstance(expr, sin):  # sin t = Re(-i exp(it))
            return [Atom({}, {none: Integer(-1)}, wave=affine)]
        if isinstance(expr, cos):
            return [Atom({none: Integer(1)}, wave=affine)]
        if isinstance(expr, NormalCdf):
            return [Atom({none: Integer(1)}, cdfs=(affine,))]
        side = 1 if isinstance(expr, erf) else -1
        scaled = {key: side * sqrt(2) * value for key, value in affine.items()}
        cdf = Atom({none: Integer(2)}, cdfs=(scaled,))
        return [cdf, Atom({none: Integer(-1)})] if side == 1 else [cdf]
    if isinstance(expr, KINKS):
        return _kink(expr, zs)
    raise Blocked([expr])


def _walk_exp(argument: Expr, expr: Expr, zs) -> list[Atom]:
    polynomial = as_polynomial(argument, zs)
    if polynomial is None or any(sum(key) > 2 for key in polynomial):
        raise Blocked([expr])
    return [Atom({_none(zs): Integer(1)}, exponent=polynomial)]


def _kink(expr: Expr, zs) -> list[Atom]:
    """A function of several variables with kinks on hyperplanes: max(z_i) = sum z_i prod 1{z_i > z_j}."""
    if isinstance(expr, Heaviside):
        return [_indicator(expr.args[0], zs)]
    if isinstance(expr, sign):
        return [_indicator(expr.args[0], zs), scale(_indicator(-expr.args[0], zs), Integer(-1))]
    if isinstance(expr, Piecewise):
        return _bounded([atom for part in _each(linear_pieces(expr, zs), zs) for atom in part])
    if isinstance(expr, Abs):
        return _kink(Max(expr.args[0], -expr.args[0], evaluate=False), zs)
    if isinstance(expr, Max | Min):
        order = 1 if isinstance(expr, Max) else -1
        atoms = []
        for winner in expr.args:
            events = [[_indicator(order * (winner - other), zs)] for other in expr.args if other is not winner]
            atoms += _product([_walk(winner, zs), *events])
        return atoms
    raise Blocked([expr])


def _indicator(positive: Expr, zs) -> Atom:
    affine = as_affine(positive, zs)
    if affine is None:
        raise Blocked([Heaviside(positive)])
    return Atom({_none(zs): Integer(1)}, halves=(half_space(affine, zs),))


def _product(factors: list[list[Atom]]) -> list[Atom]:
    atoms = factors[0]
    for factor in factors[1:]:
        if _summands(atoms) * _summands(factor) > MAX_PRODUCTS:
            raise Blocked([f"more than {MAX_PRODUCTS} products of terms"])
        atoms = gathered([atom for first in atoms for second in factor for atom in multiply(first, second)])
        atoms = _bounded(atoms)
    return atoms


def _summands(atoms: list[Atom]) -> int:
    return sum(len(Add.make_args(c)) for atom in atoms for part in (atom.poly, atom.imag) for c in part.values())


def _none(zs) -> tuple[int, ...]:
    return (0,) * len(zs)


def _unit(z: Symbol, zs) -> tuple[int, ...]:
    return tuple(int(other == z) for other in zs)


def _bounded(atoms: list[Atom]) -> list[Atom]:
    if len(atoms) > MAX_ATOMS:
        raise Blocked([f"more than {MAX_ATOMS} atoms"])
    return atoms


__all__ = ["as_polynomial", "decompose"]
