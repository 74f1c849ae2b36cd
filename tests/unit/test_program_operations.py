"""Each operation against its own definition: balls, SymPy heads, derivatives, analyticity."""

import itertools
import random

import flint
import mpmath
import pytest
import sympy
from flint import acb, arb

from derive.program import by_spelling, freeze, run_mp
from derive.program.registry import operations

UNIT = ("asin", "acos", "atanh", "correlation")
POSITIVE = ("log", "sqrt", "log1p")
TESTS = ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "select")


def arguments(name, arity, source):
    """Random admissible arguments of an operation, as exact rationals."""
    count = arity if arity > 0 else 3
    low, high = (-0.97, 0.97) if name in UNIT else (0.05, 4) if name in POSITIVE else (-3, 3)
    if name == "acosh":
        low, high = 1.1, 5
    values = [sympy.Rational(source.uniform(low, high)) for _ in range(count)]
    if name == "pow":
        values[0] = abs(values[0])
    if name == "exp_difference":
        values[2] = values[0] - values[1]
    if name == "clip":
        values[1:] = sorted(values[1:])
    if name.endswith("bivariate_normal_cdf"):
        place = 3 if name.startswith("exp") else 2
        values[place] = values[place] / 3
    if name.startswith("scaled_bessel"):
        values = [abs(value) for value in values]
    if name == "sign_moment":
        values = [value / 10 for value in values]
    return values


def as_ball(value, radius=0):
    with flint.ctx.workprec(100):
        return acb(arb(flint.fmpq(int(value.p), int(value.q))) + arb(0, radius))


def as_mp(value):
    return mpmath.mpf(int(value.p)) / int(value.q)


def contains(ball, value):
    man, exp = value.man_exp if hasattr(value, "man_exp") else (value._mpf_[1], value._mpf_[2])
    man = -man if value < 0 else man
    with flint.ctx.workprec(300):
        exact = arb(int(man)) * arb(2) ** int(exp)
        return abs(ball.real - exact) < arb(10) ** -25 * (1 + abs(exact)) or ball.real.contains(exact)


@pytest.mark.parametrize("name", [name for name in operations() if name not in TESTS])
def test_program_ball_contains_definition(name):
    operation, source = operations()[name], random.Random(name)
    for radius in (0, 1e-3, 0.3):
        for _ in range(4):
            values = arguments(name, operation.arity, source)
            with mpmath.workdps(40), flint.ctx.workprec(100):
                truth = mpmath.mpf(operation.exact(mpmath.mp, *map(as_mp, values)))
                ball = operation.ball([as_ball(value, radius) for value in values], False)
                assert contains(ball, truth) or not ball.is_finite(), (values, radius, ball, truth)
                if radius == 0:
                    assert ball.rel_accuracy_bits() > 70 or ball.real.contains(0), (values, ball)
                    assert contains(ball, truth)
                if radius == 1e-3 and name not in ("tan", "cot", "csc", "csch", "coth", "sec", "pow", "div"):
                    assert ball.is_finite(), (values, ball)


@pytest.mark.parametrize("name", [name for name in operations() if name not in TESTS])
def test_program_build_agrees_with_definition(name):
    """What the reader builds, through the gate, equals the definition."""
    operation, source = operations()[name], random.Random(name)
    values = arguments(name, operation.arity, source)
    symbols = sympy.symbols(f"a0:{len(values)}", real=True)
    program = freeze({"y": operation.build(*symbols)}, symbols)
    with mpmath.workdps(30):
        inputs = {str(symbol): as_mp(value) for symbol, value in zip(symbols, values, strict=True)}
        truth = operation.exact(mpmath.mp, *map(as_mp, values))
        assert abs(run_mp(program, inputs, 30)["y"] - truth) <= mpmath.mpf(10) ** -25 * (1 + abs(truth))


SPECIAL = ["NormalCdf", "Sigmoid", "Softplus", "Erfcx", "OwenT", "BivariateNormalCdf", "SignMoment"]
OWN = {op.head.__name__: op for op in operations().values() if op.head and op.head.__module__.startswith("derive")}


def test_program_own_heads_are_known():
    assert set(OWN) >= set(SPECIAL)


