"""What a report is about, as JSON, and back: an activation's tree, a block's text, or statements."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from derive.records import EocError, Formula, Interval, Node

if TYPE_CHECKING:
    from verify.tested import Tested

KINDS = ("activation", "block", "statements")


def activation_source(formula: Formula) -> dict[str, Any]:
    """The source of an activation; its tree is stored, since parameters may have been bound after its text was read."""
    domains = {name: _interval_to(domain) for name, domain in formula.domains}
    tree = _tree_to(formula.tree)
    return {"kind": "activation", "text": formula.text, "name": formula.name, "tree": tree, "domains": domains}


def subject_of(source: Mapping[str, Any], seed: int, parameters: Mapping[str, Any]) -> tuple[Tested, Any]:
    """The subject that a source describes, and its checks. Nothing in it is executed.

    Raises EocError where the report was made from an object of Python, whose text is not known.
    """
    from verify.checking import checks
    from verify.subject import subject

    kind = source.get("kind", "")
    if kind not in KINDS:
        raise EocError(
            "the report cannot be run again",
            why="it was made from an object of Python (a module, or a block put together there)",
            instead="verify(...) with that object and the report's seed",
        )
    if kind == "statements":
        return _statements(source, seed)
    if kind == "block":
        made = subject(str(source["text"]), seed, parameters)
    else:
        made = subject(_activation(source), seed, parameters)
    return made, checks(made.of)


def _activation(source: Mapping[str, Any]) -> Any:
    from derive import Activation

    domains = tuple(sorted((name, _interval_from(pair)) for name, pair in source["domains"].items()))
    parameters = tuple(name for name, _ in domains)
    tree = _tree_from(source["tree"])
    return Activation(Formula(str(source["text"]), tree, parameters, domains, str(source["name"])))


def _statements(source: Mapping[str, Any], seed: int) -> tuple[Any, Any]:
    import torch

    from verify.statements import read_statement
    from verify.third_party import Statements

    domains = {name: _interval_from(pair) for name, pair in source["domains"].items()}
    read = tuple(read_statement(text, source["at"], domains) for text in source["texts"])
    made = Statements(read, seed, torch.float64, source=dict(source))
    return made, made.checks


def statements_source(texts: tuple[str, ...], at: Mapping[str, Any], domains: Mapping[str, Any]) -> dict[str, Any]:
    """The source of statements."""
    from derive.formula import interval

    read = {name: d if isinstance(d, Interval) else interval(d) for name, d in domains.items()}
    return {
        "kind": "statements",
        "texts": list(texts),
        "at": {name: str(value) for name, value in at.items()},
        "domains": {name: _interval_to(domain) for name, domain in read.items()},
    }


def _interval_to(domain: Interval) -> list[Any]:
    return [str(domain.lower), str(domain.upper), domain.lower_open, domain.upper_open]


def _interval_from(ends: Any) -> Interval:
    lower, upper = (float(e) if "inf" in e else Fraction(e) for e in map(str, ends[:2]))
    return Interval(lower, upper, bool(ends[2]), bool(ends[3]))


def _tree_to(node: Node) -> list[Any]:
    value = None if node.value is None else str(node.value)
    return [node.head, value, [_tree_to(arg) for arg in node.args]]


def _tree_from(stored: Any) -> Node:
    head, value, args = stored
    number = Fraction(value) if head == "num" else value
    return Node(str(head), value=number, args=tuple(_tree_from(arg) for arg in args))
