"""Which results lose digits at small variances, and the functions that compute them there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sympy import Expr, Integer, Symbol, exp, limit

from derive.activation.normal_form import breakpoints, derivative, normal_form, to_piecewise
from derive.emit import EmittedFunction, pair_bindings
from derive.emit.small import BACKENDS as SMALL_BACKENDS
from derive.emit.small import careful_source, small_source
from derive.gaussian import numbers
from derive.gaussian.factors import pair_factors
from derive.gaussian.node import GaussianE, pair
from derive.program.operations.bivariate_normal_cdf import BivariateNormalCdf
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.symbols import X

STAND_IN = Symbol("e", real=True)


@dataclass(frozen=True)
class Careful:
    """A result that is a function of one expectation E f(u) f(v) or E f(x).

    f      the function (of one variable: the whole integrand); slope E f'(u) f'(v), closed
    of     the result as an expression in STAND_IN for the expectation
    own    parameters of f
    """

    f: Expr
    slope: Expr | None
    of: Expr
    own: tuple[str, ...]


def careful_parts(result: Any) -> Careful | None:
    """The parts, where a closed form has exponentials beside normal distribution functions and f(0) = 0; else None."""
    nodes = numbers.outermost(result.template)
    if len(nodes) != 1 or not isinstance(nodes[0], GaussianE) or not nodes[0].mean.is_zero_matrix:
        return None
    node = nodes[0]
    closed = result.closed
    if not (closed.has(exp) and closed.has(NormalCdf, BivariateNormalCdf)):
        return None
    scale, f = _factor(node)
    if f is None or not f.has(exp):
        return None
    form = normal_form(f)
    if tuple(breakpoints(form)) != (0,) or limit(to_piecewise(form), X, 0) != 0:
        return None
    own = tuple(sorted(s.name for s in f.free_symbols if s.name in result.parameters))
    of = result.template.xreplace({node: scale * STAND_IN})
    if len(node.variables) == 1:
        return Careful(f, None, of, own)
    slope, jumps = derivative(form)
    formula = None if jumps else numbers.closed_form(pair(to_piecewise(slope), to_piecewise(slope)))
    return None if formula is None else Careful(f, formula, of, own)


def _factor(node: GaussianE) -> tuple[Expr, Expr | None]:
    """A constant and f with node = constant E f(u) f(v), or constant E f(x); no f where there is none."""
    one = Integer(1)
    if node != numbers.canonical(node):
        return one, None
    if len(node.variables) == 1:
        return node.body.as_independent(X, as_Add=False)
    (scale1, first), (scale2, second) = (f.as_independent(X, as_Add=False) for f in pair_factors(node))
    return (scale1 * scale2, first) if first == second else (one, None)


def careful_functions(made: EmittedFunction, parts: Careful, result: Any) -> list[EmittedFunction]:
    """The closed function under a private name, f, the slope, and the result as a function of the expectation."""
    name, law = made.name, ("q1", "q2", "c")
    functions = [
        replace(made, name=f"_{name}_closed", doc=""),
        EmittedFunction(f"_{name}_phi", parts.f, ("x",), parts.own),
        EmittedFunction(f"_{name}_of", parts.of, (*made.arguments, "e"), made.parameters),
    ]
    if parts.slope is not None:
        functions.append(EmittedFunction(f"_{name}_slope", parts.slope, law, parts.own, bindings=pair_bindings()))
    return functions


def careful_text(found: list[tuple[EmittedFunction, Careful]], backend: str) -> str:
    """The source of the public functions."""
    types = {
        "numpy": ("ArrayLike", "ArrayLike", "NDArray[np.floating]"),
        "torch": ("torch.Tensor", "float | torch.Tensor", "torch.Tensor"),
        "jax": ("jax.typing.ArrayLike", "jax.typing.ArrayLike", "jax.Array"),
    }[backend]
    parts = [small_source(backend)]
    for made, careful in found:
        words = [f"{a}: {types[0]}" for a in made.arguments] + (["*"] if made.parameters else [])
        words += [f"{k}: {types[1]}" for k in made.parameters]
        head = f"def {made.name}({', '.join(words)}) -> {types[2]}:"
        doc = f"{made.doc}\nWhere a variance is below 0.05 the formula cancels and the expectation is integrated."
        parts.append(careful_source(backend, made.name, made.arguments, made.parameters, careful.own, head, doc))
    return "\n\n\n".join(parts) + "\n"


__all__ = ["SMALL_BACKENDS", "Careful", "careful_functions", "careful_parts", "careful_text"]
