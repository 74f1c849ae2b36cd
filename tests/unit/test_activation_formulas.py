"""Forty-three published activations and their disguises: pieces, values and tails against plain Python."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb, ctx
from sympy import Abs, Max, Min, Piecewise, Rational, cos, cosh, erf, exp, log, pi, sign, sin, sqrt, tanh

from derive.activation.facts import facts
from derive.activation.pieces import piece_function
from derive.program.symbols import X as x

LAMBDA = Rational("1.0507009873554804934193349852946")
ALPHA = Rational("1.6732632423543772848170429916717")
R = Rational

# name: SymPy expression, the same in Python, breakpoints, parity
FORMULAS = {
    "identity": (x, lambda t: t, 0, "odd"),
    "quadratic": (x**2, lambda t: t**2, 0, "even"),
    "cubic": (x**3, lambda t: t**3, 0, "odd"),
    "monomial_4": (x**4, lambda t: t**4, 0, "even"),
    "hermite_2": ((x**2 - 1) / sqrt(2), lambda t: (t * t - 1) / math.sqrt(2), 0, "even"),
    "relu": (Max(x, 0), lambda t: max(t, 0), 1, None),
    "leaky_0.01": (Max(x, 0) + R(1, 100) * Min(x, 0), lambda t: t if t > 0 else t / 100, 1, None),
    "leaky_0.1": (Max(x, R(1, 10) * x), lambda t: t if t > 0 else t / 10, 1, None),
    "prelu_0.25": (Piecewise((x, x > 0), (x / 4, True)), lambda t: t if t > 0 else t / 4, 1, None),
    "abs": (Abs(x), abs, 1, "even"),
    "relu_pow_2": (Max(x, 0) ** 2, lambda t: max(t, 0) ** 2, 1, None),
    "relu_pow_4": (Max(x, 0) ** 4, lambda t: max(t, 0) ** 4, 1, None),
    "step": (Piecewise((1, x > 0), (0, True)), lambda t: float(t > 0), 1, None),
    "sign": (sign(x), lambda t: math.copysign(1, t), 1, "odd"),
    "hardtanh": (Max(-1, Min(1, x)), lambda t: max(-1, min(1, t)), 2, "odd"),
    "relu6": (Min(Max(x, 0), 6), lambda t: min(max(t, 0), 6), 2, None),
    "hard_sigmoid": (Max(0, Min(1, x / 6 + R(1, 2))), lambda t: max(0, min(1, t / 6 + 0.5)), 2, None),
    "hard_swish": (x * Max(0, Min(6, x + 3)) / 6, lambda t: t * max(0, min(6, t + 3)) / 6, 2, None),
    "hardshrink": (Piecewise((x, Abs(x) > R(1, 2)), (0, True)), lambda t: t if abs(t) > 0.5 else 0, 2, "odd"),
    "elu": (Piecewise((x, x > 0), (exp(x) - 1, True)), lambda t: t if t > 0 else math.expm1(t), 1, None),
    "selu": (
        Piecewise((LAMBDA * x, x > 0), (LAMBDA * ALPHA * (exp(x) - 1), True)),
        lambda t: float(LAMBDA) * (t if t > 0 else float(ALPHA) * math.expm1(t)),
        1,
        None,
    ),
    "celu_0.6": (
        Piecewise((x, x > 0), (R(3, 5) * (exp(x * R(5, 3)) - 1), True)),
        lambda t: t if t > 0 else 0.6 * math.expm1(t / 0.6),
        1,
        None,
    ),
    "exp": (exp(x), math.exp, 0, None),
    "matern52": (
        Piecewise((x**2 * exp(-sqrt(5) * x), x >= 0), (0, True)),
        lambda t: t * t * math.exp(-math.sqrt(5) * t) if t >= 0 else 0,
        1,
        None,
    ),
    "erf": (erf(x), math.erf, 0, "odd"),
    "gelu": (x * (1 + erf(x / sqrt(2))) / 2, lambda t: t * math.erfc(-t / math.sqrt(2)) / 2, 0, None),
    "gelu_tanh": (
        x * (1 + tanh(sqrt(2 / pi) * (x + R("0.044715") * x**3))) / 2,
        lambda t: t / (1 + math.exp(-2 * math.sqrt(2 / math.pi) * (t + 0.044715 * t**3))),
        0,
        None,
    ),
    "tanh": (tanh(x), math.tanh, 0, "odd"),
    "sigmoid": (1 / (1 + exp(-x)), lambda t: 1 / (1 + math.exp(-t)), 0, None),
    "silu": (x / (1 + exp(-x)), lambda t: t / (1 + math.exp(-t)), 0, None),
    "quick_gelu": (x / (1 + exp(-R("1.702") * x)), lambda t: t / (1 + math.exp(-1.702 * t)), 0, None),
    "mish": (x * tanh(log(1 + exp(x))), lambda t: t * math.tanh(math.log1p(math.exp(t))), 0, None),
    "softplus": (log(1 + exp(x)), lambda t: math.log1p(math.exp(t)), 0, None),
    "logcosh": (log(cosh(x)), lambda t: abs(t) + math.log1p(math.exp(-2 * abs(t))) - math.log(2), 0, "even"),
    "sin": (sin(x), math.sin, 0, "odd"),
    "cos": (cos(x), math.cos, 0, "even"),
    "rbf_1.3": (sqrt(2) * sin(R("1.3") * x + pi / 4), lambda t: math.sin(1.3 * t) + math.cos(1.3 * t), 0, None),
    "snake": (x + sin(x) ** 2, lambda t: t + math.sin(t) ** 2, 0, None),
    "gaussian": (exp(-(x**2) / 2), lambda t: math.exp(-t * t / 2), 0, "even"),
    "gaussian_1": (exp(-(x**2)), lambda t: math.exp(-t * t), 0, "even"),
    "softsign": (x / (1 + Abs(x)), lambda t: t / (1 + abs(t)), 1, "odd"),
    "isru": (x / sqrt(1 + x**2), lambda t: t / math.hypot(1, t), 0, "odd"),
    "isrlu_0.5": (
        Piecewise((x, x >= 0), (x / sqrt(1 + x**2 / 2), True)),
        lambda t: t if t >= 0 else t / math.sqrt(1 + t * t / 2),
        1,
        None,
    ),
}

TWINS = [(R(1), R(0)), (R(-1), R(0)), (R(5, 3), R(2, 7))]


@pytest.mark.parametrize("name", FORMULAS)
def test_pieces_of_a_formula_and_its_twins(name):
    expr, plain, count, parity = FORMULAS[name]
    for slope, offset in TWINS:
        f = piece_function(expr.subs(x, slope * x + offset))
        assert len(f.breaks) == count
        assert all(exact is not None for exact in f.exact_breaks)
        assert all(a < b for a, b in pairwise(f.breaks))
        if offset == 0:
            assert f.parity == parity
        for point in (-7, -Fraction(13, 4), -Fraction(2, 5), Fraction(1, 8), Fraction(9, 4), 6):
            inside = float(slope) * float(point) + float(offset)
            assert float(f.at(point).mid()) == pytest.approx(plain(inside), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", FORMULAS)
def test_tails_bound_the_function_and_decide_convergence(name):
    f = piece_function(FORMULAS[name][0].subs(x, R(5, 3) * x + R(2, 7)))
    for side in (1, -1):
        for start in (8, 50):
            bound = f.tail(side, start)
            assert bound.s <= 0
            for point in (start, start + Fraction(1, 3), 2 * start, 40 * start):
                with ctx.workprec(200):
                    assert not abs(f.at(side * point)) > bound.at(
                        arb(point) if isinstance(point, int) else f_ball(point)
                    )


@pytest.mark.parametrize("name", FORMULAS)
def test_facts_agree_with_a_fine_grid(name):
    expr, plain, count, _ = FORMULAS[name]
    grid = [k / 100 + 1 / 317 for k in range(-900, 900)]
    rising = [plain(t) for t in grid]
    up = all(p <= q + 1e-13 for p, q in pairwise(rising))
    down = all(p >= q - 1e-13 for p, q in pairwise(rising))
    direct = "increasing" if up else "decreasing" if down else None
    mirrored = {"increasing": "decreasing", "decreasing": "increasing", None: None}[direct]
    homogeneous = all(plain(3 * t) == pytest.approx(3 * plain(t), rel=1e-9, abs=1e-12) for t in (-4, -0.3, 0.4, 4))
    for slope, offset in TWINS:
        found = facts(3 * expr.subs(x, slope * x + offset))
        assert found.problem is None and found.notes == ()
        assert len(found.breakpoints) == count
        assert found.monotone == (direct if slope > 0 else mirrored)
        assert found.scale_invariant == (homogeneous and offset == 0)
        for (point, order), jump in zip(found.smoothness, found.jumps, strict=False):
            assert (order == -1) == (point == jump.at)
        heights = {float(jump.at): float(jump.height) for jump in found.jumps}
        for point in found.breakpoints:
            near, at = 1e-9, float(slope * point + offset)
            step = 3 * math.copysign(1, slope) * (plain(at + near) - plain(at - near))
            assert heights.get(float(point), 0) == pytest.approx(step, abs=1e-6)


def f_ball(point):
    return arb(point.numerator) / point.denominator
