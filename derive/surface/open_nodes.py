"""Open expectations as lines of emitted code: with laws of their own, nested, or of the largest of several units."""

from __future__ import annotations

from sympy import Derivative, Expr, Mul, Symbol, sqrt

from derive.activation.normal_form import breakpoints, derivative, normal_form, to_piecewise
from derive.emit import EmittedFunction, pair_bindings
from derive.gaussian import numbers
from derive.gaussian.factors import pair_factors
from derive.gaussian.maxima import reduced
from derive.gaussian.maxima.pairs import paired
from derive.gaussian.node import GaussianE, single
from derive.program.operations.correlation import Correlation
from derive.program.symbols import DELTA, K, X
from derive.records import Unsupported
from derive.surface.near_zero import near_zero
from derive.surface.results import resolve
from derive.surface.surrogates import Box, quick

DIFFERENTIATING = ("torch", "jax")
"""Backends whose quadrature is told that a function jumps, so that its slope is none."""


class OpenNodes:
    """Collects what computes the open expectations of one result.

    functions  emitted integrands and laws
    lines      assignments `e0 = ...`, in the order of need
    words      what the docstring says of surrogates
    symbols    node -> the symbol that stands for it
    """

    def __init__(self, name: str, law: tuple[str, ...], keywords: tuple[str, ...], backend: str, box: Box | None):
        self.name, self.law, self.keywords, self.backend, self.box = name, law, keywords, backend, box
        self.functions: list[EmittedFunction] = []
        self.lines: list[str] = []
        self.words: list[str] = []
        self.symbols: dict[Expr, Symbol] = {}

    def flat(self, expr: Expr) -> Expr:
        """The expression with a symbol for each open node; what is needed for them is collected."""
        for part in numbers.outermost(expr):
            if part not in self.symbols:
                self._add(part)
        return expr.xreplace(self.symbols)

    def _add(self, part: Expr) -> None:
        if isinstance(part, Derivative) or not isinstance(part, GaussianE):
            raise Unsupported("code for a derivative of an expectation without a closed form", instead=".number()")
        cov = [self.flat(resolve(entry, code=True)) for entry in part.cov]
        target, prefix = f"e{len(self.symbols)}", f"_{self.name}_{len(self.symbols)}"
        line, law = (self._single if len(part.variables) == 1 else self._pair)(part, cov, target, prefix)
        if "_weighted(" not in line:
            line, words = quick(part, line, prefix, self.backend, self.box, law)
            self.words += words
        self.lines.append(line)
        self.symbols[part] = Symbol(target, real=True)

    def _single(self, node: GaussianE, cov: list[Expr], target: str, prefix: str) -> tuple[str, str]:
        body = node.body.subs(node.variables[0], X)
        law = self._law(cov[0], f"{target}q", f"{prefix}q")
        own = [p for p in Mul.make_args(body) if p.free_symbols & node.cov.free_symbols]
        f = Mul(*(p for p in Mul.make_args(body) if p not in own))
        given = self._function(f"{prefix}f", f)
        if not own:
            return f"{target} = _expectation({given}, {law}, {self._breaks((f,))})", law
        weight = Mul(*own).subs(X, sqrt(node.cov[0, 0]) * X)
        if weight.free_symbols - {X}:
            raise Unsupported("code for an integrand that depends on its own law", where=str(body), instead=".number()")
        return (
            f"{target} = _weighted({given}, {self._function(f'{prefix}w', weight)}, {law}, {self._breaks((f,))})",
            law,
        )

    def _pair(self, node: GaussianE, cov: list[Expr], target: str, prefix: str) -> tuple[str, str]:
        if len(node.variables) > 2 or node.body.has(*_joint(node)):
            raise _refusal(node)
        f, g = pair_factors(node)
        if node.cov == numbers.canonical(node).cov:
            law = "q1, q2, c"
        else:
            among = Correlation(cov[1] / sqrt(cov[0]) / sqrt(cov[3]))
            parts = zip((cov[0], cov[3], among), ("q", "r", "c"), strict=True)
            law = ", ".join(self._law(expr, f"{target}{end}", f"{prefix}{end}") for expr, end in parts)
        calls = []
        for suffix, body in (("f", f), ("g", g)):
            slope, jumps = derivative(normal_form(body))
            own = self._function(f"{prefix}{suffix}", body)
            other = self._function(f"{prefix}d{suffix}", to_piecewise(slope))
            calls.append((own, "None" if jumps and self.backend in DIFFERENTIATING else other))
        shown = ", ".join(call for both in zip(*calls, strict=True) for call in both)
        return f"{target} = _pair({shown}, {law}, {self._breaks((f, g))})", law

    def _function(self, name: str, body: Expr) -> str:
        """Emits a function of x; returns the text that calls it with the parameters it has."""
        own = tuple(sorted(s.name for s in body.free_symbols if s.name in self.keywords))
        self.functions.append(EmittedFunction(name, near_zero(body), ("x",), own))
        return f"lambda x: {name}(x{''.join(f', {p}={p}' for p in own)})"

    def _law(self, expr: Expr, target: str, name: str) -> str:
        """A variance or correlation as text: an argument's name, or one that a line of its own gives."""
        if expr.is_Symbol and expr.name in self.law:
            return str(expr.name)
        known = (*self.law, *(s.name for s in self.symbols.values()))
        bindings = pair_bindings() if expr.has(K, DELTA) else ()
        self.functions.append(EmittedFunction(name, expr, known, self.keywords, bindings=bindings))
        given = ", ".join((*known, *(f"{k}={k}" for k in self.keywords)))
        self.lines.append(f"{target} = {name}({given})")
        return target

    def _breaks(self, bodies: tuple[Expr, ...]) -> str:
        """Breakpoints other than 0 as source text."""
        found = [b for body in bodies for b in breakpoints(normal_form(body)) if b != 0]
        if any(b.free_symbols for b in found):
            raise Unsupported(
                "code with breakpoints that depend on parameters", instead="fix the parameters, or .number()"
            )
        values = sorted({float(b) for b in found})
        return "(" + "".join(f"{v!r}, " for v in values) + ")"


