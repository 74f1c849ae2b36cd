"""One-variable enclosures: contained reference values, transformed twins, far means, tails, refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import flint
import pytest
from flint import acb, arb

from derive.gaussian.enclosure.one import enclose_one
from derive.records import Unsupported


@dataclass(frozen=True)
class Growth:
    a: object = 0
    b: object = 0
    s: object = 0
    n: object = 0


@dataclass(frozen=True)
class Pieces:
    """The interface of a piecewise analytic function, spelled by hand."""

    pieces: tuple[Callable[[acb], acb], ...]
    breaks: tuple[arb, ...] = ()
    growth: Growth = Growth()
    parity: str | None = None

    def value(self, i: int, z: acb, analytic: bool) -> acb:
        return self.pieces[i](z)

    def tail(self, side: int, start: arb) -> Growth:
        return self.growth


def mish(z: acb) -> acb:
    if z.real > 0:
        e = (-z).exp()
        return z * (1 + 2 * e) / (1 + 2 * e + 2 * e * e)
    e = z.exp()
    return z * e * (e + 2) / (e * (e + 2) + 2)


ZERO, ONE = (lambda z: acb(0)), (lambda z: acb(1))
TANH = Pieces((lambda z: z.tanh(),), parity="odd")
TANH2 = Pieces((lambda z: z.tanh() ** 2,), parity="even")
MISH = Pieces((mish,), growth=Growth(n=1))
MISH2 = Pieces((lambda z: mish(z) ** 2,), growth=Growth(n=2))
SOFTSIGN2 = Pieces((lambda z: (z / (1 - z)) ** 2, lambda z: (z / (1 + z)) ** 2), (arb(0),), parity="even")
HARDTANH2 = Pieces((ONE, lambda z: z * z, ONE), (arb(-1), arb(1)), parity="even")
ELU2 = Pieces((lambda z: z.expm1() ** 2, lambda z: z * z), (arb(0),), Growth(n=2))
RELU2 = Pieces((ZERO, lambda z: z * z), (arb(0),), Growth(n=2))
SILU = Pieces((lambda z: z / (1 + (-z).exp()),), growth=Growth(n=1))
STEP = Pieces((ZERO, ONE), (arb(0),))
CUBE2 = Pieces((lambda z: z**6,), growth=Growth(n=6), parity="even")
GAUSS = Pieces((lambda z: (z * z / 4).exp(),), growth=Growth(s=arb(0.25)), parity="even")

# 32-digit reference values, computed by two methods (ball integration and composite Gauss-Legendre).
REFERENCE = [
    ("tanh", TANH2, "1/4", "0.17351614343237185095059668512760"),
    ("tanh", TANH2, "3", "0.58943908447813025184185064889768"),
    ("mish", MISH2, "1/4", "0.10088398858461994903623134104794"),
    ("mish", MISH2, "3", "1.4469401448066107945118316265737"),
    ("mish mean", MISH, "3", "0.54000981819794954496672375019374"),
    ("softsign", SOFTSIGN2, "1/4", "0.085785815013831111248649461104081"),
    ("softsign", SOFTSIGN2, "3", "0.29140784472183618602473347036210"),
    ("hardtanh", HARDTANH2, "1/4", "0.23013423140908075884985975533909"),
    ("hardtanh", HARDTANH2, "3", "0.70277634236200715417727184107853"),
    ("elu", ELU2, "3", "1.7341474952568947930144189297037"),
    ("silu mean", SILU, "3", "0.49302077107701187175903218591225"),
]


def wide(text: str) -> arb:
    with flint.ctx.workprec(140):
        return arb(text)


def exact(number: Fraction) -> arb:
    with flint.ctx.workprec(500):
        return arb(flint.fmpq(number.numerator, number.denominator))


def holds(result: arb, value: arb, digits: int = 16) -> bool:
    """The value is inside, and the radius is as small as asked."""
    with flint.ctx.workprec(160):
        return result.contains(value.mid()) and result.rad() <= abs(value) * arb(10) ** -digits


@pytest.mark.parametrize(("name", "f", "q", "value"), REFERENCE)
def test_reference_values_are_contained(name, f, q, value):
    result = enclose_one(f, Fraction(q))
    with flint.ctx.workprec(160):
        assert holds(result, wide(value)), name
        assert not holds(result, wide(value) * (1 + arb(10) ** -12)), name


@pytest.mark.parametrize("q", ["1e-12", "1e-6", "1", "100", "1e6", "1e12"])
@pytest.mark.parametrize(
    "f",
    [TANH2, SOFTSIGN2, MISH2, MISH, HARDTANH2, ELU2],
    ids=["tanh^2", "softsign^2", "mish^2", "mish", "hardtanh^2", "elu^2"],
)
def test_more_digits_agree_with_fewer(f, q):
    rough, fine = enclose_one(f, Fraction(q)), enclose_one(f, Fraction(q), digits=25)
    assert rough.overlaps(fine)
    assert fine.rad() < rough.rad()
    assert rough.rad() < abs(rough) * arb("1e-13")


@pytest.mark.parametrize("q", ["1e-12", "1", "1e6", "1e40"])
def test_scaling_the_variance_scales_a_homogeneous_function(q):
    q = Fraction(q)
    assert holds(enclose_one(RELU2, q), exact(q / 2))
    assert holds(enclose_one(CUBE2, q), exact(15 * q**3))


def test_rescaled_twin():
    doubled = Pieces((lambda z: (2 * z).tanh() ** 2,), parity="even")
    assert enclose_one(doubled, Fraction(3, 4)).overlaps(enclose_one(TANH2, Fraction(3)))
    mirrored = Pieces((lambda z: mish(-z) ** 2,), growth=Growth(n=2))
    assert enclose_one(mirrored, Fraction(3)).overlaps(enclose_one(MISH2, Fraction(3)))
    assert enclose_one(mirrored, Fraction(3), Fraction(-1, 3)).overlaps(enclose_one(MISH2, Fraction(3), Fraction(1, 3)))


def test_far_and_narrow_laws_do_not_lose_the_peak():
    assert holds(enclose_one(RELU2, Fraction(1), Fraction(800)), arb(640001))
    assert holds(enclose_one(SILU, Fraction(381, 100) ** 2, Fraction(116)), arb(116))
    assert holds(enclose_one(Pieces((ONE,)), Fraction(381, 100) ** 2, Fraction(116)), arb(1))


@pytest.mark.parametrize("sigmas", [4, 12, 40])
def test_small_tail_probability_has_relative_accuracy(sigmas):
    upper = Pieces((ZERO, ONE), (arb(flint.fmpq(1, 2000)) * sigmas,))
    with flint.ctx.workprec(200):
        exact = (arb(sigmas) / arb(2).sqrt()).erfc() / 2
        edge = arb(flint.fmpq(sigmas, 2000))
    assert holds(enclose_one(Pieces((ZERO, ONE), (edge,)), Fraction(1, 2000) ** 2), exact)
    # At 53 bits the break itself is a ball; the result is as wide as that makes it, and still right.
    assert enclose_one(upper, Fraction(1, 2000) ** 2).contains(exact.mid())


def test_polynomial_weight_is_stein():
    """E f(sqrt(q) z) (z^2 - 1) = 2 q dE/dq, and for exp(x) all Hermite weights are powers of sqrt(q)."""
    exponential = Pieces((lambda z: z.exp(),), growth=Growth(b=1))
    q = Fraction(9, 4)
    with flint.ctx.workprec(120):
        expected = (arb(9) / 8).exp() * (arb(3) / 2) ** 3
    assert holds(enclose_one(exponential, q, weight=(0, -3, 0, 1)), expected)
    assert enclose_one(TANH, q, weight=(1, 0, 1)) == 0


def test_zero_variance_is_the_limit():
    assert enclose_one(STEP, Fraction(0)) == arb(0.5)
    assert enclose_one(STEP, Fraction(0), Fraction(1)) == 1
    assert enclose_one(TANH2, Fraction(0), Fraction(1)).overlaps(arb(1).tanh() ** 2)


def test_ball_variance_gives_a_ball_that_covers_it():
    wide_q = enclose_one(TANH2, arb(1, 1e-8))
    assert wide_q.contains(enclose_one(TANH2, Fraction(1)))
    assert wide_q.contains(enclose_one(TANH2, 1 + Fraction(1, 10**9)))
    assert wide_q.rad() < 1e-7


def test_convergence_is_certified_or_refused():
    for q in (Fraction(1), Fraction(19, 10)):
        with flint.ctx.workprec(120):
            exact = (1 - arb(flint.fmpq(q.numerator, q.denominator)) / 2).rsqrt()
        assert holds(enclose_one(GAUSS, q), exact)
    with pytest.raises(Unsupported, match="too fast for the variance"):
        enclose_one(GAUSS, Fraction(2))


def test_precision_is_left_alone():
    before = flint.ctx.prec
    enclose_one(MISH2, Fraction(1), digits=40)
    assert flint.ctx.prec == before
