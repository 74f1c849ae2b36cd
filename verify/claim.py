"""What a check states: a claim at some points, with the witnesses that can refute it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from derive.records import Enclosure
    from verify.judge import Judgement
    from verify.sampling import Draw
    from verify.subject import Subject


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
    """

    attribute: str
    title: str
    latex: str
    kind: str
    points: tuple[Point, ...]
    witnesses: tuple[Exact | Sampled, ...]
    abscissa: str = ""


@dataclass(frozen=True)
class Check:
    """One file of `verify/checks`.

    covers      attributes of a theory for which this check states claims
    claims      enumerates them
    rests_on    attributes that enter its numbers though another check covers them: their mutants must fail here too
    order       its place in reports
    unseeable   mutants that this check cannot tell from the truth, each with the reason
    """

    name: str
    covers: tuple[str, ...]
    claims: Callable[[Subject], Iterable[Claim]]
    order: int = 1000
    rests_on: tuple[str, ...] = ()
    unseeable: Mapping[str, str] = field(default_factory=dict)


def checks() -> dict[str, Check]:
    """All checks, one a file of `verify/checks`, in the order of reports."""
    import pkgutil
    from importlib import import_module

    import verify.checks as folder

    names = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    found = {name: import_module(f"{folder.__name__}.{name}").CHECK for name in names}
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))
