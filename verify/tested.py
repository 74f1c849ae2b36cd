"""What every subject of a verification has: a theory, numbers for its parameters, a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from derive.records import Enclosure
from verify.report.record import Report, TestedClaim
from verify.stream import choices

QUESTIONS = ("edge_of_chaos", "at")


class Tested:
    """Numbers of a theory under test, and the report on it."""

    of = "activation"
    """Which checks apply."""
    theory: Any
    parameters: Mapping[str, Fraction]
    seed: int
    dtype: Any
    source: Mapping[str, Any]

    def choices(self, name: str) -> np.random.Generator:
        """The generator of the points of one check."""
        return choices(self.seed, name)

    def number(self, result: Any, **values: Any) -> Enclosure:
        """The claimed number of a Result at a point, with this subject's parameters."""
        known = {*result.arguments, *(name for name, _ in result.domains)}
        given = {**self.parameters, **values}
        return result.number({name: value for name, value in given.items() if name in known})

    def compiled(self, result: Any, backend: str) -> Callable:
        """The emitted function of a Result with this subject's parameters filled in."""
        function = result.compile(backend)
        fixed = {name: float(self.parameters[name]) for name in result.parameters}
        return lambda *args, **named: function(*args, **fixed, **named)

    @property
    def jumps(self) -> bool:
        """Whether the theory says that an activation jumps."""
        return bool(self.theory.maps.jumps)

    def derived(self) -> tuple[str, ...]:
        """Names of everything the theory derived: its Results, and its questions that take arguments."""
        questions = [name for name in QUESTIONS if hasattr(type(self.theory), name)]
        return (*self.theory.results, *questions)

    def reported(
        self,
        claims: tuple[TestedClaim, ...],
        device: str,
        budget: float,
        seconds: float,
        comparisons: int,
        interrupted: bool,
        resolve: float,
        until: float | None,
        **shown: Any,
    ) -> Report:
        """The report of this subject; `shown` are the fields subject, formula, domains and latex."""
        return Report(
            parameters=tuple((name, str(value)) for name, value in self.parameters.items()),
            claims=claims,
            seed=self.seed,
            device=device,
            dtype=str(self.dtype).removeprefix("torch."),
            budget=budget,
            seconds=seconds,
            comparisons=comparisons,
            versions=_versions(),
            interrupted=interrupted,
            resolve=resolve,
            until=until,
            source=dict(self.source),
            **shown,
        )


def _versions() -> tuple[tuple[str, str], ...]:
    from importlib.metadata import version
    from platform import python_version

    names = ("eoc", "torch", "numpy", "scipy", "sympy", "mpmath", "python-flint")
    return (("python", python_version()), *((name, version(name)) for name in names))
