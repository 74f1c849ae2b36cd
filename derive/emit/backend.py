"""A backend: how one array library is spelled. One file of `derive/emit/backends` each."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from derive.emit.text import Body


@dataclass(frozen=True)
class Backend:
    """How an array library is spelled.

    name          its name, also the key of an operation's `backends` and `helpers`
    imports       import lines of every module
    preamble      source of the functions every module carries
    stated        source of what functions with stated derivatives need (empty: stated derivatives are left out)
    blocks        source of what functions of pairs need
    function      writes one function
    tensor_only   operations whose function refuses a plain number beside an array
    infinity      spelling of +oo
    pi            spelling of pi
    root          spelling of the square root, {0} for the argument
    borrowed      operation -> ((module, name), ...) for what comes from another library than the first
    reserved      names that a parameter cannot have
    exact         literals are written exactly, through `rational`, not as doubles
    rational      spelling of a rational number ({0} over {1})
    power         spelling of an integer power; empty for `**`
    scalars       functions take numbers, not arrays: plain numbers need no conversion
    comment       what opens and closes the module's docstring
    shapes        what its functions take and give, for docstrings
    only          kinds of results that can be written; empty for every kind
    """

    name: str
    imports: tuple[str, ...]
    preamble: str
    function: Callable[[Body], str]
    stated: str = ""
    blocks: str = ""
    tensor_only: frozenset[str] = frozenset()
    infinity: str = 'float("inf")'
    pi: str = "3.141592653589793"
    borrowed: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    exact: bool = False
    rational: str = ""
    power: str = ""
    scalars: bool = False
    comment: tuple[str, str] = ('"""', '"""')
    shapes: str = "Arguments broadcast; the dtype of the inputs comes out."
    only: tuple[str, ...] = ()


@cache
def backends() -> Mapping[str, Backend]:
    """Every backend by its name, read from the folder."""
    package = importlib.import_module("derive.emit.backends")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    found = [importlib.import_module(f"{package.__name__}.{name}").BACKEND for name in names]
    return MappingProxyType({backend.name: backend for backend in found})
