"""The bounds that the enclosures rest on, each against a case in which the truth is known."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
import sympy as sp
from flint import acb, arb

from derive.activation.pieces import piece_function
from derive.gaussian.enclosure.growth import Bound, tail
from derive.gaussian.enclosure.prepared import prepare
from derive.gaussian.enclosure.products import LineProduct, Shifted, SideLimits
from derive.gaussian.enclosure.quadrature import ellipse, remainder, rule
from derive.program.symbols import X
from derive.records import Unsupported

NOTHING = arb(0)


def prepared(expr):
    return prepare(piece_function(expr, {}))


@pytest.mark.parametrize("start", [2, 5, 12, 40])
def test_tail_of_a_constant_is_just_above_the_truth(start):
    with flint.ctx.workprec(100):
        truth = (arb.pi() / 2).sqrt() * (arb(start) / arb(2).sqrt()).erfc()
        bound = tail(Bound(NOTHING, NOTHING, NOTHING, NOTHING), arb(1), arb(start))
        assert truth < bound < truth * (1 + arb(2) / start**2)


def test_tail_of_an_exponential_with_an_offset():
    """The integral of exp(2 (3 z + 1) - z^2/2) over z >= 9 is sqrt(pi/2) exp(20) erfc(3/sqrt(2))."""
    with flint.ctx.workprec(100):
        truth = (arb.pi() / 2).sqrt() * arb(20).exp() * (3 / arb(2).sqrt()).erfc()
        bound = tail(Bound(NOTHING, arb(2), NOTHING, NOTHING), arb(3), arb(9), arb(1))
        assert truth < bound < 2 * truth


def test_tail_of_a_square_and_where_it_stops_to_exist():
    slow = Bound(NOTHING, NOTHING, arb(0.25), NOTHING)
    with flint.ctx.workprec(100):
        # exp(z^2/4 - z^2/2) over z >= 6
        truth = arb.pi().sqrt() * arb(3).erfc()
        assert truth < tail(slow, arb(1), arb(6)) < 1.2 * truth
    with pytest.raises(Unsupported, match="too fast for the variance"):
        tail(slow, arb(2).sqrt(), arb(6))
    assert tail(Bound(NOTHING, arb(7), NOTHING, NOTHING), arb(1), arb(3)) == arb.pos_inf()


@pytest.mark.parametrize("n", [4, 8, 15])
@pytest.mark.parametrize("rho", [1.6, 2.7, 4.0])
def test_remainder_bounds_the_error_for_a_pole_on_the_next_ellipse(n, rho):
    """1/(pole - x), the pole just outside of the ellipse: the error is under the bound, within two orders."""
    with flint.ctx.workprec(200):
        pole = arb((rho + 1 / rho) / 2 * 1.05)
        nodes, weights = rule(n, 200)
        approximate = sum((w / (pole - x) for x, w in zip(nodes, weights, strict=True)), arb(0))
        error = abs(approximate - ((pole + 1) / (pole - 1)).log())
        largest = 1 / (pole - (rho + 1 / rho) / 2)
        assert error < remainder(n, rho) * largest
        assert error > remainder(n, rho) * largest * rho ** (-0.4 * n) / 1000


@pytest.mark.parametrize("rho", [1.9, 4.0])
def test_boxes_cover_the_ellipse(rho):
    boxes = ellipse(rho)
    for k in range(65):
        with flint.ctx.workprec(100):
            angle = arb.pi() * k / 64
            for scale in (arb(1), arb(0.6)):
                x = (rho + 1 / rho) / 2 * angle.cos() * scale
                y = (rho - 1 / rho) / 2 * angle.sin() * scale
                point = acb(x.mid(), y.mid())
                assert any(box.contains(point) for box in boxes), (rho, k)


@pytest.mark.parametrize(
    "expr",
    [
        sp.tanh(X),
        sp.Piecewise((X**2, X > 1), (-3, True)),
        X * sp.exp(X),
        X / (1 + sp.exp(-X)),
        sp.exp(X**2 / 4),
        sp.Max(X - 5, 0) ** 3,
    ],
    ids=str,
)
def test_growth_bounds_hold_on_the_whole_line(expr):
    f = prepared(expr)
    for made in (f, Shifted(f, arb(-2)), LineProduct(f, f, arb(-1.5)), LineProduct(f, prepared(X + 1), arb(0.5))):
        a, b, s, n = made.bound
        for k in range(-60, 61):
            x = arb(k) / 4
            piece = sum(1 for edge in made.breaks if edge < x)
            value = abs(made.value(piece, acb(x), False).real)
            assert not value > (a + b * abs(x) + s * x * x).exp() * (1 + abs(x)) ** n, (expr, k)


def test_products_know_their_pieces():
    f, g = prepared(sp.sign(X)), prepared(sp.Piecewise((X, X > 1), (2, X > -1), (0, True)))
    product = LineProduct(f, g, arb(-2))
    assert [float(edge) for edge in product.breaks] == [-0.5, 0.0, 0.5]
    values = [float(product.value(k, acb(x), False).real) for k, x in enumerate((-1, -0.25, 0.25, 1))]
    assert values == [-2.0, -2.0, 2.0, 0.0]
    assert product.parity == 0
    assert LineProduct(f, f, arb(-2)).parity == 1
    third = prepared(sp.Piecewise((X, 3 * X > 1), (2, True)))
    together = LineProduct(third, prepared(sp.Piecewise((X, X > 1), (5, True))), arb(3))
    assert len(together.breaks) == 2
    assert together.undecided == (1,)


def test_side_limits():
    sides = SideLimits(prepared(sp.Piecewise((1 + X, X > 0), (3 * X - 2, True))))
    assert [float(sides.value(k, acb(9), False).real) for k in (0, 1)] == [-2.0, 1.0]


def test_parity_is_seen_where_it_is_written():
    assert prepared(sp.tanh(X) ** 2).parity == 1
    assert prepared(sp.Max(-1, sp.Min(1, X))).parity == -1
    assert prepared(sp.Abs(X)).parity == 1
    assert prepared(sp.exp(X)).parity == 0
    assert prepared(sp.Max(X, 0)).parity == 0
    assert prepared(X + Fraction(1, 10**9)).parity == 0
