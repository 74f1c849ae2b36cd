"""`eoc phase` and `eoc compare`: tables, files, JSON, refusals."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from derive.commands import compare, phase
from derive.records import EocError


def call(module, *arguments):
    return CliRunner().invoke(module.COMMAND, [*map(str, arguments), "--no-cache"])


def test_phase_writes_picture_page_and_table(tmp_path):
    plot, page = tmp_path / "a.svg", tmp_path / "a.html"
    done = call(phase, "erf", "--n", 12, "--plot", plot, "--report", page)
    assert done.exit_code == 0, done.exception
    assert "edge of chaos" in done.stdout
    assert "<svg" in plot.read_text()
    text = page.read_text()
    assert "<svg" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_phase_as_json_says_every_node():
    done = call(phase, "relu", "--n", 3, "--sigma-w", "1:2", "--sigma-b", "0:1", "--json")
    document = json.loads(done.stdout)
    assert document["arrays"]["count"] == [[0, 0, 0], [1, 0, 0], [1, 0, 0]]
    assert document["arrays"]["q"][1][0] == pytest.approx(0.5)
    assert document["arrays"]["q"][0][2] == "inf"


def test_compare_prints_a_row_an_activation():
    done = call(compare, "relu", "step", "leaky_relu", "--set", "a=0.5", "--json")
    rows = {row["activation"]: row for row in json.loads(done.stdout)["rows"]}
    assert rows["relu"]["sigma_w"] == pytest.approx(2**0.5)
    assert rows["leaky_relu"]["sigma_w"] == pytest.approx((2 / 1.25) ** 0.5)
    assert "jumps" in rows["step"]["reason"]


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        (phase, ("tanh", "--plot", "a.gif")),
        (phase, ("leaky_relu",)),
        (phase, ("tanh", "--sigma-w", "3:1")),
        (phase, ("tanh", "--q0", "-1")),
        (phase, ("tanh", "--n", "1")),
        (compare, ("relu", "--set", "b=1")),
        (compare, ("relu", "tanhh(x)")),
    ],
)
def test_bad_input_is_refused(module, arguments):
    assert isinstance(call(module, *arguments).exception, EocError)


def test_depth_and_composed_layers():
    from derive import theory

    t = theory("relu")
    deep = t.depth([[1, 0.5], [0.5, 2]], 3, 2**0.5, "0.1")
    composed = t.layers(2)
    at = {"sigma_w": 2**0.5, "sigma_b": "0.1"}
    assert deep.q[2, 1] == pytest.approx(float(composed.variance_map.number(q=2, **at)), rel=1e-12)
    c = float(composed.correlation_map.number(q1=1, q2=2, c=0.5 / 2**0.5, **at))
    assert deep.c[2, 0, 1] == pytest.approx(c, rel=1e-12)
    # the tangent kernel of equal inputs: K' + sigma_w^2 E phi'^2 Theta with gain 1
    assert deep.tangent[2, 0, 0] == pytest.approx(1 + 1.01 + 1.02, rel=1e-12)
    for bad in ([[1, 2], [2, 1]], [[1, 0], [0.5, 1]], [[0]], "x"):
        with pytest.raises(EocError):
            t.depth(bad, 3, 1)
