"""Mixed integrands: the atoms are closed, the rest stays one smaller expectation."""

from fractions import Fraction

import pytest
from sympy import Abs, Piecewise, Symbol, log, tanh

from derive.gaussian.answer import answer
from derive.gaussian.enclosure import enclose
from derive.gaussian.node import GaussianE, pair, single
from derive.gaussian.numbers import evaluate
from derive.gaussian.special import NormalCdf
from derive.program.symbols import X
from derive.records import Kind

A = Symbol("a", real=True)
MIXED = {
    "half tanh": single(Piecewise((X, X > 0), (tanh(X), True)) ** 2),
    "knot": single(Piecewise((X, X > A), (tanh(X), True)) ** 2),
    "sum": single((X + tanh(X)) ** 2),
    "middle": single(Piecewise((X**2, Abs(X) < 1), (log(1 + X**2), True))),
    "gelu and tanh": pair(X * NormalCdf(X) + tanh(X), X),
}


@pytest.mark.parametrize("name", MIXED)
def test_the_atoms_leave_and_the_value_stays(name):
    node = MIXED[name]
    found = answer(node)
    assert found.kind is Kind.INTEGRAL and found.blockers
    (rest,) = found.partial.atoms(GaussianE)
    assert rest != node and found.partial != rest
    values = {
        "q": Fraction(17, 10),
        "q1": Fraction(17, 10),
        "q2": Fraction(1, 2),
        "c": Fraction(2, 5),
        "a": Fraction(1, 3),
    }
    whole = enclose(node, values, 14)
    assert evaluate(found.partial, values, 14)[0].overlaps(whole) and whole.rad() < 1e-12


def test_nothing_to_take_out():
    assert answer(single(tanh(X) ** 2)).partial is None
    assert answer(single(X**2)).partial is None
    assert answer(single((X * NormalCdf(X) + X / (1 + Abs(X))) ** 2)).partial is None


@pytest.mark.parametrize("text", ["gelu", "3*x*Phi(-2*x)", "erf(x/2)", "max(-1, min(2, x))", "sin(x) + x"])
def test_a_slope_in_the_variance_is_as_short_as_an_expectation(text):
    """dV/dq is printed as E x phi'... where that is shorter than a differentiated closed form; both are one number."""
    from sympy import Rational, count_ops

    from derive import theory
    from derive.program.symbols import SIGMA_W, Q

    t = theory(text)
    differentiated, printed = SIGMA_W**2 * t.second_moment.closed.diff(Q), t.chi_parallel.closed
    assert count_ops(printed) < count_ops(differentiated)
    at = {Q: Rational(7, 5), SIGMA_W: 2}
    assert abs((differentiated - printed).subs(at).evalf(30)) < 1e-25
