"""The printed LaTeX of every map, read back by a grammar of exactly what our printer prints, against the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath

from derive.records import Enclosure, Kind
from verify.checking import Check, Claim, Exact, Point
from verify.enclosures import agree
from verify.judge import Judgement
from verify.layers import answered, drawn, points_of
from verify.subject import Subject

CLOSED = (Kind.EXACT, Kind.SPECIAL, Kind.SERIES)
DIGITS = 40


def claims(subject: Subject) -> Iterator[Claim]:
    """Every map with a closed form, at three drawn points; an unevaluated expectation has no formula to read."""
    for name, result in subject.theory.results.items():
        if result.kind in CLOSED:
            yield claim(subject, name, result)


def claim(subject: Any, name: str, result: Any) -> Claim:
    """The claim that the printed formula of one map has the numbers of the map."""
    rng = subject.choices(f"printed {name}")

    def value() -> dict[str, Fraction]:
        found = {a: drawn(rng, 0.3, 2.5) for a in result.arguments if a != "c"}
        inside = Fraction(round(100 * rng.uniform(-0.9, 0.9)), 100)
        return {a: found.get(a, inside) for a in result.arguments}

    values, note = answered(subject, result, [value() for _ in range(3)])
    points = points_of(subject, result, values, lambda v: 0.0)
    text = result.latex()
    witness = Exact("read back", lambda: read_back(subject, result, text, points))
    title = f"printed formula of the {result.title}"
    return Claim(name, title, text, str(result.kind), points, (witness,), note=note)


def read_back(subject: Any, result: Any, text: str, points: tuple[Point, ...]) -> list[Judgement]:
    """The text evaluated in 40 digits at each point against the predicted number."""
    from derive.show.names import symbol_name
    from verify.latex_reader import read_latex

    names = {symbol_name(n): n for n in (*result.arguments, *result.parameters, "K", "Delta")}
    formula = read_latex(text, names)
    mp = mpmath.mp.clone()
    mp.dps = DIGITS
    judgements = []
    for point in points:
        given = {**subject.parameters, **dict(point.values)}
        known = {name: mp.mpf(value.numerator) / value.denominator for name, value in given.items()}
        if "c" in known:
            known["K"] = known["c"] * mp.sqrt(known["q1"] * known["q2"])
            known["Delta"] = known["q1"] * known["q2"] - known["K"] ** 2
        number = mp.re(formula(known, mp))
        with mpmath.workdps(DIGITS):
            found = Enclosure(mpmath.mpf(number), abs(mpmath.mpf(number)) * mpmath.mpf(10) ** -22)
        judgements.append(agree(point.predicted, found, point.scale))
    return judgements


CHECK = Check("printed_formula", (), claims, order=220, of=("activation", "block"))
