"""From a coordinate as a function of Gaussian units to its moments and gains."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Integer, Lambda, Mul, Symbol, diag

from derive.gaussian.node import GaussianE, pair, single
from derive.program.symbols import X
from derive.records import EocError
from derive.records.state import State, Unit


def gaussian(q1: Expr, q2: Expr, cross: Expr, gain: Expr, tangent: Expr) -> State:
    """The state of a centred Gaussian coordinate: its unit is itself."""
    zero, unit = Integer(0), Unit((X,), X, ((1, Integer(1)),), (q1, q2, cross))
    return State(zero, zero, q1, q2, cross, gain, tangent, unit, (gain, tangent))


def moments_only(state: State, **changed: Expr) -> State:
    """The state with some moments or gains changed and its law forgotten: only a fresh Dense can follow."""
    kept = {name: getattr(state, name) for name in State.__slots__}
    return State(**{**kept, "unit": None, **changed})


def of_unit(unit: Unit, before: tuple[Expr, Expr]) -> State:
    """The state of a coordinate f(z1, ..., zk): every moment an inert expectation.

    Expectations of exchangeable units are asked once and counted; factors of independent units come apart.
    """
    q1, q2, _ = unit.law
    f = unit.body
    gain = sum((n * one(unit, g**2, q1) for n, g in unit.slopes), Integer(0))
    tangent = sum((n * two(unit, g, g) for n, g in unit.slopes), Integer(0))
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
    if unit.among is not None:
        return GaussianE(Lambda(unit.variables, body), [[q * r for r in row] for row in unit.among])
    return Mul(*(_one(group, part, q) for group, part in _apart(unit, body)))


def _one(used: tuple[Symbol, ...], body: Expr, q: Expr) -> Expr:
    if len(used) <= 1:
        return single(body.subs(dict.fromkeys(used, X)), q)
    return GaussianE(Lambda(used, body), diag(*[q] * len(used)))


def two(unit: Unit, first: Expr, second: Expr) -> Expr:
    """E of a function of the units at the first input times one of the units at the second."""
    if unit.among is not None:
        return _two_among(unit, first, second)
    firsts, seconds = dict(_apart(unit, first)), dict(_apart(unit, second))
    product, groups = Integer(1), _merged([*firsts, *seconds], unit.variables)
    for group in groups:
        f, g = (Mul(*(part for own, part in parts.items() if set(own) <= set(group))) for parts in (firsts, seconds))
        product *= _two(group, f, g, unit.law)
    return product


def _two(used: tuple[Symbol, ...], first: Expr, second: Expr, law: tuple[Expr, Expr, Expr]) -> Expr:
    q1, q2, cross = law
    if len(used) <= 1:
        to_x = dict.fromkeys(used, X)
        return pair(first.subs(to_x), second.subs(to_x), q1, q2, cross)
    us, vs = (tuple(Symbol(f"{letter}{i + 1}", real=True) for i in range(len(used))) for letter in "uv")
    body = first.subs(dict(zip(used, us, strict=True))) * second.subs(dict(zip(used, vs, strict=True)))
    n = len(used)
    cov = [[_entry(i, j, n, law) for j in range(2 * n)] for i in range(2 * n)]
    return GaussianE(Lambda((*us, *vs), body), cov)


def _two_among(unit: Unit, first: Expr, second: Expr) -> Expr:
    """The same for units with correlations among them: Cov(u_a, v_b) = cross r_ab."""
    q1, q2, cross = unit.law
    rows = unit.among or ()
    us, vs = (tuple(Symbol(f"{letter}{i + 1}", real=True) for i in range(len(rows))) for letter in "uv")
    body = first.subs(dict(zip(unit.variables, us, strict=True))) * second.subs(
        dict(zip(unit.variables, vs, strict=True))
    )
    upper = [[q1 * r for r in row] + [cross * r for r in row] for row in rows]
    lower = [[cross * r for r in row] + [q2 * r for r in row] for row in rows]
    return GaussianE(Lambda((*us, *vs), body), upper + lower)


def _entry(i: int, j: int, n: int, law: tuple[Expr, Expr, Expr]) -> Expr:
    q1, q2, cross = law
    if i == j:
        return q1 if i < n else q2
    return cross if abs(i - j) == n else Integer(0)


def _apart(unit: Unit, body: Expr) -> list[tuple[tuple[Symbol, ...], Expr]]:
    """The factors of a product gathered by the independent units they depend on."""
    owned: list[tuple[tuple[Symbol, ...], Expr]] = []
    for factor in Mul.make_args(body):
        mine = tuple(z for z in unit.variables if factor.has(z))
        owned.append((mine, factor))
    groups = _merged([mine for mine, _ in owned], unit.variables)
    return [
        (g, Mul(*(factor for mine, factor in owned if set(mine) <= set(g) and (mine or g == groups[0]))))
        for g in groups
    ]


def _merged(parts: list[tuple[Symbol, ...]], order: tuple[Symbol, ...]) -> list[tuple[Symbol, ...]]:
    """Sets of variables joined where they overlap; at least one set, possibly empty."""
    groups: list[set[Symbol]] = []
    for part in map(set, parts):
        touching = [g for g in groups if g & part]
        groups = [g for g in groups if not g & part]
        if part:
            groups.append(part.union(*touching))
    return [tuple(z for z in order if z in g) for g in groups] or [()]


def copies(unit: Unit, count: int) -> list[Unit]:
    """`count` units of the same kind on independent Gaussian units of their own. Raises EocError for positions."""
    if unit.among is not None:
        raise EocError(
            "units that pool over positions are not pooled once more",
            why="the correlations between their windows are not known",
            instead="put a Dense or a Conv between",
        )
    size, made = len(unit.variables), []
    for i in range(count):
        fresh = tuple(Symbol(f"z{i * size + j + 1}", real=True) for j in range(size))
        swap = dict(zip(unit.variables, fresh, strict=True))
        slopes = tuple((n, g.subs(swap, simultaneous=True)) for n, g in unit.slopes)
        made.append(Unit(fresh, unit.body.subs(swap, simultaneous=True), slopes, unit.law))
    return made


def mirrored(unit: Unit) -> Unit:
    """The same coordinate written in the mirror images of its Gaussian units, which have the same law."""
    swap = {z: -z for z in unit.variables}
    slopes = tuple((n, -g.subs(swap, simultaneous=True)) for n, g in unit.slopes)
    return replace(unit, body=unit.body.subs(swap, simultaneous=True), slopes=slopes)


def negative(state: State) -> State:
    """The state of the coordinate with its sign changed."""
    unit = state.unit
    turned = None if unit is None else replace(unit, body=-unit.body, slopes=tuple((n, -g) for n, g in unit.slopes))
    return replace(state, mean1=-state.mean1, mean2=-state.mean2, unit=turned)


def rises(body: Expr) -> bool:
    """Whether a function of one variable is proved never to fall, whatever its parameters."""
    from derive.activation.monotone import monotone
    from derive.activation.normal_form import normal_form

    (z,) = body.free_symbols & {X} or (None,)
    if z is None:
        return True
    try:
        return monotone(normal_form(body), {}) == "increasing"
    except EocError:
        return False
