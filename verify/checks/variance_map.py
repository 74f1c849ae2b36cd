"""The variance map V(q) = sigma_w^2 E phi(sqrt(q) Z)^2 + sigma_b^2."""

from __future__ import annotations

from collections.abc import Iterator

from verify.checking import Check, Claim
from verify.enclosures import ball, witness
from verify.layers import claim, drawn, line_sampling, points_of, sigmas
from verify.networks.layer import layer_means
from verify.subject import Subject


def claims(subject: Subject) -> Iterator[Claim]:
    """V along q at one (sigma_w, sigma_b), which is plotted, and at drawn triples."""
    result, rng = subject.theory.variance_map, subject.choices("variance_map")
    fixed = sigmas(rng)
    curve = [{"q": q, **fixed} for q in (drawn(rng, low, 1.5 * low) for low in (0.1, 0.25, 0.6, 1.2, 2.2, 3.2))]
    scattered = [{"q": drawn(rng, 0.2, 4.0), **sigmas(rng)} for _ in range(3)]
    yield _claim(subject, result, "variance map along q", curve, "q")
    yield _claim(subject, result, "variance map at drawn points", scattered, "")


def _claim(subject: Subject, result, title: str, values, abscissa: str) -> Claim:
    points = points_of(subject, result, values, lambda v: float(subject.number(result, **v)))

    def map_of(second, v):
        return float(v["sigma_w"]) ** 2 * second + float(v["sigma_b"]) ** 2

    exact = witness(
        subject, result, points,
        lambda moments, v: ball(v["sigma_w"]) ** 2 * moments.second(v["q"]) + ball(v["sigma_b"]) ** 2,
    )  # fmt: skip
    sampling = line_sampling(subject, points, lambda x: subject.phi(x) ** 2, map_of)
    networks = layer_means(subject.dtype, points, lambda v: [[float(v["q"])]], lambda z: subject.phi(z) ** 2, map_of)
    return claim(result, "variance_map", title, points, (*exact, sampling, networks), abscissa=abscissa)


CHECK = Check("variance_map", ("variance_map",), claims, order=30)
