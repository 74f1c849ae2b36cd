"""Piecewise polynomials with breakpoints away from 0: their expectations as integrals that do not cancel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from sympy import Derivative, Expr, Max, Min, Piecewise, StrictGreaterThan, StrictLessThan, exp, pi, sqrt

from derive.activation.normal_form import NormalForm, derivative, is_ordered, jumps, normal_form, to_piecewise
from derive.emit import EmittedFunction
from derive.gaussian.factors import pair_factors
from derive.gaussian.forms import canonical, closed_form
from derive.gaussian.node import GaussianE, single
from derive.program.symbols import Q, X


@dataclass(frozen=True)
class Mean:
    """E f(x), x ~ N(0, q): the tails beyond the outermost breakpoints, closed, and the integral between them.

    law     the name of the variance
    f       the function
    tails   the closed share of the tails
    breaks  breakpoints in ascending order
    own     parameters
    """

    law: tuple[str, ...]
    f: Expr
    tails: Expr
    breaks: tuple[Expr, ...]
    own: tuple[str, ...]

    def functions(self, name: str) -> list[EmittedFunction]:
        """f, the tails, and the breakpoints that are no numbers."""
        return [
            EmittedFunction(f"{name}_f", self.f, ("x",), self.own),
            EmittedFunction(f"{name}_tails", self.tails, ("q",), self.own),
            *_named(f"{name}_at", self.breaks, self.own),
        ]

    def text(self, name: str, q: str) -> str:
        """The expectation at the variance q."""
        places = _texts(f"{name}_at", self.breaks, self.own, q)
        given = _given(self.own)
        parts = [f"_between(lambda x: {name}_f(x{given}), {q}, {low}, {high})" for low, high in pairwise(places)]
        return " + ".join((f"{name}_tails({q}{given})", *parts))

    def line(self, name: str, target: str) -> str:
        """The line that computes it."""
        return f"{target} = {self.text(name, *self.law)}"


@dataclass(frozen=True)
class Bent:
    """E f(u) f(v) from the expectations of f and its derivatives below the order, and the jumps of the last of them.

    law       ("q1", "q2", "c")
    means     of f, f', f'' away from breakpoints, as many as the order
    places    where f or a derivative jumps
    heights   the jumps of the last derivative there
    kinks     the jumps of f' there, where the order is 3
    own       parameters
    """

    law: tuple[str, ...]
    means: tuple[Mean, ...]
    places: tuple[Expr, ...]
    heights: tuple[Expr, ...]
    kinks: tuple[Expr, ...]
    own: tuple[str, ...]

    @property
    def breaks(self) -> tuple[Expr, ...]:
        """Where f bends or jumps."""
        return self.places

    def functions(self, name: str) -> list[EmittedFunction]:
        """Those of the means, and the bends."""
        made = [f for i, mean in enumerate(self.means) for f in mean.functions(f"{name}_d{i}")]
        if any(self.kinks):
            made.append(EmittedFunction(f"{name}_dirac", self._dirac(), ("q",), self.own))
        for suffix, values in (("at", self.places), ("bend", self.heights), ("kink", self.kinks)):
            made += _named(f"{name}_{suffix}", values, self.own)
        return made

    def _dirac(self) -> Expr:
        """The share of the kinks in E f''."""
        both = zip(self.places, self.kinks, strict=True)
        return sum((k * exp(-(a**2) / (2 * Q)) for a, k in both), X * 0) / sqrt(2 * pi * Q)

    def line(self, name: str, target: str) -> str:
        """The line that computes it."""
        q1, q2, c = self.law
        terms = []
        for i, mean in enumerate(self.means):
            more = f" + {name}_dirac({{}}{_given(self.own)})" if i == 2 and any(self.kinks) else ""
            both = "*".join(f"({mean.text(f'{name}_d{i}', q)}{more.format(q)})" for q in (q1, q2))
            terms.append(("", f"{c}*{q1}**0.5*{q2}**0.5*", f"0.5*{c}**2*{q1}*{q2}*")[i] + both)
        lists = []
        for suffix, values in (("at", self.places), ("bend", self.heights), ("kink", self.kinks)):
            lists.append("(" + "".join(f"{t}, " for t in _texts(f"{name}_{suffix}", values, self.own, q1)) + ")")
        places, heights, kinks = lists
        terms.append(f"_bends({q1}, {q2}, {c}, {places}, {heights}, {len(self.means)}, {kinks})")
        return f"{target} = " + " + ".join(terms)


def bent_part(node: Expr, parameters: tuple[str, ...]) -> tuple[Mean | Bent, Expr] | None:
    """A node as a factor times a part, where it is one of a piecewise polynomial; else None."""
    if isinstance(node, Derivative):
        inner, variable = node.expr, node.variables[0]
        if len(node.variables) != 1 or not isinstance(inner, GaussianE) or list(inner.cov) != [variable]:
            return None
        slope, dirac = derivative(normal_form(inner.body.subs(inner.variables[0], X)))
        if dirac:
            return None
        found = _mean(X * to_piecewise(slope), variable.name, parameters)
        return None if found is None else (found, 1 / (2 * variable))
    if not isinstance(node, GaussianE) or not node.mean.is_zero_matrix:
        return None
    if len(node.variables) == 1:
        if not node.cov[0, 0].is_Symbol:
            return None
        factor, f = node.body.subs(node.variables[0], X).as_independent(X, as_Add=False)
        found = _mean(f, node.cov[0, 0].name, parameters)
        return None if found is None else (found, factor)
    if len(node.variables) != 2 or node != canonical(node):
        return None
    (scale1, f), (scale2, second) = (g.as_independent(X, as_Add=False) for g in pair_factors(node))
    bent = _bent(f, parameters) if f == second else None
    return None if bent is None else (bent, scale1 * scale2)


def _pieces(f: Expr) -> NormalForm | None:
    """The normal form of a piecewise polynomial with ordered breakpoints, one of them not 0."""
    form = normal_form(f)
    ends = [cell.lower for cell in form.cells[1:]]
    if not is_ordered(form) or all(end == 0 for end in ends) or any(end.has(Max, Min) for end in ends):
        return None
    return form if all(cell.value.is_polynomial(X) for cell in form.cells) else None


def _mean(f: Expr, law: str, parameters: tuple[str, ...]) -> Mean | None:
    form = _pieces(f)
    if form is None:
        return None
    ends = tuple(cell.lower for cell in form.cells[1:])
    first, last = form.cells[0].value, form.cells[-1].value
    tails = ((first, StrictLessThan(X, ends[0])), (last, StrictGreaterThan(X, ends[-1])))
    parts = [Piecewise((value, where), (0, True)) for value, where in tails]
    closed = [closed_form(single(part, Q)) for part in parts if part != 0]
    found = [value for value in closed if value is not None]
    if len(found) < len(closed):
        return None
    own = tuple(sorted(s.name for s in f.free_symbols if s.name in parameters))
    return Mean((law,), to_piecewise(form), sum(found, X * 0), ends, own)


def _bent(f: Expr, parameters: tuple[str, ...]) -> Bent | None:
    """Of a function with one last derivative: piecewise constant; continuous and piecewise linear or quadratic.

    Only where that derivative is 0 beyond the breakpoints: else products of variances are the scale, and do not cancel.
    """
    form = _pieces(f)
    if form is None:
        return None
    own = tuple(sorted(s.name for s in f.free_symbols if s.name in parameters))
    forms, dirac = [form], [jumps(form)]
    while any(cell.value.has(X) for cell in forms[-1].cells):
        if len(forms) == 3 or (len(forms) == 1 and dirac[0]):
            return None
        forms.append(derivative(forms[-1])[0])
        dirac.append(jumps(forms[-1]))
    ends = [(part.cells[0].value, part.cells[-1].value) for part in forms]
    if any(ends[2]) if len(forms) == 3 else any(value.has(X) for value in ends[0]):
        return None
    means = tuple(mean for g in forms if (mean := _mean(to_piecewise(g), "q1", parameters)))
    if len(means) < len(forms):
        return None
    last = {jump.at: jump.height for jump in dirac[-1]}
    order = len(forms)
    kinks = {jump.at: jump.height for jump in dirac[1]} if order == 3 else {}
    places = tuple(dict.fromkeys((*last, *kinks)))
    heights = tuple(last.get(at, X * 0) for at in places)
    bends = tuple(kinks.get(at, X * 0) for at in places if order == 3)
    return Bent(("q1", "q2", "c"), means, places, heights, bends, own)


def _named(name: str, values: tuple[Expr, ...], own: tuple[str, ...]) -> list[EmittedFunction]:
    """A function of nothing but parameters for each value that has some; its argument gives shape and dtype."""
    return [EmittedFunction(f"{name}{i}", value, ("q",), own) for i, value in enumerate(values) if value.free_symbols]


def _texts(name: str, values: tuple[Expr, ...], own: tuple[str, ...], like: str) -> list[str]:
    return [
        f"{name}{i}({like}{_given(own)})" if value.free_symbols else repr(float(value))
        for i, value in enumerate(values)
    ]


def _given(own: tuple[str, ...]) -> str:
    return "".join(f", {k}={k}" for k in own)


def reach(breaks: list[Expr]) -> tuple[Expr, Expr]:
    """The smallest and the largest square of a breakpoint other than 0."""
    squares = {at**2 for at in breaks if at != 0}
    return Min(*squares), Max(*squares)


__all__ = ["Bent", "Mean", "bent_part", "reach"]
