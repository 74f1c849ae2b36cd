"""Networks of finite width agree with the recursions, and refute wrong ones."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from derive import Activation, theory
from derive.depth.finite import through
from verify.finite_width import verify_finite_width
from verify.finite_width.chains import chains
from verify.finite_width.estimates import estimate, richardson
from verify.finite_width.tables import OneLayer
from verify.judge import Verdict, judge, mean_and_error
from verify.stream import stream

torch.set_num_threads(1)
RIGHT = through.step
SETTING = {"sigma_w": "1.3", "sigma_b": "0.2", "q0": "0.8"}
SIZE = {"layers": (2, 4), "widths": (48, 96, 192), "networks": 4800}


def small_report(**wanted):
    return verify_finite_width(theory("tanh"), **SETTING, **SIZE, seed=5, **wanted)


def wrong(state, at, ratio=1, *, how):
    """A step with one mistake."""
    made = RIGHT(state, at, ratio)
    if how == "source without its second term":
        return replace(made, vertex=made.vertex + (at.kernel - 0.2**2) ** 2)
    if how == "source 1 % off":
        return replace(made, vertex=made.vertex + 0.01 * at.source)
    if how == "slope for its square":
        return replace(made, vertex=at.source + ratio * at.transport * state.vertex)
    if how == "gradient gain for slope":
        return replace(made, vertex=at.source + ratio * at.gain**2 * state.vertex)
    if how == "no half":
        return replace(made, correction=ratio * (at.transport * state.correction + at.curvature * state.vertex))
    if how == "gradient gain in the mean":
        return replace(made, correction=ratio * (at.gain * state.correction + at.curvature * state.vertex / 2))
    raise ValueError(how)


def test_the_recursion_holds():
    report = small_report()
    assert report.passed
    assert {row.judgement.verdict for row in report.rows if row.predicted != 0} == {Verdict.HOLDS}
    assert "HOLDS" in report.table


@pytest.mark.parametrize(
    "how",
    ["source without its second term", "source 1 % off", "slope for its square", "gradient gain for slope", "no half",
     "gradient gain in the mean"],
)  # fmt: skip
def test_wrong_recursions_are_refuted(monkeypatch, how, recorded):
    monkeypatch.setattr(through, "step", lambda state, at, ratio=1: wrong(state, at, ratio, how=how))
    predicted = theory("tanh").finite_width.depth("0.8", 4, 48, "1.3", "0.2")
    verdicts = []
    for name, attribute in (("vertex", "vertex"), ("correction", "correction")):
        for layer in SIZE["layers"]:
            want = float(getattr(predicted, attribute)[layer - 1])
            row = recorded[name][:, layer - 1].tolist()
            verdicts.append(judge(row, want, 1e-9, max(abs(want), 1e-3), 4).verdict)
    assert Verdict.FAILS in verdicts


@pytest.fixture(scope="module")
def recorded():
    """The networks behind the report, drawn once for all wrong recursions."""
    from verify.finite_width import measured

    return measured(theory("tanh"), {}, (1.3, 0.2, 0.8), 4, SIZE["widths"], SIZE["networks"], 5, False)


def unequal(shape, networks=4800):
    """Batches of extrapolated vertices at widths proportional to `shape`."""
    layer, total = OneLayer(torch.tanh), 0.0
    for m, share in zip((24, 48), richardson((24, 48)), strict=True):
        widths = [m * k for k in shape]
        drawn = [chains(torch.tanh, 0.8, widths, 1.3, 0.2, networks // 24, stream(1, m, k)) for k in range(24)]
        total = total + share * np.array([estimate(layer, d, widths, 1.3, 0.2).vertex for d in drawn])
    return total


def test_the_ratio_of_widths_is_refuted_upside_down():
    shape = [1, 4, 2]
    found = unequal(shape)[:, -1].tolist()
    fw = theory("tanh").finite_width
    right = fw.depth("0.8", 4, shape, "1.3", "0.2").vertex[-1]
    mean, error = mean_and_error(found)
    assert abs(mean - right) < 6 * error + 0.01 * right  # what is left is of order 1/n^2 at n = 24
    at = through.floats(fw._phi, fw.theory.activation.dphi, 1.3**2, 0.2**2, {})
    vertex, q = 0.0, 0.8
    for ratio in (1.0, 1 / 4, 4 / 2):  # V/n_l for V/n_(l-1)
        here = at(q)
        vertex, q = here.source + ratio * here.transport**2 * vertex, here.kernel
    assert abs(mean - vertex) > 12 * error + 0.02 * right


def test_the_plain_variance_of_the_second_layer():
    """No control, no quadrature: n Var G of layer 2 is the source, at every width."""
    g = chains(torch.tanh, 1.0, [16], 1.0, 0.0, 120_000, stream(2, 0, 0)).kernel[1]
    spread = 16 * (g - g.mean()) ** 2
    want = theory("tanh").finite_width.depth(1, 2, 16, 1).vertex[-1]
    assert abs(spread.mean() - want) < 4.5 * spread.std() / math.sqrt(len(spread))


def test_relu_at_every_width():
    """Mean, second moment and log-mean of narrow networks against the exact law."""
    fw, n, depth = theory("relu").finite_width, 16, 5
    g = chains(torch.relu, 1.0, [n] * depth, math.sqrt(2), 0.0, 60_000, stream(4, 0, 0)).kernel[-1]
    law = fw.exact
    for values, want in (
        (g, 1.0), ((g - 1) ** 2, float(law.vertex([n] * depth)) / n),
        (np.log(g[g > 0]), depth * float(law.log_mean(n))),
    ):  # fmt: skip
        assert abs(values.mean() - want) < 4.5 * values.std() / math.sqrt(len(values))


@pytest.mark.parametrize(("keep", "observe"), [("mean", lambda g: g), ("typical", np.log)])
def test_width_aware_gains_do_what_they_say(keep, observe):
    fw, n, depth = theory("tanh").finite_width, 48, 12
    kept = fw.initialisation(1, n, 1, layers=depth, keep=keep)
    moved = {}
    for name, gains in (("plain", 1.0), ("kept", kept.sigma_w)):
        g = chains(torch.tanh, 1.0, [n] * (depth - 1), gains, 0.0, 12_000, stream(3, 0, 0)).kernel[-1]
        moved[name] = observe(g / kept.kernel[-1]).mean() - observe(1.0)
    assert moved["plain"] < -0.04
    assert abs(moved["kept"]) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "w", "b", "q0", "options"),
    [
        ("tanh", 1, 0, 1, {"layers": (3, 5, 20), "networks": 24_000}),
        (
            "tanh",
            "1.2247",
            "0.316",
            "0.8",
            {"layers": (6,), "widths": (256, 512), "networks": 240_000, "tangent": True},
        ),
        ("relu", "1.4142135623730951", 0, 1, {"layers": (5, 20), "widths": (256, 512, 1024), "networks": 24_000}),
        ("gelu", "1.378", "0.316", 1, {"layers": (3, 5), "networks": 48_000}),
        (Activation("hardtanh", a=-1, b=1), 1, 0, 1, {"layers": (3, 6), "networks": 24_000}),
        ("step(x)", "1.5", "0.1", 1, {"layers": (3, 6), "networks": 24_000}),
    ],
    ids=lambda v: str(v)[:12],
)
def test_many_functions(source, w, b, q0, options):
    report = verify_finite_width(theory(source), w, b, q0, **options)
    assert report.passed, report.table
    assert any(row.judgement.verdict is Verdict.HOLDS for row in report.rows)
