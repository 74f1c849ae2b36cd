"""Text to Formula: one expression in x, read by whitelist and never executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from derive import catalogue
from derive.formula import nodes
from derive.formula.checks import check
from derive.formula.intervals import read_domains
from derive.formula.messages import fail
from derive.formula.parser import Parser
from derive.formula.removable import filled
from derive.formula.vocabulary import known_functions
from derive.program.declared import typed
from derive.records import Formula, FormulaError, Node


def read(
    text: str,
    domains: Mapping[str, object] | None = None,
    name: str = "",
    variables: Sequence[str] = ("x",),
) -> Formula:
    """The formula in `text`: a catalogue name ("leaky_relu", its parameters symbolic) or an expression in x.

    domains    parameter -> interval: (0, 1), "0:1", "[0, 1)", "(0, inf)", "positive"; ends of pairs are open
    name       a name for titles
    variables  the inputs, where there are more than x

    Numbers are exact rationals of the decimals typed. Raises FormulaError with the place, and DomainError
    for a domain that is none. Nothing is executed, and sizes are bounded (`derive.formula.limits`).
    """
    if not isinstance(text, str):
        raise FormulaError(f"a formula is text, not {type(text).__name__}")
    if not text.strip():
        raise FormulaError("the formula is empty", instead="write an expression in x, such as x*tanh(x)")
    entry = catalogue.entry(text) if len(text) < 80 else None
    if entry is not None and text.strip() not in variables:
        parser = Parser(entry.formula, entry.variables)
        usual = {parameter.name: parameter.domain for parameter in entry.parameters}
        name = name or entry.name
    else:
        parser, usual = Parser(text, variables), {}
    try:
        tree = parser.expression()
    except RecursionError:
        raise FormulaError("the formula is nested too deeply") from None
    if parser.token.kind != "end":
        parser.unexpected()
    return finished(parser.text, tree, parser.variables, parser.notes, domains, name, usual)


def read_constant(text: str) -> Formula:
    """An expression in parameters alone, such as an entry "rho*s*t" of a covariance matrix."""
    parser = Parser(text, ())
    tree = parser.expression()
    if parser.token.kind != "end":
        parser.unexpected()
    return finished(parser.text, tree, (), parser.notes, None, "", {}, constant=True)


def finished(
    text: str,
    tree: Node,
    variables: Sequence[str],
    notes: Sequence[str],
    domains: Mapping[str, object] | None,
    name: str,
    usual: Mapping[str, object],
    constant: bool = False,
) -> Formula:
    """A checked Formula of a tree: bounds, parameters and their domains, removable singularities filled.

    `constant` accepts a formula without its variable, which nobody types but derivatives produce.
    """
    check(tree, text)
    used = nodes.names(tree)
    if not used & set(variables) and not constant:
        _no_variable(text, tree, tuple(variables))
    parameters = tuple(sorted(used - set(variables)))
    found = read_domains(domains, parameters, usual)
    tree, filling = filled(tree) if len(variables) == 1 else (tree, ())
    every = dict.fromkeys((*notes, *_density_warning(tree), *filling))
    return Formula(text, tree, parameters, found, name, tuple(every))


def _no_variable(text: str, tree: Node, variables: tuple[str, ...]) -> None:
    """Refuse a formula without its variable: tan(h) was meant as tanh(x), y**2 as x**2."""
    wanted = " or ".join(variables)
    for node in nodes.walk(tree):
        if (
            len(node.args) == 1
            and node.args[0].head == "name"
            and f"{node.head}{node.args[0].value}" in known_functions()
        ):
            fail(
                text,
                node.span,
                f"the formula has no {wanted}",
                instead=f"did you mean {node.head}{node.args[0].value}(x)?",
            )
    free = [node for node in nodes.walk(tree) if node.head == "name"]
    why = f"an activation is a function of {wanted}"
    if len({node.value for node in free}) == 1:
        fail(text, free[-1].span, f"the formula has no {wanted}", why=why, instead=f"write x for {free[-1].value}")
    others = f"; {', '.join(sorted({str(node.value) for node in free}))} are read as parameters" if free else ""
    fail(text, (0, len(text)), f"the formula has no {wanted}", why=f"{why}{others}", instead="write it in x")


def _density_warning(tree: Node) -> tuple[str, ...]:
    density = typed()["phi"].name
    for node in nodes.walk(tree):
        if node.head == "mul" and any(arg.head == density and arg.args[0] in node.args for arg in node.args):
            return ("phi is the normal density and Phi the normal cdf: GELU is x*Phi(x)",)
    return ()
