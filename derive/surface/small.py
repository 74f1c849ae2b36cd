"""Which results lose digits at small or large variances, and the functions that compute them there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sympy import Derivative, Expr, Symbol, cos, exp, limit, sin

from derive.activation.normal_form import breakpoints, derivative, normal_form, to_piecewise
from derive.emit import EmittedFunction, pair_bindings
from derive.emit.bent import bent_source
from derive.emit.small import BACKENDS as SMALL_BACKENDS
from derive.emit.small import careful_source, choose_source, small_source
from derive.gaussian import numbers
from derive.gaussian.factors import pair_factors
from derive.gaussian.node import GaussianE, pair
from derive.program.operations.bivariate_normal_cdf import BivariateNormalCdf
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.symbols import X
from derive.surface.bent import Bent, Mean, bent_part, reach
from derive.surface.measured import form_for_code
from derive.surface.near_zero import near_zero


@dataclass(frozen=True)
class Part:
    """One expectation of a careful result.

    law    its variances and correlation as text: ("q",), ("q1",), ("q1", "q2", "c")
    f      the function f of E f(x) or E f(u) f(v)
    slope  E f'(u) f'(v), closed, of a pair
    own    parameters of f
    """

    law: tuple[str, ...]
    f: Expr
    slope: Expr | None
    own: tuple[str, ...]

    def functions(self, name: str) -> list[EmittedFunction]:
        """f and the slope."""
        made = [EmittedFunction(f"{name}_phi", near_zero(self.f), ("x",), self.own)]
        if self.slope is not None:
            law = ("q1", "q2", "c")
            made.append(EmittedFunction(f"{name}_slope", self.slope, law, self.own, bindings=pair_bindings()))
        return made

    def line(self, name: str, target: str) -> str:
        """The line that integrates it."""
        given = "".join(f", {k}={k}" for k in self.own)
        function = f"lambda x: {name}_phi(x{given})"
        if self.slope is None:
            return f"{target} = _dyadic_mean({function}, {self.law[0]})"
        return f"{target} = _by_correlation({function}, lambda *z: {name}_slope(*z{given}), {', '.join(self.law)})"


@dataclass(frozen=True)
class Careful:
    """A result as a function of expectations that are integrated: `of` has the symbol e0, e1, ... for each part.

    measured   whether elsewhere the form stands that was measured to keep most digits, and not the closed form
    """

    parts: tuple[Part | Mean | Bent, ...]
    of: Expr
    measured: bool = False

    @property
    def small(self) -> bool:
        """Whether it is integrated at small variances only."""
        return isinstance(self.parts[0], Part)


def careful_parts(result: Any, backend: str) -> Careful | None:
    """The parts, where the closed form cancels; else None.

    It has exponentials beside normal distribution functions and f(0) = 0, and cancels at small variances; or f is a
    piecewise polynomial with breakpoints away from 0 (not in JAX, whose compiler takes minutes for the panels).
    """
    closed, found = result.closed, None
    if closed.has(exp) and closed.has(NormalCdf, BivariateNormalCdf):
        found = _all(result, _part)
    return found if found or backend == "jax" else _all(result, bent_part)


def careful_waves(result: Any) -> Careful | None:
    """The parts of a result of waves such as x - sin(x), smooth and 0 at 0, that cancels where variances are small."""
    found = _all(result, partial(_part, waves=True))
    return None if found is None else replace(found, measured=True)


def _all(result: Any, part_of: Callable[..., tuple[Any, Expr] | None]) -> Careful | None:
    template, parts = result.template, []
    for node in numbers.outermost(template):
        found = part_of(node, result.parameters)
        if found is None:
            return None
        part, factor = found
        template = template.xreplace({node: factor * Symbol(f"e{len(parts)}", real=True)})
        parts.append(part)
    return Careful(tuple(parts), template) if parts else None


def _part(node: Expr, parameters: tuple[str, ...], waves: bool = False) -> tuple[Part, Expr] | None:
    """A node as a factor times a part; d/dq E h(x) is E x h'(x)/(2 q). With `waves` of sines and cosines."""
    if isinstance(node, Derivative):
        inner, variable = node.expr, node.variables[0]
        if len(node.variables) != 1 or not isinstance(inner, GaussianE) or list(inner.cov) != [variable]:
            return None
        form = normal_form(inner.body.subs(inner.variables[0], X))
        slope, jumps = derivative(form)
        if jumps:
            return None
        f, factor, law = X * to_piecewise(slope), 1 / (2 * variable), (variable.name,)
        return _checked(law, f, None, parameters, factor, waves)
    if not isinstance(node, GaussianE) or not node.mean.is_zero_matrix:
        return None
    if len(node.variables) == 1:
        if not node.cov[0, 0].is_Symbol:
            return None
        factor, f = node.body.subs(node.variables[0], X).as_independent(X, as_Add=False)
        return _checked((node.cov[0, 0].name,), f, None, parameters, factor, waves)
    if node != numbers.canonical(node):
        return None
    (scale1, f), (scale2, second) = (g.as_independent(X, as_Add=False) for g in pair_factors(node))
    if f != second:
        return None
    slope, jumps = derivative(normal_form(f))
    inner = pair(to_piecewise(slope), to_piecewise(slope))
    formula = None if jumps else numbers.closed_form(inner)
    if formula is not None and waves:
        formula = form_for_code(inner, formula, integrates=False)
    return None if formula is None else _checked(("q1", "q2", "c"), f, formula, parameters, scale1 * scale2, waves)


