"""The correlation map C(q1, q2, c) = (sigma_w^2 E phi(u) phi(v) + sigma_b^2) / sqrt(V(q1) V(q2))."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.checking import Check, Claim
from verify.enclosures import ball, witness
from verify.layers import claim, drawn, plane_sampling, points_of, sigmas
from verify.subject import Subject


def claims(subject: Subject) -> Iterator[Claim]:
    """C along c at equal variances, which is plotted, and at drawn points with different variances."""
    result, rng = subject.theory.correlation_map, subject.choices("correlation_map")
    q, fixed = drawn(rng, 0.4, 2.5), sigmas(rng)
    along = [Fraction(c, 10) for c in (-10, -6, -2, 2, 6, 9, 10)]
    curve = [{"q1": q, "q2": q, "c": c, **fixed} for c in along]
    scattered = [
        {"q1": drawn(rng, 0.2, 4.0), "q2": drawn(rng, 0.2, 4.0), "c": Fraction(c, 100), **sigmas(rng)}
        for c in (round(100 * rng.uniform(-0.95, 0.0)), round(100 * rng.uniform(0.0, 0.95)))
    ]
    yield _claim(subject, result, "correlation map along c", curve, "c")
    yield _claim(subject, result, "correlation map at drawn points", scattered, "")


def _claim(subject: Subject, result, title: str, values, abscissa: str) -> Claim:
    points = points_of(subject, result, values, lambda v: 1.0)
    phi = subject.phi

    def finish(means, v):
        w2, b2 = float(v["sigma_w"]) ** 2, float(v["sigma_b"]) ** 2
        cross, first, second = means
        return (w2 * cross + b2) / ((w2 * first + b2) * (w2 * second + b2)).sqrt()

    def enclosed(moments, v):
        w2, b2 = ball(v["sigma_w"]) ** 2, ball(v["sigma_b"]) ** 2
        variances = (w2 * moments.second(v["q1"]) + b2) * (w2 * moments.second(v["q2"]) + b2)
        return (w2 * moments.pair(v["q1"], v["q2"], v["c"]) + b2) / variances.sqrt()

    integrands = [lambda u, v: phi(u) * phi(v), lambda u, v: phi(u) ** 2, lambda u, v: phi(v) ** 2]
    exact = witness(subject, result, points, enclosed)
    sampling = plane_sampling(subject, points, integrands, finish)
    return claim(result, "correlation_map", title, points, (*exact, sampling), abscissa=abscissa)


CHECK = Check("correlation_map", ("correlation_map",), claims, order=70)