@pytest.mark.parametrize("name", SPECIAL)
def test_program_own_head_evalf_and_derivative(name):
    operation, source = OWN[name], random.Random(name)
    for _ in range(3):
        values = arguments(operation.name, operation.arity, source)
        with mpmath.workdps(40):
            truth = operation.exact(mpmath.mp, *map(as_mp, values))
            value = operation.head(*values).evalf(30)
            assert abs(mpmath.mpf(str(value)) - truth) < mpmath.mpf(10) ** -28 * abs(truth)
            symbols = sympy.symbols(f"a0:{len(values)}", real=True)
            step = mpmath.mpf(10) ** -12
            for place, symbol in enumerate(symbols):
                slope = operation.head(*symbols).diff(symbol).subs(dict(zip(symbols, values, strict=True))).evalf(30)
                at = [as_mp(value) for value in values]
                at[place] += step
                up = operation.exact(mpmath.mp, *at)
                at[place] -= 2 * step
                measured = (up - operation.exact(mpmath.mp, *at)) / (2 * step)
                assert abs(mpmath.mpf(str(slope)) - measured) < mpmath.mpf(10) ** -20


@pytest.mark.parametrize("name", SPECIAL)
def test_program_own_head_rewrites_and_pickles(name):
    import pickle

    head, symbols = OWN[name].head, sympy.symbols("h k r", real=True)
    expr = head(*symbols[: OWN[name].arity], *sympy.symbols(f"r4:{max(4, OWN[name].arity + 1)}", real=True))
    assert pickle.loads(pickle.dumps(expr)) == expr
    assert expr.is_real
    power = sympy.latex(expr**2)
    assert power.endswith("^{2}") and head.latex_name in power
    for target in (sympy.erf, sympy.exp, sympy.log, sympy.erfc):
        other = expr.rewrite(target)
        if other != expr:
            point = dict(zip(symbols, (sympy.Rational(3, 7), sympy.Rational(1, 3), sympy.Rational(1, 5)), strict=True))
            assert abs((other - expr).subs(point).evalf(25)) < 1e-20


def test_program_special_values():
    phi, sigmoid, phi2, owen = (OWN[name].head for name in ("NormalCdf", "Sigmoid", "BivariateNormalCdf", "OwenT"))
    h, k, r = sympy.symbols("h k r", real=True)
    assert phi(0) == sympy.Rational(1, 2) and phi(sympy.oo) == 1 and phi(-sympy.oo) == 0
    assert sigmoid(-sympy.oo) == 0 and sigmoid(sympy.S(0)) == sympy.Rational(1, 2)
    assert phi2(h, sympy.oo, r) == phi(h) and phi2(h, k, 0) == phi(h) * phi(k) and phi2(h, k, r) == phi2(k, h, r)
    assert phi2(0, 0, r) == sympy.Rational(1, 4) + sympy.asin(r) / (2 * sympy.pi)
    assert owen(-h, k) == owen(h, k) == -owen(h, -k) and owen(h, sympy.S(0)) == 0
    assert phi(-h) != 1 - phi(h), "no automatic reflection"


CUTS = {
    "log": acb(arb(-1), arb(0, 0.1)),
    "sqrt": acb(arb(-1), arb(0, 0.1)),
    "log1p": acb(arb(-2), arb(0, 0.1)),
    "asin": acb(arb(2), arb(0, 0.1)),
    "acos": acb(arb(-2), arb(0, 0.1)),
    "atanh": acb(arb(2), arb(0, 0.1)),
    "acosh": acb(arb(0.5), arb(0, 0.1)),
    "atan": acb(arb(0, 0.1), arb(2)),
    "asinh": acb(arb(0, 0.1), arb(-2)),
    "abs": acb(arb(0, 0.1), arb(0, 0.1)),
    "sign": acb(arb(0, 0.1), arb(0, 0.1)),
    "step": acb(arb(0, 0.1), arb(0, 0.1)),
    "softplus": acb(arb(-1, 2), arb(3.14, 0.1)),
}


@pytest.mark.parametrize("name", sorted(CUTS))
def test_program_not_analytic_on_cut(name):
    ball = operations()[name].ball
    assert not ball([CUTS[name]], True).is_finite()
    assert ball([acb(arb(0.5, 0.01) if name != "acosh" else arb(2, 0.01), arb(0, 0.01))], True).is_finite()


@pytest.mark.parametrize("name", ["max", "min"])
def test_program_extremes_are_analytic_off_the_tie(name):
    ball = operations()[name].ball
    disc = acb(arb(0, 0.1), arb(0, 0.1))
    assert not ball([disc, acb(0)], True).is_finite()
    assert ball([disc, acb(1)], True).is_finite()
    assert ball([disc, acb(0)], False).is_finite()


