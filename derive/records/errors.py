"""Errors that say what was wrong, where, why, and what works instead."""

from __future__ import annotations


class EocError(Exception):
    """A question that cannot be answered as asked (exit code 2 on the command line).

    what     one sentence: what is wrong
    where    the offending part (text, name or value), empty if there is none
    why      the rule that was broken
    instead  the neighbouring way that works
    """

    def __init__(self, what: str, *, where: str = "", why: str = "", instead: str = "") -> None:
        self.what, self.where, self.why, self.instead = what, where, why, instead
        super().__init__(what, where, why, instead)

    def __str__(self) -> str:
        lines = [self.what]
        lines += [self.where] if self.where else []
        lines += [f"why: {self.why}"] if self.why else []
        lines += [f"instead: {self.instead}"] if self.instead else []
        return "\n".join(lines)

    def __reduce__(self):
        return _rebuild, (type(self), self.what, self.where, self.why, self.instead)


def _rebuild(kind, what, where, why, instead):
    return kind(what, where=where, why=why, instead=instead)


class FormulaError(EocError):
    """Text that is no formula; `where` shows the line with a caret under the offending character."""


class DomainError(EocError):
    """A value or function outside the domain on which the question has a meaning."""


class Undefined(EocError):
    """A question without a meaning, such as the product of two Dirac parts at one place."""


class Unsupported(EocError):
    """A well-posed question that this version cannot answer; `why` names the blocker."""


class SelfTestFailed(EocError):
    """A derived form disagrees with its enclosure: an internal error (exit code 3), never an answer."""
