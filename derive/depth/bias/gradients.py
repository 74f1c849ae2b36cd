"""Gradients of a biased network by class: the unfavoured class pulls exp(2 |Delta|) times harder, at every layer.

For two classes and cross-entropy the error at the logits of a sample is sigma(-Delta) where its label is class 1 and
sigma(Delta) where it is class 2, Delta = Y_1 - Y_2. In deep prejudice Delta is one number for all inputs, and the
squares of both gradients are carried back by the same factors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from derive.records import DomainError

UNDERFLOW = {"float32": 24 * math.log(2), "float64": 53 * math.log(2)}
"""|Delta| from which 1 - sigma(|Delta|) rounds to 0 in that format: the error of a single logit."""
SOFTMAX = {"float32": 149 * math.log(2), "float64": 1074 * math.log(2)}
"""|Delta| from which exp(-|Delta|) rounds to 0: what is left at the other class's score of a softmax."""


def ratio(delta: Any) -> Any:
    """Squared gradient of a sample predicted as its own label over that of one that is not: exp(-2 |Delta|) exactly.

    sigma(-d)/sigma(d) = exp(-d), for any d >= 0: no approximation for large d is made.
    """
    return np.exp(-2 * np.abs(delta))


def mean_ratio(centre: float, spread: float) -> float:
    """Mean squared gradient of the favoured class over that of the other, Delta ~ N(centre, spread^2) over the inputs.

    E sigma(-Delta)^2/E sigma(Delta)^2 with centre >= 0: exp(-2 centre) where spread = 0, larger otherwise, because the
    inputs that are not predicted as the favoured class pull for it. Trapezoidal rule, floats to about 1e-12.
    """
    if not (centre >= 0 and spread >= 0):
        raise DomainError(f"centre = {centre}, spread = {spread} are no difference of outputs", why="both are >= 0")
    step = 0.1 / (1 + spread)
    z = np.arange(-9, 9 + step, step)
    delta = centre + spread * z
    logs = [-2 * np.logaddexp(0, sign * delta) - z * z / 2 for sign in (1, -1)]
    favoured, other = (np.logaddexp.reduce(values) for values in logs)
    return float(np.exp(favoured - other))


@dataclass(frozen=True)
class ClassGradients:
    """The law over weights of |Delta| at the output, Delta given the weights one number for all inputs.

    q      variance of an output; Delta ~ N(0, 2 q c) between centres
    c      correlation at the output: what is said here is exact for c = 1 and neglects spread 2 q (1 - c) otherwise
    """

    q: float
    c: float

    @property
    def scale(self) -> float:
        """The standard deviation sqrt(2 q c) of Delta over weights."""
        if not (self.q >= 0 and 0 <= self.c <= 1):
            raise DomainError(f"q = {self.q}, c = {self.c} are no variance and correlation of outputs")
        return math.sqrt(2 * self.q * self.c)

    @property
    def median_log_ratio(self) -> float:
        """The median of the logarithm of the favoured over the unfavoured squared gradient: -2 * 0.674 sqrt(2 q c)."""
        return -2 * 0.6744897501960817 * self.scale

    def underflows(self, dtype: str = "float32", softmax: bool = False) -> float:
        """The chance that the favoured class has a gradient of exactly 0 in that format.

        softmax  two scores behind a softmax instead of one logit: the right score's error p - 1 is 0 as for one logit,
                 but the other's, p = exp(-|Delta|), lasts until it is no number of the format
        """
        if dtype not in UNDERFLOW:
            raise DomainError(f"no format {dtype}", instead=", ".join(UNDERFLOW))
        edge = (SOFTMAX if softmax else UNDERFLOW)[dtype]
        return 1.0 if math.isinf(self.scale) else math.erfc(edge / (self.scale * math.sqrt(2) or 1e-300))


__all__ = ["ClassGradients", "mean_ratio", "ratio"]
