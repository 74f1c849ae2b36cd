"""Several inputs at finite width: formulas, numbers, and networks that agree with them and refute wrong ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sympy import symbols

from derive import Activation, theory
from derive.depth.finite import inputs
from derive.depth.finite.joint import Joint
from derive.records import EocError, Kind
from verify.finite_width.several import PAIRS, measured, verify_inputs
from verify.judge import Verdict, judge

torch.set_num_threads(1)
RELU = {"sigma_w": "1.4142135623730951"}
KERNEL = [[1, "0.3"], ["0.3", 1]]
RIGHT = inputs.step


@pytest.mark.parametrize(
    ("name", "value", "slope", "curvature", "sources"),
    [
        ("tanh", 0.12742492, (-0.0388684692, -0.0526452662, 0.431206732),
         (0.03727227, 0.01664721, -0.13585401, 0.07026317, -0.18424452, 0.06658885),
         (0.00961228, 0.03831351, 0.11322544)),
        ("relu", 0.20764811, (0.0568296818, 0.0947161363, 0.313295828),
         (-0.02340046, 0.05571537, -0.03342922, -0.06500127, -0.05571537, 0.2228615),
         (0.19666417, 0.42250982, 0.30354643)),
    ],
)  # fmt: skip
def test_expectations_of_a_pair(name, value, slope, curvature, sources):
    """Values of an independent computation at (q1, q2, K) = (1, 0.6, 0.3)."""
    joint = Joint(Activation(name).expr, {})
    found = joint.pair(1, 0.6, 0.3)
    assert found.value == pytest.approx(value, abs=1e-8)
    np.testing.assert_allclose(found.slope, slope, atol=2e-9)
    np.testing.assert_allclose(found.curvature[np.triu_indices(3)], curvature, atol=1e-8)
    cov = np.array([[1, 0.3], [0.3, 0.6]])
    f = {(i, j): joint.product(cov, (i, j)) for i, j in ((2, 2), (3, 1), (2, 0), (0, 2), (1, 1))}
    got = f[2, 2] - f[2, 0] * f[0, 2], f[3, 1] - f[2, 0] * f[1, 1], f[2, 2] - f[1, 1] ** 2
    np.testing.assert_allclose(got, sources, atol=1e-8)


def test_products_over_four_inputs():
    """Against Isserlis for a line, and exponentials for sin; kinked functions against samples."""
    rng = np.random.default_rng(3)
    a = rng.standard_normal((4, 6))
    cov = a @ a.T / 6
    line = Joint(Activation("x").expr, {}).product(cov, (1, 1, 1, 1))
    want = cov[0, 1] * cov[2, 3] + cov[0, 2] * cov[1, 3] + cov[0, 3] * cov[1, 2]
    assert line == pytest.approx(want, rel=1e-10)
    signs = np.array(np.meshgrid(*[[1, -1]] * 4)).reshape(4, -1)
    waves = np.exp(-np.einsum("is,ij,js->s", signs, cov, signs) / 2) * signs.prod(0)
    assert Joint(Activation("sin").expr, {}).product(cov, (1, 1, 1, 1)) == pytest.approx(waves.mean(), rel=1e-10)
    z = np.maximum(rng.multivariate_normal(np.zeros(4), cov, 200_000), 0).prod(1)
    relu = Joint(Activation("relu").expr, {}).product(cov, (1, 1, 1, 1))
    assert abs(z.mean() - relu) < 4.5 * z.std() / np.sqrt(len(z))


def test_formulas_are_closed_where_their_expectations_are():
    two = theory("relu").finite_width.two_inputs
    assert two.vertex("12", "12").kind is Kind.EXACT and two.mean_correction().kind is Kind.EXACT
    assert "K1_12" in two.mean_correction().arguments and "K_{1,12}" in two.mean_correction().latex()
    at = {"q1": 1, "q2": "0.6", "c": "0.3872983346207417", "sigma_w": 1}
    assert float(two.transport("12", "22").number(**at)) == pytest.approx(0.0947161363, abs=1e-9)
    assert float(two.curvature("12", "11", "12").number(**at)) == pytest.approx(-0.03342922, abs=1e-8)
    assert two.vertex("12", "11").proof()
    with pytest.raises(EocError, match="pair"):
        two.kernel("21")


@pytest.mark.slow
def test_four_inputs_through_a_line():
    """Isserlis: Cov(z_1 z_2, z_3 z_4) = K13 K24 + K14 K23."""
    source = theory("x").finite_width.two_inputs.contact("1234")
    k = {s.name: s for s in source.template.free_symbols}
    want = k["sigma_w"] ** 4 * (k["K13"] * k["K24"] + k["K14"] * k["K23"])
    assert source.kind is Kind.EXACT and (source.closed - want).expand() == 0


@pytest.mark.slow
def test_four_distinct_inputs_in_closed_form():
    """x^2: Isserlis' 8 and 4 contractions by hand."""
    source = theory("x**2").finite_width.two_inputs.contact("1234")
    assert source.kind is Kind.EXACT
    given = dict(zip(("K11", "K22", "K33", "K44"), (1, 2, 3, 4), strict=True))
    given |= {"K12": "0.1", "K13": "0.2", "K14": "0.3", "K23": "0.4", "K24": "0.5", "K34": "0.6"}
    names = symbols("K11 K22 K33 K44 K12 K13 K14 K23 K24 K34")
    k11, k22, k33, k44, k12, k13, k14, k23, k24, k34 = names
    both = 2 * (k11 * k33 * k24**2 + k11 * k44 * k23**2 + k22 * k33 * k14**2 + k22 * k44 * k13**2)
    both += 4 * (k13**2 * k24**2 + k14**2 * k23**2)
    both += 8 * (k11 * k23 * k34 * k24 + k22 * k13 * k34 * k14 + k33 * k12 * k24 * k14 + k44 * k12 * k23 * k13)
    both += 16 * (k12 * k23 * k34 * k14 + k12 * k24 * k34 * k13 + k13 * k23 * k24 * k14)
    want = float(both.subs({s: float(given[s.name]) for s in names}))
    assert float(source.number(sigma_w=1, **given)) == pytest.approx(want, rel=1e-9)


