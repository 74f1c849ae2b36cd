"""Expectations in which the logistic family occurs, as finite sums of closed forms with a proved bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from flint import acb, arb, fmpq
from sympy import Add, Expr, Integer, Lambda, Mul, Rational, Symbol, expand, sqrt

from derive.gaussian.answer import answer
from derive.gaussian.node import GaussianE
from derive.gaussian.series.atoms import smoothed
from derive.gaussian.series.heads import Head, parts
from derive.gaussian.series.mixture import Mixture, mixture
from derive.gaussian.series.tanh_powers import largest_derivative
from derive.gaussian.stops import Blocked
from derive.program import freeze, run_balls
from derive.program.symbols import X
from derive.records import EocError, Kind, Unsupported

MOST_SUMS = 2
"""Products of more heads are n^3 terms or more."""


@dataclass(frozen=True)
class SeriesAnswer:
    """E F = constant + sum_i w_i single(s_i) + sum_ij w_i w_j double(s_i, s_j) + error.

    node       the expectation
    constant, single, double   closed forms in the law's symbols, the parameters and the scales `symbols`
    mixture    the scales s_i and weights w_i
    bounds     expressions in expectations; |error| is at most the least of them
    """

    node: GaussianE
    constant: Expr
    single: Expr
    double: Expr
    symbols: tuple[Symbol, Symbol]
    mixture: Mixture
    bounds: tuple[Expr, ...]

    kind = Kind.SERIES

    @property
    def order(self) -> int:
        """The number of scales."""
        return len(self.mixture.scales)

    @property
    def bound(self) -> Expr:
        """The first of the bounds, which holds for every law."""
        return self.bounds[0]

    @cached_property
    def symmetric(self) -> bool:
        """Whether double(s, t) = double(t, s), so that pairs i < j suffice."""
        s, t = self.symbols
        return bool(self.double == self.double.subs({s: t, t: s}, simultaneous=True))

    def terms(self) -> Iterator[tuple[Fraction, Expr, tuple[Fraction, ...]]]:
        """(weight, template, scales) of each summand."""
        if self.constant != 0:
            yield Fraction(1), self.constant, ()
        scales, weights = self.mixture.scales, self.mixture.weights
        if self.single != 0:
            for s, w in zip(scales, weights, strict=True):
                yield w, self.single, (s,)
        if self.double != 0:
            for i, j in product(range(len(scales)), repeat=2):
                if self.symmetric and i > j:
                    continue
                twice = 2 if self.symmetric and i != j else 1
                yield twice * weights[i] * weights[j], self.double, (scales[i], scales[j])

    @cached_property
    def closed(self) -> Expr:
        """The sum written out."""
        summands = []
        for weight, template, scales in self.terms():
            values = {symbol: _rational(scale) for symbol, scale in zip(self.symbols, scales, strict=False)}
            summands.append(_rational(weight) * template.xreplace(values))
        return Add(*summands)

    def ball(self, values: Mapping[str, Any]) -> arb:
        """The sum at numbers (exact or balls, by name, Delta = q1 q2 - K^2 among them), without the error."""
        given = {name: acb(value) if isinstance(value, arb) else acb(_ball(value)) for name, value in values.items()}
        total = arb(0)
        for weight, template, scales in self.terms():
            inputs = tuple(sorted(template.free_symbols, key=str))
            own = {symbol.name: acb(_ball(s)) for symbol, s in zip(self.symbols, scales, strict=False)}
            both = {**given, **own}
            missing = [s.name for s in inputs if s.name not in both]
            if missing:
                raise EocError(f"no value for {missing[0]}", instead=f"give {missing[0]} a number")
            program = _program(template, inputs)
            value = run_balls(program, {s.name: both[s.name] for s in inputs})["value"].real
            total = total + _ball(weight) * value
        return total


@dataclass(frozen=True)
class _Term:
    """A product of atoms and heads, one atom a variable."""

    atoms: tuple[tuple[Symbol, Expr], ...]
    heads: tuple[tuple[Symbol, Head], ...]


@lru_cache(maxsize=256)
def series_answer(node: GaussianE, accuracy: Fraction) -> SeriesAnswer:
    """The expectation as a finite sum of closed forms, tanh being replaced by a mixture with that uniform accuracy.

    Stands for products of at most two of tanh, the logistic function and its kin (affine arguments) with atoms; any
    power of tanh of one argument counts once. Kind: SERIES.

    Raises Blocked with the parts that are neither of the family nor atoms, Unsupported where an expectation
    of the sum has no closed form or more than two sums would be needed.
    """
    terms = _terms(node)
    most = max(len(term.heads) for term in terms)
    if most == 0:
        raise Unsupported("no member of the logistic family occurs", where=str(node.body), instead="the exact answer")
    if most > MOST_SUMS:
        raise Unsupported(
            f"a product of {most} different functions of the logistic family",
            where=str(node.body),
            why=f"its series would be a sum over {most} indices",
            instead=".number() without a series",
        )
    highest = max(head.order for term in terms for _, head in term.heads)
    found = mixture(accuracy, max(highest, 1))
    symbols = _scale_symbols(node)
    templates = [_closed(node, [t for t in terms if len(t.heads) == n], symbols) for n in range(MOST_SUMS + 1)]
    bounds = tuple(dict.fromkeys(_bound(node, terms, found, small) for small in (False, True)))
    return SeriesAnswer(node, templates[0], templates[1], templates[2], symbols, found, bounds)


def _terms(node: GaussianE) -> list[_Term]:
    """The integrand as a sum of products of atoms and heads."""
    terms = []
    for summand in _products(node):
        factors = [(z, parts(Mul(*own).xreplace({z: X}))) for z, own in summand]
        for choice in product(*(found for _, found in factors)):
            atoms = tuple((z, part.atom) for (z, _), part in zip(factors, choice, strict=True))
            heads = tuple((z, head) for (z, _), part in zip(factors, choice, strict=True) for head in part.heads)
            terms.append(_Term(atoms, heads))
    return terms or [_Term((), ())]


def _products(node: GaussianE) -> list[list[tuple[Symbol, list[Expr]]]]:
    """The integrand as a sum of products of functions of one variable each."""
    zs = node.variables
    if len(zs) == 1:
        return [[(zs[0], [node.body])]]
    summands = []
    for term in Add.make_args(node.body if node.body.is_Mul else expand(node.body)):
        groups: dict[Symbol, list[Expr]] = {z: [] for z in zs}
        for factor in Mul.make_args(term):
            mine = [z for z in zs if factor.has(z)]
            if len(mine) > 1:
                raise Blocked([factor])
            groups[mine[0] if mine else zs[0]].append(factor)
        summands.append(list(groups.items()))
    return summands


def _closed(node: GaussianE, terms: list[_Term], symbols: tuple[Symbol, Symbol]) -> Expr:
    """The closed form of the terms with one same number of heads, each head smoothed to a scale of its own."""
    bodies = []
    for term in terms:
        factors = [atom.xreplace({X: z}) for z, atom in term.atoms]
        factors += [smoothed(h, s).xreplace({X: z}) for (z, h), s in zip(term.heads, symbols, strict=False)]
        bodies.append(Mul(*factors))
    body = Add(*bodies)
    if body == 0 or not body.has(*node.variables):
        return body
    reply = answer(GaussianE(Lambda(node.variables, body), node.cov, node.mean))
    if reply.closed is None:
        raise Unsupported(
            "an expectation of the series has no closed form",
            where=str(body),
            why="; ".join(reply.blockers) or reply.condition,
            instead=".number() without a series",
        )
    return reply.closed


def _bound(node: GaussianE, terms: list[_Term], found: Mixture, small: bool) -> Expr:
    """|E F - series| from |head - mixture| <= e and |head| <= M; with `small` from e' |y| and |y| for odd heads.

    tanh and its mixture have slope in [0, 1] and [0, 1 + e'] and vanish at 0; log cosh is an integral of tanh.
    """
    total: Expr = Integer(0)
    for term in terms:
        errors, sizes = [], []
        factors = dict(term.atoms)
        for z, head in term.heads:
            linear = head.order < 0 or (small and head.order == 0)
            if linear:
                factors[z] = factors[z] * head.argument
            error = found.bounds[1 if small and head.order == 0 else max(head.order, 0)]
            errors.append(_rational(error))
            sizes.append(Integer(1) if linear else _rational(largest_derivative(head.order)))
        if errors:
            whole = Mul(*(size + error for size, error in zip(sizes, errors, strict=True))) - Mul(*sizes)
            total += whole * _size(node, factors)
    return total


def _size(node: GaussianE, factors: Mapping[Symbol, Expr]) -> Expr:
    """sqrt(prod E a(z)^2) >= E |prod a(z)|."""
    squares: list[Expr] = []
    for i, z in enumerate(node.variables):
        square = expand(factors.get(z, Integer(1)) ** 2)
        if not square.has(X):
            squares.append(square)
            continue
        squares.append(GaussianE(Lambda((X,), square), [[node.cov[i, i]]], [node.mean[i]]))
    return sqrt(Mul(*squares))


def _scale_symbols(node: GaussianE) -> tuple[Symbol, Symbol]:
    taken, prefix = {s.name for s in node.free_symbols}, "scale_"
    while prefix + "1" in taken or prefix + "2" in taken:
        prefix = "_" + prefix
    return Symbol(prefix + "1", positive=True), Symbol(prefix + "2", positive=True)


@lru_cache(maxsize=256)
def _program(template: Expr, inputs: tuple[Symbol, ...]):
    return freeze({"value": template}, inputs)


def _rational(value: Fraction) -> Expr:
    return Rational(value.numerator, value.denominator)


def _ball(value: Fraction | int) -> arb:
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


__all__ = ["SeriesAnswer", "series_answer"]
