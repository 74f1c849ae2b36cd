"""Mechanical wrong versions of a theory: what the checks must refute.

Each mutant changes one derived quantity in one way that people get wrong; mutants that equal the truth (q1 and q2
exchanged in a symmetric map) are left out by comparing numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import mpmath

from derive.records import DomainError, Enclosure, EocError, Unsupported
from verify.checking import Check, Claim, Exact, Sampled
from verify.judge import Verdict, judge
from verify.stream import stream
from verify.subject import Subject
from verify.work import PILOT
from verify.wrong import RememberingTheory, WrongResult, WrongTheory
from verify.wrong_forms import wrong_forms
from verify.wrong_laws import wrong_laws
from verify.wrong_widths import wrong_depths

MOST_TERMS = 4
COMPARISONS = 100
"""Comparisons of a usual report; the family-wise error is shared among them."""


MOST_BATCHES = 240
"""Batches of samples or networks against which a mutant is held: seconds of a report."""


@dataclass(frozen=True)
class Mutant:
    """A theory that is wrong in one place.

    name        what was changed ("1 % too large")
    attribute   of what ("variance_map")
    theory      the wrong theory
    """

    name: str
    attribute: str
    theory: Any


def mutants(subject: Subject, forms: bool = False) -> Iterator[Mutant]:
    """Every mutant of a subject's theory that differs from the truth.

    forms   also those of `verify.wrong_forms`, one place of a closed form changed at a time
    """
    theory = RememberingTheory(subject.theory)
    for attribute, result in theory.results.items():
        if str(result.kind) == "DIVERGENT":
            continue
        for name, wrong in _wrong_results(theory, attribute, result, forms):
            if _differs(subject, result, wrong):
                yield Mutant(name, attribute, WrongTheory(theory, attribute, wrong))
    if not subject.jumps:
        for name, question in _wrong_edges(theory, subject.parameters):
            yield Mutant(name, "edge_of_chaos", WrongTheory(theory, "edge_of_chaos", question))
    for name, question in _wrong_points(theory):
        yield Mutant(name, "at", WrongTheory(theory, "at", question))
    if subject.of == "activation":
        yield from _wrong_ratios(subject, theory, forms)
        yield from (Mutant(name, "guessing_law", wrong) for name, wrong in wrong_laws(theory))
        wrong_ones = wrong_depths(subject.theory, subject.parameters)
        yield from (Mutant(name, "finite_width", wrong) for name, wrong in wrong_ones)


def _wrong_ratios(subject: Subject, theory: Any, forms: bool) -> Iterator[Mutant]:
    """The drift ratio's map changed as any other result, inside the theory's `guessing_bias`."""
    bias = subject.theory.guessing_bias
    for name, wrong in _wrong_results(theory, "ratio_map", bias.ratio_map, forms):
        if _differs(subject, bias.ratio_map, wrong):
            changed = WrongTheory(bias, "ratio_map", wrong)
            yield Mutant(name, "guessing_bias", WrongTheory(theory, "guessing_bias", changed))


def kills(subject: Subject, checks: Mapping[str, Check], forms: bool = False) -> Iterator[tuple[Mutant, str, str]]:
    """(mutant, check, witness that refuted it or "") for every check of what a mutant changed.

    Rigorous witnesses are asked first; samples are drawn until they refute, MOST_BATCHES at most, and all mutants are
    held against the same ones.
    """
    drawn: dict[Any, list[list[float]]] = {}
    for mutant in mutants(subject, forms):
        wrong = replace(subject, theory=mutant.theory)
        for name, check in checks.items():
            if mutant.attribute in check.covers:
                yield mutant, name, _refuted_by(list(check.claims(wrong)), mutant.attribute, subject.seed, drawn)


def depth_kills(subject: Subject, check: Check) -> Iterator[tuple[Mutant, str]]:
    """(mutant, witness that refuted it or "") for a check of depth: recursions with one map wrong in every layer.

    Networks are drawn until they refute, MOST_BATCHES at most; all mutants are held against the same networks.
    """
    drawn: dict[Any, list[list[float]]] = {}
    for mutant in mutants(subject):
        if mutant.attribute not in check.rests_on:
            continue
        try:
            claims = list(check.claims(replace(subject, theory=mutant.theory)))
        except DomainError:
            yield mutant, NO_LAW
            continue
        yield mutant, next((w for claim in claims if (w := _refuted_along_depth(claim, subject.seed, drawn))), "")


def _refuted_along_depth(claim: Claim, seed: int, drawn: dict[Any, list[list[float]]]) -> str:
    for witness in claim.witnesses:
        assert isinstance(witness, Sampled)
        if _refuted_by_samples(claim, witness, seed, 0, drawn.setdefault((claim.title, len(claim.points)), [])):
            return witness.name
    return ""


def _refuted_by_samples(claim: Claim, witness: Sampled, seed: int, index: int, batches: list[list[float]]) -> bool:
    """Whether one of its points is refuted; further batches are added to those drawn for earlier mutants."""
    for count in range(PILOT, MOST_BATCHES + 1, PILOT):
        if len(batches) < count:
            batches += witness.draw([stream(seed, index, k) for k in range(len(batches), count)]).values.tolist()
        for column, point in zip(zip(*batches[:count], strict=True), claim.points, strict=True):
            predicted = float(point.predicted.mid), float(point.predicted.rad)
            if judge(column, *predicted, point.scale, COMPARISONS).verdict is Verdict.FAILS:
                return True
    return False


def _refuted_by(claims: list[Claim], attribute: str, seed: int, drawn: dict[Any, list[list[float]]]) -> str:
    witnesses = [(claim, witness) for claim in claims for witness in claim.witnesses]
    for _, witness in witnesses:
        if isinstance(witness, Exact) and any(j.verdict is Verdict.FAILS for j in witness.decide()):
            return witness.name
    for index, (claim, witness) in enumerate(witnesses):
        if not isinstance(witness, Sampled) or witness.costly:
            continue
        key = (claim.title, witness.name, *(point.values for point in claim.points))
        if _refuted_by_samples(claim, witness, seed, index, drawn.setdefault(key, [])):
            return witness.name
    own = [claim for claim in claims if claim.attribute == attribute and len(claim.witnesses) > 1]
    stated = [point for claim in own for point in claim.points]
    return NO_NUMBER if stated and not any(mpmath.isfinite(p.predicted.mid) for p in stated) else ""


NO_LAW = "no variance or no correlation in the next layer"
"""A wrong recursion that leaves the domain of its own maps."""
NO_NUMBER = "no real number"
"""A wrong form that is complex or infinite at every point: no report calls it true, its claim is UNDECIDED."""
VALUES: dict[str, Callable[[Any], Any]] = {
    "1 % too large": lambda y: y * 1.01,
    "1 % too small": lambda y: y * 0.99,
    "wrong sign": lambda y: -y,
    "squared": lambda y: y * y,
    "root taken": lambda y: abs(y) ** 0.5,
    "half": lambda y: y / 2,
    "twice": lambda y: y * 2,
}


def _argument_changes() -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
    """Wrong uses of the arguments, each for the arguments it names."""

    def change(**new: Callable[[dict[str, Any]], Any]):
        return lambda values: {**values, **{name: f(values) for name, f in new.items()}}

    return {
        "q: variance for standard deviation": change(q=lambda v: v["q"] ** 2),
        "q1 for q2": change(q2=lambda v: v["q1"]),
        "q1 and q2 exchanged": change(q1=lambda v: v["q2"], q2=lambda v: v["q1"]),
        "q1 squared": change(q1=lambda v: v["q1"] ** 2),
        "c: wrong sign": change(c=lambda v: -v["c"]),
        "c squared": change(c=lambda v: v["c"] ** 2),
        "c: limits exchanged": change(c=lambda v: _limits(v["c"])),
        "c dropped": change(c=lambda v: 0 * v["c"]),
        "sigma_b dropped": change(sigma_b=lambda v: 0 * v["sigma_b"]),
        "sigma_b: square missing": change(sigma_b=lambda v: _root(v["sigma_b"])),
        "sigma_w: square missing": change(sigma_w=lambda v: _root(v["sigma_w"])),
        "sigma_w dropped": change(sigma_w=lambda v: 0 * v["sigma_w"] + 1),
    }


def _limits(c: Any) -> Any:
    """-c at the ends, c between them."""
    if isinstance(c, Fraction | int | float):
        return -c if abs(c) == 1 else c
    inside = abs(c) < 1
    return c * (2 * inside - 1)


def _root(value: Any) -> Any:
    return Fraction(float(value) ** 0.5).limit_denominator(10**6) if isinstance(value, Fraction) else value**0.5


def _wrong_results(theory: Any, attribute: str, result: Any, forms: bool) -> Iterator[tuple[str, Any]]:
    for name, value in VALUES.items():
        yield name, WrongResult(result, value)
    for name, arguments in _argument_changes().items():
        touched = name.partition(":")[0].split()[0]
        if touched in result.arguments:
            yield name, WrongResult(result, arguments=arguments)
    yield from _wrong_terms(result, forms)
    for other in CONFUSED.get(attribute, ()):
        yield f"{other} in its place", WrongResult(theory.results[other], arguments=_only(theory.results[other]))
    if attribute == "second_moment":
        yield "square of the mean", WrongResult(theory.mean, lambda y: y * y)


def _only(result: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Keeps the arguments that a result takes."""
    known = {*result.arguments, *(name for name, _ in result.domains)}
    return lambda values: {name: value for name, value in values.items() if name in known}


