"""The slope of the variance map, chi_parallel(q) = dV/dq."""

from __future__ import annotations

from collections.abc import Iterator

from verify.checking import Check, Claim
from verify.enclosures import ball, witness
from verify.layers import claim, drawn, line_sampling, points_of
from verify.subject import Subject


def claims(subject: Subject) -> Iterator[Claim]:
    """dV/dq at four points, by the derivative of the Gaussian density: no derivative of phi is taken."""
    result, rng = subject.theory.chi_parallel, subject.choices("variance_slope")
    values = [{"q": drawn(rng, 0.2, 4.0), "sigma_w": drawn(rng, 0.6, 2.0)} for _ in range(4)]
    second = subject.theory.second_moment

    def natural(v) -> float:
        return float(v["sigma_w"]) ** 2 * float(subject.number(second, q=v["q"])) / float(v["q"])

    points = points_of(subject, result, values, natural)
    exact = witness(subject, result, points, lambda moments, v: ball(v["sigma_w"]) ** 2 * moments.parallel(v["q"]))
    sampling = line_sampling(
        subject,
        points,
        lambda x, q: subject.phi(x) ** 2 * (x * x / q - 1) / (2 * q),
        lambda mean, v: float(v["sigma_w"]) ** 2 * mean,
        weight=True,
    )
    yield claim(result, "chi_parallel", "slope of the variance map", points, (*exact, sampling))


CHECK = Check("variance_slope", ("chi_parallel",), claims, order=40)
