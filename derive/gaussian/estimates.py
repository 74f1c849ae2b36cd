"""Expectations over many correlated variables as sample means with standard errors; kind ESTIMATE."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import flint
import numpy as np
from sympy import Expr, Symbol, srepr

from derive.gaussian import numbers
from derive.gaussian.maxima import crowd
from derive.gaussian.node import GaussianE
from derive.gaussian.sample import evaluate
from derive.program.symbols import K
from derive.records import Unsupported
from derive.records.estimate import Estimate

BATCHES = 32
DIGITS = 12
FEW = 6
"""Beyond so many variables a maximum over a window is not asked for a proof, which would be long in coming."""


def estimate(expr: Expr, values: Mapping[str, Any], samples: int = 1 << 18) -> Estimate:
    """The mean of an expression in `GaussianE` nodes over random draws, with its standard error.

    Nodes that have a proved number keep it. The others share antithetic draws in batches, seeded by the question: the
    same question gives the same answer. Errors of several nodes are carried through batch by batch.

    Raises Unsupported where a node is no plain expectation, or its law is no covariance.
    """
    proved: dict[Expr, float] = {}
    drawn: dict[Expr, np.ndarray] = {}
    size = max(1, samples // (2 * BATCHES))
    for index, part in enumerate(numbers.outermost(expr)):
        if isinstance(part, GaussianE) and part.cov.rows > FEW and crowd(part) is not None:
            drawn[part] = _batches(part, values, size, index)
            continue
        try:
            proved[part] = float(numbers.number(part, values, DIGITS).mid)
        except Unsupported:
            if not isinstance(part, GaussianE):
                raise
            drawn[part] = _batches(part, values, size, index)
    names = {part: Symbol(f"_node{i}", real=True) for i, part in enumerate((*proved, *drawn))}
    flat = expr.xreplace(names)
    found = []
    for batch in range(BATCHES if drawn else 1):
        inner = {names[part]: flint.arb(value) for part, value in proved.items()}
        inner |= {names[part]: flint.arb(float(means[batch])) for part, means in drawn.items()}
        with flint.ctx.workprec(64):
            found.append(float(numbers.plain_ball(flat, values, inner).mid()))
    error = float(np.std(found, ddof=1) / len(found) ** 0.5) if drawn else 0.0
    return Estimate(float(np.mean(found)), error, 2 * size * BATCHES if drawn else 0)


def _batches(node: GaussianE, values: Mapping[str, Any], size: int, index: int) -> np.ndarray:
    """Means of batches of antithetic draws."""
    law = np.array([[_float(entry, values) for entry in node.cov.row(i)] for i in range(node.cov.rows)])
    means = np.array([_float(entry, values) for entry in node.mean])
    weights, vectors = np.linalg.eigh(law)
    if weights.min() < -1e-9 * max(1.0, weights.max()):
        raise Unsupported("no such Gaussian law", where=str(node.cov), why="a covariance has no negative eigenvalue")
    root = vectors * np.sqrt(np.clip(weights, 0, None))
    text = f"{srepr(node)} {sorted((k, str(v)) for k, v in values.items())} {index}"
    generator = np.random.default_rng(int(hashlib.sha256(text.encode()).hexdigest()[:16], 16))
    given = {s: _float(s, values) for s in node.body.free_symbols - set(node.variables)}
    found = np.empty(BATCHES)
    for batch in range(BATCHES):
        noise = root @ generator.standard_normal((len(law), size))
        total = 0.0
        for sign in (1, -1):
            draws = dict(zip(node.variables, means[:, None] + sign * noise, strict=True))
            with np.errstate(divide="ignore", invalid="ignore"):  # on the other side of a case distinction
                total += float(np.mean(evaluate(node.body, {**draws, **given}))) / 2
        found[batch] = total
    if not np.isfinite(found).all():
        raise Unsupported("the samples are not finite", where=str(node.body)[:90])
    return found


def _float(expr: Expr, values: Mapping[str, Any]) -> float:
    given = dict(values)
    if expr.has(K) and {"q1", "q2", "c"} <= set(values):
        given.pop("K", None)
    return float(numbers.evaluate(expr, given, DIGITS)[0].mid())


__all__ = ["estimate"]
