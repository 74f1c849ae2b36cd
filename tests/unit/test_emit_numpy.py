"""Emitted NumPy modules: values against the definitions, dtypes, shapes, warnings, text."""

import ast
import os
import random
import subprocess
import sys

import mpmath
import numpy as np
import pytest
import sympy
from sympy import Heaviside, Max, Min, Piecewise, Rational, erf, exp, log, pi, sech, sin, sqrt, tanh

from derive.emit import EmittedFunction, emit, load, pair_bindings
from derive.gaussian.node import single
from derive.program import freeze, run_mp
from derive.program.operations.bivariate_normal_cdf import BivariateNormalCdf
from derive.program.operations.erfcx import Erfcx
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.symbols import DELTA, Q1, Q2, K, X
from derive.records import EocError, Unsupported

A = sympy.Symbol("a", positive=True)

FUNCTIONS = {
    "mish": X * tanh(log(1 + exp(X))),
    "gelu": X * (1 + erf(X / sqrt(2))) / 2,
    "phi_form": X * NormalCdf(X),
    "elu": Piecewise((X, X > 0), (A * (exp(X) - 1), True)),
    "silu_slope": sympy.diff(X / (1 + exp(-A * X)), X),
    "relu6": Min(Max(X, 0), 6) * sqrt(2),
    "hat": Piecewise((1 - sympy.Abs(X), (X > -1) & (X < 1)), (0, True)),
    "guarded": Piecewise((1, sympy.Eq(X, 0)), (sin(X) / X, True)),
    "powers": (1 + X**2) ** Rational(-3, 2) + X**5 - (X / (1 + X**2)) ** 3,
    "mill": Erfcx(sympy.Abs(X)) + sech(X),
    "constant": pi / 3,
    "ratios": X / (3 + A * X**2) / (1 + A) - (X - 1) * (X + 1) / A,
}


def module(names=tuple(FUNCTIONS), backend="numpy"):
    chosen = tuple(
        EmittedFunction(name, FUNCTIONS[name], ("x",), ("a",) if FUNCTIONS[name].has(A) else ()) for name in names
    )
    return emit(chosen, backend, "Functions under test.")


def called(function, name, x):
    return function(x, a=0.75) if FUNCTIONS[name].has(A) else function(x)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_emit_numpy_matches_definition(name):
    function = getattr(load(module((name,))), name)
    program, source = freeze({"y": FUNCTIONS[name]}, (X, A)), random.Random(name)
    points = [source.uniform(-6, 6) for _ in range(40)] + [0.0, 1.0, -1.0, 6.0]
    truth = [float(run_mp(program, {"x": x, "a": 0.75}, 40)["y"]) for x in points]
    values = called(function, name, np.array(points))
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, truth, rtol=1e-13, atol=1e-15)
    single_precision = called(function, name, np.array(points, dtype=np.float32))
    assert single_precision.dtype == np.float32
    scale = 1 + np.abs(truth)
    assert np.max(np.abs(single_precision - truth) / scale) < 2e-6


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_emit_numpy_shapes_and_dtypes(name):
    function = getattr(load(module((name,))), name)
    assert isinstance(called(function, name, 0.5), float)
    assert np.shape(called(function, name, 2)) == () and called(function, name, 2).dtype == np.float64
    assert called(function, name, np.arange(3)).dtype == np.float64
    assert called(function, name, np.zeros((2, 3), dtype=np.float32)).shape == (2, 3)
    assert called(function, name, np.float32(0.5)).dtype == np.float32


@pytest.mark.parametrize(
    "name", ["mish", "gelu", "elu", "silu_slope", "hat", "guarded", "mill", "constant", "phi_form"]
)
def test_emit_numpy_no_warning_far_out(name):
    """Overflow or division by zero in a branch not taken would warn, and warnings are errors."""
    function = getattr(load(module((name,))), name)
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        far = called(function, name, np.array([-1000, -100, 0, 100, 1000], dtype=np.float32))
    assert np.all(np.isfinite(far))


def test_emit_numpy_field_report_far_values():
    functions = load(module(("mish", "elu")))
    x = np.array([1000, -1000], dtype=np.float32)
    np.testing.assert_array_equal(functions.mish(x), np.array([1000, 0], dtype=np.float32))
    np.testing.assert_array_equal(functions.elu(x, a=1), np.array([1000, -1], dtype=np.float32))


def test_emit_numpy_field_report_names_and_shapes():
    y = sympy.Symbol("y", real=True)
    functions = load(
        emit(
            (
                EmittedFunction("inverse", Piecewise((1 / X, sympy.Ne(X, 0)), (0, True)), ("x",)),
                EmittedFunction("corner", Heaviside(Min(X, y)), ("x", "y")),
                EmittedFunction("half", Rational(1, 2) + 0 * X, ("x",)),
            ),
            "numpy",
        )
    )
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(functions.inverse(np.array([0.0, 2.0])), [0.0, 0.5])
    np.testing.assert_array_equal(functions.corner(np.array([1.0, -1.0]), np.array([[2.0], [0.0]])), [[1, 0], [0.5, 0]])
    np.testing.assert_array_equal(functions.half(np.zeros(3)), np.full(3, 0.5))
    with pytest.raises(Unsupported, match="DiracDelta"):
        emit((EmittedFunction("second", sympy.diff(Max(X, 0), X, 2), ("x",)),), "numpy")
    with pytest.raises(Unsupported, match="GaussianE"):
        emit((EmittedFunction("v", single(tanh(X) ** 2), ("q",)),), "numpy")


