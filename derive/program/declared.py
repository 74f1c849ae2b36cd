"""What formula text must know of the operations, read from their files without running them: SymPy stays unloaded."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Declared:
    """The literals `name`, `arity` and `spellings` of an operation's file."""

    name: str
    arity: int
    spellings: tuple[str, ...] = ()


@cache
def declared() -> Mapping[str, Declared]:
    """Every operation by its name; equals `registry.operations()` in what it says (held by a test)."""
    folder = resources.files("derive.program").joinpath("operations")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".py")), key=lambda file: file.name)
    texts = [file.read_text(encoding="utf-8") for file in files]
    found = [_read(text) for text in texts if "OPERATION" in text]
    return MappingProxyType({operation.name: operation for operation in found})


@cache
def typed() -> Mapping[str, Declared]:
    """Every operation that can be typed, by each of its spellings."""
    return MappingProxyType({text: operation for operation in declared().values() for text in operation.spellings})


def _read(source: str) -> Declared:
    call = next(
        statement.value
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "OPERATION"
    )
    assert isinstance(call, ast.Call)
    literals: dict[str, Any] = {
        word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg in ("name", "arity", "spellings")
    }
    return Declared(**literals)