def _checked(law: tuple[str, ...], f: Expr, slope: Expr | None, parameters: tuple[str, ...], factor: Expr, waves: bool):
    """The part, where f is 0 at 0 and continuous with its only kink there, or smooth and made of waves."""
    form = normal_form(f)
    kind = f.has(sin, cos) if waves else f.has(exp)
    if not kind or tuple(breakpoints(form)) != (() if waves else (0,)) or limit(to_piecewise(form), X, 0) != 0:
        return None
    own = tuple(sorted(s.name for s in f.free_symbols if s.name in parameters))
    return Part(law, f, slope, own), factor


def careful_functions(made: EmittedFunction, careful: Careful, result: Any) -> list[EmittedFunction]:
    """The closed function under a private name, those of each part, and the result as a function of expectations."""
    name = made.name
    stand_ins = tuple(f"e{i}" for i in range(len(careful.parts)))
    bindings = pair_bindings() if "c" in result.arguments else ()
    functions = [
        replace(made, name=f"_{name}_closed", doc=""),
        EmittedFunction(f"_{name}_of", careful.of, (*made.arguments, *stand_ins), made.parameters, bindings=bindings),
    ]
    for i, part in enumerate(careful.parts):
        functions += part.functions(f"_{name}_{i}")
    if not careful.small:
        own = tuple(sorted({name for part in careful.parts for name in part.own}))
        breaks = [at for part in careful.parts if not isinstance(part, Part) for at in part.breaks]
        for suffix, value in zip(("near", "reach"), reach(breaks), strict=True):
            functions.append(EmittedFunction(f"_{name}_{suffix}", value, ("q",), own))
    return functions


def careful_text(found: list[tuple[EmittedFunction, Careful]], backend: str) -> str:
    """The source of the public functions."""
    types = {
        "numpy": ("ArrayLike", "ArrayLike", "NDArray[np.floating]"),
        "torch": ("torch.Tensor", "float | torch.Tensor", "torch.Tensor"),
        "jax": ("jax.typing.ArrayLike", "jax.typing.ArrayLike", "jax.Array"),
    }[backend]
    parts = [choose_source(backend)]
    if any(careful.small for _, careful in found):
        parts.append(small_source(backend))
    if not all(careful.small for _, careful in found):
        parts.append(bent_source(backend))
    for made, careful in found:
        words = [f"{a}: {types[0]}" for a in made.arguments] + (["*"] if made.parameters else [])
        words += [f"{k}: {types[1]}" for k in made.parameters]
        head = f"def {made.name}({', '.join(words)}) -> {types[2]}:"
        where = (
            "Where a variance is below 0.05 the formula cancels"
            if careful.small
            else "Where a root of a variance is far from the breakpoints the formula cancels"
        )
        doc = f"{made.doc}\n{where} and the expectation is integrated."
        lines = [part.line(f"_{made.name}_{i}", f"e{i}") for i, part in enumerate(careful.parts)]
        chosen = _chosen(made, careful)
        parts.append(careful_source(backend, made.name, made.arguments, made.parameters, lines, chosen, head, doc))
    return "\n\n\n".join(parts) + "\n"


def _chosen(made: EmittedFunction, careful: Careful) -> list[str]:
    """The lines that say where the expectations are integrated."""
    variances = ("q1", "q2") if "c" in made.arguments else ("q",)
    if careful.small:
        return ["return " + " | ".join(f"({q} < 0.05)" for q in variances)]
    given = "".join(f", {k}={k}" for k in sorted({name for part in careful.parts for name in part.own}))
    tests = [f"({q} > 4*_{made.name}_reach({q}{given}))" for q in variances]
    if any(isinstance(part, Mean) for part in careful.parts):
        tests += [f"({q} < 0.1*_{made.name}_near({q}{given}))" for q in variances]
    return ["return " + " | ".join(tests)]


__all__ = ["SMALL_BACKENDS", "Careful", "careful_functions", "careful_parts", "careful_text", "careful_waves"]