@pytest.mark.parametrize(
    ("point", "inside"),
    [((1, 1), True), ((1, -1), True), ((-1, 0.5), True), ((-1, -0.5), True), ((1, 0), True), ((-1, 0), False)],
)
def test_program_atan2_follows_the_real_angle(point, inside):
    x, y = point
    ball = operations()["atan2"].ball
    disc = ball([acb(arb(y, 0.01), arb(0, 0.01)), acb(arb(x, 0.01), arb(0, 0.01))], True)
    assert disc.is_finite() is inside
    if inside:
        assert disc.real.contains(arb.atan2(arb(y), arb(x)))


def test_program_spellings_are_unique():
    spelled = [text for op in operations().values() for text in op.spellings]
    assert len(spelled) == len(set(spelled)) == len(by_spelling())


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_program_comparison_decides_where_it_can(name):
    """True and False agree with the definition; overlapping balls are undecided."""
    operation = operations()[name]
    for a, b in ((1, 2), (2, 1), (1, 1)):
        assert operation.ball([acb(a), acb(b)], False) is operation.exact(mpmath.mp, a, b)
    assert operation.ball([acb(arb(1, 0.1)), acb(arb(1.05, 0.1))], False) is None
    assert operation.ball([acb(arb(1, 0.1)), acb(arb(2, 0.1), arb(0, 0.3))], True) is operation.exact(mpmath.mp, 1, 2)


@pytest.mark.parametrize("name", ["and", "or", "not"])
def test_program_logic_is_three_valued(name):
    """An undecided argument counts only where it could change the answer."""
    operation = operations()[name]
    for args in itertools.product((True, False, None), repeat=1 if name == "not" else 2):
        fillings = itertools.product(*((True, False) if arg is None else (arg,) for arg in args))
        possible = {operation.exact(mpmath.mp, *filling) for filling in fillings}
        assert operation.ball(list(args), False) is (possible.pop() if len(possible) == 1 else None)


def test_program_select_joins_both_branches_where_undecided():
    ball = operations()["select"].ball
    assert ball([True, acb(1), acb(2)], True) == 1 and ball([False, acb(1), acb(2)], True) == 2
    assert not ball([None, acb(1), acb(2)], True).is_finite()
    joined = ball([None, acb(1), acb(2)], False).real
    assert joined.contains(1) and joined.contains(2)


@pytest.mark.parametrize(
    ("h", "k", "rho"), [(-12, -10, 0.3), (-8, 7, -0.9), (-3, 2.5, -0.999), (-20, 3, 0.5), (1, 2, 1), (2, -1, -1)]
)
def test_program_bivariate_tail_is_relatively_accurate(h, k, rho):
    """Against the conditional form, the density times a normal cdf, whose integrand is positive."""
    operation = operations()["bivariate_normal_cdf"]
    with flint.ctx.workprec(80):
        value = operation.ball([acb(h), acb(k), acb(rho)], False).real
        assert value.rel_accuracy_bits() > 70
    with mpmath.workdps(40):
        width = mpmath.sqrt((1 - mpmath.mpf(rho)) * (1 + mpmath.mpf(rho)))
        if width == 0:
            truth = mpmath.ncdf(min(h, k)) if rho > 0 else mpmath.ncdf(h) - mpmath.ncdf(-k)
        else:
            ends = [h - mpmath.mpf(step) / 20 for step in (600, 200, 100, 40, 20, 10, 5, 2, 1, 0)]
            # scaled by the density at h, so that the quadrature sees numbers of ordinary size
            scaled = lambda x: mpmath.exp((h * h - x * x) / 2) * mpmath.ncdf((k - rho * x) / width)  # noqa: E731
            truth = mpmath.npdf(h) * mpmath.quad(scaled, ends)
        assert abs(mpmath.mpf(str(value.mid().str(25, radius=False))) / truth - 1) < 1e-12


def test_program_bivariate_far_below_any_float_is_bounded_quickly():
    ball = operations()["bivariate_normal_cdf"].ball([acb(-6), acb(-6), acb(-1 + 1e-12)], False).real
    assert ball.contains(0) and ball < 1e-300
    wide = operations()["bivariate_normal_cdf"].ball(
        [acb(arb(1, 0.01)), acb(arb(0, 0.01)), acb(arb(0.999, 0.01))], False
    )
    for h in (0.99, 1.01):
        for rho in (0.99, 1):
            assert wide.overlaps(operations()["bivariate_normal_cdf"].ball([acb(h), acb(0), acb(rho)], False))
