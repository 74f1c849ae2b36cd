"""The covariance map E phi(u) phi(v) of two inputs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.checking import Check, Claim
from verify.enclosures import witness
from verify.layers import claim, drawn, plane_sampling, points_of
from verify.networks.layer import layer_means
from verify.subject import Subject

EDGES = (Fraction(-1), Fraction(1))


def claims(subject: Subject) -> Iterator[Claim]:
    """E phi(u) phi(v) at different variances, at correlations of either sign and at c = -1 and 1."""
    result, rng = subject.theory.covariance_map, subject.choices("covariance_map")
    correlations = [*(Fraction(round(100 * rng.uniform(a, a + 0.45)), 100) for a in (-0.95, -0.4, 0.05, 0.5)), *EDGES]
    values = [{"q1": drawn(rng, 0.2, 4.0), "q2": drawn(rng, 0.2, 4.0), "c": c} for c in correlations]
    second = subject.theory.second_moment

    def natural(v) -> float:
        return float(subject.number(second, q=v["q1"]).mid * subject.number(second, q=v["q2"]).mid) ** 0.5

    points = points_of(subject, result, values, natural)
    exact = witness(subject, result, points, lambda moments, v: moments.pair(v["q1"], v["q2"], v["c"]))

    def product(u, v):
        return subject.phi(u) * subject.phi(v)

    sampling = plane_sampling(subject, points, [product], lambda means, value: means[0])
    networks = layer_means(subject.dtype, points, gram_of, product)
    yield claim(result, "covariance_map", "covariance map", points, (*exact, sampling, networks))


def gram_of(v):
    """The covariance matrix of the two inputs at a point."""
    q1, q2, c = float(v["q1"]), float(v["q2"]), float(v["c"])
    cross = c * (q1 * q2) ** 0.5
    return [[q1, cross], [cross, q2]]


CHECK = Check("covariance_map", ("covariance_map",), claims, order=60)
