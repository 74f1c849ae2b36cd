"""The law of G0 itself: the fraction of inputs that a random network of two classes puts into the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from derive.records import DomainError, Enclosure
from verify.checking import Check, Claim, Point, Sampled
from verify.depth import LARGEST, operating_values
from verify.layers import drawn
from verify.sampling import Draw, network_warning
from verify.stream import normals
from verify.subject import Subject

if TYPE_CHECKING:
    import torch

INPUTS, DEPTH, WIDTH = 12, 3, 384
NETWORKS, OUTPUTS = 64, 96
"""Networks a batch and pairs of outputs of each: given a network's last layer its outputs are independent Gaussians."""


def claims(subject: Subject) -> Iterator[Claim]:
    """Var Phi^-1(G0) = gamma at layers 2 and 3, and the law of the larger share of 12 inputs at layer 3.

    Phi^-1(G0) of a network is the mean over the data of the difference of its two outputs, over its spread. Inputs are
    of one norm and one overlap; both statements are exact at infinite width for any number of them:
    E (n - 3)/(n - 1) m^2/s^2 - 1/n = gamma for the mean m and the variance s^2 of n values, and the count of inputs in
    one class is Binomial(n, G0) (`TwoClasses.finite_mass`).
    """
    theory = subject.theory
    bias, values = theory.guessing_bias, operating_values(subject, "guessing_law")
    rng = subject.choices("guessing_law inputs")
    q, c = drawn(rng, 0.4, 2.5), drawn(rng, 0.15, 0.5)
    state, largest, found = (q, c), float(q), []
    for layer in range(2, DEPTH + 1):
        gamma = subject.number(bias.ratio_map, q=state[0], c=state[1], **values)
        variance = float(subject.number(theory.variance_map, q=state[0], **values).mid)
        if gamma.mid < -gamma.rad:
            raise DomainError(f"gamma = {mpmath.nstr(gamma.mid, 5)} is no ratio of variances")
        if not (variance < LARGEST and SMALLEST < gamma.mid < LARGEST):
            break
        where = (("layer", layer), ("q1", q), ("c", c), *values.items())
        found.append((where, bias.classes(gamma.mid), gamma.rad))
        state, largest = (Fraction(variance), Fraction(float(gamma.mid / (1 + gamma.mid)))), max(largest, variance)
    if not found:
        return
    spread = [Point(w, Enclosure(mpmath.mpf(law.gamma), rad), max(law.gamma, FAINT)) for w, law, rad in found]
    where, law, rad = found[-1]
    shares = [
        Point((("share", Fraction(j, INPUTS)), *where), Enclosure(mpmath.mpf(p), rad + mpmath.mpf(1e-10)), 1.0)
        for j, p in zip(range(INPUTS // 2, INPUTS), below(law), strict=True)
    ]
    latex = r"\operatorname{Var} \Phi^{-1}(G_0) = \gamma^l, \quad k \mid G_0 \sim \operatorname{Binomial}(n, G_0)"
    networks = sampled(subject, float(q), float(c), values, len(found) + 1, largest)
    kind, title = str(bias.ratio_map.kind), "law of the class fraction"
    yield Claim("guessing_bias", title, latex, kind, (*spread, *shares), (networks,))


SMALLEST, FAINT = 1e-3, 0.1
"""Below the first no claim is made, below the second errors are relative to the second: n inputs show no less."""


def below(law: Any) -> np.ndarray:
    """P(the larger of the two shares of n inputs is at most j/n), j = n/2 .. n - 1."""
    mass = law.finite_mass(INPUTS)
    both = mass + mass[::-1]
    half = INPUTS // 2
    return np.cumsum([mass[half], *both[half + 1 : INPUTS]])


def normal_scores(difference: torch.Tensor) -> torch.Tensor:
    """(networks, layers, n, outputs) -> (layers,): the unbiased estimate of gamma from Phi^-1(G0)^2."""
    n = difference.shape[2]
    squares = difference.mean(2).square() / difference.var(2)
    return ((n - 3) / (n - 1) * squares - 1 / n).mean((0, 2))


def larger_shares(difference: torch.Tensor) -> torch.Tensor:
    """The same -> (n/2,): how often the larger share at the last layer is at most j/n."""
    import torch

    count = (difference[:, -1] > 0).sum(1)
    larger = torch.maximum(count, INPUTS - count)
    return torch.stack([(larger <= j).double().mean() for j in range(INPUTS // 2, INPUTS)])


def sampled(subject: Subject, q: float, c: float, values: dict[str, Fraction], depth: int, largest: float) -> Sampled:
    """Weight-free networks with outputs drawn from their law given the last hidden layer, at widths n and 2n.

    2 E_2n - E_n has no error of order 1/n; both widths are read out by the same normal numbers.
    """

    def draw(streams: Sequence[Any]) -> Draw:
        import torch

        rows, corrections = [], []
        for stream in streams:
            eye = torch.eye(INPUTS, dtype=subject.dtype, device=stream.device)
            gram = q * ((1 - c) * eye + c)
            noise = normals((NETWORKS, depth - 1, INPUTS, OUTPUTS), stream, subject.dtype)
            means = []
            for width in (WIDTH, 2 * WIDTH):
                difference = _outputs(subject, gram, values, depth, width, noise, stream)
                means.append(torch.cat((normal_scores(difference), larger_shares(difference))).double())
            rows.append(2 * means[1] - means[0])
            corrections.append(means[1] - means[0])
        return Draw(torch.stack(rows), 2 * NETWORKS, network_warning(subject.phi, largest), torch.stack(corrections))

    return Sampled("weight-free networks", draw, costly=True)


def _outputs(subject, gram, values, depth, width, noise, stream):
    """Differences of two outputs at layers 2 to `depth`, up to a factor: (networks, layers, inputs, outputs)."""
    from verify.conditional import cholesky, kernels

    found = kernels(
        subject.phi, gram, width=width, depth=depth, networks=NETWORKS, sigma_w=float(values["sigma_w"]),
        sigma_b=float(values["sigma_b"]), generator=stream, block=1 << 18,
    )  # fmt: skip
    return cholesky(found[:, 1:]) @ noise


CHECK = Check("guessing_law", (), claims, order=135, rests_on=("guessing_law",))
