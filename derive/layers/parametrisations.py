"""The same layer written with other multipliers: standard, NTK, mean-field and maximal-update parametrisations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sympy import Expr, Rational, sqrt

from derive.layers.stage import ratio
from derive.records import EocError

PARAMETRISATIONS = ("standard", "ntk", "mean-field", "mup")
ROLES = ("input", "hidden", "output")

_HALF = Fraction(1, 2)
# (multiplier, std) as powers of 1/fan-in, and the largest learning rates of SGD and Adam that stay stable as powers of
# the width; None where there is no such statement
_POWERS: dict[tuple[str, str], tuple[Any, Any, Any, Any]] = {
    **{("standard", role): (0, _HALF, -1, -1) for role in ROLES},
    **{("ntk", role): (_HALF, 0, 0, -_HALF) for role in ROLES},
    ("standard", "input"): (0, _HALF, None, None),
    ("ntk", "input"): (_HALF, 0, None, None),
    ("mean-field", "input"): (_HALF, 0, 1, None),
    ("mean-field", "output"): (1, 0, 1, None),
    ("mup", "input"): (0, _HALF, 1, 0),
    ("mup", "hidden"): (0, _HALF, 0, -1),
    ("mup", "output"): (0, 1, -1, -1),
}


@dataclass(frozen=True)
class Parametrised:
    """z = multiplier w x with w ~ N(0, std^2), and how learning rates go with the width n: n^sgd, n^adam, or None.

    Two of them with the same `sigma_w2` are the same layer at initialization: every map is that of
    Dense(sqrt(sigma_w2)).
    """

    fan_in: Expr
    multiplier: Expr
    std: Expr
    sgd: Expr | None
    adam: Expr | None

    @property
    def sigma_w2(self) -> Expr:
        """sigma_w^2 = fan_in (multiplier std)^2 of the layer as a Dense."""
        return self.fan_in * (self.multiplier * self.std) ** 2

    def shifted(self, theta: Any) -> Parametrised:
        """w divided by n^theta, the multiplier times n^theta: the same function and the same training.

        Learning rates become n^-2 theta times SGD's and n^-theta times Adam's (Yang & Hu 2021, arXiv 2011.14522,
        the symmetry of abc-parametrisations; Adam: Yang et al. 2022, arXiv 2203.03466).
        """
        power = ratio(theta, "theta")
        factor = self.fan_in**power
        sgd = None if self.sgd is None else self.sgd - 2 * power
        adam = None if self.adam is None else self.adam - power
        return replace(self, multiplier=self.multiplier * factor, std=self.std / factor, sgd=sgd, adam=adam)


def parametrised(name: str, role: str, fan_in: Any, sigma_w: Any = 1) -> Parametrised:
    """A layer's weights in a parametrisation; `role` is input, hidden or output.

    standard    w ~ N(0, sigma_w^2/n)
    ntk         w ~ N(0, 1), multiplier sigma_w/sqrt(n) (Jacot et al. 2018, arXiv 1806.07572)
    mean-field  one hidden layer; output multiplier sigma_w/n, so that sigma_w2 = sigma_w^2/n and the network starts
                at 0 (Mei et al. 2018, arXiv 1804.06561)
    mup         as standard, output w ~ N(0, sigma_w^2/n^2) (Yang et al. 2022, arXiv 2203.03466, table 3)

    Raises EocError for other names, and for hidden layers of the mean-field one.
    """
    if name not in PARAMETRISATIONS:
        raise EocError(f"the parametrisation {name!r} is unknown", instead=" | ".join(PARAMETRISATIONS))
    if role not in ROLES:
        raise EocError(f"the role {role!r} is unknown", instead=" | ".join(ROLES))
    if (name, role) not in _POWERS:
        raise EocError("the mean-field parametrisation has one hidden layer", instead="role='input' or 'output'; mup")
    n, gain = ratio(fan_in, "fan_in"), ratio(sigma_w, "sigma_w")
    a, b, sgd, adam = (None if power is None else Rational(Fraction(power)) for power in _POWERS[name, role])
    multiplier, std = n ** -(a or 0), n ** -(b or 0)
    if name in ("standard", "mup"):
        std = gain * std
    else:
        multiplier = gain * multiplier
    return Parametrised(n, multiplier, std, sgd, adam)


def output_size(name: str, width: Any, sigma_w: Any = 1) -> Expr:
    """Standard deviation of the output for hidden activations of second moment 1: n^-1/2 in mup and mean-field."""
    return sqrt(parametrised(name, "output", width, sigma_w).sigma_w2)