def by_order_statistics(expr: Expr) -> Expr:
    """The expression with each open expectation of the largest of exchangeable units as one of one variable.

    Its law is that of f times a weight w(z) at x = sqrt(q) z, so that d/dq of it is E x f'(x) w(z)/(2 q).
    """
    found = {}
    for part in numbers.outermost(expr):
        node = part.expr if isinstance(part, Derivative) else part
        if not isinstance(node, GaussianE) or len(node.variables) < 2 or numbers.closed_form(node) is not None:
            continue
        line = reduced(node)
        if line is not None and isinstance(part, Derivative):
            line = _slope(line, part)
        if line is not None:
            found[part] = line
    return expr.xreplace(found)


def _slope(line: Expr, part: Derivative) -> Expr | None:
    """The derivative in q of an expectation of one N(0, q) variable, its weight a function of x/sqrt(q)."""
    if not isinstance(line, GaussianE) or part.variables != (line.cov[0, 0],):
        return None
    q, body = line.cov[0, 0], line.body.subs(line.variables[0], X)
    weight = Mul(*(p for p in Mul.make_args(body) if q in p.free_symbols))
    slope, jumps = derivative(normal_form(body / weight))
    return None if jumps else single(X * to_piecewise(slope) * weight, q) / (2 * q)


def _joint(node: GaussianE) -> tuple[type, ...]:
    """Heads under which both variables of a pair meet, so that its integrand is no product."""
    from sympy import Heaviside, Max, Min

    both = set(node.variables)
    return tuple({type(p) for p in node.body.atoms(Max, Min, Heaviside) if both <= p.free_symbols})


def _refusal(node: GaussianE) -> Unsupported:
    if paired(node) is not None:
        what = f"code for two inputs behind a maximum over {len(node.variables) // 2} units"
        why = "the covariance of two maxima has no closed form here, and its integral is over the plane"
    else:
        what, why = f"code for an expectation over {len(node.variables)} variables without a closed form", ""
    return Unsupported(what, where=str(node.body)[:200], why=why, instead=".number()")


__all__ = ["OpenNodes", "by_order_statistics"]
