"""The maps of a block as float functions of whole arrays: what a phase grid asks for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import Any, Protocol

import numpy as np
from sympy import Abs, Add, Expr, Mul, Pow, Symbol, diff, sign

from derive.depth.grid_functions import FloatFunction, Moment, float_function, moment
from derive.depth.grid_gap import GapCurve, GapTable, gap_table, largest_variance
from derive.gaussian.factors import pair_factors
from derive.gaussian.node import GaussianE, single
from derive.gaussian.numbers import canonical, outermost
from derive.program.symbols import Q1, Q2, SIGMA_B, SIGMA_W, K, Q
from derive.records import Unsupported

Array = Any
"""A NumPy array or scalar."""
Contraction = Callable[[Array, Array], tuple[Array, Array]]
E = Symbol("e", positive=True)
"""1 - c of two inputs of the same variance."""


class GridMaps(Protocol):
    """What a phase grid needs of a block; any object with these methods will do. Arrays broadcast.

    variance     V(q); NaN where it is not resolved
    slope        dV/dq
    gain         chi(q), inf for a function that jumps
    contraction  at arrays (n,) of fixed points q: a function of (rows, t) to (1 - C(q, q, 1 - t^2))/t^2 for the
                 chosen rows, and dC/dc there; the first tends to chi q/V as t -> 0
    """

    def variance(self, q: Array, sigma_w: Array, sigma_b: Array) -> Array: ...
    def slope(self, q: Array, sigma_w: Array, sigma_b: Array) -> Array: ...
    def gain(self, q: Array, sigma_w: Array, sigma_b: Array) -> Array: ...
    def contraction(self, q: Array, sigma_w: Array, sigma_b: Array) -> Contraction: ...


@dataclass(frozen=True)
class Gap:
    """second - cross of a pair of equal variances, as an expression in e and in the gaps of its nodes."""

    template: Expr
    inner: tuple[tuple[Symbol, GaussianE, Gap], ...] = ()


def gap_of(second: Expr, cross: Expr) -> Gap:
    """Both in Q1, Q2, K; the parts that do not depend on the correlation cancel as symbols, not as numbers."""
    equal = {Q1: Q, Q2: Q}
    second, cross = (e.xreplace(equal).xreplace({K: Q * (1 - E)}) for e in (second, cross))
    inner, swaps = [], {}
    for i, node in enumerate(part for part in outermost(cross) if isinstance(part, GaussianE)):
        if node.cov.rows == 1:
            continue
        if node.cov.rows != 2 or not node.mean.is_zero_matrix or node.cov[0, 0] != node.cov[1, 1]:
            raise Unsupported("an expectation over more than two units, over a whole grid", where=str(node)[:80])
        law, between = node.cov[0, 0], node.cov[0, 1]
        symbol = Symbol(f"_gap{i}", real=True)
        f, g = pair_factors(canonical(node))
        swaps[node] = single(f * g, law) - symbol
        inner.append((symbol, node, Gap(Q * E) if law == Q else gap_of(law, between)))
    return Gap((second - cross.xreplace(swaps)).expand(), tuple(inner))


@dataclass(frozen=True)
class TemplateMaps:
    """The maps of a block from its expressions in expectations of one and two variables.

    variance_map, gain_map  expressions in q, sigma_w, sigma_b
    gap                     of the second and cross moment of the next pre-activation
    values                  the parameters of its activations
    jumps                   whether it jumps: chi is infinite
    """

    variance_map: Expr
    gain_map: Expr
    gap: Gap
    values: Mapping[str, Any]
    jumps: bool = False
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def variance(self, q: Array, sigma_w: Array, sigma_b: Array) -> Array:
        """V(q)."""
        return self._value(self.variance_map, self._known(q, sigma_w, sigma_b))

    def slope(self, q: Array, sigma_w: Array, sigma_b: Array) -> Array:
        """dV/dq."""
        return self._slope(self.variance_map, self._known(q, sigma_w, sigma_b))

    def gain(self, q: Array, sigma_w: Array, sigma_b: Array) -> Array:
        """chi(q)."""
        found = self._value(self.gain_map, self._known(q, sigma_w, sigma_b))
        return np.full_like(found, np.inf) if self.jumps else found

    def contraction(self, q: Array, sigma_w: Array, sigma_b: Array) -> Contraction:
        """(1 - C)/(1 - c) and dC/dc along t = sqrt(1 - c), for each row of the arrays."""
        known = self._known(q, sigma_w, sigma_b)
        curves = self._curves(self.gap, known)
        bottom = np.broadcast_to(self._value(self.variance_map, known), q.shape)

        def at(rows: Array, t: Array) -> tuple[Array, Array]:
            here = {s: np.broadcast_to(v, q.shape)[rows] for s, v in known.items()}
            gap, change = self._gap(self.gap, {**here, E: t * t}, curves, rows)
            return gap / bottom[rows] / t**2, change / bottom[rows]

        return at

    def decay(self, q: Array, sigma_w: Array, sigma_b: Array, e: Array) -> tuple[Array, Array]:
        """V(q) and (1 - C)/(1 - c) at one e = 1 - c for each row, without slopes: what a recursion over depth asks."""
        known = self._known(q, sigma_w, sigma_b)
        after = np.broadcast_to(self._value(self.variance_map, known), q.shape)
        return after, self._size(self.gap, {**known, E: e}) / after / e

    def resolves_pairs(self, q: Array, sigma_w: Array, sigma_b: Array) -> Array:
        """Whether `contraction` has values at each variance: far out a function that oscillates is not tabulated."""
        return self._within(self.gap, self._known(q, sigma_w, sigma_b))

    def _within(self, gap: Gap, known: Mapping[Symbol, Array]) -> Array:
        good = np.ones(known[Q].shape, bool)
        for _, node, below in gap.inner:
            v = self._value(node.cov[0, 0], known)
            good = good & (v <= largest_variance(self.pair_reach(node))) & self._within(below, known)
        return good

    def pair_reach(self, node: GaussianE) -> float:
        """The distance from 0 up to which both functions of a pair are resolved."""
        return min(self.function(factor).reach for factor in pair_factors(canonical(node)))

    def _known(self, q: Array, sigma_w: Array, sigma_b: Array) -> dict[Symbol, Array]:
        return {Q: np.asarray(q, float), SIGMA_W: np.asarray(sigma_w, float), SIGMA_B: np.asarray(sigma_b, float)}

    def _split(self, expr: Expr) -> tuple[Expr, tuple[tuple[Symbol, GaussianE], ...]]:
        """The expression with a symbol for each node, and the nodes; worked out once."""
        if ("split", expr) not in self.kept:
            pairs = tuple((Symbol(f"_e{i}", real=True), part) for i, part in enumerate(outermost(expr)))
            self.kept["split", expr] = expr.xreplace({part: s for s, part in pairs}), pairs
        return self.kept["split", expr]

    def _partial(self, flat: Expr, symbol: Symbol) -> Expr:
        if ("partial", flat, symbol) not in self.kept:
            self.kept["partial", flat, symbol] = diff(flat, symbol)
        return self.kept["partial", flat, symbol]

    def _value(self, expr: Expr, known: Mapping[Symbol, Array]) -> Array:
        flat, pairs = self._split(expr)
        inner = {s: self.moment(part)(self._value(part.cov[0, 0], known)) for s, part in pairs}
        return plain(flat, {**known, **inner}, self.values)

    def _slope(self, expr: Expr, known: Mapping[Symbol, Array]) -> Array:
        """d/dq by the chain rule through the laws of the nodes."""
        flat, pairs = self._split(expr)
        laws = {s: self._value(part.cov[0, 0], known) for s, part in pairs}
        inner = {**known, **{s: self.moment(part)(laws[s]) for s, part in pairs}}
        total = plain(self._partial(flat, Q), inner, self.values)
        for s, part in pairs:
            change = self.moment(part).derivative(laws[s], inner[s]) * self._slope(part.cov[0, 0], known)
            total = total + plain(self._partial(flat, s), inner, self.values) * change
        return total

    def _curves(self, gap: Gap, known: Mapping[Symbol, Array]) -> dict[Symbol, tuple[Array, GapCurve, dict]]:
        found = {}
        for symbol, node, below in gap.inner:
            v = np.broadcast_to(self._value(node.cov[0, 0], known), known[Q].shape)
            found[symbol] = (v, self.gaps(node, v).at(v), self._curves(below, known))
        return found

    def _gap(self, gap: Gap, known: Mapping[Symbol, Array], curves: Mapping[Symbol, Any], rows: Array) -> Any:
        """(gap, d gap/de) at e."""
        template, pairs = self._split(gap.template)
        inner = dict(known)
        inner |= {s: self.moment(part)(self._value(part.cov[0, 0], known)) for s, part in pairs}
        changes = {}
        for symbol, _, below in gap.inner:
            v, curve, deeper = curves[symbol]
            size, change = self._gap(below, known, deeper, rows)
            share = size / v[rows]
            t = np.sqrt(share)
            ratio, slope = curve[rows](t)
            inner[symbol] = v[rows] * share * ratio
            changes[symbol] = (ratio + t * slope / 2) * change
        value = plain(template, inner, self.values)
        total = plain(self._partial(template, E), inner, self.values)
        for symbol, change in changes.items():
            total = total + plain(self._partial(template, symbol), inner, self.values) * change
        return value, total

    def _size(self, gap: Gap, known: Mapping[Symbol, Array]) -> Array:
        """The gap at e, as in `_gap`."""
        template, pairs = self._split(gap.template)
        inner = dict(known)
        inner |= {s: self.moment(part)(self._value(part.cov[0, 0], known)) for s, part in pairs}
        for symbol, node, below in gap.inner:
            v = np.broadcast_to(self._value(node.cov[0, 0], known), known[Q].shape)
            size = self._size(below, known)
            inner[symbol] = size * self.gaps(node, v).ratio(v, np.sqrt(size / v))
        return plain(template, inner, self.values)

    def function(self, body: Expr) -> FloatFunction:
        """A function of x, sampled once."""
        if ("function", body) not in self.kept:
            self.kept["function", body] = float_function(body, self.values)
        return self.kept["function", body]

    def moment(self, node: Expr) -> Moment:
        """E f(sqrt(v) Z) of a node with one variable, tabulated once."""
        if ("moment", node) not in self.kept:
            if not isinstance(node, GaussianE) or node.cov.rows != 1 or not node.mean.is_zero_matrix:
                raise Unsupported("an expectation over more than one unit, over a whole grid", where=str(node)[:80])
            body = canonical(node).body
            if ("body", body) not in self.kept:
                self.kept["body", body] = moment(self.function(body))
            self.kept["moment", node] = self.kept["body", body]
        return self.kept["moment", node]

    def gaps(self, node: GaussianE, v: Array) -> GapTable:
        """The gap of a pair over the variances asked for."""
        f, g = pair_factors(canonical(node))
        return gap_table(self.function(f), self.function(g), float(v.min()), float(v.max()))


def plain(expr: Expr, known: Mapping[Symbol, Array], values: Mapping[str, Any]) -> Array:
    """An expression of sums, products and powers as arrays."""
    return _arrays(expr)(known, values)


@lru_cache(maxsize=512)
def _arrays(expr: Expr) -> Callable[[Mapping[Symbol, Array], Mapping[str, Any]], Array]:
    """The expression as a function of `known` and `values`: its tree is walked once, not in every layer."""
    if expr.is_Rational:
        number = np.float64(float(expr))
        return lambda known, values: number
    if isinstance(expr, Symbol):
        return lambda known, values: known[expr] if expr in known else np.float64(float(values[expr.name]))
    args = [_arrays(arg) for arg in expr.args]
    if isinstance(expr, (Add, Mul)):
        join = operator.add if isinstance(expr, Add) else operator.mul
        return lambda known, values: reduce(join, [arg(known, values) for arg in args])
    if isinstance(expr, Pow) and expr.exp.is_Rational:
        base, power = args[0], float(expr.exp)
        if power == 0.5:
            return lambda known, values: np.sqrt(base(known, values))
        return lambda known, values: base(known, values) ** power
    if expr.is_number:
        constant = np.float64(float(expr))
        return lambda known, values: constant
    if isinstance(expr, (Abs, sign)):
        head = np.abs if isinstance(expr, Abs) else np.sign
        return lambda known, values: head(args[0](known, values))
    raise Unsupported(f"the function {expr.func.__name__} over a whole grid", where=str(expr)[:80])


__all__ = ["GridMaps", "TemplateMaps", "gap_of"]
