"""Series results as source text: each template once, summed over arrays of scales and weights."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr, Symbol

from derive.emit import EmittedFunction, pair_bindings
from derive.emit.quadratures import Wrapper
from derive.gaussian import numbers
from derive.gaussian.node import GaussianE
from derive.gaussian.series import SeriesAnswer
from derive.program.symbols import DELTA, K, Q
from derive.records import Unsupported
from derive.surface.results import resolve
from derive.surface.series import SeriesResult, in_law


def series_function(
    name: str, result: SeriesResult, law: tuple[str, ...], keywords: tuple[str, ...], doc: Callable[[str], str]
) -> tuple[list[EmittedFunction], Wrapper]:
    """The emitted templates of a result, and the wrapper that sums them; `doc` makes a docstring from a formula."""
    functions, lines, stand_ins, legend = [], [], {}, []
    for i, (node, found) in enumerate(result.sums.items()):
        symbol = Symbol(f"e{i}", real=True)
        stand_ins[node] = symbol + in_law(node, found.constant)
        made, line = _sum_code(node, found, f"_{name}_{i}", symbol.name, result.parameters)
        functions += made
        lines.append(line)
        shown = in_law(node, found.constant)
        legend.append(f"{symbol + shown} = E[{node.body}], with an error of at most {_bound(node, found)}")
    body = resolve(result.explicit.xreplace(stand_ins))
    nodes = tuple(f"e{i}" for i in range(len(stand_ins)))
    bindings = pair_bindings() if body.has(K) or body.has(DELTA) else ()
    functions.append(EmittedFunction(f"_{name}_of", body, (*law, *nodes), keywords, "", {}, bindings))
    text = "\n".join([doc(str(body)), *legend, "The sums are taken in float64."])
    return functions, Wrapper(name, text, law, keywords, tuple(lines), f"_{name}_of", nodes)


def _bound(node: GaussianE, found: SeriesAnswer) -> Expr:
    bound = resolve(in_law(node, found.bound))
    return bound.n(3) if not bound.has(GaussianE) else bound


def _sum_code(
    node: GaussianE, found: SeriesAnswer, name: str, target: str, parameters: tuple[str, ...]
) -> tuple[list[EmittedFunction], str]:
    """The templates of one expectation, and the line that sums them."""
    if len(node.variables) == 1:
        if node.cov[0, 0].args or not node.mean.is_zero_matrix:
            raise Unsupported("code for a series under a law that is not N(0, q)", instead=".number()")
        own: tuple[str, ...] = (Q.name,)
        given: tuple[str, ...] = (node.cov[0, 0].name,)
    else:
        if node.cov != numbers.canonical(node).cov:
            raise Unsupported("code for a series under a law that is not that of a pair", instead=".number()")
        own = given = ("q1", "q2", "c")
    scales = tuple(symbol.name for symbol in found.symbols)
    arrays = tuple(
        f"({', '.join(repr(float(v)) for v in values)},)" for values in (found.mixture.scales, found.mixture.weights)
    )
    functions, calls = [], []
    for kind, template, count in (("single", found.single, 1), ("double", found.double, 2)):
        if template == 0:
            continue
        names = tuple(sorted(s.name for s in template.free_symbols if s.name in parameters))
        bindings = pair_bindings() if template.has(K) or template.has(DELTA) else ()
        arguments = (*own, *scales[:count])
        functions.append(EmittedFunction(f"{name}_{kind}", template, arguments, names, "", {}, bindings))
        keywords = "{" + ", ".join(f'"{p}": {p}' for p in names) + "}"
        alike = f", {found.symmetric}" if count == 2 else ""
        calls.append(f"_{kind}({name}_{kind}, ({', '.join(given)},), {keywords}, _scales, _weights{alike})")
    lines = [f"_scales = {arrays[0]}", f"_weights = {arrays[1]}", f"{target} = {' + '.join(calls)}"]
    return functions, "\n".join(lines)


__all__ = ["series_function"]
