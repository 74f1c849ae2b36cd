"""Piecewise polynomials with breakpoints away from 0: their expectations as integrals that do not cancel."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Derivative, Expr, Max, Min, Piecewise, oo

from derive.activation.normal_form import NormalForm, derivative, is_ordered, jumps, normal_form, to_piecewise
from derive.emit import EmittedFunction
from derive.gaussian import numbers
from derive.gaussian.factors import pair_factors
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
        parts = [
            f"_between(lambda x: {name}_f(x{given}), {q}, {low}, {high})"
            for low, high in zip(places[:-1], places[1:], strict=True)
        ]
        return " + ".join((f"{name}_tails({q}{given})", *parts))

    def line(self, name: str, target: str) -> str:
        """The line that computes it."""
        return f"{target} = {self.text(name, *self.law)}"


@dataclass(frozen=True)
class Bent:
    """E f(u) f(v) from E f, E f' and the bends of f (order 2), or from E f and its jumps (order 1)."""

    law: tuple[str, ...]
    mean: Mean
    slope: Mean | None
    places: tuple[Expr, ...]
    heights: tuple[Expr, ...]
    own: tuple[str, ...]

    @property
    def breaks(self) -> tuple[Expr, ...]:
        """Where f bends or jumps."""
        return self.places

    def functions(self, name: str) -> list[EmittedFunction]:
        """Those of the means, and the bends."""
        made = self.mean.functions(f"{name}_mean")
        made += self.slope.functions(f"{name}_slope") if self.slope else []
        return [
            *made,
            *_named(f"{name}_at", self.places, self.own),
            *_named(f"{name}_bend", self.heights, self.own),
        ]

    def line(self, name: str, target: str) -> str:
        """The lines that compute it."""
        q1, q2, c = self.law

        def both(mean: Mean, suffix: str) -> str:
            return f"({mean.text(name + suffix, q1)})*({mean.text(name + suffix, q2)})"

        text = both(self.mean, "_mean")
        if self.slope:
            text += f" + {c}*(({q1})**0.5*({q2})**0.5)*{both(self.slope, '_slope')}"
        places = "".join(f"{t}, " for t in _texts(f"{name}_at", self.places, self.own, q1))
        heights = "".join(f"{t}, " for t in _texts(f"{name}_bend", self.heights, self.own, q1))
        bends = f"_bends({q1}, {q2}, {c}, ({places}), ({heights}), {2 if self.slope else 1})"
        return f"{target} = {text} + {bends}"


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
    if len(node.variables) != 2 or node != numbers.canonical(node):
        return None
    (scale1, f), (scale2, second) = (g.as_independent(X, as_Add=False) for g in pair_factors(node))
    found = _bent(f, parameters) if f == second else None
    return None if found is None else (found, scale1 * scale2)


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
    parts = [Piecewise((first, X < ends[0]), (0, True)), Piecewise((last, X > ends[-1]), (0, True))]
    closed = [numbers.closed_form(single(part, Q)) for part in parts if part != 0]
    if None in closed:
        return None
    own = tuple(sorted(s.name for s in f.free_symbols if s.name in parameters))
    return Mean((law,), to_piecewise(form), sum(closed, X * 0), ends, own)


def _bent(f: Expr, parameters: tuple[str, ...]) -> Bent | None:
    """Of a function that is constant beyond its breakpoints, so that products of variances cancel."""
    form = _pieces(f)
    if form is None or form.cells[0].value.has(X) or form.cells[-1].value.has(X):
        return None
    own = tuple(sorted(s.name for s in f.free_symbols if s.name in parameters))
    mean, dirac = _mean(f, "q1", parameters), jumps(form)
    if mean is None:
        return None
    if not any(cell.value.has(X) for cell in form.cells):
        return Bent(("q1", "q2", "c"), mean, None, *_bends(dirac), own)
    slope, _ = derivative(form)
    if dirac or any(cell.value.has(X) for cell in slope.cells):
        return None
    slopes = _mean(to_piecewise(slope), "q1", parameters)
    return None if slopes is None else Bent(("q1", "q2", "c"), mean, slopes, *_bends(jumps(slope)), own)


def _bends(dirac: tuple) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    return tuple(jump.at for jump in dirac), tuple(jump.height for jump in dirac)


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


def reach(parts: tuple[Mean | Bent, ...]) -> tuple[Expr, Expr]:
    """The smallest and the largest square of a breakpoint other than 0."""
    squares = {b**2 for part in parts for b in part.breaks if b not in (0, oo)}
    return Min(*squares), Max(*squares)


__all__ = ["Bent", "Mean", "bent_part", "reach"]
