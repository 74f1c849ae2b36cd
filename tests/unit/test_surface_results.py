"""Results and theories: numbers, algebra, equality, pickling, messages."""

import pickle
from fractions import Fraction

import mpmath
import pytest
from sympy import pi, sqrt

from derive import Activation, Dense, EocError, Kind, expect, theory
from derive.program.symbols import SIGMA_B, SIGMA_W, Q


def test_relu_family_with_a_symbolic_slope_is_closed():
    phi = Activation("Piecewise((x, x>0), (a*x, True))")
    result = expect(phi**2)
    a = next(iter(result.expr.free_symbols - {Q}))
    assert result.kind is Kind.EXACT
    assert (result.expr - Q * (1 + a**2) / 2).expand() == 0
    assert Fraction(1, 2) * (1 + Fraction(1, 100)) in result.number(q=1, a=0.1)


def test_variance_map_and_gain_of_relu():
    t = theory("relu")
    assert (t.variance_map.expr - (SIGMA_W**2 * Q / 2 + SIGMA_B**2)).expand() == 0
    assert (t.chi.expr - SIGMA_W**2 / 2).expand() == 0
    assert (t.chi_parallel.expr - SIGMA_W**2 / 2).expand() == 0


def test_kinds_follow_the_worst_part():
    assert theory("tanh(x)").variance_map.kind is Kind.INTEGRAL
    assert theory("gelu").correlation_map.kind is Kind.EXACT
    assert theory("1 if x > 0 else 0").chi.kind is Kind.DIVERGENT


def test_correlation_map_at_its_ends():
    c_map = theory("relu").correlation_map
    at = {"q1": 1, "q2": 1, "sigma_w": "7/5", "sigma_b": 0}
    assert 1 in c_map.number(c=1, **at)
    assert abs(c_map.number(c=-1, **at).mid) < 1e-15
    assert abs(c_map.number(c=0, **at).mid - 1 / mpmath.pi) < 1e-15


def test_numbers_are_certified_and_shown_with_certified_digits_only():
    value = expect(Activation("tanh(x)") ** 2).number(q=1)
    assert str(value).startswith("0.394294490397841")
    assert value.rad < 1e-16
    more = expect(Activation("tanh(x)") ** 2).number(q=1, digits=40)
    assert more.rad < 1e-38
    assert value.overlaps(more)


def test_missing_unknown_and_inadmissible_values_are_named():
    result = theory("leaky_relu").variance_map
    with pytest.raises(EocError, match="sigma_b"):
        result.number(q=1, a=0.1, sigma_w=1)
    with pytest.raises(EocError, match="no argument beta"):
        result.number(q=1, a=0.1, sigma_w=1, sigma_b=0, beta=2)
    with pytest.raises(EocError, match="negative"):
        result.number(q=-1, a=0.1, sigma_w=1, sigma_b=0)
    with pytest.raises(EocError, match="correlation"):
        theory("relu").covariance_map.number(q1=1, q2=1, c=1.2)


def test_diff_and_subs():
    pair = theory("relu").covariance_map
    slope = pair.diff("c").number(q1=1, q2=1, c=0)
    assert Fraction(1, 4) in slope
    fixed = pair.subs(q1=4)
    assert fixed.number(q2=1, c=0.5).overlaps(pair.number(q1=4, q2=1, c=0.5))
    tanh = theory("tanh(x)").variance_map.diff("q")
    central = [theory("tanh(x)").variance_map.number(q=q, sigma_w=1, sigma_b=0).mid for q in ("0.999", "1.001")]
    assert abs(tanh.number(q=1, sigma_w=1, sigma_b=0).mid - (central[1] - central[0]) / mpmath.mpf("0.002")) < 1e-6


def test_equality_pickle_and_representation():
    t = theory("gelu")
    assert pickle.loads(pickle.dumps(t.variance_map)) == t.variance_map
    assert pickle.loads(pickle.dumps(t)) == t
    assert theory("gelu") == t
    assert theory("tanh") != t
    assert repr(t.variance_map).startswith("<EXACT variance map")
    assert "\n" not in repr(t)
    assert t.variance_map._repr_latex_().startswith("$")
    assert Activation("tanh(x)") == Activation("tanh(x)")


