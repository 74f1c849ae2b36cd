"""Every reference value lies in a narrow enclosure, as asked and in disguise.

A value passes if it lies in the enclosure, widened by 1e-25 of the scale, and the radius is at most 1e-13 of the scale;
the scale is max(|value|, E phi^2 at that variance).
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest
from mpmath import mpf, workdps

from derive import Activation, expect, theory

DATA = Path(__file__).parent / "data"
ACTIVATIONS = json.loads((DATA / "activations.json").read_text())
MIXED = json.loads((DATA / "mixed.json").read_text())
CRITICAL = json.loads((DATA / "critical.json").read_text())
ONE_VARIABLE = ("m1", "m2", "d0", "d1")
PAIR = ("K", "Kd")


def result(phi, quantity):
    """The public question behind a quantity of the tables."""
    d = phi.derivative() if "d" in quantity else None
    return {
        "m1": lambda: expect(phi),
        "m2": lambda: expect(phi**2),
        "d0": lambda: expect(d),
        "d1": lambda: expect(d**2),
        "K": lambda: expect(phi, phi),
        "Kd": lambda: expect(d, d),
    }[quantity]()


@cache
def asked(name, quantity):
    return result(Activation(ACTIVATIONS[name]["formula"]), quantity)


@cache
def second_moments(name):
    rows = ACTIVATIONS[name]["values"]
    return {q: value for quantity, q, _, value in rows if quantity == "m2"}


def miss(got, want, scale):
    """Why an enclosure does not certify a value; empty if it does."""
    with workdps(40):
        mid, rad, want, scale = mpf(got.mid), mpf(got.rad), mpf(want), mpf(scale)
        scale = max(abs(want), scale)
        if not abs(mid - want) <= rad + scale * mpf("1e-25"):
            return f"{want} is outside {mid} ± {rad}"
        if not rad <= scale * mpf("1e-13"):
            return f"radius {rad} is wider than 1e-13 of {scale}"
    return ""


def place(q, c):
    return {"q": q} if c is None else {"q1": q, "q2": q, "c": c}


def misses(name, quantities):
    for quantity, q, c, value in ACTIVATIONS[name]["values"]:
        if quantity in quantities:
            why = miss(asked(name, quantity).number(**place(q, c)), value, second_moments(name)[q])
            if why:
                yield f"{quantity} at q={q}, c={c}: {why}"


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_one_variable(name):
    assert not list(misses(name, ONE_VARIABLE))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_pair_of_equal_variances(name):
    assert not list(misses(name, PAIR))


@pytest.mark.parametrize("name", sorted({row["activation"] for row in MIXED}))
def test_pair_of_different_variances(name):
    rows = [row for row in MIXED if row["activation"] == name]
    assert rows
    for row in rows:
        got = asked(name, row["quantity"]).number(q1=row["q1"], q2=row["q2"], c=row["c"])
        assert not miss(got, row["value"], 1), row


def with_argument(formula, argument):
    """The formula at another argument: phi(argument)."""
    return re.sub(r"\bx\b", f"({argument})", formula)


# A*phi(a*x) at variance q/a^2 has the law of A*phi at q; phi(-x) has the law of phi. (A, a, factor of each quantity.)
TWINS = {
    "scaled": ("3/2*({})", "2*x", 4, {"m1": 1.5, "m2": 2.25, "d0": 3, "d1": 9, "K": 2.25, "Kd": 9}),
    "shrunk": ("-2/5*({})", "x/2", 0.25, {"m1": -0.4, "m2": 0.16, "d0": -0.2, "d1": 0.04, "K": 0.16, "Kd": 0.04}),
    "mirrored": ("({})", "-x", 1, {"m1": 1, "m2": 1, "d0": -1, "d1": 1, "K": 1, "Kd": 1}),
}
TWIN_PLACES = {(1, None), (1, 0.3)}


DEAR = ("matern52", "relu6", "hard_swish", "hard_sigmoid_pytorch")
"""Pairs with many thresholds: the twins of these are asked in the slow run, the values themselves here."""


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in DEAR else n for n in ACTIVATIONS])
def test_twin(name, twin):
    """The same numbers are reached through a function that no table could know."""
    outer, argument, ratio, factors = TWINS[twin]
    text = outer.format(with_argument(ACTIVATIONS[name]["formula"], argument))
    phi = Activation(text, name="nobody_knows_it")
    for quantity, q, c, value in ACTIVATIONS[name]["values"]:
        if (q, c) in TWIN_PLACES:
            with workdps(40):
                factor = mpf(str(factors[quantity]))
                want, scale = factor * mpf(value), abs(factor) * mpf(second_moments(name)[q])
            got = result(phi, quantity).number(**place(q / ratio, c))
            assert not miss(got, want, scale), (text, quantity, q, c)


def near(got, want, relative="1e-10"):
    with workdps(40):
        return abs(mpf(str(float(got))) - mpf(want)) <= mpf(relative) * max(1, abs(mpf(want)))


@pytest.mark.parametrize("name", sorted({row["activation"] for row in CRITICAL["at_q"]}))
def test_edge_of_chaos_at_a_variance(name):
    t = theory(Activation(ACTIVATIONS[name]["formula"]))
    for row in (row for row in CRITICAL["at_q"] if row["activation"] == name):
        point = t.edge_of_chaos(q=row["q"])
        assert point.valid is row["sigma_b2_valid"], row
        assert near(point.sigma_b2, row["sigma_b2"]), row
        if row["sigma_b2_valid"]:
            assert near(float(point.sigma_w) ** 2, row["sigma_w2"]), row
            assert near(float(point.sigma_b) ** 2, row["sigma_b2"]), row
            assert near(point.chi_parallel, row["chi_parallel"]), row


@pytest.mark.parametrize("name", sorted({row["activation"] for row in CRITICAL["by_sigma_b"]}))
def test_edge_of_chaos_at_a_bias(name):
    t = theory(Activation(ACTIVATIONS[name]["formula"]))
    for row in (row for row in CRITICAL["by_sigma_b"] if row["activation"] == name):
        points = t.edge_of_chaos(sigma_b=row["sigma_b"]).points
        assert any(near(p.q, row["q"]) and near(p.sigma_w, row["sigma_w"]) for p in points), (row, points)


def test_the_criterion_can_fail():
    """A wrong digit, or a wide enclosure, is a miss."""
    from derive.records import Enclosure

    with workdps(40):
        want = mpf("0.39429449039784096")
        assert not miss(Enclosure(want, mpf("1e-15")), want, 1)
        assert miss(Enclosure(want + mpf("1e-13"), mpf("1e-15")), want, 1)
        assert miss(Enclosure(want, mpf("1e-12")), want, 1)
