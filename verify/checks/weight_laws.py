"""The covariance map does not depend on the law of the weights: uniform, truncated, Rademacher, orthogonal."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from verify.checking import Check, Claim
from verify.checks.covariance_map import gram_of
from verify.layers import claim, drawn, points_of
from verify.networks.laws import law_means
from verify.sampling import network_warning
from verify.subject import Subject
from verify.weights import laws


def claims(subject: Subject) -> Iterator[Claim]:
    """E phi(u) phi(v), c = 1 included, in layers with weights of each law, their E W^2 as the theory states it."""
    result, rng = subject.theory.covariance_map, subject.choices("weight_laws")
    second = subject.theory.second_moment

    def natural(v) -> float:
        return float(subject.number(second, q=v["q1"]).mid * subject.number(second, q=v["q2"]).mid) ** 0.5

    def product(u, v):
        return subject.phi(u) * subject.phi(v)

    for law in laws().values():
        places = [Fraction(round(100 * rng.uniform(a, a + 0.5)), 100) for a in (-0.7, 0.2)]
        values = [{"q1": drawn(rng, 0.3, 2.5), "q2": drawn(rng, 0.3, 2.5), "c": c} for c in (*places, Fraction(1))]
        points = points_of(subject, result, values, natural)
        largest = float(max(v[name] for v in values for name in ("q1", "q2")))
        doubt = partial(network_warning, subject.phi, largest)
        witness = law_means(law, subject.dtype, points, gram_of, product, doubt)
        yield claim(result, "covariance_map", f"covariance map in networks with {law.name} weights", points, (witness,))


CHECK = Check("weight_laws", (), claims, order=65)
