"""Mechanical wrong versions of emitted code: one number, sign, exponent or term of its text changed at a time."""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from verify.checking import Claim, Exact
from verify.checks import emitted_function, emitted_maps
from verify.judge import Verdict
from verify.subject import Subject
from verify.wrong import RememberingTheory

PROLOGUE = ("_arrays", "_tensors", "_correlation")
"""Helpers that bring arguments to one dtype; statements that call them compute nothing."""
NEGLIGIBLE = 1e-11
"""A version that differs by less than this share everywhere is the same function."""


class WrongCode:
    """A result or activation whose code for one backend is changed; its numbers are right."""

    def __init__(self, result: Any, backend: str, wrong: Callable) -> None:
        self._result, self._backend, self._wrong = result, backend, wrong

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)

    def compile(self, backend: str = "numpy") -> Callable:
        """The wrong function, where it is asked for that backend."""
        return self._wrong if backend == self._backend else self._result.compile(backend)


def code_mutants(source: str, name: str) -> Iterator[tuple[str, str]]:
    """(what was changed, changed module) for every place in the body of the function of that name."""
    module = ast.parse(source)
    function = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name)
    for place in _places(function):
        for what, new in _changes(place):
            changed = _replaced(module, place, new)
            yield f"line {place.lineno}: {ast.unparse(place)[:60]}: {what}", changed


def _places(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The arithmetic of a function's body, the arguments of its helpers left out."""
    for statement in function.body[1:]:
        called = [n.func.id for n in ast.walk(statement) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        if any(helper in called for helper in PROLOGUE):
            continue
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "_result":
            value = value.args[0]
        if value is not None:
            yield from (node for node in ast.walk(value) if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Constant))


def _changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and abs(node.value) > 0:
        yield "1 % too large", ast.Constant(node.value * 1.01)
        yield "1 % too small", ast.Constant(node.value * 0.99)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign dropped", node.operand
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield (
            "sign reversed",
            ast.BinOp(node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right),
        )
        yield "last term dropped", node.left
        yield "first term dropped", node.right
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        yield "exponent 1 too large", ast.BinOp(node.left, node.op, ast.BinOp(node.right, ast.Add(), ast.Constant(1)))
        yield "exponent dropped", node.left


class _Swap(ast.NodeTransformer):
    """Puts `new` in the place of one expression."""

    def __init__(self, place: ast.expr, new: ast.expr) -> None:
        self.place, self.new = place, new

    def visit(self, node: ast.AST) -> Any:
        if type(node) is type(self.place) and isinstance(node, ast.expr) and _position(node) == _position(self.place):
            return copy.deepcopy(self.new)
        return self.generic_visit(node)


def _position(node: ast.expr) -> tuple[int, ...]:
    return (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


def _replaced(module: ast.Module, place: ast.expr, new: ast.expr) -> str:
    return ast.unparse(ast.fix_missing_locations(_Swap(place, new).visit(copy.deepcopy(module))))


def code_kills(subject: Subject, backends: tuple[str, ...] = ("numpy", "torch")) -> Iterator[tuple[str, str, str]]:
    """(quantity, mutant, witness that refuted it or "") for every changed module that computes something else."""
    from derive import Activation
    from derive.surface.emission import function_name

    subject = replace(subject, theory=RememberingTheory(subject.theory))
    for name, result in subject.theory.results.items():
        if str(result.kind) in ("DIVERGENT", "UNKNOWN"):
            continue
        for backend in backends:
            state = partial(emitted_maps.claim, subject, name)
            yield from _kills_of(subject, name, result, state, backend, function_name(result))
    activation = Activation(subject.formula)
    for backend in backends:
        yield from _kills_of(
            subject, "activation", activation, partial(emitted_function.claim, subject), backend, "phi"
        )


def _kills_of(
    subject: Subject, name: str, result: Any, state: Callable[[Any], Claim], backend: str, function: str
) -> Iterator[tuple[str, str, str]]:
    from derive.emit import load

    source = result.code(backend)
    true = getattr(load(source), function)
    for what, changed in code_mutants(source, function):
        wrong = getattr(load(changed), function)
        refuted = _refuted_by(state(WrongCode(result, backend, wrong)), backend)
        if refuted or _differs(subject, result, true, wrong, backend):
            yield name, f"{backend}, {what}", refuted


def _refuted_by(claim: Claim, backend: str) -> str:
    """The witness about the backend's values that refutes the claim."""
    for witness in claim.witnesses:
        if not isinstance(witness, Exact) or not witness.name.startswith(f"{backend} float"):
            continue
        with np.errstate(all="ignore"):
            if any(judged.verdict is Verdict.FAILS for judged in witness.decide()):
                return witness.name
    return ""


def _differs(subject: Subject, result: Any, true: Callable, wrong: Callable, backend: str) -> bool:
    """Whether two functions differ at 400 drawn arguments of all sizes, relative to the values next to them."""
    rng = subject.choices("arguments of wrong code")
    names = getattr(result, "arguments", ("x",))
    columns = [np.asarray(_drawn(rng, name, 400)) for name in names]
    fixed = {name: float(subject.parameters[name]) for name in result.parameters}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            a, b = (emitted_maps.call(partial(f, **fixed), names, columns, backend) for f in (true, wrong))
        except Exception:  # a function that raises is another one
            return True
        size = np.abs(a) + np.abs(b)
        return bool((np.abs(a - b) > NEGLIGIBLE * size)[np.isfinite(a)].any())


def _drawn(rng: np.random.Generator, name: str, count: int) -> Any:
    if name == "x":
        return rng.uniform(-20, 20, count)
    if name == "c":
        return np.concatenate((np.full(20, -1.0), np.full(20, 1.0), rng.uniform(-1, 1, count - 40)))
    low, high = (0.1, 2.0) if name.startswith("sigma") else (0.05, 10.0)
    return np.exp(rng.uniform(np.log(low), np.log(high), count))
