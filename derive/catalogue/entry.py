"""Reading the catalogue's files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from derive.records import EocError


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an activation.

    name     as in the formula
    default  its usual value, as formula text ("0.01", "1/3")
    domain   the values it may take, as interval text ("(0, inf)", "[0, 1)")
    """

    name: str
    default: str
    domain: str


@dataclass(frozen=True, slots=True)
class Torch:
    """The counterpart in torch.nn.

    module      class name in torch.nn ("LeakyReLU")
    function    name in torch.nn.functional or torch; empty if there is none
    arguments   constructor argument -> parameter of the entry
    fixed       constructor arguments that make the module this entry ({"approximate": "tanh"})
    difference  a deliberate difference between the module and the formula; empty if there is none
    """

    module: str = ""
    function: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    difference: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the definition comes from; `read` is False when only its bibliographic data were looked at."""

    title: str
    authors: str
    year: int
    url: str
    read: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One activation: definition and citation.

    name        file name and name in formula text
    title       as written in prose ("Leaky ReLU")
    formula     text in the reader's language, in x and the parameters (`variables` for gated units)
    variables   the inputs: ("x",), or two for a gated product
    family      a word for lists ("rectifier", "sigmoidal", "oscillating", ...)
    """

    name: str
    title: str
    formula: str
    source: Source
    aliases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    variables: tuple[str, ...] = ("x",)
    family: str = ""
    torch: Torch | None = None
    jax: str = ""
    note: str = ""


FIELDS = frozenset(
    ("title", "formula", "aliases", "parameters", "variables", "family", "torch", "jax", "note", "source")
)


def names() -> tuple[str, ...]:
    """The names of all activations, in alphabetical order."""
    return tuple(_entries())


def aliases() -> Mapping[str, str]:
    """Alias -> name."""
    return _aliases()


def entry(name: str) -> Entry | None:
    """The entry of that name or alias (hyphens, blanks and upper case are forgiven), or None."""
    entries, plain = _entries(), name.strip().replace("-", "_").replace(" ", "_")
    for spelling in (name, plain, plain.lower()):
        if spelling in entries:
            return entries[spelling]
        if spelling in _aliases():
            return entries[_aliases()[spelling]]
    return None


@cache
def _entries() -> Mapping[str, Entry]:
    files = [file for file in resources.files("derive.catalogue").iterdir() if file.name.endswith(".toml")]
    found = {file.name.removesuffix(".toml"): file.read_text(encoding="utf-8") for file in files}
    return MappingProxyType({name: parse(name, found[name]) for name in sorted(found)})


@cache
def _aliases() -> Mapping[str, str]:
    return MappingProxyType({alias: entry.name for entry in _entries().values() for alias in entry.aliases})


def parse(name: str, text: str) -> Entry:
    """An entry from the text of its file; EocError names a field that is missing or not allowed."""
    data = tomllib.loads(text)
    if foreign := sorted(set(data) - FIELDS):
        raise EocError(
            f"the catalogue entry {name!r} has a field {foreign[0]!r}",
            why="an entry holds a definition and its citation, never a result",
            instead=f"allowed are {', '.join(sorted(FIELDS))}",
        )
    try:
        torch = data.get("torch")
        source = data["source"]
        return Entry(
            name=name,
            title=data["title"],
            formula=data["formula"],
            source=Source(source["title"], source["authors"], source["year"], source["url"], source["source_read"]),
            aliases=tuple(data.get("aliases", ())),
            parameters=tuple(
                Parameter(key, p["default"], p["domain"]) for key, p in data.get("parameters", {}).items()
            ),
            variables=tuple(data.get("variables", ("x",))),
            family=data.get("family", ""),
            torch=None if torch is None else Torch(**torch),
            jax=data.get("jax", ""),
            note=data.get("note", ""),
        )
    except (KeyError, TypeError) as error:
        raise EocError(f"the catalogue entry {name!r} is incomplete: {error}") from error
