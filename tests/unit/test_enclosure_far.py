"""Large variances, shifted and narrow laws: monomials far out, waves, modes far from the centre."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from flint import arb

from derive import expect
from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.catalogue import entry, names
from derive.formula import read, to_sympy
from derive.gaussian.enclosure import enclose
from derive.gaussian.node import GaussianE, pair, single
from derive.program.symbols import X

GISH = X * sp.log(2 - sp.exp(-sp.exp(X)))
GELU_TANH = X * (1 + sp.tanh(X + X**3 / 20)) / 2


def asked(node: GaussianE, **values: str) -> arb:
    return enclose(node, {name: Fraction(text) for name, text in values.items()})


def near(number: mpmath.mpf, relative: str = "1e-25") -> arb:
    return arb(mpmath.nstr(number, 40), mpmath.nstr(abs(number) * mpmath.mpf(relative), 5))


def test_waves_and_exponentials_at_large_variance():
    with mpmath.workdps(60):
        cosine, growth, q = mpmath.exp(-500000), mpmath.exp(190), mpmath.mpf(10000)
        square = q / 2 + (q - 4 * q * q) * mpmath.exp(-2 * q) / 2
    assert asked(single(sp.cos(X)), q="1e6").overlaps(near(cosine))
    assert asked(pair(sp.exp(X), sp.exp(X)), q1="100", q2="100", c="0.9").overlaps(near(growth))
    assert asked(pair(sp.exp(X), sp.exp(X)), q1="1e6", q2="1e6", c="-1").overlaps(arb(1))
    found = asked(single((X * sp.cos(X)) ** 2), q="1e4")
    assert found.overlaps(near(square)) and not found.overlaps(near(square * (1 + mpmath.mpf("1e-12"))))
    # snake: E (u + sin^2 u)(v + sin^2 v) = K + 1/4 up to what the waves have lost
    assert asked(pair(X + sp.sin(X) ** 2, X + sp.sin(X) ** 2), q1="1e4", q2="1e6", c="0.9").overlaps(
        arb("90000.25", "1e-9")
    )


@pytest.mark.parametrize("body", [sp.tanh(X), GISH, GELU_TANH])
def test_monomials_far_out_agree_with_smaller_steps(body):
    """d/dc E f f = sqrt(q1 q2) E f' f' ties values that are computed with different outer parts."""
    slope = sp.diff(body, X)
    found = asked(pair(slope, slope), q1="1e4", q2="2e4", c="0.9")
    high, low = (asked(pair(body, body), q1="1e4", q2="2e4", c=c) for c in ("0.900001", "0.899999"))
    quotient = (high - low) / (arb("2e-6") * arb(2).sqrt() * 10000)
    assert abs(quotient / found - 1) < arb("1e-8")
    assert found.rad() < abs(found) * arb("1e-13")


def test_the_ends_of_the_correlation_continue_the_inside_at_large_variance():
    end = asked(pair(GISH, GISH), q1="1e4", q2="1e6", c="1")
    inside = asked(pair(GISH, GISH), q1="1e4", q2="1e6", c="0.999999999")
    assert 0 < end - inside < end * arb("1e-6") and end.rad() < end * arb("1e-13")
    assert (asked(pair(sp.tanh(X), sp.tanh(X)), q1="1e6", q2="1e6", c="1")).overlaps(
        asked(single(sp.tanh(X) ** 2), q="1e6")
    )


def test_a_threshold_far_out_keeps_relative_digits():
    shrink = sp.Piecewise((X, sp.Abs(X) > sp.Rational(1, 2)), (0, True))
    square = asked(single(shrink**2), q="1e-3")
    product = asked(pair(shrink, shrink), q1="1e-3", q2="1e-3", c="0.9")
    assert square.rad() < square * arb("1e-13") and product.rad() < square * arb("1e-13")
    assert 0 < product < square


def test_shifted_and_narrow_laws():
    silu = to_sympy(read("silu(x)", {}))
    assert overlaps(sp.Max(X, 0) ** 2, 800, 1, "640001")
    assert overlaps(sp.Integer(1) + 0 * X, 116, "14.5161", "1")
    assert overlaps(silu, 116, "14.5161", "116")
    with mpmath.workdps(40):
        tail = mpmath.erfc(4 / mpmath.sqrt(2)) / 2
    above = sp.Piecewise((1, sp.Rational(2, 1000) < X), (0, True))
    found = asked(GaussianE(sp.Lambda((X,), above), [[sp.Rational(1, 4000000)]]))
    assert found.overlaps(near(tail)) and not found.overlaps(near(tail * (1 + mpmath.mpf("1e-12"))))


def found_number(body, mean, variance) -> arb:
    return enclose(GaussianE(sp.Lambda((X,), body), [[sp.Rational(variance)]], [mean]), {})


def overlaps(body, mean, variance, value: str) -> bool:
    found = found_number(body, mean, variance)
    return bool(found.overlaps(arb(value, "1e-25"))) and not found.overlaps(arb(value) * arb("1.000000000001"))


def test_shifted_laws_through_the_surface():
    assert 640001 in expect("max(x, 0)**2", mean=800, cov=1).number()


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in names() if entry(n).variables == ("x",)])  # type: ignore[union-attr]
def test_every_activation_over_the_whole_range(name):
    found = entry(name)
    assert found is not None
    f = to_sympy(read(found.formula, {}))
    given = {p.name: Fraction(str(sp.nsimplify(p.default))) for p in found.parameters}
    slope = to_piecewise(derivative(normal_form(f))[0])
    for body in (f, slope):
        for q1, q2, c in (("1e-12", "1", "0.3"), ("0.25", "4", "-0.999999"), ("100", "1e-3", "0.9"), ("1", "1", "-1")):
            values = {**given, "q1": Fraction(q1), "q2": Fraction(q2), "c": Fraction(c)}
            value = enclose(pair(body, body), values)
            first, second = (enclose(single(body**2), {**given, "q": Fraction(q)}, 8) for q in (q1, q2))
            if not (first > 0 and second > 0):  # a threshold far out, a slope of 0: no scale to compare with
                assert value.rad() <= arb("1e-15") and value.contains(0)
                continue
            assert value.rad() <= arb("1e-13") * (first * second).sqrt()
            assert abs(value) <= (first * second).sqrt() * arb("1.0000001")
