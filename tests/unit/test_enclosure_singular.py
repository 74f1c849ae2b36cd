"""Functions that are singular at a point: closed forms by gamma and hypergeometric functions, divergence, refusals."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from flint import acb, arb

from derive.activation.corners import approach, corner, split_at_poles
from derive.activation.pieces import piece_function
from derive.gaussian.enclosure import enclose
from derive.gaussian.node import GaussianE, pair, single
from derive.program.symbols import U, V, X
from derive.records import Unsupported

LAWS = (("1", "1", "0.3"), ("1e-6", "100", "0.9"), ("2", "1", "-0.999999"), ("1", "3", "0.999999999"))


def ball(number: mpmath.mpf, relative: float = 1e-25) -> arb:
    return arb(mpmath.nstr(number, 40), mpmath.nstr(abs(number) * relative, 5))


def even_power(a, q1, q2, c):
    """E |u|^a |v|^a = (2 q)^a Gamma((1+a)/2)^2/pi 2F1(-a/2, -a/2; 1/2; c^2), q the geometric mean."""
    a, c = mpmath.mpf(a), mpmath.mpf(c)
    front = (4 * mpmath.mpf(q1) * mpmath.mpf(q2)) ** (a / 2) * mpmath.gamma((1 + a) / 2) ** 2 / mpmath.pi
    return front * mpmath.hyp2f1(-a / 2, -a / 2, mpmath.mpf(1) / 2, c * c)


def asked(node: GaussianE, **values: str) -> arb:
    return enclose(node, {name: Fraction(text) for name, text in values.items()})


@pytest.mark.parametrize(
    "power,q1,q2,c",
    [("1/2", *LAWS[0]), ("1/2", *LAWS[2]), ("-1/5", *LAWS[3])]
    + [pytest.param(a, *law, marks=pytest.mark.slow) for a in ("1/2", "1/3", "-1/5", "-2/5") for law in LAWS],
)
def test_pairs_of_powers_match_the_hypergeometric_form(power, q1, q2, c):
    a = sp.Rational(power)
    with mpmath.workdps(60):
        truth = even_power(mpmath.mpf(a.p) / a.q, q1, q2, c)
    found = asked(pair(sp.Abs(X) ** a, sp.Abs(X) ** a), q1=q1, q2=q2, c=c)
    assert found.overlaps(ball(truth))
    assert found.rad() < abs(found) * arb("1e-14")
    for wrong in (truth * (1 + mpmath.mpf("1e-12")), truth * (1 - mpmath.mpf("1e-12"))):
        assert not found.overlaps(ball(wrong))


@pytest.mark.parametrize("power", ["0.3", "-0.45"])
@pytest.mark.parametrize("q", ["1e-12", "1", "1e6"])
def test_one_variable_powers_match_gamma(power, q):
    a = sp.Symbol("a", real=True)
    with mpmath.workdps(60):
        s = mpmath.mpf(power)
        truth = (2 * mpmath.mpf(q)) ** s * mpmath.gamma(s + mpmath.mpf(1) / 2) / mpmath.sqrt(mpmath.pi)
    found = asked(single(sp.Abs(X) ** (2 * a)), q=q, a=power)
    assert found.overlaps(ball(truth)) and found.rad() < abs(found) * arb("1e-14")
    assert not found.overlaps(ball(truth * (1 + mpmath.mpf("1e-12"))))


def test_logarithms_match_the_digamma_function():
    with mpmath.workdps(50):
        mean = -(mpmath.euler + mpmath.log(2)) / 2
        square = mean**2 + mpmath.pi**2 / 8
        shifted = mean + mpmath.log(9) / 2
    assert asked(single(sp.log(sp.Abs(X))), q="1").overlaps(ball(mean))
    assert asked(single(sp.log(sp.Abs(X)) ** 2), q="1").overlaps(ball(square))
    assert not asked(single(sp.log(sp.Abs(X)) ** 2), q="1").overlaps(ball(square + mpmath.mpf("1e-12")))
    assert asked(single(sp.log(X**2) / 2), q="9").overlaps(ball(shifted))


def test_x_log_x_and_its_slope_at_the_ends_of_the_correlation():
    f = sp.Piecewise((X * sp.log(X), X > 0), (0, True))
    slope = sp.Piecewise((sp.log(X) + 1, X > 0), (0, True))
    with mpmath.workdps(40):
        mean = mpmath.quad(lambda t: t * mpmath.exp(-t * t / 2) * mpmath.log(t) ** 2 * t, [0, 1, 4, 20])
        mean /= mpmath.sqrt(2 * mpmath.pi)
    square = asked(single(f**2), q="1")
    assert square.overlaps(ball(mean, 1e-20))
    assert asked(pair(f, f), q1="1", q2="1", c="1").overlaps(square)
    assert asked(pair(f, f), q1="1", q2="4", c="-1").overlaps(arb(0, "1e-100"))
    near = asked(pair(f, f), q1="1", q2="1", c="0.999999999999")
    assert square - arb("1e-11") < near < square
    # d/dc E f f = E f' f' at q1 = q2 = 1
    step = arb("1e-6")
    high, low = (asked(pair(f, f), q1="1", q2="1", c=c) for c in ("0.300001", "0.299999"))
    assert abs((high - low) / (2 * step) - asked(pair(slope, slope), q1="1", q2="1", c="0.3")) < arb("1e-9")


@pytest.mark.parametrize(
    "body,sign",
    [(1 / X**2, 1), (-1 / X**2, -1), (1 / sp.Abs(X), 1), (1 / (X - 1) ** 2, 1), (1 / (4 * sp.Abs(X)), 1)],
)
def test_what_is_not_integrable_is_infinite(body, sign):
    found = asked(single(body), q="1")
    assert not found.is_finite() and found.rad() == 0 and found * sign > 0


def test_infinities_of_both_signs_are_refused():
    with pytest.raises(Unsupported, match="not integrable next to a point"):
        asked(single(1 / X + 0 * X), q="1")
    with pytest.raises(Unsupported, match="integrable"):
        asked(pair(1 / X, 1 / X), q1="1", q2="1", c="0.3")


def test_breaks_that_are_balls_and_smooth_flat_ends():
    root = sp.log(sp.Abs(X**2 - 2))
    assert asked(pair(root, root), q1="1", q2="1", c="1").overlaps(asked(single(root**2), q="1"))
    circle = sp.sqrt(sp.Max(1 - X**2, 0))
    with mpmath.workdps(40):
        disc = mpmath.quad(lambda t: mpmath.sqrt(1 - t * t) * mpmath.exp(-t * t / 2), [-1, 0, 1])
        norm = mpmath.sqrt(2 * mpmath.pi)
        flat = mpmath.quad(lambda t: mpmath.exp(-1 / t - t * t / 2), [0, 0.1, 1, 4, 20])
        disc, flat = disc / norm, flat / norm
    assert asked(single(circle), q="1").overlaps(ball(disc, 1e-18))
    bump = sp.Piecewise((sp.exp(-1 / X), X > 0), (0, True))
    assert asked(single(bump), q="1").overlaps(ball(flat, 1e-18))


def test_product_and_zero_variance():
    product = GaussianE(sp.Lambda((U, V), sp.log(sp.Abs(U)) * (1 + sp.tanh(V))), [[1, sp.Rational(1, 2)], [0.5, 1]])
    assert enclose(product, {}).overlaps(asked(single(sp.log(sp.Abs(X))), q="1"))
    fixed = GaussianE(sp.Lambda((U, V), sp.tanh(U) * V**2), [[0, 0], [0, 3]], [1, 0])
    assert enclose(fixed, {}).overlaps(3 * arb(1).tanh())
    assert asked(single(sp.sqrt(sp.Abs(X))), q="0") == 0


def test_corners_are_bounds():
    near = corner(X * sp.log(X) ** 2, sp.S.Zero, 1, arb("inf"), {})
    growth, low = near.growth, near.below
    for y in (1, 2, 9, 60):
        true = abs(near.value(acb(y), False).real)
        assert true <= (growth.a + growth.b * y + growth.n * arb(1 + y).log()).exp() * arb("1.0000001")
        assert low is not None and true >= (low.a + low.b * y + low.n * arb(1 + y).log()).exp() * arb("0.9999999")
    assert approach(sp.log(1 - X**2), sp.S.One, -1).subs(X, 3).evalf(20) == sp.log(1 - (1 - sp.exp(-3)) ** 2).evalf(20)
    assert len(split_at_poles(piece_function(1 / (X**2 - 2))).form.cells) == 3
    assert len(split_at_poles(piece_function(sp.sin(X) / X)).form.cells) == 1
