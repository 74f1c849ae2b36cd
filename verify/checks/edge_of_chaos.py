"""The edge of chaos: V(q) = q and chi(q) = 1 at the returned points."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath

from derive.records import Enclosure
from verify.checking import Check, Claim, Exact, Point
from verify.enclosures import Moments, agree, ball, to_enclosure
from verify.layers import drawn, line_sampling
from verify.subject import Subject


def claims(subject: Subject) -> Iterator[Claim]:
    """The points at q = 1 and one drawn q; invalid ones by the sigma_b^2 they would need."""
    if subject.jumps:
        return
    asked = (Fraction(1), drawn(subject.choices("edge_of_chaos"), 0.2, 3.0))
    found = [p for q in asked for p in subject.theory.edge_of_chaos(q=q, **subject.parameters).points]
    if not found:
        return
    yield _balance(subject, found)
    yield _gain(subject, found)


def _values(point: Any) -> tuple[tuple[str, float], ...]:
    return (("q", float(point.q)), ("sigma_w", float(point.sigma_w)), ("sigma_b2", float(point.sigma_b2)))


def _balance(subject: Subject, found) -> Claim:
    """q - sigma_w^2 E phi^2 = sigma_b^2: the variance is kept (with a sign that says whether the point is valid)."""
    points = tuple(Point(_values(p), p.sigma_b2, float(p.q)) for p in found)
    slopes = [float(p.sigma_w) ** 2 for p in found]

    def finish(mean, v):
        return float(v["q"]) - float(v["sigma_w"]) ** 2 * mean

    def decide():
        import flint

        moments = Moments(subject)
        with flint.ctx.workprec(120):
            enclosed = [ball(p.q) - ball(p.sigma_w) ** 2 * moments.second(_exact(p.q)) for p in found]
            return [agree(p.sigma_b2, to_enclosure(e), float(p.q)) for p, e in zip(found, enclosed, strict=True)]

    sampling = line_sampling(subject, points, lambda x: subject.phi(x) ** 2, finish)
    kind = str(subject.theory.variance_map.kind)
    latex = r"q^* - \sigma_w^2\, \mathbb{E}\,\varphi(\sqrt{q^*} Z)^2 = \sigma_b^2"
    assert len(slopes) == len(points)
    return Claim(
        "edge_of_chaos", "edge of chaos: V(q) = q", latex, kind, points, (Exact("enclosure", decide), sampling)
    )


def _gain(subject: Subject, found) -> Claim:
    one = Enclosure(mpmath.mpf(1), mpmath.mpf(0))
    points = tuple(Point(_values(p), one, 1.0) for p in found)

    def decide():
        import flint

        moments = Moments(subject)
        with flint.ctx.workprec(120):
            enclosed = [ball(p.sigma_w) ** 2 * moments.slope(_exact(p.q)) for p in found]
            return [agree(one, to_enclosure(e), 1.0) for e in enclosed]

    sampling = line_sampling(
        subject, points, lambda x: subject.slope(x) ** 2, lambda mean, v: float(v["sigma_w"]) ** 2 * mean
    )
    kind = str(subject.theory.chi.kind)
    latex = r"\sigma_w^2\, \mathbb{E}\,\varphi'(\sqrt{q^*} Z)^2 = 1"
    return Claim("edge_of_chaos", "edge of chaos: gain 1", latex, kind, points, (Exact("enclosure", decide), sampling))


def _exact(q: Any) -> Any:
    """The variance as an exact rational if it was given as one, else its ball."""
    return Fraction(float(q)) if q.rad == 0 else ball(q)


CHECK = Check("edge_of_chaos", ("edge_of_chaos",), claims, order=80)
