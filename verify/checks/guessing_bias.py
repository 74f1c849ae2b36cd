"""Initial guessing bias along depth: the drift ratio gamma, and how often a network puts two inputs into one class."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import mpmath

from derive.records import DomainError, Enclosure
from verify.checking import Check, Claim, Point
from verify.depth import DEPTH, LARGEST, operating_values, richardson
from verify.layers import drawn
from verify.subject import Subject

if TYPE_CHECKING:
    import torch


def claims(subject: Subject) -> Iterator[Claim]:
    """log(1 + gamma) and P(one class) at layers 2 to 6 of two inputs of one norm, extrapolated to infinite width.

    1 + gamma = 1/(1 - c) is the ratio of the mean square of a unit over the data to its variance over them; of two
    inputs (K11 + K22)/(K11 + K22 - 2 K12). With two classes and Gaussian outputs P(one class) = 1/2 + arcsin(c)/pi.
    """
    theory = subject.theory
    bias, values = theory.guessing_bias, operating_values(subject, "guessing_bias")
    rng = subject.choices("guessing_bias inputs")
    q, c = drawn(rng, 0.4, 2.5), drawn(rng, 0.1, 0.6)
    ratios, shares, state, largest = [], [], (q, c), float(q)
    for layer in range(2, DEPTH + 1):
        gamma = subject.number(bias.ratio_map, q=state[0], c=state[1], **values)
        variance = float(subject.number(theory.variance_map, q=state[0], **values).mid)
        if gamma.mid < -gamma.rad:
            raise DomainError(f"gamma = {mpmath.nstr(gamma.mid, 5)} is no ratio of variances")
        if not (variance < LARGEST and 0 <= gamma.mid < LARGEST):
            break
        where = (("layer", layer), ("q1", q), ("c", c), *values.items())
        log = Enclosure(mpmath.log1p(gamma.mid), gamma.rad / (1 + gamma.mid))
        ratios.append(Point(where, log, 1.0))
        shares.append(Point(where, Enclosure(mpmath.mpf(bias.classes(gamma.mid).same_class), log.rad), 1.0))
        state, largest = (Fraction(variance), Fraction(float(gamma.mid / (1 + gamma.mid)))), max(largest, variance)
    if not ratios:
        return
    gram, depth, kind = [[float(q), float(c * q)], [float(c * q), float(q)]], len(ratios) + 1, str(bias.ratio_map.kind)
    for title, latex, points, observe in (
        ("drift ratio along depth", r"\gamma^{l+1} = \gamma'(q^l, c^l), \quad \log(1 + \gamma^l)", ratios, drift),
        (
            "two inputs in one class along depth",
            r"P = \tfrac{1}{2} + \tfrac{1}{\pi} \arcsin \tfrac{\gamma}{1 + \gamma}",
            shares,
            one,
        ),
    ):
        networks = richardson(subject, gram, values, observe, largest=largest, depth=depth)
        yield Claim("guessing_bias", title, latex, kind, tuple(points), (networks,), abscissa="layer")


def drift(kernels: torch.Tensor) -> torch.Tensor:
    """log(1 + gamma) of every network and layer: smooth, and its fluctuations are those of a logarithm."""
    both = kernels[:, :, 0, 0] + kernels[:, :, 1, 1]
    return (both / (both - 2 * kernels[:, :, 0, 1])).log()


def one(kernels: torch.Tensor) -> torch.Tensor:
    """P(one of two classes is guessed for both inputs) given each network's kernel."""
    c = kernels[:, :, 0, 1] / (kernels[:, :, 0, 0] * kernels[:, :, 1, 1]).sqrt()
    return 0.5 + c.clamp(-1, 1).asin() / 3.141592653589793


UNSEEABLE = {
    "c: limits exchanged": "two different inputs have no layer at c = -1 or 1",
    **{f"term {k} 1 % off": "a hundredth of one term of many may be less than networks resolve" for k in (1, 2, 3, 4)},
}

CHECK = Check("guessing_bias", (), claims, order=125, rests_on=("guessing_bias",), unseeable=UNSEEABLE)
