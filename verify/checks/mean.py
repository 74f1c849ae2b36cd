"""The mean of the activation, E phi(sqrt(q) Z)."""

from __future__ import annotations

from collections.abc import Iterator

from verify.checking import Check, Claim
from verify.enclosures import witness
from verify.layers import claim, drawn, line_sampling, points_of
from verify.subject import Subject


def claims(subject: Subject) -> Iterator[Claim]:
    """E phi at four variances, against its enclosure and samples of the user's function."""
    result, rng = subject.theory.mean, subject.choices("mean")
    values = [{"q": drawn(rng, 0.2, 4.0)} for _ in range(4)]
    size = subject.theory.second_moment
    points = points_of(subject, result, values, lambda v: float(subject.number(size, **v)) ** 0.5)
    exact = witness(subject, result, points, lambda moments, v: moments.mean(v["q"]))
    yield claim(result, "mean", "mean of the activation", points, (*exact, line_sampling(subject, points, subject.phi)))


CHECK = Check("mean", ("mean",), claims, order=10)