def test_emit_numpy_imports():
    """NumPy alone unless a function needs SciPy, and then the first line says so."""
    plain = module(("mish", "elu", "relu6", "hat"))
    assert "scipy" not in plain and ast.get_docstring(ast.parse(plain)) == "Functions under test."
    special = module(("gelu",))
    assert special.splitlines()[0] == "# Needs scipy.special for: erfc."
    for text in (plain, special):
        assert "derive" not in text and "sympy" not in text
        tree = ast.parse(text)
        assert all(
            node.returns is not None for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"
        )


def test_emit_numpy_stands_alone(tmp_path):
    (tmp_path / "emitted.py").write_text(module())
    code = "import sys, emitted; print(emitted.gelu(1.0)); assert not {'sympy', 'derive', 'torch'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert abs(float(done.stdout) - 0.8413447460685429) < 1e-15


def test_emit_text_is_stable_across_hash_seeds():
    code = (
        "from sympy import *; from derive.emit import emit, EmittedFunction; from derive.program.symbols import X\n"
        "a, b = symbols('a b', real=True)\n"
        "e = Max(a*X, b, 0) + exp(a*X)*erf(b*X)/(a + b*X**2) - log(1 + exp(X))\n"
        "f = EmittedFunction('f', e, ('x',), ('a', 'b'))\n"
        "print(emit((f,), 'numpy') + emit((f,), 'torch'))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "5")
    }
    assert len(seen) == 1 and "def f" in seen.pop()


def test_emit_names_are_made_safe():
    strange = [sympy.Symbol(name, real=True) for name in ("np", "lambda", "t1", "erf", "_number")]
    expr = sympy.Add(*[sin(symbol * X) for symbol in strange]) + erf(X) * sin(X) ** 2
    names = tuple(symbol.name for symbol in strange)
    function = load(emit((EmittedFunction("f", expr, ("x",), names),), "numpy")).f
    import inspect

    keywords = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    values = dict(zip(keywords, (0.1, 0.2, 0.3, 0.4, 0.5), strict=True))
    truth = expr.subs({symbol: Rational(i + 1, 10) for i, symbol in enumerate(strange)}).subs(X, Rational(1, 3)).evalf()
    assert abs(function(1 / 3, **values) - truth) < 1e-14
    with pytest.raises(Unsupported, match="name"):
        emit((EmittedFunction("f", X, ("x",), ("a; import os",)),), "numpy")
    with pytest.raises(Unsupported):
        emit((EmittedFunction("f(): pass #", X, ("x",)),), "numpy")


def test_emit_docstrings_cannot_escape():
    doc = 'A "quote" at the end, a \\frac{1}{2} and """ = 1"'
    function = load(emit((EmittedFunction("f", X, ("x",), doc=doc),), "numpy", header='"""; x = 1; """')).f
    assert function.__doc__ == doc


def test_emit_unknown_backend_is_named():
    with pytest.raises(EocError, match="fortran"):
        emit((EmittedFunction("f", X, ("x",)),), "fortran")


@pytest.mark.parametrize("c", [1.0, -1.0, 0.0, 0.3, -0.9, 1 - 1e-6, 1 - 1e-10, -1 + 1e-12, 1 - 1e-14])
def test_emit_numpy_bivariate_near_the_edge(c):
    """Phi_2 through the width is accurate to a unit of float64 up to correlation 1."""
    import flint
    from flint import acb

    from derive.program.normal_balls import bivariate_normal_cdf

    h, k = sympy.symbols("h k", real=True)
    expr = BivariateNormalCdf(h, k, K / sqrt(Q1 * Q2))
    function = load(
        emit((EmittedFunction("f", expr, ("q1", "q2", "c", "h", "k"), bindings=pair_bindings()),), "numpy")
    ).f
    for a, b in [
        (0.0, 0.0),
        (0.0, 1.2),
        (-0.5, 0.0),
        (1.2, 1.2),
        (1.2, 1.2 + 1e-7),
        (-3.0, 2.5),
        (0.7, -0.7),
        (-4.0, -4.5),
    ]:
        with flint.ctx.workprec(80):
            truth = float(bivariate_normal_cdf([acb(a), acb(b), acb(c)], False).real.mid())
        assert abs(float(function(1.0, 1.0, c, a, b)) - truth) < 5e-16


def test_emit_numpy_pair_form_near_the_edge():
    """acos and asin of a correlation become angles of (K, sqrt(Delta)): no loss near c = +-1."""
    rho = K / sqrt(Q1 * Q2)
    relu = (sqrt(DELTA) + K * (pi - sympy.acos(rho))) / (2 * pi)
    source = emit((EmittedFunction("f", relu, ("q1", "q2", "c"), bindings=pair_bindings()),), "numpy")
    assert "arccos" not in source and "arctan2" in source
    function = load(source).f
    for q1, q2 in ((1.0, 1.0), (0.3, 20.0)):
        for c in (1.0, -1.0, 1 - 1e-9, 0.2, -0.75):
            with mpmath.workdps(40):
                cc, scale = mpmath.mpf(c), mpmath.sqrt(mpmath.mpf(q1) * q2)
                angle = mpmath.acos(cc)
                truth = float(scale * (mpmath.sqrt((1 - cc) * (1 + cc)) + cc * (mpmath.pi - angle)) / (2 * mpmath.pi))
            assert abs(function(q1, q2, c) - truth) < 4e-16 * np.sqrt(q1 * q2)
