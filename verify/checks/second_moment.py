"""The second moment of the activation, E phi(sqrt(q) Z)^2."""

from __future__ import annotations

from collections.abc import Iterator

from verify.checking import Check, Claim
from verify.enclosures import witness
from verify.layers import claim, drawn, line_sampling, points_of
from verify.subject import Subject


def claims(subject: Subject) -> Iterator[Claim]:
    """E phi^2 at four variances, against its enclosure and samples of the user's function."""
    result, rng = subject.theory.second_moment, subject.choices("second_moment")
    values = [{"q": drawn(rng, 0.2, 4.0)} for _ in range(4)]
    points = points_of(subject, result, values, lambda v: float(subject.number(result, **v)))
    exact = witness(subject, result, points, lambda moments, v: moments.second(v["q"]))
    sampling = line_sampling(subject, points, lambda x: subject.phi(x) ** 2)
    yield claim(result, "second_moment", "second moment of the activation", points, (*exact, sampling))


CHECK = Check("second_moment", ("second_moment",), claims, order=20)
