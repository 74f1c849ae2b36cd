"""A standalone module: imports, what the library lacks, and one function after another."""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Expr

from derive.emit.backend import Backend, backends
from derive.emit.function import EmittedFunction, Partial
from derive.emit.text import Body, safe_names, written
from derive.program.registry import operations
from derive.records import EocError


def emit(functions: tuple[EmittedFunction, ...], backend: str, header: str = "") -> str:
    """The source of a standalone module with these functions.

    It imports the backend's library and nothing of this toolkit; SciPy only where NumPy lacks a
    function, which its first line then says. The same question gives the same text.
    """
    if backend not in backends():
        raise EocError(
            f"there is no backend {backend!r}",
            where=backend,
            why=f"the backends are: {', '.join(backends())}",
            instead=f"use {next(iter(backends()))!r}",
        )
    target = backends()[backend]
    used: set[str] = set()
    printed = []
    for function in functions:
        body, operations_used = _body(function, target)
        used |= operations_used
        printed.append(target.function(body))
    helpers = _helpers(used, target)
    shared = target.preamble.strip("\n").split("\n\n\n")
    if not any("_number(" in text for text in (*printed, *helpers)):
        shared = [block for block in shared if "def _number(" not in block]
    parts = [f"{_head(header, used, target)}\n\n{_imports(used, target)}".strip(), *shared]
    if target.blocks and any("_in_blocks" in text for text in printed):
        parts.append(target.blocks.strip("\n"))
    if any(function.gradients for function in functions) or any("_differentiable" in text for text in helpers):
        parts.append(target.stated.strip("\n"))
    parts += helpers
    return "\n\n\n".join(part for part in (*parts, *printed) if part) + "\n"


def _head(header: str, used: set[str], target: Backend) -> str:
    borrowed = _borrowed(used, target)
    lines = []
    if borrowed:
        names = ", ".join(name for _, name in borrowed)
        lines.append(f"# Needs {borrowed[0][0]} for: {names}.")
    opening, closing = target.comment
    words = header or "Emitted functions."
    lines.append(f"{opening}{_quoted(words) if opening == closing else ' ' + words + ' '}{closing}")
    return "\n".join(lines)


def _borrowed(used: set[str], target: Backend) -> list[tuple[str, str]]:
    return sorted({pair for name in used for pair in target.borrowed.get(name, ())})


def _imports(used: set[str], target: Backend) -> str:
    borrowed = _borrowed(used, target)
    lines = list(target.imports)
    lines += [f"from {module} import {name}" for module, name in borrowed]
    return "\n".join(lines)


def _helpers(used: set[str], target: Backend) -> list[str]:
    table = operations()
    sources = [table[name].helpers[target.name] for name in sorted(used) if target.name in table[name].helpers]
    blocks = [block.strip("\n") for source in sources for block in source.split("\n\n\n")]
    return list(dict.fromkeys(block for block in blocks if block))


def _body(function: EmittedFunction, target: Backend) -> tuple[Body, set[str]]:
    names = (*function.arguments, *function.parameters)
    bound = tuple(name for name, _ in function.bindings)
    safe_names((function.name,), frozenset())
    safe = safe_names(dict.fromkeys((*bound, *names)), target.reserved | {function.name})
    used: set[str] = set()
    body = _one(function.name, function.expr, function.gradients, function, safe, target, used)
    return body, used


def _one(
    name: str,
    expr: Expr,
    gradients: Mapping[str, Partial | Expr],
    function: EmittedFunction,
    safe: dict[str, str],
    target: Backend,
    used: set[str],
) -> Body:
    names = (*function.arguments, *function.parameters)
    lines, value, operations_used, guard = written(expr, names, function.bindings, target, safe)
    used |= operations_used
    partials = []
    for variable, partial in gradients.items() if target.stated else ():
        inner = partial if isinstance(partial, Partial) else Partial(partial)
        mine = f"_{name.lstrip('_')}"
        called = f"{mine}_d_{variable}"
        if inner.call:
            made = _calling(called, inner.call.format(mine=mine, **safe), function, safe)
        else:
            made = _one(called, inner.expr, inner.gradients, function, safe, target, used)
        partials.append((names.index(variable), made))
        guard = guard or made.guard
    return Body(
        name=name,
        doc=_quoted(function.doc) if name == function.name else "",
        arguments=tuple(safe[argument] for argument in function.arguments),
        parameters=tuple(safe[parameter] for parameter in function.parameters),
        lines=lines,
        value=value,
        partials=tuple(sorted(partials, key=lambda pair: pair[0])),
        large="c" in function.arguments,
        guard=guard,
    )


def _calling(name: str, call: str, function: EmittedFunction, safe: dict[str, str]) -> Body:
    """A partial derivative that another function of the module gives."""
    return Body(
        name=name,
        doc="",
        arguments=tuple(safe[argument] for argument in function.arguments),
        parameters=tuple(safe[parameter] for parameter in function.parameters),
        lines=(),
        value=call,
        inline=True,
    )


def _quoted(text: str) -> str:
    """Text made safe between triple quotes."""
    safe = text.replace("\\", "\\\\")
    return safe.replace('"', '\\"') if '"""' in safe or safe.endswith('"') else safe
