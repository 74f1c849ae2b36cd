"""A theory as one document of JSON values: every page, table and report is printed from it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from derive.records import EocError, Unsupported
from derive.show.text import is_citation

if TYPE_CHECKING:
    from sympy import Expr

SCHEMA = "eoc.derive/1"

MEANINGS = {
    "mean": r"Mean of the activation, $z \sim \mathcal{N}(0, q)$.",
    "second_moment": r"Mean square of the activation.",
    "derivative_second_moment": r"Mean square of the derivative away from kinks.",
    "covariance_map": r"Second moment of the activations of two inputs, $K = c\sqrt{q_1 q_2}$.",
    "variance_map": r"Variance of the next pre-activation.",
    "correlation_map": r"Correlation of the next pre-activations of two inputs.",
    "chi": r"Factor by which the mean square of a gradient grows in one layer.",
    "chi_parallel": r"Slope $V'(q)$ of the variance map, with the boundary terms of kinks and jumps.",
}

SYMBOLS = {
    "mean": (r"\operatorname{\mathbb{E}}\left[\varphi(z)\right]", "E φ(z)"),
    "second_moment": (r"\operatorname{\mathbb{E}}\left[\varphi(z)^{2}\right]", "E φ(z)²"),
    "derivative_second_moment": (r"\operatorname{\mathbb{E}}\left[\varphi'(z)^{2}\right]", "E φ'(z)²"),
    "covariance_map": (r"\operatorname{\mathbb{E}}\left[\varphi(u)\,\varphi(v)\right]", "E φ(u)φ(v)"),
    "variance_map": (r"V(q)", "V(q)"),
    "correlation_map": (r"C(q_{1}, q_{2}, c)", "C(q₁, q₂, c)"),
    "chi": (r"\chi(q)", "χ(q)"),
    "chi_parallel": (r"\chi_{\parallel}(q)", "χ∥(q)"),
}


INTEGRANDS = ("mean", "second_moment", "derivative_second_moment", "covariance_map")
"""The results that are one expectation."""


@dataclass(frozen=True)
class Question:
    """What was asked: the text as typed, values and domains of parameters, and what the reader knew about it.

    notes, sources  what was assumed while reading; where the definition comes from
    name, formula   a title ("GELU") and the formula's text, where the text is no block
    """

    text: str
    values: Mapping[str, str] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    name: str = ""
    formula: str = ""


@dataclass(frozen=True)
class Names:
    """What formulas call the activation: expression -> LaTeX, expression -> text."""

    latex: Mapping[Expr, str]
    plain: Mapping[Expr, str]


def document(theory: Any, question: Question | None = None, digits: int = 16) -> dict[str, Any]:
    """The document of a theory: activation, results with their kinds, edge of chaos, values at q = 1.

    The fields are those of docs/json-schema.md; `proofs` and `curves` are added by the functions of that name.
    """
    from derive.show.facts import activation_facts
    from derive.show.values import edge_of_chaos, values

    question = question or Question(str(theory.block))
    names = names_of(theory)
    found = results(theory)
    return {
        "schema": SCHEMA,
        "version": _version(),
        "question": {"text": question.text, "set": dict(question.values), "domains": dict(question.domains)},
        "settings": {"digits": digits},
        "activation": activation_facts(theory, question),
        "results": [entry(name, result, names) for name, result in found.items()],
        "edge": edge_of_chaos(theory),
        "values_at": "$q = 1$",
        "values": values(theory, found, digits),
        "notes": list(theory.notes),
    }


def results(theory: Any) -> dict[str, Any]:
    """The results of a theory in the order of a page, with E phi'^2 among them."""
    from derive.gaussian.node import single

    chi, activation = theory.chi, theory.activation
    slope = type(chi)(single(activation.dphi**2), ("q",), chi.domains, "mean squared derivative", "", chi.notes)
    return {
        "mean": theory.mean,
        "second_moment": theory.second_moment,
        "derivative_second_moment": slope,
        "covariance_map": theory.covariance_map,
        "variance_map": theory.variance_map,
        "correlation_map": theory.correlation_map,
        "chi": chi,
        "chi_parallel": theory.chi_parallel,
    }


def names_of(theory: Any) -> Names:
    """phi, phi^2, phi'^2 and their products over a pair, as formulas write them."""
    from derive.program.symbols import U, V, X

    phi, slope = theory.activation.phi, theory.activation.dphi
    latex: dict[Expr, str] = {}
    plain: dict[Expr, str] = {}
    for f, mark, text in ((slope, r"\varphi'", "φ'"), (phi, r"\varphi", "φ")):
        if f.is_number or f in (X, -X):
            continue
        latex |= {f: f"{mark}(x)", f**2: f"{mark}(x)^{{2}}", f.subs(X, U) * f.subs(X, V): rf"{mark}(u)\,{mark}(v)"}
        plain |= {f: f"{text}(x)", f**2: f"{text}(x)²", f.subs(X, U) * f.subs(X, V): f"{text}(u)·{text}(v)"}
    return Names(latex, plain)


