"""The catalogue: one TOML file an activation, definition and citation, never a result."""

from derive.catalogue.entry import Entry, Parameter, Source, Torch, aliases, entry, names
from derive.catalogue.several import Several, several, several_outputs

__all__ = [
    "Entry",
    "Parameter",
    "Several",
    "Source",
    "Torch",
    "aliases",
    "entry",
    "names",
    "several",
    "several_outputs",
]
