"""The named forms an activation passes through, each printable: tree, normal form, steps, program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from derive.records import EocError, Node


def stage(name: str, theory: Any, activation: Any) -> str:
    """One stage as text. `activation` is None where the question was a block.

    tree         the formula as read
    normal-form  the activation as a sum of kink-free functions times one-sided indicators, and its derivative
    steps        the rules that derived each expectation
    program      the instructions that leave SymPy, from which code is printed
    """
    return STAGES[name](theory, activation)


def _tree(theory: Any, activation: Any) -> str:
    if activation is None:
        raise EocError("a block has no single tree", instead="--show tree on one of its activations")
    return "\n".join(_rows(activation.formula.tree, 0))


def _rows(node: Node, depth: int) -> list[str]:
    label = node.head if node.value is None else f"{node.head} {node.value}"
    return ["  " * depth + label, *(row for arg in node.args for row in _rows(arg, depth + 1))]


def _normal_form(theory: Any, activation: Any) -> str:
    from derive.activation.normal_form import derivative, normal_form
    from derive.show.unicode_text import unicode_text

    if theory._first is None:
        raise EocError("a block without an activation has no normal form", instead="--show steps or --show program")
    form = normal_form(theory.activation.phi)
    slope, jumps = derivative(form)
    rows = ["φ(x) ="]
    rows += _terms(form)
    rows += ["φ'(x) away from kinks ="]
    rows += _terms(slope)
    rows += [f"jump of φ at {unicode_text(jump.at)}, height {unicode_text(jump.height)}" for jump in jumps]
    return "\n".join(rows)


def _terms(form: Any) -> list[str]:
    from derive.show.unicode_text import unicode_text

    side = {1: "1[x > {}]", -1: "1[x < {}]", 0: "1"}
    rows = [
        f"  ({unicode_text(term.value)}) · "
        + side[term.side].format("" if term.side == 0 else unicode_text(term.threshold))
        for term in form.terms
    ]
    return rows or ["  0"]


def _steps(theory: Any, activation: Any) -> str:
    from derive.show.document import proofs
    from derive.show.terminal import proof_text

    return proof_text({"proofs": proofs(theory)})


def _program(theory: Any, activation: Any) -> str:
    from derive.gaussian.node import GaussianE
    from derive.program import freeze
    from derive.show.wording import results

    blocks = []
    for name, result in results(theory).items():
        if result.closed.has(GaussianE) or not result.closed.is_finite:
            blocks.append(f"{name}: {str(result.kind).lower()}, no closed form to freeze")
            continue
        symbols = tuple(sorted(result.closed.free_symbols, key=lambda symbol: symbol.name))
        blocks.append(f"{name}:\n{freeze({name: result.closed}, symbols)}")
    return "\n\n".join(blocks)


STAGES: dict[str, Callable[[Any, Any], str]] = {
    "tree": _tree,
    "normal-form": _normal_form,
    "steps": _steps,
    "program": _program,
}
