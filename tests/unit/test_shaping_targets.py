"""Shaping: the defining conditions hold to 1e-12, and published parameters of the same conditions come out."""

import json
from pathlib import Path

import mpmath
import pytest

from derive import Activation, EocError, expect, shape, theory

CASES = json.loads((Path(__file__).parents[1] / "literature" / "data" / "shaping.json").read_text())


def agrees(got, want, digits):
    return abs(mpmath.mpf(got.mid) - mpmath.mpf(want)) <= mpmath.mpf(10) ** -digits


QUICK = ("softplus DKS", "relu DKS")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case["name"], marks=() if case["name"].startswith(QUICK) else pytest.mark.slow)
        for case in CASES["scales"]
    ],
)
def test_published_parameters(case):
    made = shape(case["formula"], **case["targets"])
    for name, want in case["parameters"].items():
        assert abs(float(made.parameters[name]) / float(want) - 1) < 1e-8, name
    for name, want in case["targets"].items():
        if name != "input_shift":
            assert agrees(made.conditions[name], want, 12), name
    assert agrees(made.conditions["second_moment"], 1, 12)


def test_the_shaped_function_has_what_is_promised():
    made = shape("tanh(x)", mean=0, chi="1.05", chi_parallel=1)
    phi = made.activation
    assert agrees(expect(phi).number(q=1), 0, 12)
    assert agrees(expect(phi**2).number(q=1), 1, 12)
    assert agrees(expect(phi.derivative() ** 2).number(q=1), "1.05", 12)
    assert agrees(theory(phi).chi_parallel.number(q=1, sigma_w=1), 1, 12)
    assert "def phi" in phi.code("numpy")
    twin = shape("5*tanh(-x/2) + 3", mean=0, chi="1.05", chi_parallel=1)
    assert abs(twin.parameters["input_scale"] / made.parameters["input_scale"] - 2) < 1e-15
    assert abs(abs(twin.parameters["output_scale"]) * 5 / made.parameters["output_scale"] - 1) < 1e-15


def test_a_parameter_in_place_of_scales():
    made = shape("max(x, 0) + a*min(x, 0)", parameter="a", c0="0.03")
    a = made.parameters["a"]
    with mpmath.workdps(30):
        value = mpmath.mpf(a.numerator) / a.denominator
        assert abs((1 - value) ** 2 / (mpmath.pi * (1 + value**2)) - mpmath.mpf("0.03")) < mpmath.mpf("1e-15")
        assert abs(float(made.parameters["output_scale"]) - float(mpmath.sqrt(2 / (1 + value**2)))) < 1e-15


def test_refusals():
    with pytest.raises(EocError, match="no target slope"):
        shape("tanh(x)", slope=1)
    with pytest.raises(EocError, match="no function meets"):
        shape("tanh(x)", mean=0, chi="0.5", chi_parallel=1)
    with pytest.raises(EocError, match="kinks"):
        shape("relu", chi=1, chi_parallel=1, curvature="0.1")
    with pytest.raises(EocError, match="targets for"):
        shape(Activation("sin(x)"), mean=0, chi="1.1")
