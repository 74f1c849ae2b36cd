"""`eoc gain` says which gain it prints, what a deep stack does at it, and what PyTorch's number is."""

from __future__ import annotations

import json
import math
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import eoc
from derive.catalogue import entry


def run(*arguments):
    return CliRunner().invoke(eoc.cli, ["gain", *arguments, "--no-cache"])


def document(*arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def by_id(found):
    return {row["id"]: row for row in found["gains"]}


def test_sigmoid_has_three_different_gains():
    """The standard-deviation gain does not preserve the variance: the next layer sees the mean too."""
    rows = by_id(document("sigmoid"))
    assert rows["rms"]["value"] == pytest.approx(1.84622854533861, abs=1e-14)
    assert rows["std"]["value"] == pytest.approx(4.80131337203996, abs=1e-14)
    assert rows["std"]["next_variance"]["value"] == pytest.approx(6.76315252413243, abs=1e-12)
    assert rows["rms"]["next_variance"]["value"] == pytest.approx(1, abs=1e-14)
    assert rows["rms"]["fixed_point"]["stable"] is True


def test_selu_at_pytorchs_gain_shrinks():
    found = document("selu")
    assert found["torch"]["value"] == pytest.approx(0.75, abs=1e-15)
    point = found["torch"]["fixed_point"]
    assert point["q"]["value"] == pytest.approx(0.0230337846107584, abs=1e-14)
    assert point["activation_rms"]["value"] == pytest.approx(0.20235847009484, abs=1e-13)
    assert point["chi"]["value"] == pytest.approx(1.0036703508394, abs=1e-12)


def test_tanh_five_thirds():
    point = document("tanh")["torch"]["fixed_point"]
    assert point["q"]["value"] == pytest.approx(1.17848049038591, abs=1e-12)
    assert point["chi"]["value"] == pytest.approx(1.20983132038283, abs=1e-12)


def test_mish_has_no_equivalent_leaky_slope():
    found = document("mish")
    assert found["leaky_slope"]["text"].startswith("none")
    assert "-0.0953156152" in found["leaky_slope"]["text"]
    assert found["torch"] is None
    assert by_id(found)["std"]["text"].startswith("1.5920253810994")


@pytest.mark.parametrize("slope", ["0.25", "0.01"])
def test_leaky_relu_has_a_plus_in_its_gain(slope):
    gain = math.sqrt(2 / (1 + float(slope) ** 2))
    found = document("leaky_relu", "--set", f"{entry('leaky_relu').parameters[0].name}={slope}")
    rows = by_id(found)
    assert rows["rms"]["value"] == pytest.approx(gain, abs=1e-13)
    assert found["torch"]["value"] == pytest.approx(gain, abs=1e-13)
    assert found["leaky_slope"]["value"] == pytest.approx(float(slope), abs=1e-14)
    assert "every variance" in rows["rms"]["fixed_point"]["text"]


def test_a_symbolic_slope_gives_formulas():
    found = document("leaky_relu")
    assert "a²" in by_id(found)["rms"]["formula"]["unicode"]
    assert found["moments"] == []


def test_relu_at_the_standard_deviation_gain_grows():
    rows = by_id(document("relu"))
    assert rows["rms"]["text"].startswith("1.41421356237309")
    assert "grows by the factor 1.46694" in rows["std"]["fixed_point"]["text"]


def test_gelu_fixed_point_at_the_rms_gain_is_unstable():
    point = by_id(document("gelu"))["rms"]["fixed_point"]
    assert point["stable"] is False
    assert point["chi_parallel"]["value"] > 1


def test_another_variance():
    rows = by_id(document("tanh", "--q", "1/2"))
    assert rows["rms"]["next_variance"]["value"] == pytest.approx(0.5, abs=1e-14)
    assert rows["rms"]["fixed_point"]["q"]["value"] == 0.5


def test_a_jump_has_no_critical_gain():
    rows = by_id(document("step"))
    assert rows["critical"]["text"].startswith("none")


def test_the_text_names_each_gain():
    text = run("tanh").stdout
    for words in (
        "root-mean-square gain",
        "standard-deviation gain",
        "χ-critical gain",
        "stable",
        "calculate_gain('tanh')",
    ):
        assert words in text, words
    assert "knows no such nonlinearity" in run("x*tanh(x)").stdout


@pytest.mark.parametrize("q", ["0", "-1", "one", "1/0"])
def test_a_variance_is_positive(q):
    result = run("relu", "--q", q)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_the_table_of_pytorch_is_pytorchs():
    init = pytest.importorskip("torch.nn.init", reason="compares with torch.nn.init.calculate_gain")
    table = tomllib.loads((Path(eoc.__file__).parent / "derive/commands/calculate_gain.toml").read_text())
    for row in table.values():
        square, parameter = Fraction(row["square"]), None
        if row.get("slope"):
            square, parameter = square / (1 + Fraction(1, 5) ** 2), 0.2
        assert init.calculate_gain(row["nonlinearity"], parameter) == pytest.approx(math.sqrt(square), rel=1e-15)


def test_what_has_no_number_at_all_is_an_error_and_claims_no_certificate():
    result = run("exp(exp(x))")
    assert result.exit_code == 2 and "no gain at q = 1" in result.output and "why: " in result.output
    derived = CliRunner().invoke(eoc.cli, ["derive", "exp(exp(x))", "--no-cache"])
    assert derived.exit_code == 2
    assert "no number was found" in derived.output and "certified all the same" not in derived.output
