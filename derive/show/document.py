"""A theory as one document of JSON values: every page, table and report is printed from it alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from derive.records import EocError, Unsupported
from derive.show.text import is_citation

if TYPE_CHECKING:
    from sympy import Expr

    from derive.show.wording import Term

SCHEMA = "eoc.derive/1"

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
    from derive.show.facts import activation_facts, block_facts
    from derive.show.values import edge_of_chaos, values
    from derive.show.wording import results, terms

    question = question or Question(str(theory.block))
    names, words = names_of(theory), terms(theory)
    found = results(theory)
    return {
        "schema": SCHEMA,
        "version": _version(),
        "question": {"text": question.text, "set": dict(question.values), "domains": dict(question.domains)},
        "settings": {"digits": digits},
        "block": block_facts(theory, question),
        "activation": activation_facts(theory, question),
        "results": [
            entry(name, result, names, words, found["covariance_map"].template) for name, result in found.items()
        ],
        "edge": edge_of_chaos(theory),
        "values_at": "$q = 1$",
        "values": values(theory, found, digits),
        "notes": list(theory.notes),
    }


def names_of(theory: Any) -> Names:
    """phi, phi^2, phi'^2 and their products over a pair, as formulas write them."""
    from derive.program.symbols import U, V, X

    if theory._first is None:
        return Names({}, {})
    phi, slope = theory.activation.phi, theory.activation.dphi
    latex: dict[Expr, str] = {}
    plain: dict[Expr, str] = {}
    for f, mark, text in ((slope, r"\varphi'", "φ'"), (phi, r"\varphi", "φ")):
        if f.is_number or f in (X, -X):
            continue
        latex |= {f: f"{mark}(x)", f**2: f"{mark}(x)^{{2}}", f.subs(X, U) * f.subs(X, V): rf"{mark}(u)\,{mark}(v)"}
        plain |= {f: f"{text}(x)", f**2: f"{text}(x)²", f.subs(X, U) * f.subs(X, V): f"{text}(u)·{text}(v)"}
    return Names(latex, plain)


def entry(name: str, result: Any, names: Names, words: Mapping[str, Term], covariance: Expr) -> dict[str, Any]:
    """One result as JSON values; `covariance` is the covariance map, by whose name the correlation map is printed."""
    from derive.gaussian.node import GaussianE

    term = words[name]
    closed = not result.closed.has(GaussianE)
    return {
        "id": name,
        "title": result.title,
        "symbol": {"latex": term.latex, "unicode": term.plain},
        "meaning": term.meaning,
        "arguments": list(result.arguments),
        "parameters": list(result.parameters),
        "kind": str(result.kind),
        "text": str(result.written),
        **_printed(name, result, names, words, closed, covariance),
        "closed": closed,
        "conditions": list(result.conditions),
        "blockers": list(dict.fromkeys(_in_one_variable(blocker) for blocker in result.blockers)),
        "sources": sources_of(result),
    }


def _in_one_variable(blocker: str) -> str:
    """A part that no rule takes, in x where it holds one variable: the same part stands in u, in v and in x."""
    found = set(re.findall(r"\b[uv]\b", blocker))
    if len(found) == 1:
        return re.sub(r"\b[uv]\b", "x", blocker)
    indexed = set(re.findall(r"\b[uv](?=\d)", blocker))
    return re.sub(r"\bv(?=\d)", "u", blocker) if not found and indexed == {"v"} else blocker


def _printed(
    name: str, result: Any, names: Names, words: Mapping[str, Term], closed: bool, covariance: Expr
) -> dict[str, Any]:
    """The formula of a result; an expectation that stays one shows its integrand, where that fits on a line."""
    shown, extra = _shown(name, result, words["covariance_map"], covariance)
    left = words[name].latex
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


def _shown(
    name: str, result: Any, term: Term, covariance: Expr
) -> tuple[Expr, tuple[dict[Expr, str], dict[Expr, str]]]:
    """The expression to print: closed where it is; d/dq of an expectation as such; C in terms of what stands above."""
    from sympy import denom

    from derive.gaussian.node import GaussianE

    if name == "correlation_map" and denom(result.template).has(GaussianE):
        return _correlation(result.template, term, covariance)
    return result.written, ({}, {})


def _correlation(template: Expr, term: Term, covariance: Expr) -> tuple[Expr, tuple[dict[Expr, str], dict[Expr, str]]]:
    """(sigma_b^2 + sigma_w^2 E phi(u) phi(v)) / sqrt(V(q1) V(q2)), the second moment by the name it has above."""
    from sympy import Symbol, numer, sqrt

    from derive.program.symbols import SIGMA_B, SIGMA_W

    first, second, cross = Symbol("_V1"), Symbol("_V2"), Symbol("zE")
    names = {
        first: (r"V\left(q_{1}\right)", "V(q₁)"),
        second: (r"V\left(q_{2}\right)", "V(q₂)"),
        cross: (term.latex, bracketed(term.plain)),
    }
    above = numer(template)
    for scale, bias in ((SIGMA_W**2, SIGMA_B**2), (1, 0)):
        if (above - bias - scale * covariance).expand(deep=False) == 0:
            above = bias + scale * cross
    shown = above / sqrt(first * second)
    return shown, ({s: pair[0] for s, pair in names.items()}, {s: pair[1] for s, pair in names.items()})


def bracketed(plain: str) -> str:
    """E φ(z)² as E[φ(z)²], to stand inside a formula; other names as they are."""
    return f"E[{plain.removeprefix('E ').replace(')φ', ')·φ')}]" if plain.startswith("E ") else plain


def sources_of(result: Any) -> list[str]:
    """The sources of the rules that derived a result, each once."""
    from derive.gaussian.answer import answer
    from derive.gaussian.numbers import canonical

    found = [source for node in result._all_nodes() for source in answer(canonical(node)).source.split("; ")]
    return list(dict.fromkeys(source for source in found if is_citation(source)))


def proofs(theory: Any) -> list[dict[str, Any]]:
    """The derivation of every expectation in the theory, each once (the document's field `proofs`)."""
    from derive.show.proof import tree
    from derive.show.wording import results

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
