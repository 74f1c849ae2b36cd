"""The answer to one expectation: its closed form, tested, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sympy import Expr, Integer

from derive.gaussian.divergence import outgrows
from derive.gaussian.engine import as_text, derive_closed
from derive.gaussian.maxima import crowd
from derive.gaussian.node import GaussianE
from derive.gaussian.rules import symmetry
from derive.gaussian.rules.symmetry import is_odd
from derive.gaussian.selftest import check
from derive.gaussian.special import SPECIAL_HEADS
from derive.gaussian.stops import Blocked, Diverges
from derive.gaussian.tidy import tidy
from derive.records import Kind, Step


@dataclass(frozen=True)
class Answer:
    """What the calculus says about an expectation.

    node       the expectation
    kind       EXACT (elementary functions and the normal cdf), SPECIAL (names further functions),
               INTEGRAL (no closed form found) or DIVERGENT
    closed     the closed form in the symbols of the law and the parameters (Delta = q1*q2 - K**2), or None
    blockers   the smallest parts that no rule takes, where there is no closed form
    condition  when the expectation converges, beyond the assumptions on the symbols; empty if always
    source     the sources of the rules that acted
    positive   the condition as expressions that must be positive
    """

    node: GaussianE
    kind: Kind
    closed: Expr | None
    blockers: tuple[str, ...] = ()
    condition: str = ""
    source: str = ""
    positive: tuple[Expr, ...] = ()

    @property
    def step(self) -> Step | None:
        """The derivation as a tree of steps; None where there is no closed form."""
        return None if self.closed is None else derivation(self.node)

    @property
    def partial(self) -> Expr | None:
        """Where there is no closed form: closed part + a smaller expectation, if some terms are atoms; else None."""
        from derive.gaussian.partial import partly_closed

        return partly_closed(self.node) if self.kind is Kind.INTEGRAL else None


@lru_cache(maxsize=1024)
def answer(node: GaussianE, budget_seconds: float = 10.0) -> Answer:
    """The closed form of an expectation, compared with an independent evaluation at random points.

    Raises SelfTestFailed where the closed form disagrees.
    """
    try:
        if (crowded := crowd(node)) is not None:
            raise Blocked([crowded])
        derived = derive_closed(node, budget_seconds=budget_seconds)
    except Blocked as error:
        return _without_atoms(node, error)
    except Diverges as error:
        return Answer(node, Kind.DIVERGENT, None, condition=error.why)
    closed = tidy(derived.closed)
    check(node, closed, derived.positive)
    kind = Kind.SPECIAL if closed.has(*SPECIAL_HEADS) else Kind.EXACT
    source = "; ".join(derived.sources)
    return Answer(node, kind, closed, condition=as_text(derived.positive), source=source, positive=derived.positive)


def _without_atoms(node: GaussianE, error: Blocked) -> Answer:
    """No closed form, unless the integrand is odd: then the expectation vanishes; or it diverges for certain."""
    runaway = outgrows(node)
    if runaway is not None:
        return Answer(node, Kind.DIVERGENT, None, condition=f"{runaway} outgrows every Gaussian density")
    if not is_odd(node):
        return Answer(node, Kind.INTEGRAL, None, blockers=error.parts)
    check(node, Integer(0))
    return Answer(node, Kind.EXACT, Integer(0), source=symmetry.RULE.source)


@lru_cache(maxsize=256)
def derivation(node: GaussianE) -> Step:
    """The tree of steps that leads to the closed form of an expectation.

    Raises Blocked or Diverges where there is none.
    """
    try:
        step = derive_closed(node, trace=True, budget_seconds=60.0).step
    except Blocked:
        if not is_odd(node):
            raise
        return Step(symmetry.RULE.name, node, Integer(0), "", symmetry.RULE.source)
    assert step is not None
    return step


__all__ = ["Answer", "answer", "derivation"]
