"""Two-variable enclosures: contained reference values, transformed twins, edges of the domain, refusals."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
import sympy as sp
from flint import arb

from derive.activation.pieces import piece_function
from derive.gaussian.enclosure import enclose_one, enclose_pair, hermite, prepare
from derive.gaussian.enclosure.grid import tensor
from derive.gaussian.enclosure.strip import Law, conditional
from derive.program.symbols import X
from derive.records import DomainError, Unsupported

MISH = X * sp.tanh(sp.log(1 + sp.exp(X)))
SHAPES = {
    "tanh": sp.tanh(X),
    "mish": MISH,
    "softsign": X / (1 + sp.Abs(X)),
    "hardtanh": sp.Max(-1, sp.Min(1, X)),
    "silu": X / (1 + sp.exp(-X)),
    "elu": sp.Piecewise((X, X > 0), (sp.exp(X) - 1, True)),
    "sign": sp.sign(X),
    "relu": sp.Max(X, 0),
}


def function(expr):
    return prepare(piece_function(expr, {}))


FUNCTIONS = {name: function(expr) for name, expr in SHAPES.items()}

# 32-digit reference values of E f(u) f(v), computed by two methods (composite Gauss-Legendre, Hermite series).
REFERENCE = [
    ("tanh", "1", "-0.6", "-0.22522215352688365611400574944802"),
    ("tanh", "1", "0.9", "0.34920335058192518927174195407556"),
    ("tanh", "3", "0.3", "0.15321134112907844071137460345121"),
    ("mish", "1", "-0.6", "-0.10628035150833746775202213825124"),
    ("mish", "1", "0.9", "0.40539616235774991157495529676490"),
    ("mish", "3", "0.3", "0.57355846859351699231531573637942"),
    ("softsign", "1", "-0.6", "-0.10430707077220101883505360356676"),
    ("softsign", "1", "0.9", "0.16160895236561225780276860403354"),
    ("softsign", "3", "0.3", "0.078601905709738893885965426493429"),
    ("hardtanh", "1", "-0.6", "-0.28872676276688167325831211254340"),
    ("hardtanh", "1", "0.9", "0.45354535677488258548693342771670"),
    ("silu", "1", "0.9", "0.31853842789146926368672950431444"),
    ("silu", "3", "0.3", "0.49159809730178410897489459836901"),
    ("elu", "1", "-0.6", "-0.31054046417385299761223662198537"),
    ("elu", "3", "0.3", "0.58120690797574299494394146113042"),
    ("sign", "1", "-0.6", "-0.40966552939826690329839569510104"),
    ("sign", "3", "0.3", "0.19397336804135658100273384213828"),
]


def wide(text: str) -> arb:
    with flint.ctx.workprec(140):
        return arb(text)


@pytest.mark.parametrize(("name", "q", "c", "value"), REFERENCE)
def test_reference_values_are_contained(name, q, c, value):
    f, q = FUNCTIONS[name], Fraction(q)
    result = enclose_pair(f, f, q, q, Fraction(c))
    with flint.ctx.workprec(140):
        assert result.contains(wide(value))
        assert not result.contains(wide(value) * (1 + arb(10) ** -12))
        assert result.rad() < arb("1e-15")


def sign_pair(c: Fraction) -> arb:
    with flint.ctx.workprec(160):
        exact = arb(flint.fmpq(c.numerator, c.denominator))
        sine = arb(flint.fmpq((1 - c * c).numerator, (1 - c * c).denominator)).sqrt()
        return 2 * arb.atan2(exact, sine) / arb.pi()


def relu_pair(c: Fraction) -> arb:
    with flint.ctx.workprec(200):
        exact = arb(flint.fmpq(c.numerator, c.denominator))
        sine = arb(flint.fmpq((1 - c * c).numerator, (1 - c * c).denominator)).sqrt()
        return (sine + exact * (arb.pi() - arb.atan2(sine, exact))) / (2 * arb.pi())


CORRELATIONS = [Fraction(c) for c in ("0.3", "-0.97", "0.9995", "-0.999999")] + [1 - Fraction(1, 10**14)]


@pytest.mark.parametrize("c", CORRELATIONS, ids=float)
@pytest.mark.parametrize("q", ["1e-8", "1e4"])
def test_arc_sine_laws(q, c):
    """sign: (2/pi) asin c; relu: sqrt(q1 q2)(sin t + (pi - t) cos t)/(2 pi) with c = cos t."""
    q = Fraction(q)
    signs = enclose_pair(FUNCTIONS["sign"], FUNCTIONS["sign"], q, 3 * q, c, digits=14)
    assert signs.contains(sign_pair(c).mid())
    assert signs.rad() < 1e-13
    relus = enclose_pair(FUNCTIONS["relu"], FUNCTIONS["relu"], q, 4 * q, c, digits=14)
    with flint.ctx.workprec(160):
        exact = relu_pair(c) * 2 * arb(flint.fmpq(q.numerator, q.denominator))
    assert relus.contains(exact.mid())
    assert relus.rad() < float(q) * 1e-13


@pytest.mark.parametrize("c", ["-0.996", "0.9995"])
@pytest.mark.parametrize("pair", [("hardtanh", "tanh"), ("sign", "elu")], ids=str)
def test_the_two_rules_agree(pair, c):
    f, g = (FUNCTIONS[name] for name in pair)
    c, digits, reach = Fraction(c), 9, 9.0
    with flint.ctx.workprec(100):
        exact = arb(flint.fmpq(c.numerator, c.denominator))
        s, one, two = ((1 - exact) * (1 + exact)).sqrt(), arb(1), arb(2)
        left = tensor((f, g), (one, two), exact, s, ((arb(-reach), arb(reach)),) * 2, 16, 1e-10)
        right = conditional(Law(f, g, one, two, exact, s, arb(reach)), 16, 1e-10, False)
        # the squares differ outside of a disc of this radius only, where less than 1e-14 is left
        assert (left + arb(0, 1e-14)).overlaps(right)
        assert max(left.rad(), right.rad()) < 1e-9
    assert enclose_pair(f, g, Fraction(1), Fraction(4), c, digits).overlaps(right + arb(0, 1e-14))


@pytest.mark.parametrize("c", ["0.7", "-0.99999"])
def test_transformed_twins(c):
    c = Fraction(c)
    f, g = FUNCTIONS["silu"], FUNCTIONS["hardtanh"]
    plain = enclose_pair(f, g, Fraction(1), Fraction(4), c)
    swapped = enclose_pair(g, f, Fraction(4), Fraction(1), c)
    assert plain.overlaps(swapped)
    scaled = enclose_pair(function(SHAPES["silu"].subs(X, X / 3)), function(SHAPES["hardtanh"].subs(X, 2 * X)), 9, 1, c)
    assert plain.overlaps(scaled)
    mirrored = enclose_pair(function(SHAPES["silu"].subs(X, -X)), g, Fraction(1), Fraction(4), -c)
    assert plain.overlaps(mirrored)


@pytest.mark.parametrize(("q1", "q2"), [("1", "1"), ("2", "8"), ("2", "3")])
@pytest.mark.parametrize("names", [("hardtanh", "hardtanh"), ("mish", "softsign"), ("elu", "sign")], ids=str)
def test_the_end_points_continue_the_inside(names, q1, q2):
    """At c = 1 - e the expectation differs from c = 1 by at most a multiple of sqrt(e), where a jump meets a slope."""
    f, g = (FUNCTIONS[name] for name in names)
    q1, q2 = Fraction(q1), Fraction(q2)
    for end in (1, -1):
        exact = enclose_pair(f, g, q1, q2, Fraction(end))
        near = enclose_pair(f, g, q1, q2, end * (1 - Fraction(1, 10**20)), digits=12)
        assert abs(exact - near) < 1e-9
        assert exact.rad() < 1e-15


def test_breaks_of_equal_place_and_unknown_order():
    """Breaks at 1/3 and, through the ratio 3 of the standard deviations, at 1: equal, though only as balls."""
    f = function(sp.Piecewise((X, 3 * X > 1), (-2, True)))
    g = function(sp.Piecewise((X**2, X > 1), (X, True)))
    together = enclose_pair(f, g, Fraction(1), Fraction(9), Fraction(1))
    direct = function(sp.Piecewise((9 * X**3, 3 * X > 1), (-6 * X, True)))
    assert together.overlaps(enclose_one(direct, Fraction(1)))
    assert together.rad() < 1e-15


def test_independence_is_a_product_and_odd_times_even_is_zero():
    mish, tanh, relu = FUNCTIONS["mish"], FUNCTIONS["tanh"], FUNCTIONS["relu"]
    q = Fraction(2)
    assert enclose_pair(mish, relu, q, q, Fraction(0)).overlaps(enclose_one(mish, q) * enclose_one(relu, q))
    assert enclose_pair(tanh, function(X**2), q, q, Fraction(1, 3)) == 0
    assert enclose_pair(tanh, relu, q, q, Fraction(0)) == 0


def test_vanishing_variance_keeps_one_sided_values():
    """E sign(u) g(v) does not depend on q1; at q1 -> 0 the value of a jump is taken on either side."""
    half = function(sp.Piecewise((1, X > 0), (3, True)))
    limit = enclose_pair(half, FUNCTIONS["tanh"], Fraction(0), Fraction(3), Fraction(1, 2))
    assert limit.overlaps(enclose_pair(half, FUNCTIONS["tanh"], Fraction(5), Fraction(3), Fraction(1, 2)))


def test_hermite_coefficients_sum_to_the_pair():
    """Mehler: sum a_k^2 c^k, with the rest bounded by Parseval."""
    f, q, c = FUNCTIONS["tanh"], Fraction(1, 4), Fraction(1, 10)
    coefficients = hermite(f, q, 9)
    moment = enclose_one(function(sp.tanh(X) ** 2), q)
    total, power, square = arb(0), arb(1), arb(0)
    for a in coefficients:
        total, power, square = total + a * a * power, power / 10, square + a * a
    rest = (moment - square).upper() * power
    assert (total + arb(0, rest)).overlaps(enclose_pair(f, f, q, q, c))
    assert rest < 1e-12
    assert coefficients[0] == 0
    assert coefficients[1] > 0


def test_fewer_digits_contain_more_digits():
    for name in ("tanh", "hardtanh", "mish"):
        rough = enclose_pair(FUNCTIONS[name], FUNCTIONS[name], Fraction(1), Fraction(2), Fraction(-1, 3), digits=8)
        fine = enclose_pair(FUNCTIONS[name], FUNCTIONS[name], Fraction(1), Fraction(2), Fraction(-1, 3), digits=25)
        assert rough.overlaps(fine)
        assert fine.rad() < 1e-24
        assert rough.rad() < 1e-7


def test_a_ball_correlation_covers_its_members():
    f = FUNCTIONS["softsign"]
    covering = enclose_pair(f, f, Fraction(1), Fraction(1), arb(0.5, 1e-9))
    for c in (Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**10)):
        assert covering.contains(enclose_pair(f, f, Fraction(1), Fraction(1), c))
    assert covering.rad() < 1e-7


def test_refusals():
    f = FUNCTIONS["tanh"]
    with pytest.raises(DomainError, match="no such Gaussian law"):
        enclose_pair(f, f, Fraction(1), Fraction(1), Fraction(6, 5))
    with pytest.raises(Unsupported, match="touches -1 or 1"):
        enclose_pair(f, f, Fraction(1), Fraction(1), arb(1, 1e-20))
    with pytest.raises(Unsupported, match="certified to exist"):
        enclose_pair(*[function(sp.exp(X**2 / 4))] * 2, Fraction(3), Fraction(3), Fraction(1, 2))


def test_a_narrow_function_beside_a_wide_one():
    """Order and scales must not matter, although one function varies 60 times faster than the other."""
    bump, c = function(sp.exp(-(X**2))), 1 - Fraction(1, 10**8)
    left = enclose_pair(bump, FUNCTIONS["silu"], Fraction(64), Fraction(1, 50), c, digits=12)
    right = enclose_pair(FUNCTIONS["silu"], bump, Fraction(1, 50), Fraction(64), c, digits=12)
    assert left.overlaps(right)
    assert left.rad() < 1e-13


def test_a_singular_end_of_a_piece():
    """E sqrt|u v| at c = 0 is the square of 2^(1/4) Gamma(3/4)/sqrt(pi); it is continuous there."""
    root = function(sp.sqrt(sp.Abs(X)))
    with flint.ctx.workprec(100):
        mean = arb(2) ** arb(0.25) * arb(0.75).gamma() / arb.pi().sqrt()
    assert enclose_pair(root, root, Fraction(1), Fraction(1), Fraction(0), digits=10).overlaps(mean * mean)
    near = enclose_pair(root, root, Fraction(1), Fraction(1), Fraction(1, 10**8), digits=7)
    assert abs(near - mean * mean) < 1e-6
    assert near.rad() < 1e-6
