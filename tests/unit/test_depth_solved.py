"""Fixed points as formulas: solved from the derived map, the same for twins, and equal to certified numbers."""

import mpmath
import pytest
from sympy import Rational

from derive import theory


def at(expr, w, b):
    values = {s: {"sigma_w": Rational(w), "sigma_b": Rational(b)}[s.name] for s in expr.free_symbols}
    return mpmath.mpmathify(expr.xreplace(values).evalf(25))


@pytest.mark.parametrize(
    ("text", "w", "b"),
    [
        ("relu", "6/5", "1/2"),
        ("3*max(-x, 0)", "2/5", "1/2"),
        pytest.param("dense >> relu >> dropout(0.5)", "9/10", "1/5", marks=pytest.mark.slow),
        pytest.param("2*x", "1/3", "1", marks=pytest.mark.slow),
        ("sin(x)", "3/2", "0"),
        pytest.param("sin(3*x)/2 + 0*x", "2", "1/5", marks=pytest.mark.slow),
        pytest.param("cos(x)", "1", "1/3", marks=pytest.mark.slow),
        ("x**2", "1/3", "1/5"),
    ],
)
def test_formulas_are_the_certified_points(text, w, b):
    t = theory(text)
    found = [at(q, w, b) for q in t.fixed_point_formulas]
    real = sorted(q.real for q in map(mpmath.mpc, found) if abs(q.imag) < 1e-20 and q.real > 1e-20)
    points = t.at(w, b).fixed_points
    assert len(points) == len(real) > 0
    for point, q in zip(points, real, strict=True):
        assert abs(point.q.mid / q - 1) < mpmath.mpf("1e-12")


def test_the_rectifier_as_a_formula():
    (q,) = theory("relu").fixed_point_formulas
    w, b = sorted(q.free_symbols, key=str)[::-1]
    assert (q - b**2 / (1 - w**2 / 2)).together().cancel() == 0


def test_what_is_not_solved_is_not_answered():
    assert theory("tanh(x)").fixed_point_formulas == ()
    assert theory("gelu").fixed_point_formulas == ()
    assert theory("x + sin(x)").fixed_point_formulas == ()
