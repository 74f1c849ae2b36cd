"""The gradient gain chi(q) = sigma_w^2 E phi'(sqrt(q) Z)^2."""

from __future__ import annotations

from collections.abc import Iterator

from mpmath import mpf

from derive.records import Enclosure
from verify.checking import Check, Claim, Exact, Point
from verify.enclosures import ball, witness
from verify.judge import compare
from verify.layers import claim, drawn, line_sampling, points_of
from verify.networks.layer import layer_gradients
from verify.subject import Subject

REACH, BRACKETS, JUMP = 12.0, 4800, 1e-7


def claims(subject: Subject) -> Iterator[Claim]:
    """chi at four points: enclosure, sampled derivatives, and gradients sent back through sampled weights."""
    result, rng = subject.theory.chi, subject.choices("gradient_gain")
    yield _continuity(subject)
    if subject.jumps:
        return
    values = [{"q": drawn(rng, 0.2, 4.0), "sigma_w": drawn(rng, 0.6, 2.0)} for _ in range(4)]
    points = points_of(subject, result, values, lambda v: float(subject.number(result, **v)))
    exact = witness(subject, result, points, lambda moments, v: ball(v["sigma_w"]) ** 2 * moments.slope(v["q"]))
    sampling = line_sampling(
        subject, points, lambda x: subject.slope(x) ** 2, lambda mean, v: float(v["sigma_w"]) ** 2 * mean
    )
    networks = layer_gradients(subject.dtype, points, subject.phi, subject.slope)
    yield claim(result, "chi", "gradient gain", points, (*exact, sampling, networks))


def _continuity(subject: Subject) -> Claim:
    """Whether phi jumps: the largest step that survives bisection to neighbouring numbers."""
    height = mpf(1 if subject.jumps else 0)
    point = Point((("reach", REACH),), Enclosure(height, mpf(0)), 1.0)

    def decide():
        found = largest_jump(subject)
        size = float(found > JUMP)
        return [compare(size, float(height), 0.0, 1.0, f"largest step between neighbouring numbers: {found:.2g}")]

    title = "the activation jumps, so that the gain is infinite" if subject.jumps else "the activation does not jump"
    return Claim(
        "chi", title, r"\sup_x |\varphi(x^+) - \varphi(x^-)|", "EXACT", (point,), (Exact("bisection", decide),)
    )


def largest_jump(subject: Subject) -> float:
    """The largest |phi(b) - phi(a)| over brackets [a, b] bisected to width 1e-13, largest half first."""
    import torch

    edges = torch.linspace(-REACH, REACH, BRACKETS + 1, dtype=torch.float64) + 1e-7
    a, b = edges[:-1], edges[1:]
    fa, fb = subject.phi(a), subject.phi(b)
    for _ in range(40):
        middle = (a + b) / 2
        fm = subject.phi(middle)
        left = (fm - fa).abs() >= (fb - fm).abs()
        a, b = torch.where(left, a, middle), torch.where(left, middle, b)
        fa, fb = torch.where(left, fa, fm), torch.where(left, fm, fb)
    return float((fb - fa).abs().nan_to_num().max())


CHECK = Check("gradient_gain", ("chi",), claims, order=50)
