"""From a command's TEXT to documents, through the cache; SymPy is imported only when something must be derived."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import click

from derive.records import EocError, Interval


@dataclass(frozen=True)
class Asked:
    """A question as typed: the text, values and domains of parameters, and whether the cache may be used."""

    text: str
    values: Mapping[str, Fraction]
    domains: Mapping[str, Interval]
    use_cache: bool = True

    def recall(self, level: str, compute: Callable[[], Any]) -> Any:
        """What `compute` gives for this question, from the cache where it is there."""
        if not self.use_cache:
            return compute()
        from derive import cache

        question = {"level": level, "text": self.text, "set": self.shown_values, "domains": self.shown_domains}
        return cache.recall(question, compute, lambda error: click.echo(f"note: no cache: {error}", err=True))

    @property
    def shown_values(self) -> dict[str, str]:
        """The values as text."""
        return {name: str(value) for name, value in sorted(self.values.items())}

    @property
    def shown_domains(self) -> dict[str, str]:
        """The domains as text."""
        return {name: str(domain) for name, domain in sorted(self.domains.items())}

    @cached_property
    def activation(self) -> Any:
        """The Activation, where TEXT is no block; else None."""
        refuse_unreadable(self.text, self.domains)
        from derive.layers.spelling import is_block

        if is_block(self.text):
            return None
        from derive.surface.activations import Activation

        return Activation(self.text, domains=self.domains or None, **dict[str, Any](self.values))

    @cached_property
    def theory(self) -> Any:
        """The Theory."""
        activation = self.activation
        from derive.surface.blocks import theory

        if activation is not None:
            return theory(activation)
        return theory(self.text, domains=self.domains or None, **self.values)

    @property
    def question(self) -> Any:
        """The question as the document records it."""
        from derive.show.document import Question

        notes: tuple[str, ...] = ()
        sources: tuple[str, ...] = ()
        name, text = "", self.text
        if self.activation is not None:
            from derive.catalogue import entry

            found = entry(self.text.strip())
            notes, text = self.activation.notes, self.activation.formula.text
            name = found.title if found else self.activation.formula.name
            sources = (_citation(found.source),) if found else ()
        return Question(self.text, self.shown_values, self.shown_domains, notes, sources, name, text)

    def base(self) -> dict[str, Any]:
        """The document without its optional fields."""
        from derive.show.document import document

        return self.recall("base", lambda: document(self.theory, self.question))

    def proofs(self) -> list[dict[str, Any]]:
        """The document's field `proofs`."""
        from derive.show.document import proofs

        return self.recall("proofs", lambda: proofs(self.theory))

    def curves(self) -> dict[str, Any]:
        """The document's field `curves`."""
        from derive.show.curves import curves

        return self.recall("curves", lambda: curves(self.theory))

    def code(self, backend: str, box: float | None = None) -> str:
        """The standalone module of a backend; `box` as in `Result.code`."""
        from derive.commands._code import theory_code

        question = f"code:{backend}" if box is None else f"code:{backend}:{box!r}"
        return self.recall(question, lambda: theory_code(self.theory, backend, box))

    def stage(self, name: str) -> str:
        """One stage of the derivation as text."""
        from derive.show.stages import stage

        return self.recall(f"stage:{name}", lambda: stage(name, self.theory, self.activation))


def refuse_unreadable(text: str, domains: Mapping[str, Interval]) -> None:
    """Raise FormulaError for a bad formula before SymPy or torch are loaded; of a block, for those of its stages."""
    from derive.catalogue import several
    from derive.formula import read
    from derive.layers.spelling import formulas, is_block

    if not is_block(text):
        read(text, domains=domains or None)
        return
    for formula in formulas(text):
        if several(formula) is None:
            read(formula, domains=domains or None)


def _citation(source: Any) -> str:
    if not source.authors:
        return source.title
    return f"{source.authors} {source.year}, {source.title}, {source.url}"


def one_owner(owners: list[str]) -> None:
    """Refuse two things that would both be written to standard output."""
    if len(owners) > 1:
        raise EocError(
            f"{' and '.join(owners)} would both be written to standard output",
            instead="a file name for all but one (--code torch=FILE), or --json - with the others as fields",
        )
