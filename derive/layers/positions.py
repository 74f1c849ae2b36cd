"""Pooling over positions of one channel: the correlations inside a window, and the states they lead to."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from sympy import Add, Expr, Heaviside, Integer, Max, Mul, Rational, Symbol, sqrt

from derive.gaussian.node import pair
from derive.layers.stage import demand_unit, ratio, size
from derive.layers.unit import of_unit, one, rises, two
from derive.program.symbols import X, parameter
from derive.records import EocError, Interval
from derive.records.state import State, Unit

BETWEEN = Interval(lower=0, upper=1)
PLACES = ("units", "positions")


def place(stage: Any) -> str:
    """Where a layer pools: "units" or "positions". Raises EocError."""
    if stage.over not in PLACES:
        raise EocError(f"over = {stage.over!r} is unknown", instead='over="units" or over="positions"')
    if stage.over == "units" and stage.rho is not None:
        raise EocError("units of one layer are independent", instead='over="positions", rho=0.5')
    return stage.over


def correlation(stage: Any) -> Any:
    """The correlation between positions: an expression, or a matrix of them as tuples."""
    given = stage.rho
    if given is None:
        raise EocError(
            f"{stage!r} needs the correlation between the positions of a window",
            why="neighbouring positions see nearly the same input",
            instead='rho=0.5 for one correlation, rho=[[1, 0.5], [0.5, 1]] for a matrix, rho="r" for a symbol',
        )
    if isinstance(given, str) and given.isidentifier():
        return parameter(given, BETWEEN)
    if isinstance(given, (list, tuple)) or hasattr(given, "tolist"):
        return _matrix(given)
    value = ratio(given, "rho")
    if value.is_number and abs(value) > 1:
        raise EocError(f"rho = {given} is no correlation", instead="rho=0.5")
    return value


def domains(stage: Any) -> tuple[tuple[str, Any], ...]:
    """The symbol of the correlation, where it is one."""
    named = isinstance(stage.rho, str) and stage.rho.isidentifier()
    return ((stage.rho, BETWEEN),) if named else ()


def _matrix(given: Any) -> tuple[tuple[Expr, ...], ...]:
    from sympy import Matrix

    rows = given.tolist() if hasattr(given, "tolist") else given
    exact = tuple(tuple(ratio(entry, "rho") for entry in row) for row in rows)
    matrix = Matrix(exact) if len({len(row) for row in exact}) == 1 else None
    fine = matrix is not None and matrix.is_square and matrix.is_symmetric()
    if matrix is None or not fine or any(row[i] != 1 for i, row in enumerate(exact)):
        raise EocError(
            "rho is no matrix of correlations",
            why="symmetric with ones on the diagonal",
            instead="rho=[[1, r], [r, 1]]",
        )
    import numpy as np

    if np.linalg.eigvalsh(np.array([[float(x) for x in row] for row in exact])).min() < -1e-12:
        raise EocError("rho is no matrix of correlations", why="it has a negative eigenvalue", instead="rho=0.5")
    return exact


def window(stage: Any) -> tuple[int, tuple[tuple[Expr, ...], ...], Expr | None]:
    """(positions, their correlations, the one correlation where all are equal)."""
    k, found = size(stage.k, "k"), correlation(stage)
    if isinstance(found, tuple):
        if len(found) != k:
            raise EocError(f"rho is {len(found)} x {len(found)} for {k} positions", instead=f"k={len(found)}")
        beside = {found[i][j] for i in range(k) for j in range(k) if i != j}
        return k, found, beside.pop() if len(beside) == 1 else None
    if found.is_number and found * (k - 1) < -1:
        raise EocError(
            f"{k} positions cannot all have the correlation {found}", instead=f"rho >= {Rational(-1, k - 1)}"
        )
    one_ = Integer(1)
    return k, tuple(tuple(one_ if i == j else found for j in range(k)) for i in range(k)), found


def largest(stage: Any, state: State) -> State:
    """The state of the maximum over positions behind a function of one Gaussian pre-activation."""
    unit, (k, rows, rho) = _plain(stage, state), window(stage)
    zs = tuple(Symbol(f"z{i + 1}", real=True) for i in range(k))
    z = unit.variables[0]
    if rises(unit.body.subs(z, X)):
        body, ranks = unit.body.subs(z, Max(*zs)), list(zs)
    else:
        body, ranks = Max(*(unit.body.subs(z, w) for w in zs)), [unit.body.subs(z, w) for w in zs]
    ((_, slope),) = unit.slopes
    wins = [Mul(*(Heaviside(r - other) for other in ranks if other is not r)) for r in ranks]
    if rho is not None:
        slopes: tuple[tuple[int, Expr], ...] = ((k, slope.subs(z, zs[0]) * wins[0]),)
    else:
        slopes = tuple((1, slope.subs(z, w) * win) for w, win in zip(zs, wins, strict=True))
    pooled = Unit(zs, body, slopes, unit.law, rows)
    if not unit.linear:
        return of_unit(pooled, state.before)
    return _plain_largest(pooled, state, k, rho)


def _plain_largest(pooled: Unit, state: State, k: int, rho: Expr | None) -> State:
    """Of the pre-activations themselves: one position passes the gradient; one correlation is one common part.

    z_a = sqrt(rho) w + sqrt(1 - rho) n_a: the largest is sqrt(rho) w + sqrt(1 - rho) max n.
    """
    if rho is None:
        return replace(of_unit(pooled, state.before), gain=state.before[0])
    alone, (q1, q2, cross) = replace(pooled, among=None), pooled.law
    top, ((count, wins),) = alone.body, alone.slopes

    def spread(common: Expr, apart: Expr) -> Expr:
        return rho * common + (1 - rho) * apart

    means = [sqrt(1 - rho) * one(alone, top, q) for q in (q1, q2)]
    seconds = [spread(q, one(alone, top**2, q)) for q in (q1, q2)]
    both = spread(cross, two(alone, top, top))
    # the winner is that of the parts apart, whose correlation between inputs is the same
    tangent = state.before[1] * count * two(alone, wins, wins)
    return State(means[0], means[1], seconds[0], seconds[1], both, state.before[0], tangent, pooled, state.before)


def mean(stage: Any, state: State) -> State:
    """The state of the mean over positions: sums of pairs of positions, each a pair of Gaussian pre-activations."""
    unit = _plain(stage, state)
    z, (q1, q2, cross) = unit.variables[0], unit.law
    f, k = unit.body.subs(z, X), stage.units

    def at(r: Expr, first: Expr, second: Expr, common: Expr) -> Expr:
        return pair(f, f, first, second, r * common)

    found = correlation(stage)
    if isinstance(found, tuple):
        k, rows, _ = window(stage)

        def moment(alone: Expr, first: Expr, second: Expr, common: Expr) -> Expr:
            cells = product(range(k), repeat=2)
            return Add(*(alone if i == j else at(rows[i][j], first, second, common) for i, j in cells)) / k**2
    else:

        def moment(alone: Expr, first: Expr, second: Expr, common: Expr) -> Expr:
            return (alone + (k - 1) * at(found, first, second, common)) / k

    return State(
        state.mean1,
        state.mean2,
        moment(state.second1, q1, q1, q1),
        moment(state.second2, q2, q2, q2),
        moment(state.cross, q1, q2, cross),
        state.gain / k,
        state.tangent / k,
        None,
        state.before,
    )


def _plain(stage: Any, state: State) -> Unit:
    unit = demand_unit(stage, state)
    if len(unit.variables) != 1:
        raise EocError(
            f"{stage!r} pools positions of one pre-activation, or of a function of one",
            instead=f"dense >> tanh >> {stage!r}",
        )
    return unit
