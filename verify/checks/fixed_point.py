"""Fixed points at given sigma_w, sigma_b: V(q*) = q*, its slope and stability, and C(c*) = c*."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from verify.checking import Check, Claim, Exact, Point
from verify.depth import operating_values
from verify.enclosures import Moments, ball
from verify.judge import compare
from verify.layers import line_sampling, plane_sampling
from verify.subject import Subject


def claims(subject: Subject) -> Iterator[Claim]:
    """Every fixed point at one drawn (sigma_w, sigma_b)."""
    values = operating_values(subject, "fixed_point")
    state = subject.theory.at(**values, **subject.parameters)
    found = [p for p in state.fixed_points if 0 < float(p.q) < float("inf")]
    sigmas = tuple(values.items())
    w2, b2 = float(values["sigma_w"]) ** 2, float(values["sigma_b"]) ** 2
    if not found:
        return
    kind, phi = str(subject.theory.variance_map.kind), subject.phi

    def claim(title: str, latex: str, points, *witnesses) -> Claim:
        return Claim("at", title, latex, kind, points, witnesses)

    balance = tuple(Point((("q", float(p.q)), *sigmas), p.q, float(p.q)) for p in found)
    sampling = line_sampling(subject, balance, lambda x: phi(x) ** 2, lambda mean, v: w2 * mean + b2)
    yield claim("fixed point of the variance map", r"V(q^*) = q^*", balance, sampling)
    slopes = tuple(
        Point((("q", float(p.q)), *sigmas), p.chi_parallel, max(abs(float(p.chi_parallel)), 0.05)) for p in found
    )
    slope = line_sampling(
        subject, slopes, lambda x, q: phi(x) ** 2 * (x * x / q - 1) / (2 * q), lambda mean, v: w2 * mean, weight=True
    )
    stability = Exact("enclosure", lambda: list(_stability(subject, found, values["sigma_w"] ** 2)))
    yield claim("slope and stability of the fixed point", r"V'(q^*)", slopes, stability, slope)
    paired = [p for p in found if p.c is not None]
    if not paired:
        return
    correlations = tuple(
        Point((("q1", float(p.q)), ("q2", float(p.q)), ("c", _clipped(p.c)), *sigmas), p.c, 1.0) for p in paired
    )

    def finish(means, v):
        return (w2 * means[0] + b2) / (w2 * means[1] + b2)

    pair = plane_sampling(subject, correlations, [lambda u, v: phi(u) * phi(v), lambda u, v: phi(u) ** 2], finish)
    yield claim("fixed point of the correlation map", r"C(q^*, q^*, c^*) = c^*", correlations, pair)


def _stability(subject: Subject, found: list[Any], w2: Any):
    """The claimed stability against the enclosed slope of the variance map."""
    import flint

    moments = Moments(subject)
    with flint.ctx.workprec(120):
        slopes = [abs(ball(w2) * moments.parallel(ball(p.q))) for p in found]
    for point, slope in zip(found, slopes, strict=True):
        if point.stable is None:
            yield compare(float(slope), float(slope), float("inf"), 1.0, "stability is not claimed")
        else:
            agrees = slope < 1 if point.stable else slope > 1
            yield compare(float(bool(agrees)), 1.0, 0.0, 1.0)


def _clipped(c: Any) -> float:
    return max(-1.0, min(1.0, float(c)))


CHECK = Check("fixed_point", ("at",), claims, order=90)
