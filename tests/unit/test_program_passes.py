"""Passes: which form comes out, that it is equal, and that protection keeps every branch finite."""

import mpmath
import pytest
import sympy
from sympy import Heaviside, Piecewise, Rational, cos, erf, erfc, exp, log, sqrt, tanh

from derive.program import fold, freeze, protect, run_mp, stabilise
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.symbols import X

A = sympy.Symbol("a", real=True)


def operations_of(program):
    return {item.operation for item in program.instructions}


@pytest.mark.parametrize(
    ("expr", "wanted", "gone"),
    [
        (log(1 + exp(A * X)), "softplus", {"log", "exp"}),
        (log(1 + X**2), "log1p", {"log"}),
        (A * exp(X) - A, "expm1", {"exp"}),
        (3 + 1 - exp(X) + A, "exp", {"expm1"}),
        (1 - exp(X) + A, "expm1", {"exp"}),
        (1 / (1 + exp(-X)), "sigmoid", {"exp", "div"}),
        (X * exp(X) / (1 + exp(X)), "sigmoid", {"exp", "div"}),
        (exp(-X) / (1 + exp(-X)) ** 2, "sigmoid", {"exp", "div", "pow"}),
        (X / 2 + X * erf(X) / 2, "erfc", {"erf"}),
        (X - X * erf(X), "erfc", {"erf"}),
        (2 * A - A * erfc(X), "erfc", {"sub"}),
        (1 - erfc(X), "erf", {"erfc"}),
        (X * exp(A * X - X**2) - X * exp(-A * X - X**2), "exp_difference", {"exp"}),
        (1 - NormalCdf(X), "normal_cdf", {"sub"}),
        (1 - tanh(X) ** 2, "sech", {"tanh"}),
        (A - A * cos(X), "sin", {"cos"}),
        (X**2 * Heaviside(X), "select", {"step"}),
        (X * Piecewise((1, X > 0), (0, True)), "select", {"mul"}),
    ],
)
def test_program_stable_form(expr, wanted, gone):
    before = freeze({"y": expr}, (X, A))
    after = stabilise(before)
    assert wanted in operations_of(after) and not gone & operations_of(after), str(after)
    for x in ("-3.7", "-0.2", "0", "1.3", "4"):
        for a in ("-1.5", "0.25"):
            at = {"x": x, "a": a}
            with mpmath.workdps(40):
                assert abs(run_mp(before, at, 40)["y"] - run_mp(after, at, 40)["y"]) < mpmath.mpf(10) ** -35


@pytest.mark.parametrize("expr", [2 + erf(X), 1 + 2 * erf(X), X - erf(X), 1 + exp(X), log(2 + exp(X))])
def test_program_stable_form_leaves_neighbours_alone(expr):
    before = freeze({"y": expr}, (X,))
    assert stabilise(before) == before


def test_program_stable_forms_are_accurate_far_out():
    """The point of the pass: float64-like accuracy where the typed form cancels, seen at 15 digits."""
    cases = [(1 - erf(X), 6), (1 + erf(X), -6), (exp(X) - 1, "1e-13"), (log(1 + exp(X)), -40), (1 - tanh(X) ** 2, 25)]
    cases.append((exp(X - 1) - exp(-X - 1), "1e-13"))
    for expr, x in cases:
        before = freeze({"y": expr}, (X,))
        with mpmath.workdps(60):
            truth = run_mp(before, {"x": x}, 60)["y"]
            naive = abs(run_mp(before, {"x": x}, 15)["y"] / truth - 1)
            stable = abs(run_mp(stabilise(before), {"x": x}, 15)["y"] / truth - 1)
        assert naive > 1e-4 and stable < 1e-12, (expr, naive, stable)


def test_program_fold_leaves_no_call_on_numbers():
    expr = (
        sqrt(2) * sympy.Max(X, 0) * erf(1 / sqrt(sympy.Integer(3))) / sympy.pi ** Rational(1, 3)
        + exp(Rational(1, 7))
        + sympy.pi
    )
    folded = fold(freeze({"y": expr}, (X,)))
    for item in folded.instructions:
        literals = [folded.instructions[arg].operation == "literal" for arg in item.args]
        assert not item.args or not all(literals), str(folded)
        assert item.operation not in ("mul", "add") or sum(literals) <= 1
        if item.operation == "literal":
            assert float(item.value) == item.value, "every literal is a float64"
    with mpmath.workdps(30):
        for x in (-1, 2):
            assert abs(run_mp(folded, {"x": x}, 30)["y"] - mpmath.mpf(str(expr.subs(X, x).evalf(30)))) < 2e-15


def test_program_fold_decides_constant_tests():
    expr = Piecewise((X, sympy.Gt(sqrt(2) + 1, 2, evaluate=False)), (1 / X, True))
    assert operations_of(fold(freeze({"y": expr}, (X,)))) == {"input"}


@pytest.mark.parametrize(
    "expr",
    [
        Piecewise((X, X > 0), (exp(-1 / X), X < 0), (0, True)),
        Piecewise((log(X), X > A), (sqrt(A - X), True)),
        Piecewise((1, sympy.Eq(X, 0)), (sympy.sin(X) / X, True)),
        Piecewise((X, X < -1), (1 / X, 2 * X < -1), (exp(X), X < 2), (log(X - 1), True)),
        Piecewise((sqrt(1 - X**2), (X > -1) & (X < 1)), (sqrt(X**2 - 1), True)),
    ],
)
def test_program_protection_keeps_values_and_makes_every_branch_finite(expr):
    before = freeze({"y": expr}, (X, A))
    after = protect(before)
    for x in ("-40", "-1.5", "-0.75", "-0.1", "0", "0.3", "1.75", "3", "40"):
        at = {"x": x, "a": "1.25"}
        everything = [(f"t{i}", i) for i, item in enumerate(after.instructions)]
        values = run_mp(type(after)(after.inputs, after.instructions, tuple(everything)), at, 30)
        assert all(isinstance(v, bool) or (mpmath.im(v) == 0 and mpmath.isfinite(v)) for v in values.values()), str(
            after
        )
        truth = expr.subs({X: Rational(x), A: Rational(5, 4)}).evalf(30)
        with mpmath.workdps(30):
            assert abs(run_mp(after, at, 30)["y"] - mpmath.mpf(str(truth))) < 1e-25