def entry(name: str, result: Any, names: Names) -> dict[str, Any]:
    """One result as JSON values."""
    from derive.gaussian.node import GaussianE

    latex_symbol, plain_symbol = SYMBOLS.get(name, (result.symbol, result.title))
    closed = not result.closed.has(GaussianE)
    return {
        "id": name,
        "title": result.title,
        "symbol": {"latex": latex_symbol, "unicode": plain_symbol},
        "meaning": MEANINGS.get(name, ""),
        "arguments": list(result.arguments),
        "parameters": list(result.parameters),
        "kind": str(result.kind),
        "text": str(_closed(result)),
        **_printed(name, result, names, latex_symbol, closed),
        "closed": closed,
        "conditions": list(result.conditions),
        "blockers": list(result.blockers),
        "sources": sources_of(result),
    }


def _printed(name: str, result: Any, names: Names, left: str, closed: bool) -> dict[str, Any]:
    """The formula of a result; an expectation that stays one shows its integrand, where that fits on a line."""
    shown, extra = _shown(name, result)
    if not closed and name in INTEGRANDS:
        spelled = formula(shown, Names({}, {}), left)
        if len(spelled["lines"]) == 1 and not spelled["where"] and len(spelled["unicode"]) < 90:
            return spelled
    return formula(shown, Names({**names.latex, **extra[0]}, {**names.plain, **extra[1]}), left)


def formula(expr: Expr, names: Names, left: str = "") -> dict[str, Any]:
    """An expression as LaTeX lines with a `where` list, as one line of text, and its size in operations.

    left   LaTeX of the left-hand side that the lines will be set beside
    """
    from sympy import count_ops

    from derive.show.breaking import PAGE_WIDTH, broken, width
    from derive.show.unicode_text import unicode_text

    lines = broken(expr, names.latex, PAGE_WIDTH - 4, width(left))
    return {
        "unicode": unicode_text(expr, names.plain),
        "lines": list(lines.lines),
        "where": [[symbol, list(rows)] for symbol, rows in lines.where],
        "operations": int(count_ops(expr)),
    }


def _shown(name: str, result: Any) -> tuple[Expr, tuple[dict[Expr, str], dict[Expr, str]]]:
    """The expression to print: closed where it is; d/dq of an expectation as such; C in terms of what stands above."""
    from sympy import Symbol, denom, sqrt

    from derive.gaussian.node import GaussianE

    if name == "correlation_map" and denom(result.template).has(GaussianE):
        return _correlation(result.template, sqrt, Symbol)
    return _closed(result), ({}, {})


def _closed(result: Any) -> Expr:
    """The closed form; where there is none, d/dq of an expectation as such."""
    from sympy import Derivative

    from derive.gaussian.node import GaussianE

    closed = result.closed
    return result.template if closed.has(GaussianE) and result.template.has(Derivative) else closed


def _correlation(template: Expr, sqrt: Any, symbol: Any) -> tuple[Expr, tuple[dict[Expr, str], dict[Expr, str]]]:
    """(sigma_b^2 + sigma_w^2 E phi(u) phi(v)) / sqrt(V(q1) V(q2))."""
    from sympy import numer

    from derive.gaussian.numbers import outermost

    first, second, cross = symbol("_V1"), symbol("_V2"), symbol("zE")
    names = {
        first: (r"V\left(q_{1}\right)", "V(q₁)"),
        second: (r"V\left(q_{2}\right)", "V(q₂)"),
        cross: (SYMBOLS["covariance_map"][0], "E[φ(u)·φ(v)]"),
    }
    above = numer(template)
    nodes = outermost(above)
    if len(nodes) == 1:
        above = above.xreplace({nodes[0]: cross})
    shown = above / sqrt(first * second)
    return shown, ({s: pair[0] for s, pair in names.items()}, {s: pair[1] for s, pair in names.items()})


def sources_of(result: Any) -> list[str]:
    """The sources of the rules that derived a result, each once."""
    from derive.gaussian.answer import answer
    from derive.gaussian.numbers import canonical

    found = [source for node in result._all_nodes() for source in answer(canonical(node)).source.split("; ")]
    return list(dict.fromkeys(source for source in found if is_citation(source)))


def proofs(theory: Any) -> list[dict[str, Any]]:
    """The derivation of every expectation in the theory, each once (the document's field `proofs`)."""
    from derive.show.proof import tree

    names, seen, found = names_of(theory), [], []
    for name, result in results(theory).items():
        steps = [step for step in result.steps if step not in seen]
        seen += steps
        if steps:
            trees = [tree(step, names.latex, names.plain) for step in steps]
            found.append({"id": name, "title": result.title, "steps": trees})
    return found


def attempt(question: Any) -> Any:
    """The answer, or the reason (text) why there is none; for tables in which some cells cannot be filled."""
    try:
        return question()
    except Unsupported as error:
        return error.why or error.what
    except EocError as error:
        return error.what


def _version() -> str:
    import derive

    return derive.__version__