def test_relu_has_no_mean_correction_of_one_input_but_of_two():
    d = theory("relu").finite_width.inputs(KERNEL, 8, 64, **RELU)
    assert d.correction[-1, 0, 0] == pytest.approx(0, abs=1e-10)
    assert d.correction[-1, 0, 1] == pytest.approx(-1.6394449637, rel=1e-9)
    places = (d.vertex[-1, 0, 0, 0, 0], d.vertex[-1, 0, 0, 1, 1], d.vertex[-1, 0, 0, 0, 1], d.vertex[-1, 0, 1, 0, 1])
    np.testing.assert_allclose(places, (35, 17.8677197, 23.8641283, 21.9737341), rtol=1e-7)
    assert d.vertex[2, 0, 1, 0, 0] == d.vertex[2, 0, 0, 1, 0]


@pytest.mark.slow
def test_certified_numbers_hold_the_floats():
    fw = theory("sin").finite_width
    exact = fw.inputs([[1, "0.3"], ["0.3", "0.6"]], 3, [40, 80], 1, "0.2", certified=True, digits=8)
    plain = fw.inputs([[1, "0.3"], ["0.3", "0.6"]], 3, [40, 80], 1, "0.2")
    assert exact.kind == "ENCLOSURE" and float(exact.vertex[-1, 0, 1, 0, 1].rad) < 1e-8
    for name in ("kernel", "correction", "vertex"):
        np.testing.assert_allclose(
            getattr(exact, name).astype(float), getattr(plain, name), rtol=1e-9, atol=1e-12, err_msg=name
        )


def test_one_input_is_the_diagonal():
    fw = theory("gelu").finite_width
    both = fw.inputs(np.eye(3) * 0.5 + 0.5, 4, [30, 60, 20], "1.3", "0.1", distinct=3)
    alone = fw.depth(1, 4, [30, 60, 20], "1.3", "0.1")
    np.testing.assert_allclose(both.correction[:, 1, 1], alone.correction, atol=1e-10)
    np.testing.assert_allclose(both.vertex[:, 2, 2, 2, 2], alone.vertex, rtol=1e-10)
    assert np.isfinite(both.vertex).all()
    assert both.covariance[-1, 0, 0, 0, 0] == pytest.approx(alone.variance[-1])


