"""Growth bounds: |f(x)| <= exp(a + b|x| + s x^2) (1 + |x|)^n far out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

ZERO, INF = arb(0), arb.pos_inf()


@dataclass(frozen=True, slots=True)
class Growth:
    """|f(x)| <= exp(a + b|x| + s x^2) (1 + |x|)^n for |x| >= R on one side; a, b, s exact numbers, b and s of any sign.

    The bound is integrable against a Gaussian of variance q if s < 1/(2 q).
    """

    a: arb
    b: arb
    s: arb
    n: int

    def at(self, x: arb) -> arb:
        """The bound at a point (R or farther)."""
        size = abs(arb(x))
        return (self.a + self.b * size + self.s * size * size).exp() * (1 + size) ** self.n

    def __str__(self) -> str:
        power = f" (1 + |x|)^{self.n}" if self.n else ""
        parts = [f"{float(c):.6g}{name}" for c, name in ((self.a, ""), (self.b, "|x|"), (self.s, "x^2")) if c != 0]
        return f"exp({' + '.join(parts) or '0'}){power}".replace("+ -", "- ")


@dataclass(frozen=True, slots=True)
class Log:
    """The exponent a + b|x| + s x^2 + n log(1 + |x|)."""

    a: arb
    b: arb = ZERO
    s: arb = ZERO
    n: arb = ZERO

    def __add__(self, other: Log) -> Log:
        return Log(self.a + other.a, self.b + other.b, self.s + other.s, self.n + other.n)

    def scaled(self, factor: arb) -> Log:
        """The exponent times a number."""
        return Log(factor * self.a, factor * self.b, factor * self.s, factor * self.n)

    def up(self) -> Log:
        """Rounded up to exact numbers."""
        return Log(*(part.upper() if part.is_finite() else part for part in (self.a, self.b, self.s, self.n)))

    def down(self) -> Log:
        """Rounded down to exact numbers."""
        return self.scaled(arb(-1)).up().scaled(arb(-1))

    def order(self):
        """The order of growth: compared from the fastest part on."""
        return (self.s, self.b, self.n, self.a)


def log_of(size: arb) -> arb:
    """The logarithm of a bound, -inf of 0 (Arb's own is not a number)."""
    return arb.neg_inf() if size.is_zero() else size.log()


def best(*bounds: Log | None) -> Log | None:
    """The slowest of several upper bounds, rounded up."""
    found = [bound.up() for bound in bounds if bound is not None and bound.a < INF]
    return min(found, key=Log.order, default=None)


def worst(*bounds: Log | None) -> Log | None:
    """The fastest of several lower bounds, rounded down."""
    found = [bound.down() for bound in bounds if bound is not None]
    return max(found, key=Log.order, default=None)


def total(parts: Sequence[Log | None]) -> Log | None:
    """The bound of a sum."""
    bounds = [part for part in parts if part is not None]
    if len(bounds) < len(parts):
        return None
    top = max(bound.a for bound in bounds)
    a = top + sum(((bound.a - top).exp() for bound in bounds), arb(0)).log() if top.is_finite() else top
    return Log(a, *(max(getattr(bound, name) for bound in bounds) for name in "bsn"))


def product(parts: Sequence[Log | None]) -> Log | None:
    """The bound of a product: the sum of the exponents."""
    result = Log(arb(0))
    for part in parts:
        if part is None:
            return None
        result = result + part
    return result
