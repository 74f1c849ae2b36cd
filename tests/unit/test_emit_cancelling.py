"""Polynomials beside exponentials on half-lines: closed forms that cancel, and products of 0 and infinity."""

import numpy as np
import pytest
from sympy import Symbol, exp

from derive import Activation, expect
from derive.emit.saturated import saturated
from derive.gaussian import numbers
from derive.program.symbols import X

torch = pytest.importorskip("torch")

FAMILY = ("max(x,0)**3*exp(-x)", "min(x,0)*exp(x)", "abs(x)*exp(-2*abs(x))", "3*max(-2*x,0)**2*exp(2*x)")
QUICK = FAMILY[:1]
FAMILY_PARAMS = [pytest.param(t, marks=() if t in QUICK else pytest.mark.slow) for t in FAMILY]


@pytest.mark.parametrize("text", FAMILY_PARAMS)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_moments_keep_their_digits_at_every_variance(text, backend):
    phi = Activation(text)
    second, pair = expect(phi**2), expect(phi, phi)
    assert all(numbers.cancels(node) for node in (*second.nodes, *pair.nodes))
    single, double = second.compile(backend), pair.compile(backend)
    made = (lambda v: np.asarray(v, float)) if backend == "numpy" else (lambda v: torch.tensor(v, dtype=torch.float64))
    for q in (1e-3, 1e2, 1e6):
        true = float(second.number(q=q))
        assert abs(float(single(made(q))) / true - 1) < 1e-14
        scale = (true * float(second.number(q=2 * q))) ** 0.5
        for c in (-0.8, 0.4, 1.0):
            wanted = float(pair.number(q1=q, q2=2 * q, c=str(c)))
            assert abs(float(double(made(q), made(2 * q), made(c))) - wanted) < 1e-14 * scale


def test_closed_forms_that_keep_their_digits_are_used():
    for text in ("elu", "exp(-abs(x))"):
        phi = Activation(text)
        assert not any(numbers.cancels(node) for node in (*expect(phi**2).nodes, *expect(phi, phi).nodes))


ZEROS = (
    ("max(x,0)*exp(-x)", -2000.0),
    ("min(x,0)**2*exp(x)", 2000.0),
    ("max(1-x,0)*exp(3*x)", 2000.0),
    ("max(x-1,0)*cosh(x)*exp(-x)", -2000.0),
)


@pytest.mark.parametrize(("text", "zero"), ZEROS)
def test_a_function_is_zero_where_its_kink_says_so(text, zero):
    phi = Activation(text)
    x = torch.tensor(zero, dtype=torch.float64, requires_grad=True)
    y = phi.compile("torch")(x)
    y.backward()
    assert y.item() == 0 and x.grad.item() == 0
    assert phi.compile("numpy")(zero) == 0


def test_what_decays_on_its_own_stays_as_it_is():
    a = Symbol("a", real=True)
    for text in ("max(x,0)*exp(-x**2)", "max(x,0)*exp(x)", "min(x,0)*exp(-x)"):
        expr = Activation(text).expr
        assert saturated(expr) == expr
    kept = saturated(Activation("max(x,0)*exp(-a*x)").expr)
    assert kept.subs({a: 2, X: -3}) == 0 and kept != Activation("max(x,0)*exp(-a*x)").expr
    assert kept.has(exp)
