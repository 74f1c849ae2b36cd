"""Results and activations as standalone source text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sympy import Expr

from derive.activation.normal_form import breakpoints, normal_form
from derive.emit import EmittedFunction, emit, load, pair_bindings
from derive.emit.backend import backends
from derive.emit.formula_text import formula_text
from derive.emit.layer import layer_source
from derive.emit.mixtures import mixtures
from derive.emit.quadratures import Wrapper, quadratures
from derive.emit.surrogates import surrogates
from derive.gaussian import numbers
from derive.gaussian.forms import canonical
from derive.gaussian.node import GaussianE
from derive.program.symbols import DELTA, K
from derive.records import Kind, Unsupported
from derive.surface.emission_series import series_function
from derive.surface.kept import kept_text
from derive.surface.measured import ENOUGH, error_of_text, form_for_code, integrable, keeps_digits
from derive.surface.near_zero import near_zero
from derive.surface.open_nodes import OpenNodes, by_order_statistics
from derive.surface.partials import stated
from derive.surface.results import resolve
from derive.surface.series import SeriesResult
from derive.surface.small import SMALL_BACKENDS, Careful, careful_functions, careful_parts, careful_text, careful_waves
from derive.surface.surrogates import Box, box_of

if TYPE_CHECKING:
    from derive.surface.activations import Activation
    from derive.surface.results import Result


ONCE = ("derivative_covariance_map",)
"""Results whose second derivatives are those of the text of their slopes: nobody asks for fourth derivatives of phi."""


def shapes(backend: str) -> str:
    """What functions of a backend take and give; empty where there is no such backend, which `emit` refuses."""
    return backends()[backend].shapes if backend in backends() else ""


def function_name(result: Result) -> str:
    """The emitted function's name: the result's title as an identifier."""
    return re.sub(r"\W+", "_", result.title or "expectation").strip("_").lower()


def load_function(source: str, name: str) -> Any:
    """The function of that name in emitted text."""
    return getattr(load(source), name)


def activation_code(phi: Activation, backend: str) -> str:
    """A module with phi and phi' (away from kinks)."""
    slope = phi.derivative()
    kinks = ", ".join(formula_text(b) for b in breakpoints(normal_form(phi.expr)))
    at = f" At the kinks x = {kinks} it takes the value of the branch that holds there." if kinks else ""
    functions = (
        EmittedFunction(
            "phi", near_zero(phi.expr), ("x",), phi.parameters, f"phi(x) = {phi.formula.text}\n\n{shapes(backend)}"
        ),
        EmittedFunction(
            "dphi", near_zero(slope.expr), ("x",), phi.parameters, f"phi'(x) away from kinks.{at}\n\n{shapes(backend)}"
        ),
    )
    text = emit(functions, backend, f"The activation {phi.name} and its derivative.")
    return f"{text}\n\n{layer_source(phi.parameters, phi.name)}\n" if backend == "torch" else text


def result_code(result: Result, backend: str, box: Any = None) -> str:
    """A module with the result as one function; Kind and accuracy stand in its docstring."""

    def text() -> str:
        return results_code({function_name(result): result}, backend, f"{result.title}: {result.kind}.", box=box)

    return text() if isinstance(result, SeriesResult) else kept_text(result, backend, box, text)


