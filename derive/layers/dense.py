"""The fully connected layer with fresh Gaussian weights."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sympy import Expr, Integer, Rational

from derive.layers.finite import Finite
from derive.layers.stage import Stage
from derive.layers.unit import gaussian
from derive.program.symbols import SIGMA_B, SIGMA_W
from derive.records import EocError
from derive.records.state import State


@dataclass(frozen=True, repr=False)
class Fresh(Stage):
    """Fresh centred weights whose second moment is sigma_w^2 / fan_in, and biases of standard deviation sigma_b.

    sigma_w, sigma_b: standard deviations, numbers or None for the symbols of that name.
    Map of second moments: E z^2 = sigma_w^2 E x^2 + sigma_b^2; the same for the cross moment; z is centred
    Gaussian for fan-in -> infinity whatever the law of x.
    """

    sigma_w: Any = None
    sigma_b: Any = None
    weights: ClassVar[bool] = True
    """The layer draws fresh weights: what leaves it is centred, Gaussian and independent of what entered."""
    keeps_width: ClassVar[bool] = True

    @property
    def passed(self) -> Expr:
        """Nothing of the signal's own coordinate is in what leaves the layer."""
        return Integer(0)

    @property
    def symbols(self) -> tuple[Expr, Expr]:
        """(sigma_w, sigma_b) as SymPy expressions."""
        w = SIGMA_W if self.sigma_w is None else _exact(self.sigma_w, "sigma_w")
        b = SIGMA_B if self.sigma_b is None else _exact(self.sigma_b, "sigma_b")
        return w, b

    def forward(self, state: State) -> State:
        """The state of the pre-activation.

        Gradients grow by sigma_w^2 through W^T, whatever the widths: E |W^T d|^2 = sigma_w^2 |d|^2.
        """
        w, b = self.symbols

        def push(moment: Expr) -> Expr:
            return w**2 * moment + b**2

        q1, q2, cross = push(state.second1), push(state.second2), push(state.cross)
        return gaussian(q1, q2, cross, w**2 * state.gain, w**2 * state.tangent)

    def __repr__(self) -> str:
        given = [f"{k}={v}" for k, v in (("sigma_w", self.sigma_w), ("sigma_b", self.sigma_b)) if v is not None]
        name = type(self).__name__.lower()
        return f"{name}({', '.join(given)})" if given else name


@dataclass(frozen=True, repr=False)
class Dense(Fresh):
    """z = W x + b with W_ij ~ N(0, sigma_w^2 / fan_in), b_i ~ N(0, sigma_b^2).

    sigma_w, sigma_b: standard deviations, numbers or None for the symbols of that name.
    Map of second moments: E z^2 = sigma_w^2 E x^2 + sigma_b^2; the same for the cross moment; z is centred
    Gaussian for fan-in -> infinity whatever the law of x. Source: Neal 1996; Poole et al. 2016
    (arXiv 1606.05340), eq. 3.
    """

    def apply(self, x: Any, finite: Finite) -> Any:
        """W x + b with fresh weights."""
        w, b = (finite.number(s) for s in self.symbols)
        n = x.shape[1]
        return w / n**0.5 * (x @ finite.normal((n, finite.width))) + b * finite.normal((1, finite.width))


def _exact(value: Any, name: str) -> Expr:
    try:
        number = Fraction(str(value))
    except ValueError:
        raise EocError(f"{name} = {value!r} is no number", instead=f"{name}=1.5 or leave it symbolic") from None
    if number < 0:
        raise EocError(f"{name} = {value} is negative", why="it is a standard deviation", instead=f"{name}={-number}")
    return Rational(number.numerator, number.denominator)


LAYER = Dense
