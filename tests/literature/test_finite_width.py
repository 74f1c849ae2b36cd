"""Finite-width coefficients and solutions against values computed without this package.

The numbers of `finite_width.json` come from an independent Gauss-Legendre program (panels split at kinks); those in
depth from iterating the recursions there. A row "depth" is (function, sigma_w^2, sigma_b^2, q0, layer, V, K1).
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from derive import theory
from derive.depth.finite.moments import Moments
from derive.depth.finite.through import floats, through

DATA = json.loads((Path(__file__).parent / "data" / "finite_width.json").read_text())


def phi_of(name):
    found = theory(name).activation
    return found.phi, found.dphi


@pytest.mark.parametrize("name", DATA["rows"])
def test_moments_at_variance_one(name):
    got = Moments(*phi_of(name), {})(1.0)
    values = got._asdict() | {"variance": got.fourth - got.g**2}
    for column, want in zip(DATA["columns"], DATA["rows"][name], strict=True):
        assert values[column] == pytest.approx(want, abs=6e-9), column


@pytest.mark.parametrize("row", DATA["depth"], ids=lambda row: f"{row[0]}-{row[1]}-{row[4]}")
def test_leading_order_in_depth(row):
    name, weight, bias, q0, layer, vertex, correction = row
    w, b, q = (float(Fraction(text)) for text in (weight, bias, q0))
    found = through(floats(*phi_of(name), w, b, {}), q, layer, (64,) * (layer - 1), jumps=False)
    assert found.vertex[-1] == pytest.approx(vertex, rel=6e-4)
    assert found.correction[-1] == pytest.approx(correction, rel=3e-4, abs=1e-12)


def test_deep_off_criticality():
    w, b = "1.2247448713915890490986420373529457", "0.31622776601683793319988935444327185"
    found = theory("tanh").finite_width.fixed(w, b)
    for name, want in DATA["fixed"].items():
        assert float(getattr(found, name)) == pytest.approx(want, rel=3e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA["half_stable"])
def test_half_stable_points(name):
    want, law = DATA["half_stable"][name], theory(name).finite_width.criticality
    assert float(law.spread) == pytest.approx(want["spread"], rel=2e-5)
    assert float(law.vertex) == pytest.approx(want["vertex"], rel=5e-6)
    assert 2 * float(law.correction) / float(law.vertex) == pytest.approx(want["slope"], rel=1e-4)