def test_what_is_refused():
    fw = theory("tanh").finite_width
    for kernel, match in (([[1, 2], [2, 1]], "definite"), ([[1, 0.1], [0.2, 1]], "symmetric"), ([1, 2], "square")):
        with pytest.raises(EocError, match=match):
            fw.inputs(kernel, 3, 64, 1)
    with pytest.raises(EocError, match="collinear"):
        fw.inputs([[1, "0.9999999"], ["0.9999999", 1]], 3, 64, 1)


SIZE = {"layers": (3,), "widths": (48, 96, 192)}
POINT = [[1, 0.3], [0.3, 0.6]], (1.3, 0.2)


@pytest.fixture(scope="module")
def recorded():
    return measured(theory("tanh"), {}, np.array(POINT[0]), (1.3**2, 0.2**2), 3, SIZE["widths"], 4800, 4)


def verdicts(predicted, recorded):
    found = []
    for i, p in enumerate(PAIRS):
        want = float(predicted.correction[(-1, *p)])
        found.append(judge(recorded[0][:, -1, i].tolist(), want, 1e-8, max(abs(want), 1e-3), 9).verdict)
        for j, q in enumerate(PAIRS[i:], i):
            want = float(predicted.vertex[(-1, *p, *q)])
            found.append(judge(recorded[1][:, -1, i, j].tolist(), want, 1e-8, max(abs(want), 1e-3), 9).verdict)
    return found


def test_networks_agree(recorded):
    predicted = theory("tanh").finite_width.inputs(POINT[0], 3, 48, *POINT[1])
    assert Verdict.FAILS not in (seen := verdicts(predicted, recorded))
    assert seen.count(Verdict.HOLDS) >= 6


def _scaled(at, p, how):
    c = at.pairs[p]
    return replace(at, pairs={**at.pairs, p: how(c)})


def _slope(by):
    return lambda at: _scaled(at, (0, 1), lambda c: replace(c, transport=c.transport * by))


def _sources(change):
    return lambda at: replace(at, sources={s: change(s, x) for s, x in at.sources.items()})


WRONG = {
    "no half in the mean": lambda at: _scaled(at, (0, 1), lambda c: replace(c, curvature=2 * c.curvature)),
    "slope in c 10 % off": _slope([1, 1, 1.1]),
    "no slopes in the variances": _slope([0, 0, 1]),
    "source 1 % off": _sources(lambda s, x: 1.01 * x),
    "mixed source": _sources(lambda s, x: x + 0.01 * (s[0] != s[1])),
}


@pytest.mark.parametrize("how", WRONG)
def test_wrong_recursions_are_refuted(monkeypatch, recorded, how):
    monkeypatch.setattr(inputs, "step", lambda at, v, k, r: RIGHT(WRONG[how](at), v, k, r))
    predicted = theory("tanh").finite_width.inputs(POINT[0], 3, 48, *POINT[1])
    assert Verdict.FAILS in verdicts(predicted, recorded)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kernel", "w", "b", "layers"),
    [
        ("relu", [[1, 0.3], [0.3, 1]], "1.4142135623730951", 0, (4,)),
        ("erf", [[1, 0.3], [0.3, 0.6]], 1, "0.2236", (8,)),
        ("gelu", [[1, 0.3], [0.3, 1]], "1.3", "0.2", (3,)),
        (Activation("hardtanh", a=-1, b=1), [[1, -0.5], [-0.5, 2]], "1.2", "0.1", (4,)),
        ("step(x)", [[1, 0.4], [0.4, 1]], "1.5", "0.1", (4,)),
    ],
    ids=lambda v: str(v)[:12],
)
def test_many_functions(name, kernel, w, b, layers):
    report = verify_inputs(theory(name), kernel, w, b, layers=layers, networks=48_000)
    assert report.passed, report.table
    assert any(row.judgement.verdict is Verdict.HOLDS for row in report.rows)