def test_what_is_not_built_says_what_is():
    with pytest.raises(AttributeError, match="built"):
        _ = theory("relu").jacobian
    with pytest.raises(ImportError, match="Attention"):
        from derive import Attention  # noqa: F401


def test_laws_are_validated():
    with pytest.raises(EocError, match="symmetric"):
        expect("exp(x)", "exp(x)", cov=[[1, Fraction(1, 2)], [0, 1]])
    with pytest.raises(EocError, match="semi-definite"):
        expect("exp(x)", "exp(x)", cov=[[1, 1.2], [1.2, 1]])
    value = expect("exp(x)", mean=0, cov=[[1]]).number()
    assert abs(value.mid - mpmath.exp(0.5)) < 1e-15
    assert value.rad < 1e-16


def test_distributional_expectations():
    step = Activation("1 if x > 0 else 0").derivative()
    assert expect(step).number(q=1).mid == 0
    with_dirac = expect(step, distributional=True)
    assert (with_dirac.expr - 1 / sqrt(2 * pi * Q)).equals(0)
    assert abs(with_dirac.number(q=4).mid - 1 / mpmath.sqrt(8 * mpmath.pi)) < 1e-15
    with pytest.raises(EocError, match="Dirac"):
        expect(step**2, distributional=True)


def test_blocks_from_text_and_python_agree():
    assert theory("dense >> tanh(x)").variance_map == theory(Dense() >> Activation("tanh(x)")).variance_map
    assert theory("dense(sigma_w=1.5) >> tanh(x)").variance_map.arguments == ("q", "sigma_b")


def test_slopes_at_the_edges_of_the_correlation():
    relu = expect(Activation("relu"), Activation("relu"))
    assert abs(relu.diff("q1").number(q1=1, q2=2, c=1).mid - mpmath.sqrt(2) / 4) < 1e-15
    assert abs(relu.diff("q1").number(q1=1, q2=2, c=-1).mid) < 1e-30
    step = expect(Activation("1 if x > 0 else 0"), Activation("1 if x > 0 else 0"))
    assert step.diff("c").number(q1=1, q2=2, c=1).mid == mpmath.inf
    assert step.diff("q1").number(q1=1, q2=2, c=1).mid == 0
    gelu = expect(Activation("gelu"), Activation("gelu")).diff("q2")
    h = mpmath.mpf("1e-8")
    pair = expect(Activation("gelu"), Activation("gelu"))
    up, down = (pair.number(q1=1, q2=q, c=1, digits=30).mid for q in ("2.00000001", "1.99999999"))
    assert abs(gelu.number(q1=1, q2=2, c=1).mid - (up - down) / (2 * h)) < 1e-12


def test_conflicts_and_bad_options_are_named():
    first, second = (Activation("a*x", domains={"a": d}) for d in ((0, 1), (-1, 0)))
    for combine in (lambda: first >> second, lambda: first + second):
        with pytest.raises(EocError, match="two domains"):
            combine()
    for digits in (0, -1, 1.5):
        with pytest.raises(EocError, match="digits"):
            theory("relu").mean.number(q=1, digits=digits)


def test_a_jump_makes_the_gain_infinite_at_every_sigma_w():
    chi = theory("1 if x > 0 else 0").chi
    assert chi.arguments == ("q", "sigma_w")
    assert chi.number(q=1, sigma_w=1).mid == mpmath.inf


@pytest.mark.parametrize("text", ["sin(x)/x", "tanh(x)/x", "(1 - cos(x))/x"])
def test_slopes_of_filled_singularities_have_numbers(text):
    phi = Activation(text)
    f = mpmath.sin if text == "sin(x)/x" else mpmath.tanh if "tanh" in text else lambda x: 1 - mpmath.cos(x)

    with mpmath.workdps(40):
        expected = 2 * mpmath.quad(
            lambda x: mpmath.diff(lambda y: f(y) / y, x) ** 2 * mpmath.npdf(x), ["1e-9", 1, 4, 10]
        )
    assert abs(expect(phi.derivative() ** 2).number(q=1).mid - expected) < 1e-8