CONFUSED = {
    "chi": ("chi_parallel", "second_moment"),
    "chi_parallel": ("chi", "second_moment"),
    "mean": ("second_moment",),
    "second_moment": ("mean",),
}


def _wrong_terms(result: Any, forms: bool) -> Iterator[tuple[str, Any]]:
    """A closed form with one additive term dropped, negated, or 1 % off, or with one place changed."""
    from sympy import Add, Rational

    from derive.gaussian.node import GaussianE

    result = getattr(result, "_result", result)
    closed = result.closed
    if closed.has(GaussianE):
        return
    if forms:
        yield from ((kind, replace(result, template=wrong)) for kind, wrong in wrong_forms(closed))
    terms = Add.make_args(closed) if isinstance(closed, Add) else Add.make_args(closed.expand(deep=False))
    if len(terms) < 2:
        return
    for position, term in enumerate(terms[:MOST_TERMS], start=1):
        for name, factor in (("dropped", 0), ("of wrong sign", -1), ("1 % off", Rational(101, 100))):
            yield f"term {position} {name}", replace(result, template=closed + (factor - 1) * term)


def _differs(subject: Subject, result: Any, wrong: Any) -> bool:
    """Whether a wrong version has another number at one of two generic points or an end of c."""
    generic = {"q": "0.7", "q1": "0.7", "q2": "1.9", "c": "0.37", "sigma_w": "1.3", "sigma_b": "0.3"}
    for changes in ({}, {"q": "2.3", "q1": "2.3", "c": "-0.61"}, {"c": "1"}, {"c": "-1"}):
        values = {name: Fraction({**generic, **changes}[name]) for name in result.arguments}
        try:
            true = subject.number(result, **values)
        except Unsupported:  # no number is claimed there
            continue
        try:
            other = subject.number(wrong, **values)
        except EocError:
            return True
        if not other.overlaps(true):
            return True
    return False


