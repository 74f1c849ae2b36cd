"""The answer to one expectation: its closed form, tested, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from sympy import Expr, ImmutableMatrix, Lambda, Matrix, Pow, eye, together

from derive.gaussian.cancellation import loses_digits
from derive.gaussian.divergence import outgrows
from derive.gaussian.enclosure.local import diverges_at
from derive.gaussian.engine import as_text, derive_closed
from derive.gaussian.maxima import crowd
from derive.gaussian.node import GaussianE
from derive.gaussian.rewriting import rewriting_step, rewritten
from derive.gaussian.selftest import TRIES, check
from derive.gaussian.special import SPECIAL_HEADS
from derive.gaussian.stops import Blocked, Diverges, Untested
from derive.gaussian.tidy import tidy
from derive.program.symbols import DELTA, Q1, Q2, K, Q
from derive.records import Kind, Step

PATIENCE = 8
"""Evaluations that may fail before a rewriting of an integrand that is no atom is given up as untested."""


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
    cancels    whether the closed form loses digits in floating point, so that code integrates instead
    """

    node: GaussianE
    kind: Kind
    closed: Expr | None
    blockers: tuple[str, ...] = ()
    condition: str = ""
    source: str = ""
    positive: tuple[Expr, ...] = ()
    cancels: bool = False

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
    if node.cov.has(GaussianE) and (nested := _of_copies(node, budget_seconds)) is not None:
        return nested
    try:
        if (crowded := crowd(node)) is not None:
            raise Blocked([crowded])
        derived = derive_closed(node, budget_seconds=budget_seconds)
    except Blocked as error:
        return _without_atoms(node, error, budget_seconds)
    except Diverges as error:
        return Answer(node, Kind.DIVERGENT, None, condition=error.why)
    closed = tidy(derived.closed)
    if closed.has(GaussianE):  # the law holds expectations that nothing here gives values: no test is possible
        return Answer(node, Kind.INTEGRAL, None, blockers=(f"{node.body} under a law that holds expectations",))
    return _tested(node, closed, derived.positive, derived.sources)


def _of_copies(node: GaussianE, budget_seconds: float) -> Answer | None:
    """Of independent copies of one centred unit or pair whose law holds expectations: by that of a plain law.

    The closed form of the plain law is the tested one; the expectations stand in it for q, or for q1, q2 and K.
    """
    n = node.cov.rows
    half, one = n // 2, eye(n // 2)
    if n < 3 or not node.mean.is_zero_matrix or node.body.has(Q, Q1, Q2, K):
        return None
    for laws, cov in (
        ({Q: node.cov[0, 0]}, Q * eye(n)),
        (
            {Q1: node.cov[0, 0], Q2: node.cov[half, half], K: node.cov[0, half]},
            Matrix.vstack(Matrix.hstack(Q1 * one, K * one), Matrix.hstack(K * one, Q2 * one))
            if n == 2 * half
            else None,
        ),
    ):
        if cov is None or cov.xreplace(laws) != Matrix(node.cov):
            continue
        plain = answer(GaussianE(node.integrand, ImmutableMatrix(cov), node.mean), budget_seconds)
        if plain.closed is None or plain.positive:
            return Answer(node, Kind.INTEGRAL, None, blockers=plain.blockers) if plain.closed is None else None
        named = laws | ({DELTA: laws[Q1] * laws[Q2] - laws[K] ** 2} if Q1 in laws else {})
        return replace(plain, closed=plain.closed.subs(named, simultaneous=True))
    return None


def _tested(
    node: GaussianE, closed: Expr, positive: tuple[Expr, ...], sources: tuple[str, ...], patience: int = TRIES
) -> Answer:
    check(_over_one_bar(node), closed, positive, patience)
    kind, lost = Kind.SPECIAL if closed.has(*SPECIAL_HEADS) else Kind.EXACT, loses_digits(node, closed)
    return Answer(node, kind, closed, (), as_text(positive), "; ".join(sources), positive, lost)


def _over_one_bar(node: GaussianE) -> GaussianE:
    """The same expectation; an integrand with poles at 0 that cancel as one quotient, which enclosures can evaluate."""
    if not any(p.exp.is_negative and p.base in node.variables for p in node.body.atoms(Pow)):
        return node
    return GaussianE(Lambda(node.variables, together(node.body)), node.cov, node.mean)


def _without_atoms(node: GaussianE, error: Blocked, budget_seconds: float) -> Answer:
    """Closed where a rule rewrites the expectation in atoms, divergent where it is for certain, else open."""
    runaway = outgrows(node)
    if runaway is not None:
        return Answer(node, Kind.DIVERGENT, None, condition=f"{runaway} outgrows every Gaussian density")
    singular = diverges_at(node)
    if singular is not None:
        return Answer(node, Kind.DIVERGENT, None, condition=f"the integrand is not integrable next to {singular}")
    try:
        found = rewritten(node, budget_seconds)
    except Diverges:  # parts that diverge may cancel in their sum
        found = None
    if found is not None:
        try:
            return replace(_tested(node, found.value, found.positive, found.sources, PATIENCE), cancels=found.cancels)
        except Untested:  # what nothing can test, such as a quotient that no limit fills, is no answer
            return Answer(node, Kind.INTEGRAL, None, blockers=error.parts)
    return Answer(node, Kind.INTEGRAL, None, blockers=error.parts)


@lru_cache(maxsize=256)
def derivation(node: GaussianE) -> Step:
    """The tree of steps that leads to the closed form of an expectation.

    Raises Blocked or Diverges where there is none.
    """
    try:
        step = derive_closed(node, trace=True, budget_seconds=60.0).step
    except Blocked:
        step = rewriting_step(node)
        if step is None:
            raise
    assert step is not None
    return step


__all__ = ["Answer", "answer", "derivation"]
