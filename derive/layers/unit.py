"""From a coordinate as a function of Gaussian units to its moments and gains."""

from __future__ import annotations

from sympy import Expr, Integer, Lambda, Symbol, diag

from derive.gaussian.node import GaussianE, pair, single
from derive.program.symbols import X
from derive.records.state import State, Unit


def gaussian(q1: Expr, q2: Expr, cross: Expr, gain: Expr, tangent: Expr) -> State:
    """The state of a centred Gaussian coordinate: its unit is itself."""
    zero, unit = Integer(0), Unit((X,), X, (Integer(1),), (q1, q2, cross))
    return State(zero, zero, q1, q2, cross, gain, tangent, unit, (gain, tangent))


def moments_only(state: State, **changed: Expr) -> State:
    """The state with some moments or gains changed and its law forgotten: only a fresh Dense can follow."""
    kept = {name: getattr(state, name) for name in State.__slots__}
    return State(**{**kept, "unit": None, **changed})


def of_unit(unit: Unit, before: tuple[Expr, Expr]) -> State:
    """The state of a coordinate f(z1, ..., zk): every moment an inert expectation.

    Equal partial expectations of exchangeable units are asked once and counted.
    """
    q1, q2, _ = unit.law
    f = unit.body
    gain = sum((one(unit, g**2, q1) for g in unit.slopes), Integer(0))
    tangent = sum((two(unit, g, g) for g in unit.slopes), Integer(0))
    return State(
        one(unit, f, q1),
        one(unit, f, q2),
        one(unit, f**2, q1),
        one(unit, f**2, q2),
        two(unit, f, f),
        before[0] * gain,
        before[1] * tangent,
        unit,
        before,
    )


def one(unit: Unit, body: Expr, q: Expr) -> Expr:
    """E of a function of the units at one input of variance q."""
    used = _used(unit, body)
    if len(used) <= 1:
        return single(body.subs(dict.fromkeys(used, X)), q)
    return GaussianE(Lambda(used, body), diag(*[q] * len(used)))


def two(unit: Unit, first: Expr, second: Expr) -> Expr:
    """E of a function of the units at the first input times one of the units at the second."""
    q1, q2, cross = unit.law
    used = _used(unit, first, second)
    if len(used) <= 1:
        to_x = dict.fromkeys(used, X)
        return pair(first.subs(to_x), second.subs(to_x), q1, q2, cross)
    us, vs = (tuple(Symbol(f"{letter}{i + 1}", real=True) for i in range(len(used))) for letter in "uv")
    body = first.subs(dict(zip(used, us, strict=True))) * second.subs(dict(zip(used, vs, strict=True)))
    n = len(used)
    cov = [[_entry(i, j, n, unit.law) for j in range(2 * n)] for i in range(2 * n)]
    return GaussianE(Lambda((*us, *vs), body), cov)


def _entry(i: int, j: int, n: int, law: tuple[Expr, Expr, Expr]) -> Expr:
    q1, q2, cross = law
    if i == j:
        return q1 if i < n else q2
    return cross if abs(i - j) == n else Integer(0)


def _used(unit: Unit, *bodies: Expr) -> tuple[Symbol, ...]:
    free = set().union(*(body.free_symbols for body in bodies))
    return tuple(z for z in unit.variables if z in free)


def copies(unit: Unit, count: int) -> list[Unit]:
    """`count` units of the same kind on independent Gaussian units of their own."""
    n, made = len(unit.variables), []
    for i in range(count):
        fresh = tuple(Symbol(f"z{i * n + j + 1}", real=True) for j in range(n))
        swap = dict(zip(unit.variables, fresh, strict=True))
        slopes = tuple(s.subs(swap, simultaneous=True) for s in unit.slopes)
        made.append(Unit(fresh, unit.body.subs(swap, simultaneous=True), slopes, unit.law))
    return made
