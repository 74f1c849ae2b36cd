"""Large variances: outer parts that are monomials to all digits agree with quadrature and with each other."""

from fractions import Fraction

import flint
import pytest
from sympy import exp, log, tanh

from derive.gaussian.enclosure import enclose, flat
from derive.gaussian.node import single
from derive.program.symbols import X

FUNCTIONS = {
    "tanh^2": tanh(X) ** 2,
    "silu^2": (X / (1 + exp(-X))) ** 2,
    "mish^2": (X * tanh(log(1 + exp(X)))) ** 2,
    "sigmoid^2": exp(2 * X) / (1 + exp(X)) ** 2,
    "odd mean": X**3 * tanh(X),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("q", [5000, 20000])
def test_flat_parts_agree_with_quadrature(name, q, monkeypatch):
    node = single(FUNCTIONS[name])
    with flint.ctx.workprec(90):
        fast = enclose(node, {"q": Fraction(q)}, 13)
    monkeypatch.setattr(flat, "WORTH_IT", 1e9)
    with flint.ctx.workprec(90):
        slow = enclose(node, {"q": Fraction(q)}, 13)
    assert fast.overlaps(slow)
    assert fast.rad() < abs(fast) * flint.arb("1e-12")


def test_a_wrong_moment_would_be_seen(monkeypatch):
    node = single(FUNCTIONS["tanh^2"])
    true = enclose(node, {"q": Fraction(10**6)}, 13)
    moment = flat._partial_moment
    monkeypatch.setattr(flat, "_partial_moment", lambda n, a, b: moment(n, a, b) * flint.arb("1.000000001"))
    assert not enclose(node, {"q": Fraction(10**6)}, 13).overlaps(true)


def test_tails_that_are_not_flat_are_left_to_quadrature():
    node = single(1 / (1 + X**2))
    with flint.ctx.workprec(90):
        value = enclose(node, {"q": Fraction(10**6)}, 12)
        q = flint.arb(10**6)
        exact = (flint.arb.pi() / (2 * q)).sqrt() * (1 / (2 * q)).exp() * (1 / (2 * q).sqrt()).erfc()
    assert value.overlaps(exact)


def test_twins_scale():
    scaled = single(FUNCTIONS["silu^2"].subs(X, 3 * X)), {"q": Fraction(10**6)}
    plain = single(FUNCTIONS["silu^2"]), {"q": Fraction(9 * 10**6)}
    assert enclose(*scaled, 12).overlaps(enclose(*plain, 12))
