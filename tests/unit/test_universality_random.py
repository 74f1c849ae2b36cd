"""Random formulas: what each verdict states is measured by quadrature that shares nothing with the package."""

import random

import mpmath
import pytest
from mpmath import mpf

from derive import EocError, theory

PARTS = {
    "x": (lambda x: x, lambda x: mpf(1)),
    "tanh(x)": (mpmath.tanh, lambda x: mpmath.sech(x) ** 2),
    "sin(x)": (mpmath.sin, mpmath.cos),
    "max(x, 0)": (lambda x: max(x, mpf(0)), lambda x: mpf(x > 0)),
    "x*sigmoid(x)": (lambda x: x * s(x), lambda x: s(x) + x * s(x) * (1 - s(x))),
    "x*exp(-x**2/2)": (lambda x: x * mpmath.exp(-x * x / 2), lambda x: (1 - x * x) * mpmath.exp(-x * x / 2)),
    "sigmoid(x)": (lambda x: s(x), lambda x: s(x) * (1 - s(x))),
    "log(1 + exp(x))": (lambda x: mpmath.log1p(mpmath.exp(-abs(x))) + max(x, mpf(0)), lambda x: s(x)),
}
WEIGHTS = ("-1", "-1/2", "1/3", "1/2", "1", "2")


def s(x):
    return 1 / (1 + mpmath.exp(-x)) if x > 0 else mpmath.exp(x) / (1 + mpmath.exp(x))


def drawn(seed):
    """A formula as text, its function and its slope."""
    chance = random.Random(seed)
    names = chance.sample(sorted(PARTS), 2)
    weights = [chance.choice(WEIGHTS) for _ in names]
    numbers = [mpf(w.partition("/")[0]) / mpf(w.partition("/")[2] or 1) for w in weights]
    text = " + ".join(f"({w})*({n})" for w, n in zip(weights, names, strict=True))
    functions = [lambda x, k=k: sum(w * PARTS[n][k](x) for w, n in zip(numbers, names, strict=True)) for k in (0, 1)]
    return text, *functions


def mean(f, q):
    root = mpmath.sqrt(q)
    cuts = sorted({mpf(c) for c in (-9, -3, 0, 3, 9)} | {t for c in (-3, 3) if abs(t := c / root) < 9})
    value = mpmath.quad(lambda z: f(root * z) * mpmath.exp(-z * z / 2), cuts)
    return value / mpmath.sqrt(2 * mpmath.pi)


def gap(f, slope, q):
    """d/dq E f^2 - E f'^2, the derivative in its form without derivatives of f^2."""
    return mean(lambda x: f(x) * slope(x) * x / q - slope(x) ** 2, q)


def check(seed):
    text, f, slope = drawn(seed)
    try:
        found = theory(text).universality
    except EocError as error:
        assert "open" in str(error) or "decided" in str(error) or "located" in str(error), (text, error)
        return "open"
    with mpmath.workdps(15):
        if found.name == "half-stable":
            q, w, b = (mpf(v.mid) for v in (found.q, found.sigma_w, found.sigma_b))
            assert abs(w**2 * mean(lambda x: slope(x) ** 2, q) - 1) < mpf("1e-7"), text
            assert abs(w**2 * gap(f, slope, q)) < mpf("1e-7"), text
            assert abs(w**2 * mean(lambda x: f(x) ** 2, q) + b**2 - q) < mpf("1e-7") * max(1, q), text
        elif found.name == "zero":
            w = mpf(found.sigma_w.mid)
            small = [mpf("1e-3"), mpf("1e-4")]
            loss = [w**2 * mean(lambda x: f(x) ** 2, q) / q - 1 for q in small]
            assert loss[0] < 0 and loss[1] < 0, (text, loss)
            power = mpmath.log(loss[0] / loss[1]) / mpmath.log(10)
            assert abs(power - 1 / mpf(str(float(found.p_0)))) < mpf("0.1"), (text, power)
        elif found.name == "none":
            signs = {mpmath.sign(gap(f, slope, q)) for q in (mpf("0.01"), mpf("0.3"), mpf(3), mpf(40))}
            claimed = [r for r in found.reasons if "has no zero" in r or "at every q > 0" in r]
            assert not claimed or len(signs) == 1, (text, signs, found.reasons)
        else:
            assert abs(f(mpf(3)) - 3 * f(mpf(1))) < mpf("1e-12") * abs(f(mpf(3))), text
    return found.name


QUICK = (3, 5)


@pytest.mark.parametrize("seed", [pytest.param(k, marks=() if k in QUICK else pytest.mark.slow) for k in range(12)])
def test_verdicts_hold(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_hundred_verdicts_hold():
    names = [check(seed) for seed in range(200)]
    assert names.count("open") < 30  # refusals: waves beside functions without closed forms, at large variance
    assert {"zero", "half-stable", "none"} <= set(names)
