"""Fast, uncertified values of an expression at many variances: where to look for roots, never an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import erfc
from typing import Any

import flint
import numpy as np
from sympy import Derivative, Expr, Symbol

from derive.activation.pieces import piece_function
from derive.gaussian import numbers
from derive.gaussian.answer import answer
from derive.gaussian.maxima import exchangeable, recognise
from derive.gaussian.maxima.contest import Contest, contest
from derive.records import Unsupported

PANEL_NODES, PANEL_WEIGHTS = np.polynomial.legendre.leggauss(16)
OCTAVES = 2.0 ** np.arange(-20, 17)
LINE = np.sinh(np.linspace(-16, 16, 5335)) / 50  # out to 9 deviations at the largest variance of a grid, 1e8
ERFC = np.vectorize(erfc, otypes=[float])


def scan(expr: Expr, values: Mapping[str, Any], name: str, points: Sequence[float] | np.ndarray) -> np.ndarray:
    """Float values of an expression in one-variable nodes at the given values of one symbol."""
    parts = numbers.outermost(expr)
    stand_ins = {part: Symbol(f"_node{i}", real=True) for i, part in enumerate(parts)}
    columns = [_node(part, values, name, points) for part in parts]
    flat = expr.xreplace(stand_ins)
    out = []
    with flint.ctx.workprec(64):
        for i, point in enumerate(points):
            inner = {s: flint.arb(float(c[i])) for s, c in zip(stand_ins.values(), columns, strict=True)}
            out.append(float(numbers.plain_ball(flat, {**values, name: flint.arb(float(point))}, inner).mid()))
    return np.array(out)


def _node(part: Expr, values: Mapping[str, Any], name: str, points: Sequence[float] | np.ndarray) -> np.ndarray:
    if isinstance(part, Derivative):
        closed = numbers.closed_form(part.expr)
        if closed is None or numbers.cancels(part.expr):
            return scan(numbers.largest_slope(part) or part.doit(), values, name, points)
        return scan(numbers.differentiate_closed(closed, part), values, name, points)
    if part.cov.rows > 1:
        return _several(part, values, name, points)
    law = part.cov[0, 0]
    own = isinstance(law, Symbol) and law.name == name
    variances = np.asarray(points, float) if own else scan(law, values, name, points)
    canon = numbers.canonical(part)
    closed = answer(canon).closed
    if closed is not None and not answer(canon).cancels:
        return scan(closed, {k: v for k, v in values.items() if k != "q"}, "q", variances)
    if canon.body.has(*canon.cov.free_symbols):
        body = canon.body
        return np.array([_quadrature(body, {**values, "q": Fraction(float(q))}, np.array([q]))[0] for q in variances])
    return _quadrature(canon.body, values, variances)


def _several(part: Expr, values: Mapping[str, Any], name: str, points: Sequence[float] | np.ndarray) -> np.ndarray:
    """A node of several variables: by its closed form, or as one of the largest of alike units."""
    closed = numbers.closed_form(part)
    if closed is not None:
        return scan(closed, values, name, points)
    law, found = exchangeable(part), recognise(part.body, part.variables)
    won = contest(part.body, part.variables) if found is None and law is not None and law[1] == 0 else None
    if law is not None and won is not None:
        return _won(won, values, scan(law[0], values, name, points))
    if law is None or found is None or law[1] != 0:
        raise Unsupported("an expectation of several variables cannot be scanned", where=str(part))
    variances = scan(law[0], values, name, points)
    given = {s.name: values[s.name] for s in found.body.free_symbols if s.name in values}
    nodes, weighted = _samples(found.body, tuple(sorted(given.items())))
    q = variances[:, None]
    below = ERFC(-nodes / np.sqrt(2 * q)) / 2
    density = np.exp(-(nodes**2) / (2 * q)) * below ** (found.k - 1)
    return density @ weighted / np.sqrt(2 * np.pi * variances) * (1 if found.of_one else found.k)


def _won(found: Contest, values: Mapping[str, Any], variances: np.ndarray) -> np.ndarray:
    """A function of the winner: the chance to beat another unit is the mass of the nodes of lower rank."""
    samples = []
    for body in (found.body, found.rank):
        given = {s.name: values[s.name] for s in body.free_symbols if s.name in values}
        with flint.ctx.workprec(64):
            f = piece_function(body, dict(given))
            breaks = [float(b.mid()) for b in f.breaks]
            at = [float(f.value(int(np.searchsorted(breaks, x)), flint.acb(x), False).real.mid()) for x in LINE]
        samples.append(np.nan_to_num(np.array(at), nan=0.0, posinf=0.0, neginf=0.0))
    asked, rank = samples
    density = np.exp(-(LINE**2) / (2 * variances[:, None])) * np.gradient(LINE)
    density = density / density.sum(1)[:, None]
    order = np.argsort(rank, kind="stable")
    chance = np.empty_like(density)
    chance[:, order] = np.cumsum(density[:, order], 1) - density[:, order] / 2
    return (density * chance ** (found.k - 1)) @ asked * found.count


def _quadrature(body: Expr, values: Mapping[str, Any], variances: np.ndarray) -> np.ndarray:
    given = {s.name: values[s.name] for s in body.free_symbols if s.name in values}
    nodes, weighted = _samples(body, tuple(sorted(given.items())))
    q = variances[:, None]
    return np.exp(-(nodes**2) / (2 * q)) @ weighted / np.sqrt(2 * np.pi * variances)


@lru_cache(maxsize=64)
def _samples(body: Expr, given: tuple[tuple[str, Any], ...]) -> tuple[np.ndarray, np.ndarray]:
    """Nodes on octaves away from 0 and the breakpoints, and the function times the weights there."""
    with flint.ctx.workprec(64):
        f = piece_function(body, dict(given))
        breaks = [float(b.mid()) for b in f.breaks]
        centres = [0.0, *breaks]
        edges = np.unique(np.concatenate([centres, *(c + s * OCTAVES for c in centres for s in (-1, 1))]))
        half = np.diff(edges) / 2
        nodes = (edges[:-1, None] + half[:, None] * (1 + PANEL_NODES)).ravel()
        weights = (half[:, None] * PANEL_WEIGHTS).ravel()
        piece = np.searchsorted(breaks, nodes)
        values = [float(f.value(int(i), flint.acb(x), False).real.mid()) for x, i in zip(nodes, piece, strict=True)]
    values = np.nan_to_num(np.array(values), nan=0.0, posinf=0.0, neginf=0.0)
    return nodes, weights * values
