"""Quotients of pair formulas sorted by the variance they depend on."""

from __future__ import annotations

from derive.program.passes.rewriting import rewrite
from derive.program.program import ONE, TWO, Builder, Instruction, Program


def grouped(program: Program) -> Program:
    """The program with q1*q2*r/((1 + q1)*(1 + q2)*s) -> (q1*(1/(1 + q1)))*(q2*(1/(1 + q2)))*(r/s), sums alike.

    Each quotient stays in range where the products overflow, and where the variances are a row and a column beside a
    matrix of correlations each is computed once a row or column.
    """
    if not {"q1", "q2"} <= set(program.inputs):
        return program
    known: dict[int, frozenset[str]] = {}

    def rule(builder: Builder, item: Instruction) -> int | None:
        if item.operation == "add":
            return _sum(builder, item.args, known)
        if item.operation != "div":
            return None
        above, below = _factors(builder, item.args[0]), _factors(builder, item.args[1])
        parts: dict[str, tuple[list[int], list[int]]] = {name: ([], []) for name in ("q1", "q2", "")}
        for side, factors in enumerate((above, below)):
            for factor in factors:
                parts[_only(builder, factor, known)][side].append(factor)
        if (not parts["q1"][1] and not parts["q2"][1]) or len(above) + len(below) < 3:
            return None
        quotients = [_quotient(builder, *parts[name]) for name in ("q1", "q2", "")]
        return builder.mul(tuple(found for found in quotients if found is not None))

    return rewrite(program, rule)


LAW = frozenset(("q1", "q2", "c", "K", "Delta", "sin_theta", "root_q1q2", "sqrt_Delta"))


def _sum(builder: Builder, terms: tuple[int, ...], known: dict[int, frozenset[str]]) -> int | None:
    """The terms of one variance first: the sum is then the same number for a pair in either order."""
    parts: dict[str, list[int]] = {name: [] for name in ("q1", "q2", "")}
    for term in terms:
        parts[_only(builder, term, known)].append(term)
    if len(terms) < 3 or not parts["q1"] or not parts["q2"]:
        return None
    alone = builder.put("add", builder.add(tuple(parts["q1"])), builder.add(tuple(parts["q2"])))
    return builder.add((alone, *parts[""]))


def _only(builder: Builder, index: int, known: dict[int, frozenset[str]]) -> str:
    """The variance that an instruction is a function of, empty where there is no such one."""
    depends = _depends(builder, index, known)
    return next((name for name in ("q1", "q2") if depends & LAW == {name}), "")


def _factors(builder: Builder, index: int) -> tuple[int, ...]:
    item = builder.instructions[index]
    return tuple(f for arg in item.args for f in _factors(builder, arg)) if item.operation == "mul" else (index,)


def _quotient(builder: Builder, above: list[int], below: list[int]) -> int | None:
    inverse = [_inverse(builder, factor) for factor in below]
    above = above + [found for found in inverse if found is not None]
    below = [factor for factor, found in zip(below, inverse, strict=True) if found is None]
    if not below:
        return builder.mul(tuple(above)) if above else None
    return builder.div(builder.mul(tuple(above)), builder.mul(tuple(below)))


def _inverse(builder: Builder, index: int) -> int | None:
    """1/(1 + q), its square, its root: all from one division a variance; None for what is no sum of one variance."""
    item = builder.instructions[index]
    if item.operation == "add":
        depends = _depends(builder, index, {}) & LAW
        return builder.div(builder.literal(ONE), index) if depends in ({"q1"}, {"q2"}) else None
    if item.operation == "sqrt":
        inner = _inverse(builder, item.args[0])
        return None if inner is None else builder.put("sqrt", inner)
    if item.operation == "pow" and builder.is_literal(item.args[1], TWO):
        inner = _inverse(builder, item.args[0])
        return None if inner is None else builder.put("pow", inner, item.args[1])
    return None


def _depends(builder: Builder, index: int, known: dict[int, frozenset[str]]) -> frozenset[str]:
    if index not in known:
        item = builder.instructions[index]
        own = frozenset((str(item.value),)) if item.operation == "input" else frozenset()
        known[index] = own.union(*(_depends(builder, arg, known) for arg in item.args))
    return known[index]
