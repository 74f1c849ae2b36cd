"""The gate out of SymPy and evaluation of programs."""

import os
import pickle
import subprocess
import sys

import flint
import mpmath
import pytest
import sympy
from flint import acb, arb
from sympy import Abs, Heaviside, Max, Min, Piecewise, Rational, erf, exp, log, pi, sin, sqrt, tanh

from derive.gaussian.node import single
from derive.program import fold, freeze, plan, protect, run_balls, run_mp, stabilise
from derive.program.symbols import Q, X
from derive.records import EocError, Undefined, Unsupported

A = sympy.Symbol("a", positive=True)

EXPRESSIONS = {
    "mish": X * tanh(log(1 + exp(X))),
    "gelu": X * (1 + erf(X / sqrt(2))) / 2,
    "elu": Piecewise((X, X > 0), (A * (exp(X) - 1), True)),
    "relu6": Min(Max(X, 0), 6),
    "leaky": Max(X, 0) + A * Min(X, 0),
    "step": Heaviside(X) * X**2 - Heaviside(-X, 0),
    "powers": (1 + X**2) ** Rational(-3, 2) + (2 + sin(X)) ** Rational(1, 3) + (1 + A) ** X,
    "logic": Piecewise((X, sympy.And(X > -1, X < 2)), (A, sympy.Or(X >= 3, sympy.Not(X < -2))), (0, True)),
    "constants": sqrt(2) * X / (3 * pi) + sympy.E * A - Rational(7, 3),
    "ratio": -2 * X * exp(-X) / (3 * (1 + exp(-X)) ** 2) + Abs(X) / (1 + Abs(X)),
    "one minus cos": 1 - sympy.cos(A * X),
}
POINTS = ["-30.5", "-2.25", "-1", "-0.3", "0", "0.7", "2", "5.5", "31"]


@pytest.mark.parametrize("name", sorted(EXPRESSIONS))
def test_program_equals_sympy_before_and_after_passes(name):
    expr = EXPRESSIONS[name]
    program = freeze({"y": expr}, (X, A))
    passed = stabilise(program)
    final = protect(fold(passed))
    for text in POINTS:
        with mpmath.workdps(40), flint.ctx.workprec(160):
            truth = expr.subs({X: Rational(text), A: Rational(6, 5)})
            truth = mpmath.mpf(str(truth.evalf(40)))
            at = {"x": text, "a": mpmath.mpf(6) / 5}
            ball = run_balls(program, {"x": acb(text), "a": acb(6) / 5})["y"]
            assert abs(run_mp(program, at, 40)["y"] - truth) < mpmath.mpf(10) ** -30 * (1 + abs(truth))
            assert abs(run_mp(passed, at, 40)["y"] - truth) < mpmath.mpf(10) ** -30 * (1 + abs(truth))
            assert abs(run_mp(final, at, 40)["y"] - truth) < 4e-15 * (1 + abs(truth))
            assert abs(ball.real - arb(str(truth))) < 1e-30 * (1 + abs(arb(str(truth))))


def test_program_text_is_stable_across_hash_seeds():
    """The same expression gives the same program whatever the hash seed."""
    code = (
        "from sympy import *; from derive.program import freeze; from derive.program.symbols import X\n"
        "a, b = symbols('a b', real=True)\n"
        "print(freeze({'y': Max(a*X, b, 0) + exp(a*X)*b*(1 + X)/(a + b*X**2)/sqrt(pi) - sin(b)}, (X, a, b)))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "77")
    }
    assert len(seen) == 1 and "exp" in seen.pop()


def test_program_shares_subexpressions_and_prints():
    program = freeze({"f": exp(X) + exp(X) ** 2, "g": sin(exp(X))}, (X,))
    assert [item.operation for item in program.instructions].count("exp") == 2  # exp(x) and exp(2 x)
    assert str(program).splitlines()[0] == "t0 = input(x)"
    assert pickle.loads(pickle.dumps(program)) == program
    run_balls(program, {"x": acb(1)})
    assert pickle.loads(pickle.dumps(program)) == program, "evaluation leaves nothing behind that cannot be pickled"


@pytest.mark.parametrize(
    ("expr", "word"),
    [
        (sympy.DiracDelta(X), "DiracDelta"),
        (single(tanh(X) ** 2), "GaussianE"),
        (sympy.Function("mystery")(X), "mystery"),
        (sympy.gamma(X), "gamma"),
        (sympy.I * X, "ImaginaryUnit"),
        (sympy.zoo, "ComplexInfinity"),
        (sympy.Integral(exp(X), (X, 0, X)), "Integral"),
        (X * A, "a"),
    ],
)
def test_program_refuses_by_name(expr, word):
    with pytest.raises(Unsupported) as caught:
        freeze({"y": expr}, (X, Q))
    assert word in str(caught.value) and caught.value.why and caught.value.instead


def test_program_refuses_piecewise_without_default():
    with pytest.raises(Undefined, match="piecewise"):
        freeze({"y": Piecewise((X, X > 0))}, (X,))


def test_program_missing_input_is_named():
    program = freeze({"y": X + A}, (X, A))
    for run in (run_balls, run_mp):
        with pytest.raises(EocError, match="a"):
            run(program, {"x": 1})


def test_program_kink_is_not_analytic_but_enclosed():
    program = freeze({"y": Piecewise((X, X > 0), (exp(X) - 1, True))}, (X,))
    disc = acb(arb(0, 0.1), arb(0, 0.1))
    assert not run_balls(program, {"x": disc}, analytic=True)["y"].is_finite()
    assert run_balls(program, {"x": disc + 1}, analytic=True)["y"].is_finite()
    union = run_balls(program, {"x": acb(arb(0, 0.1))})["y"].real
    assert union.contains(arb("0.05")) and union.contains(arb("-0.05").exp() - 1)


@pytest.mark.parametrize("name", ["mish", "gelu", "elu", "leaky", "ratio"])
def test_program_integrates_rigorously(name):
    """The integral of f**2 against the normal density contains a high-precision quadrature."""
    expr = EXPRESSIONS[name].subs(A, Rational(1, 4))
    program = freeze({"y": expr**2 * exp(-(X**2) / 2)}, (X,))
    ready = plan(program)
    with flint.ctx.workprec(90), mpmath.workdps(30):
        found = sum(
            (acb.integral(lambda z, analytic: ready((z,), analytic)[0], a, b) for a, b in ((-12, 0), (0, 12))), acb(0)
        ).real
        truth = mpmath.quad(lambda z: run_mp(program, {"x": z}, 30)["y"], [-12, -4, 0, 4, 12])
        assert found.rad() < 1e-17 and abs(found - arb(str(truth))) < 1e-16


def test_program_precision_follows_the_caller():
    program = freeze({"y": sqrt(2) * X + pi}, (X,))
    for bits in (53, 200, 53, 400):
        with flint.ctx.workprec(bits):
            value = run_balls(program, {"x": acb(1)})["y"]
            assert value.rel_accuracy_bits() >= bits - 6
            assert (value.real - arb(2).sqrt() - arb.pi()).contains(0)


def test_program_loads_no_sympy_to_list_names():
    code = "import sys, derive, derive.program; assert 'sympy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
