"""No closed form leaves untested: each is compared with an independent evaluation at random points."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from fractions import Fraction

import flint
import numpy as np
from sympy import Expr, Rational, Symbol, srepr

from derive.gaussian.node import GaussianE
from derive.gaussian.stops import Untested
from derive.gaussian.witness import witness
from derive.program.evaluate import run_balls
from derive.program.gate import freeze
from derive.program.symbols import DELTA, Q1, Q2, K
from derive.records import SelfTestFailed, Unsupported

POINTS = 5
"""Random points of each closed form, besides the edges."""
TRIES = 400
DIGITS = 10
Values = dict[str, Fraction]


def check(node: GaussianE, closed: Expr, positive: tuple[Expr, ...] = (), patience: int = TRIES) -> None:
    """Raise SelfTestFailed unless the closed form agrees with an independent evaluation of the expectation.

    Untested (a SelfTestFailed) is raised where no evaluation succeeds, after `patience` of them at the latest.

    The points are drawn from a generator seeded by the question, so that the same question meets the
    same points everywhere; points where the expectation diverges are passed over.
    """
    symbols = tuple(sorted(closed.free_symbols | node.free_symbols, key=lambda s: s.name))
    program = freeze({"value": closed}, symbols)
    passed = 0
    wanted = POINTS + 2 if symbols else 1
    for values in _points(node):
        law = _law(node, values)
        if law is None or not _admissible(positive, values):
            continue
        try:
            expected = witness(node, values, *law, DIGITS)
        except Unsupported:  # the integral diverges at this point, or nothing certifies that it does not
            expected = flint.arb("nan")
        if not expected.is_finite():
            patience -= 1
            if patience == 0:
                break
            continue
        _compare(node, closed, program, values, expected)
        passed += 1
        if passed == wanted:
            return
    if not passed:
        raise Untested(
            "A closed form could not be compared with an independent evaluation at any point.",
            where=str(node),
            why="an untested closed form is never returned",
        )


def _compare(node: GaussianE, closed: Expr, program, values: Values, expected: flint.arb) -> None:
    for precision in (96, 192, 768):
        with flint.ctx.workprec(precision):
            value = run_balls(program, {name: _ball(v) for name, v in _with_delta(values).items()})["value"].real
            if value.is_finite() and value.rad() <= expected.rad():
                break
    if value.is_finite() and value.overlaps(expected):
        return
    point = ", ".join(f"{name} = {v}" for name, v in values.items())
    raise SelfTestFailed(
        "A closed form disagrees with an independent evaluation of the same expectation.",
        where=f"{node} = {closed}",
        why=f"at {point}: {value} against {expected}",
    )


def _points(node: GaussianE) -> Iterator[Values]:
    """Random points, the first two at the edges: small variances, strong correlation.

    Later ones have ever smaller variances, for questions that converge only there.
    """
    rng = random.Random(hashlib.sha256(srepr(node).encode()).digest())
    symbols = sorted(node.free_symbols, key=lambda s: s.name)
    for number in range(TRIES):
        values = {s.name: _draw(s, rng) for s in symbols if s not in (Q1, Q2, K)}
        law = {s for s in (Q1, Q2, K) if s in symbols}
        edge = number < 2
        shrink = Fraction(1, 1 << max(0, number // 20 - 1))
        if law:
            r1, r2 = (_fraction(rng, 0.1, 0.5) if edge else _fraction(rng, 0.3, 2.2) for _ in range(2))
            r1, r2 = r1 * shrink, r2 * shrink
            c = Fraction(rng.choice((-1, 1)) * 99, 100) if edge else _fraction(rng, -0.95, 0.95)
            values |= {s.name: v for s, v in ((Q1, r1 * r1), (Q2, r2 * r2), (K, c * r1 * r2)) if s in law}
        elif "q" in values:
            values["q"] = (_fraction(rng, 0.01, 0.2) if edge else values["q"]) * shrink
        yield dict(sorted(values.items()))


def _draw(symbol: Symbol, rng: random.Random) -> Fraction:
    if symbol.is_positive or symbol.is_nonnegative:
        return _fraction(rng, 0.1, 2.0)
    if symbol.is_negative or symbol.is_nonpositive:
        return -_fraction(rng, 0.1, 2.0)
    return _fraction(rng, 0.1, 1.6) * rng.choice((-1, 1))


def _fraction(rng: random.Random, low: float, high: float) -> Fraction:
    return Fraction(round(rng.uniform(low, high) * 997), 997) or Fraction(1, 7)


def _admissible(positive: tuple[Expr, ...], values: Values) -> bool:
    return all(_substitute(expr, values).is_positive for expr in positive)


def _law(node: GaussianE, values: Values) -> tuple[np.ndarray, np.ndarray] | None:
    """The mean and covariance there; None where the latter is not positive definite (unless it never is)."""
    cov = _numeric(node.cov, values)
    smallest = np.linalg.eigvalsh(cov).min()
    degenerate = not node.cov.free_symbols or node.cov.det().expand() == 0
    if smallest > 1e-3 * np.trace(cov) or (degenerate and smallest > -1e-12):
        return _numeric(node.mean, values).ravel(), cov
    return None


def _numeric(matrix, values: Values) -> np.ndarray:
    """A matrix in float64."""
    rows, columns = matrix.shape
    return np.array([[float(_substitute(matrix[i, j], values)) for j in range(columns)] for i in range(rows)])


def _substitute(expr: Expr, values: Values) -> Expr:
    """An expression with numbers for its symbols."""
    full = _with_delta(values)
    return expr.subs({s: Rational(full[s.name].numerator, full[s.name].denominator) for s in expr.free_symbols})


def _with_delta(values: Values) -> Values:
    if {"q1", "q2", "K"} <= set(values):
        return {**values, DELTA.name: values["q1"] * values["q2"] - values["K"] ** 2}
    return values


def _ball(value: Fraction) -> flint.acb:
    return flint.acb(flint.fmpq(value.numerator, value.denominator))


__all__ = ["check"]
