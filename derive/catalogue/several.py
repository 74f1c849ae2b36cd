"""Units of one input and several outputs, such as CReLU: one small file each, in `several_outputs`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from derive.catalogue.entry import Source
from derive.records import EocError

FIELDS = frozenset(("title", "outputs", "aliases", "note", "source"))


@dataclass(frozen=True, slots=True)
class Several:
    """A unit x -> (f_1(x), ..., f_k(x)).

    outputs   the formulas of the outputs in x, without parameters
    """

    name: str
    title: str
    outputs: tuple[str, ...]
    source: Source
    aliases: tuple[str, ...] = ()
    note: str = ""


def several(name: str) -> Several | None:
    """The unit of several outputs of that name or alias (hyphens, blanks and upper case are forgiven), or None."""
    plain = name.strip().replace("-", "_").replace(" ", "_").lower()
    return next((unit for unit in several_outputs() if plain in (unit.name, *unit.aliases)), None)


def several_outputs() -> tuple[Several, ...]:
    """All units of several outputs, in alphabetical order."""
    return tuple(_units().values())


@cache
def _units() -> Mapping[str, Several]:
    files = [f for f in (resources.files("derive.catalogue") / "several_outputs").iterdir() if f.name.endswith(".toml")]
    found = {file.name.removesuffix(".toml"): file.read_text(encoding="utf-8") for file in files}
    return MappingProxyType({name: parse(name, found[name]) for name in sorted(found)})


def parse(name: str, text: str) -> Several:
    """A unit from the text of its file; EocError names a field that is missing or not allowed."""
    data = tomllib.loads(text)
    if foreign := sorted(set(data) - FIELDS):
        raise EocError(
            f"the catalogue entry {name!r} has a field {foreign[0]!r}",
            why="an entry holds a definition and its citation, never a result",
            instead=f"allowed are {', '.join(sorted(FIELDS))}",
        )
    try:
        source = data["source"]
        return Several(
            name,
            data["title"],
            tuple(data["outputs"]),
            Source(source["title"], source["authors"], source["year"], source["url"], source["source_read"]),
            tuple(data.get("aliases", ())),
            data.get("note", ""),
        )
    except (KeyError, TypeError) as error:
        raise EocError(f"the catalogue entry {name!r} is incomplete: {error}") from error


__all__ = ["Several", "parse", "several", "several_outputs"]