def results_code(
    results: dict[str, Result],
    backend: str,
    header: str,
    extra: Iterable[EmittedFunction] = (),
    box: Any = None,
    slopes: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """One module with several results as functions named by the keys; `box` as in `Result.code`.

    slopes   name -> the call of a function of the module that is d/dc of it over sqrt(q1 q2)
    """
    box = box_of(box)
    functions, wrappers, sums, careful = list(extra), [], [], []
    for name, result in results.items():
        if isinstance(result, SeriesResult):
            if backend not in mixtures():
                raise Unsupported(f"{backend} code sums no series", instead=" or ".join(mixtures()))
            inner, wrapper = series_function(name, result, *_names(result), partial(described, result, backend=backend))
            functions += inner
            sums.append(wrapper)
            continue
        found = _careful(result, backend)
        closed, open_nodes = _parts(result, backend, measured=found is None or found.measured)
        only = backends()[backend].only
        if only and str(result.kind) not in only:
            raise Unsupported(
                f"{result.title or 'the result'} is {result.kind}, which is not written in {backend}",
                why=f"its library has the functions of {', '.join(only)} results only",
                instead="numpy, torch or jax",
            )
        if not open_nodes:
            made = _closed_function(name, result, closed, backend, slopes.get(name, ""))
            if found is None:
                functions.append(made)
                continue
            functions += careful_functions(made, found, result)
            careful.append((made, found))
            continue
        if backend not in quadratures():
            raise Unsupported(
                f"{result.title} has no closed form, and {backend} code has no quadrature",
                why="; ".join(result.blockers),
                instead=" or ".join(quadratures()),
            )
        inner, wrapper = _open_function(name, result, closed, backend, box)
        functions += inner
        wrappers.append(wrapper)
    text = emit(tuple(functions), backend, header)
    if careful:
        if "def _differentiable(" not in text and backends()[backend].stated:
            text += "\n\n" + backends()[backend].stated.strip("\n") + "\n"
        text += "\n\n" + careful_text(careful, backend)
    if wrappers:
        quadrature, needed = quadratures()[backend], [quadratures()[backend].source]
        if any("= _surrogate(" in line or "= _moment(" in line for wrapper in wrappers for line in wrapper.lines):
            needed.append(surrogates()[backend])
        text += "\n\n" + "\n\n\n".join((*needed, *map(quadrature.write, wrappers))) + "\n"
    if sums:
        mixture = mixtures()[backend]
        text += "\n\n" + "\n\n\n".join((mixture.source, *map(mixture.write, sums))) + "\n"
    return text


def _careful(result: Result, backend: str) -> Careful | None:
    """The parts of a result that is integrated where its closed form cancels; None where that does not keep digits."""
    node = result.template
    if backend not in SMALL_BACKENDS:
        return None
    found = careful_parts(result, backend)
    whole = isinstance(node, GaussianE) and node == canonical(node)
    if found is None and whole and (closed := numbers.closed_form(node)) is not None and not integrable(node):
        best = form_for_code(node, closed, integrates=False)
        return None if best is None or keeps_digits(node, best) else careful_waves(result)
    if found is None or not whole or not integrable(node):
        return found
    closed = resolve(node, code=True)
    if closed.has(GaussianE):
        return None
    made = _closed_function("value", result, closed, "numpy")
    text = emit(tuple(careful_functions(made, found, result)), "numpy", "")
    kept = error_of_text(node, closed, f"{text}\n\n{careful_text([(made, found)], 'numpy')}", "value") <= ENOUGH
    return found if kept else None


def _parts(result: Result, backend: str, measured: bool) -> tuple[Expr, tuple[Expr, ...]]:
    """The formula with closed nodes substituted, and the parts that stay open; in forms that were `measured`."""
    if not any(_names(result)):
        raise Unsupported(f"{result.title or 'the result'} has no arguments left", instead=".number()")
    if result.kind is Kind.DIVERGENT:
        raise Unsupported(f"{result.title or 'the result'} is infinite", why="; ".join(result.notes))
    choice = partial(form_for_code, integrates=backend in quadratures()) if measured and backend != "mpmath" else None
    closed = resolve(by_order_statistics(result.template), code=True, choice=choice)
    if any(not node.mean.is_zero_matrix for node in closed.atoms(GaussianE)):
        raise Unsupported("code for an expectation with a shifted mean and no closed form", instead=".number()")
    return closed, numbers.outermost(closed)


def _names(result: Result) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Positional arguments (q, or q1, q2, c), then keywords: parameters in alphabetical order, sigma_w, sigma_b."""
    law = tuple(a for a in result.arguments if not a.startswith("sigma"))
    sigmas = tuple(a for a in result.arguments if a.startswith("sigma"))
    return law, (*result.parameters, *sigmas)


def described(result: Result, formula: str, backend: str) -> str:
    """The docstring of a result's function: title, kind, formula, arguments, domains, conditions."""
    law, keywords = _names(result)
    lines = [f"{result.title or 'Expectation'}; kind {result.kind}.", "", formula, ""]
    lines.append(
        f"Arguments: {', '.join(law) or 'none'}; keywords: {', '.join(keywords) or 'none'}. {shapes(backend)}".strip()
    )
    if "c" in law:
        lines.append("q1, q2 > 0 are variances and -1 <= c <= 1 is the correlation of the pair.")
    elif "q" in law:
        lines.append("q > 0 is the variance of the pre-activation.")
    lines += [f"{name} in {domain}." for name, domain in result.domains if name in keywords]
    lines += [f"{condition}." for condition in result.conditions]
    return "\n".join(lines)


def _is_pair(result: Result) -> bool:
    return "c" in result.arguments or result.closed.has(DELTA)


def _closed_function(name: str, result: Result, closed: Expr, backend: str, slope: str = "") -> EmittedFunction:
    law, keywords = _names(result)
    pair = _is_pair(result)
    asked = pair and backends()[backend].stated
    gradients = stated(result.template, (*law, *keywords), slope, name not in ONCE) if asked else {}
    doc = described(result, formula_text(closed), backend)
    return EmittedFunction(name, closed, law, keywords, doc, gradients, pair_bindings() if pair else ())


def _open_function(
    name: str, result: Result, closed: Expr, backend: str, box: Box | None
) -> tuple[list[EmittedFunction], Wrapper]:
    law, keywords = _names(result)
    nodes = OpenNodes(name, law, keywords, backend, box)
    body = nodes.flat(closed)
    names = (*law, *(s.name for s in nodes.symbols.values()))
    bindings = pair_bindings() if body.has(K) or body.has(DELTA) else ()
    functions = [*nodes.functions, EmittedFunction(f"_{name}_of", body, names, keywords, "", {}, bindings)]
    shown, words = formula_text(result.template.xreplace(nodes.symbols)), nodes.words
    where = "\n".join(f"{symbol} = E[{formula_text(node.body)}]" for node, symbol in nodes.symbols.items())
    elsewhere = "Beyond them quadrature" if words else "Computed by quadrature"
    if box is None:
        words.append(f"{elsewhere}, about 1e-13 of the scale of the expectation for q from 1e-8 to 1e6.")
    if "c" in law and box is None:
        words.append("Pairs are then a Hermite series with a checked remainder, or an integral over the plane.")
    doc = "\n".join((described(result, shown, backend), where, *words))
    symbols = tuple(symbol.name for symbol in nodes.symbols.values())
    return functions, Wrapper(name, doc, law, keywords, tuple(nodes.lines), f"_{name}_of", symbols)
