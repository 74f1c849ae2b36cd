"""What a check states: a claim at some points, with the witnesses that can refute it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from derive.records import EocError

if TYPE_CHECKING:
    from derive.records import Enclosure
    from verify.judge import Judgement
    from verify.sampling import Draw


@dataclass(frozen=True)
class Point:
    """Where a claim is tested and what it predicts there.

    values      (name, number) pairs for the reader, such as (("q", 1/4),)
    predicted   the claim's number, an Enclosure
    scale       the size against which errors are relative, positive
    """

    values: tuple[tuple[str, Any], ...]
    predicted: Enclosure
    scale: float

    def label(self) -> str:
        """The point as text."""
        return ", ".join(f"{name} = {float(value):g}" for name, value in self.values)


@dataclass(frozen=True)
class Exact:
    """A witness without chance: one judgement a point, from enclosures or evaluated code."""

    name: str
    decide: Callable[[], Sequence[Judgement]]


@dataclass(frozen=True)
class Sampled:
    """A witness by chance: batch means (batches, points) from independent streams, one a batch.

    costly   drawn only after the others, and not at all if the budget is spent by then
    """

    name: str
    draw: Callable[[Sequence[Any]], Draw]
    costly: bool = False


@dataclass(frozen=True)
class Claim:
    """One statement of a theory.

    attribute   the theory's attribute it belongs to
    title       one line of text; `latex` the statement as a formula
    kind        kind of the derived result (EXACT, SPECIAL, ...)
    abscissa    the name along which the points form a curve; empty if they do not
    note        what the reader should know, such as points that were left out
    """

    attribute: str
    title: str
    latex: str
    kind: str
    points: tuple[Point, ...]
    witnesses: tuple[Exact | Sampled, ...]
    abscissa: str = ""
    note: str = ""


class Uncheckable(EocError):
    """Raised by a check that cannot test what it covers for this subject: the claims count as REFUSED."""


@dataclass(frozen=True)
class Check:
    """One file of `verify/checks`.

    of          what it tests: "activation" (one Dense and one activation), "block" (any other), or both
    covers      attributes of a theory for which this check states claims
    claims      enumerates them
    rests_on    attributes that enter its numbers though another check covers them: their mutants must fail here too
    order       its place in reports
    unseeable   mutants that this check cannot tell from the truth, each with the reason
    """

    name: str
    covers: tuple[str, ...]
    claims: Callable[[Any], Iterable[Claim]]
    order: int = 1000
    rests_on: tuple[str, ...] = ()
    unseeable: Mapping[str, str] = field(default_factory=dict)
    of: tuple[str, ...] = ("activation",)


def checks(of: str = "activation") -> dict[str, Check]:
    """The checks of an activation or a block, one a file of `verify/checks`, in the order of reports; "" for all."""
    import pkgutil
    from importlib import import_module

    import verify.checks as folder

    names = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    found = {name: import_module(f"{folder.__name__}.{name}").CHECK for name in names}
    wanted = {name: check for name, check in found.items() if not of or of in check.of}
    return dict(sorted(wanted.items(), key=lambda item: (item[1].order, item[0])))
