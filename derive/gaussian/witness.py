"""An evaluation of an expectation that shares nothing with the calculus: the witness of the self-test.

One and two variables: rigorous enclosures where they exist, else Gauss-Legendre on panels cut at the
kinks. More variables: a sample mean with six standard errors.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import flint
import numpy as np
from sympy import Expr, Mul, Symbol

from derive.gaussian.node import GaussianE
from derive.gaussian.sample import evaluate
from derive.program.symbols import X
from derive.records import Unsupported

REACH = 9.0
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
SAMPLES = 1 << 17
PANEL_TOLERANCE = 1e-9
"""Relative to E|f|; the panels reach about 1e-12 for the functions met here."""


def witness(node: GaussianE, values: dict[str, Fraction], digits: int) -> flint.arb:
    """A ball around E f, with every symbol given a number.

    Raises Unsupported where the expectation diverges or cannot be evaluated.
    """
    from derive.gaussian.selftest import numeric

    mean, cov = numeric(node.mean, values).ravel(), numeric(node.cov, values)
    body = substitute_parameters(node, values)
    if mean.size == 1:
        value, scale = _line(body, node.variables[0], mean[0], math.sqrt(cov[0, 0]))
    elif mean.size == 2 and (factors := _factors(body, node.variables)) is not None:
        value, scale = _plane(factors, node.variables, mean, cov)
    else:
        return _sample(body, node.variables, mean, cov)
    if not math.isfinite(value):
        raise Unsupported("an expectation without a finite value at this point")
    return flint.arb(value, PANEL_TOLERANCE * scale + 1e-300)


def substitute_parameters(node: GaussianE, values: dict[str, Fraction]) -> Expr:
    """The integrand with numbers for the parameters."""
    from sympy import Rational

    free = node.body.free_symbols - set(node.variables)
    return node.body.subs({s: Rational(values[s.name].numerator, values[s.name].denominator) for s in free})


def _kinks(body: Expr, z: Symbol) -> list[float]:
    from derive.activation.normal_form import breakpoints, normal_form

    return [float(t) for t in breakpoints(normal_form(body.subs(z, X)))]


def _panels(cuts: list[float], width: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [-REACH, REACH] cut at the given points."""
    inside = sorted({-REACH, REACH, 0.0, *(c for c in cuts if -REACH < c < REACH)})
    edges = np.concatenate(
        [np.linspace(a, b, max(1, math.ceil((b - a) / width)), endpoint=False) for a, b in pairwise(inside)] + [[REACH]]
    )
    half = np.diff(edges)[:, None] / 2
    nodes = (edges[:-1, None] + half * (1 + NODES)).ravel()
    return nodes, (half * WEIGHTS).ravel() * np.exp(-(nodes**2) / 2) / math.sqrt(2 * math.pi)


def _line(body: Expr, z: Symbol, mean: float, sd: float) -> tuple[float, float]:
    nodes, weights = _panels([(t - mean) / sd for t in _kinks(body, z)])
    f = evaluate(body, {z: mean + sd * nodes}) * np.ones_like(nodes)
    _tails(f * weights)
    return float(weights @ f), float(weights @ np.abs(f))


def _tails(terms: np.ndarray) -> None:
    """The panels must reach to where nothing is left."""
    size = np.abs(terms)
    if not np.all(np.isfinite(size)) or max(size[:24].sum(), size[-24:].sum()) > 1e-9 * size.sum():
        raise Unsupported("an expectation whose tail is not negligible at this point")


def _factors(body: Expr, variables) -> tuple[Expr, Expr] | None:
    first, second = variables
    parts = body.args if isinstance(body, Mul) else (body,)
    if any(part.has(first) and part.has(second) for part in parts):
        return None
    return Mul(*[p for p in parts if not p.has(second)]), Mul(*[p for p in parts if p.has(second)])


def _plane(factors, variables, mean, cov) -> tuple[float, float]:
    """E f(u) E[g(v) | u]."""
    (u, v), (f, g) = variables, factors
    sd, slope = math.sqrt(cov[0, 0]), cov[0, 1] / math.sqrt(cov[0, 0])
    rest = math.sqrt(max(cov[1, 1] - slope**2, 0.0))
    kinks = _kinks(g, v) if g.has(v) else []
    if rest < 1e-9:
        together = f * g.subs(v, mean[1] + (u - mean[0]) * slope / sd)
        return _line(together, u, mean[0], sd)
    near = (
        [(t - mean[1] + k * rest) / slope for t in (*kinks, mean[1]) for k in (-6, -2, -0.5, 0, 0.5, 2, 6)]
        if slope
        else []
    )
    outer, weights = _panels([(t - mean[0]) / sd for t in _kinks(f, u)] + near)
    f_values = evaluate(f, {u: mean[0] + sd * outer}) * np.ones_like(outer)
    centres = mean[1] + slope * outer
    cuts = np.sort(np.clip((np.array([*kinks, mean[1]])[None, :] - centres[:, None]) / rest, -REACH, REACH), axis=1)
    inner, size, square = np.zeros_like(outer), np.zeros_like(outer), np.zeros_like(outer)
    edges = np.concatenate([np.full((outer.size, 1), -REACH), cuts, np.full((outer.size, 1), REACH)], axis=1)
    for left, right in pairwise(edges.T):
        for part in range(4):
            half = ((right - left) / 8)[:, None]
            y = left[:, None] + half * (2 * part + 1 + NODES)
            terms = evaluate(g, {v: centres[:, None] + rest * y}) * np.exp(-(y**2) / 2) / math.sqrt(2 * math.pi)
            inner += (half * WEIGHTS * terms).sum(axis=1)
            size += (half * WEIGHTS * np.abs(terms)).sum(axis=1)
            square += (half * WEIGHTS * terms**2 * np.exp(y**2 / 2) * math.sqrt(2 * math.pi)).sum(axis=1)
    _tails(f_values * weights * size)
    scale = float(weights @ (np.abs(f_values) * size))
    scale += 1e-3 * math.sqrt(float(weights @ f_values**2) * float(weights @ square))
    return float(weights @ (f_values * inner)), scale


def _sample(body: Expr, variables, mean, cov) -> flint.arb:
    rng = np.random.default_rng(20)
    draws = rng.multivariate_normal(mean, cov, size=SAMPLES // 2, method="eigh") - mean
    values = sum(evaluate(body, dict(zip(variables, (mean + s * draws).T, strict=True))) for s in (1, -1)) / 2
    values = values * np.ones(len(draws))
    return flint.arb(float(values.mean()), 6 * float(values.std()) / math.sqrt(len(values)) + 1e-12)


__all__ = ["witness"]
