"""The catalogue: one TOML file an activation, definition and citation, never a result."""

from derive.catalogue.entry import Entry, Parameter, Source, Torch, aliases, entry, names

__all__ = ["Entry", "Parameter", "Source", "Torch", "aliases", "entry", "names"]