def _scaled(value: Any, factor: float) -> Any:
    with mpmath.workdps(40):
        return Enclosure(value.mid * factor, value.rad * abs(factor))


def _wrong_edges(theory: Any, parameters: Mapping[str, Any]) -> Iterator[tuple[str, Callable]]:
    def changed(**new: Callable[[Any], Any]) -> Callable:
        def question(*args: Any, **named: Any) -> Any:
            answer = theory.edge_of_chaos(*args, **named)
            points = tuple(replace(p, **{name: f(p) for name, f in new.items()}) for p in answer.points)
            return replace(answer, points=points)

        return question

    yield "sigma_w 1 % too large", changed(sigma_w=lambda p: _scaled(p.sigma_w, 1.01))
    yield "sigma_w squared", changed(sigma_w=lambda p: _scaled(p.sigma_w, float(p.sigma_w)))
    yield "sigma_b^2 off by 1 % of q", changed(sigma_b2=lambda p: Enclosure(p.sigma_b2.mid + p.q.mid / 100, p.q.rad))
    here, there = (theory.edge_of_chaos(q=q, **parameters) for q in ("1", "1.01"))
    if not here.points or not here.sigma_w.overlaps(there.sigma_w):  # scale-invariant functions keep every q
        yield "q 1 % too large", changed(q=lambda p: _scaled(p.q, 1.01))


def _wrong_points(theory: Any) -> Iterator[tuple[str, Callable]]:
    def changed(**new: Callable[[Any], Any]) -> Callable:
        def question(*args: Any, **named: Any) -> Any:
            answer = theory.at(*args, **named)
            points = tuple(replace(p, **{name: f(p) for name, f in new.items()}) for p in answer.fixed_points)
            return replace(answer, fixed_points=points)

        return question

    yield "q 1 % too large", changed(q=lambda p: _scaled(p.q, 1.01))
    yield "slope 1 % too large", changed(chi_parallel=lambda p: _scaled(p.chi_parallel, 1.01))
    yield "stability reversed", changed(stable=lambda p: None if p.stable is None else not p.stable)
    yield "c* of wrong sign", changed(c=lambda p: None if p.c is None else _scaled(p.c, -1))
