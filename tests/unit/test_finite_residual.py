"""Residual networks at finite width: published values, exact limits, and networks that refute the closure."""

from __future__ import annotations

import math
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from derive import Activation, theory
from derive.depth.finite import residual
from derive.records import Unsupported
from verify.finite_width.residual import verify_residual

torch.set_num_threads(1)
ROOT2 = "1.4142135623730951"
CASE = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "residual_closure.py"))


def test_the_published_closure_with_its_quadrature_and_with_a_converged_one():
    """Kawase & Ota 2026 (arXiv 2604.15742), outputs of the public notebook: V4 at t = 0.5, 1, 1.5, 2; K0, K1 at 2."""
    theirs, right = CASE["closure"](CASE["gauss_hermite"](32)), CASE["closure"](CASE["trapezoid"]())
    places = [200, 400, 600, 800]
    np.testing.assert_allclose(theirs["vertex"][places], (14.447, 22.663, 32.313, 42.878), atol=6e-4)
    assert theirs["kernel"][-1] == pytest.approx(4.3730, abs=6e-5)
    assert theirs["correction"][-1] == pytest.approx(-0.9011, abs=6e-5)
    np.testing.assert_allclose(right["vertex"][places], (14.605, 23.366, 34.396, 47.790), atol=6e-4)
    assert right["kernel"][-1] == pytest.approx(4.3680, abs=6e-5)


def test_two_times_close_the_gap():
    """Against the networks of the notebook (n = 256, 5e5 of them): V4(2) = 48.447; K1 of opposite sign at t = 0."""
    block = theory("residual(tanh >> dense, scale=0.1)").finite_width.block_law
    d = block.depth(2, 200, ROOT2)
    assert d.vertex[-1] == pytest.approx(48.447, rel=2e-3)
    assert d.closure_vertex[-1] / d.vertex[-1] == pytest.approx(1 - 0.0141, abs=1e-3)
    assert d.branch[0] == 0 and d.closure_correction[1] < 0
    assert d.correction[-1] == pytest.approx(-0.4492, abs=1e-4)


def test_without_a_shortcut_it_is_the_plain_network():
    block = theory("residual(tanh >> dense, shortcut=0)").finite_width.block_law
    d, plain = block.depth(1, 6, "1.1", "0.2"), theory("tanh").finite_width.depth(1, 7, 10, "1.1", "0.2")
    np.testing.assert_allclose(d.vertex - 2 * d.kernel**2, plain.vertex, atol=1e-12)
    np.testing.assert_allclose(d.correction, plain.correction, atol=1e-11)


def test_one_block_is_the_block_law():
    for text in ("residual(gelu >> dense, scale=0.7, shortcut=0.9)", "residual(dense >> gelu >> dense, scale=0.7)"):
        block = theory(text).finite_width.block_law
        d, law = block.depth(1, 1, "1.2", "0.1"), block.at([[1]], "1.2", "0.1")
        spread = 2 * (
            float(block.at([[1.001]], "1.2", "0.1").drift[0, 0]) - float(block.at([[0.999]], "1.2", "0.1").drift[0, 0])
        )
        rho = 1 + spread / 0.004
        assert d.vertex[1] == pytest.approx(rho**2 * 2 + law.noise[0, 0, 0, 0], rel=1e-6)


def test_linear_streams_are_products():
    """phi(x) = x: E G = K at every width and Var log G adds (4 a^2 b^2 + 2 b^4)/n a block, in units where K stays."""
    block = theory("residual(x >> dense, scale=3/5, shortcut=4/5)").finite_width.block_law
    d = block.depth(1, 5, 1)
    want = 2 + np.arange(6) * (4 * 0.64 * 0.36 + 2 * 0.36**2)
    np.testing.assert_allclose(d.vertex, want, rtol=1e-9)
    np.testing.assert_allclose(d.correction, 0, atol=1e-9)


@pytest.mark.parametrize(
    ("phi", "w", "share", "nu", "mu"),
    [
        ("relu", ROOT2, 0.5, 5.4425, 0.737),
        ("relu", ROOT2, 0.2, 2.654, None),
        ("relu", ROOT2, 0.1, 1.4028, None),
        ("x", "1", 0.5, 1.5, 0.0),
        ("abs", "1", 0.5, 1.5, 0.0),
    ],
)
def test_rates_of_lines(phi, w, share, nu, mu):
    """Values of an independent computation for ReLU; linear and |z|: 2 l^4 + 4 g^2 l^2, no memory."""
    text = f"residual({phi} >> dense, scale={math.sqrt(share)!r}, shortcut={math.sqrt(1 - share)!r})"
    found = theory(text).finite_width.block_law.rates(w)
    assert float(found.spread) == pytest.approx(nu, abs=6e-4)
    if mu is not None:
        assert float(found.shift) == pytest.approx(mu, abs=6e-4)


def test_rates_are_what_depth_does():
    t = theory("residual(relu >> dense, scale=0.8, shortcut=0.6)")
    d, found = t.finite_width.block_law.depth(1, 40, ROOT2), t.finite_width.block_law.rates(ROOT2)
    growth = np.diff(d.vertex / d.kernel**2)[-1], np.diff(d.correction / d.kernel)[-1]
    assert growth == pytest.approx((float(found.spread), float(found.shift)), rel=2e-5)
    twin = theory("residual(relu >> dense, scale=1.6, shortcut=1.2)").finite_width.block_law.rates(ROOT2)
    assert float(twin.spread) == pytest.approx(float(found.spread), rel=1e-12)
    with pytest.raises(Unsupported, match="rates"):
        theory("residual(tanh >> dense)").finite_width.block_law.rates(1)


SETTING = {"at": (2, 5), "networks": 4_800, "widths": (24, 48, 96), "seed": 1}


def test_networks_agree_and_refute_the_closure():
    t = theory("residual(tanh >> dense, scale=0.8, shortcut=0.6)")
    right = t.finite_width.block_law.depth(2, 5, 1.5)
    assert verify_residual(t, 2, 5, 1.5, **SETTING).passed
    closed = replace(right, vertex=right.closure_vertex, correction=right.closure_correction)
    assert not verify_residual(t, 2, 5, 1.5, predicted=closed, **SETTING).passed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tanh", "relu", Activation("hardtanh", a=-1, b=1)], ids=str)
def test_many_residual_networks(name):
    from derive import Dense, Residual

    phi = name if isinstance(name, Activation) else Activation(name)
    t = theory(Residual(phi >> Dense(), scale="0.6", shortcut="0.8"))
    report = verify_residual(t, 1, 6, 1.4, at=(1, 3, 6), networks=120_000)
    assert report.passed, report.table


def test_the_closure_alone():
    """chi = 0: only the source is left."""
    from derive.depth.finite.recursion import Coefficients

    made = residual.Closure(5.0, 1.0).next(Coefficients(2.0, 0.0, 0.0, 3.0, 0.0, 0.0), 1.0, 0.0, 1.0)
    assert made == residual.Closure(2 * 4.0 + 3.0, 0.0)
