"""Emitted text, kept and executed: what users get may only change on purpose, and what is kept must still be right.

EOC_UPDATE_GOLDEN=1 pytest tests/golden   writes the files anew; read the difference before committing it.
"""

from __future__ import annotations

import math
import os
import runpy
from pathlib import Path

import numpy as np
import pytest

from derive import Activation, expect, theory

FOLDER = Path(__file__).parent / "emitted"
UPDATE = bool(os.environ.get("EOC_UPDATE_GOLDEN"))

CASES = {
    "relu_covariance_map_numpy.py": lambda: theory("relu").covariance_map.code("numpy"),
    "relu_covariance_map_torch.py": lambda: theory("relu").covariance_map.code("torch"),
    "gelu_variance_map_numpy.py": lambda: theory("gelu").variance_map.code("numpy"),
    "gelu_covariance_map_torch.py": lambda: theory("gelu").covariance_map.code("torch"),
    "erf_chi_numpy.py": lambda: theory("erf").chi.code("numpy"),
    "leaky_relu_second_moment_torch.py": lambda: expect(Activation("max(x, 0) + a*min(x, 0)") ** 2).code("torch"),
    "mish_numpy.py": lambda: Activation("x*tanh(log(1+exp(x)))").code("numpy"),
    "mish_torch.py": lambda: Activation("x*tanh(log(1+exp(x)))").code("torch"),
}


@pytest.mark.parametrize("name", CASES)
def test_text_is_as_kept(name):
    text, path = CASES[name](), FOLDER / name
    if UPDATE:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
    assert text == CASES[name]()


def run(name):
    """The kept file as a user would import it: its public functions."""
    if "torch" in name:
        pytest.importorskip("torch")
    functions = runpy.run_path(str(FOLDER / name))
    return {key: value for key, value in functions.items() if callable(value) and not key.startswith("_")}


@pytest.mark.parametrize("name", CASES)
def test_kept_text_stands_alone(name):
    text = (FOLDER / name).read_text()
    for line in text.splitlines():
        if line.startswith(("import ", "from ")):
            assert line.split()[1].split(".")[0] in ("numpy", "scipy", "torch", "math", "__future__"), line
    assert run(name)


def test_relu_covariance_map():
    """Cho & Saul 2009 (arXiv 1010.5945), eq. 6, divided by 2: sqrt(q1 q2) (sin t + (pi - t) cos t)/(2 pi)."""
    f = run("relu_covariance_map_numpy.py")["covariance_map"]
    c = np.array([-1, -0.5, 0, 0.3, 0.999999, 1])
    angle = np.arccos(c)
    want = np.sqrt(0.5 * 2) * (np.sin(angle) + (np.pi - angle) * c) / (2 * np.pi)
    assert np.allclose(f(0.5, 2.0, c), want, rtol=0, atol=2e-15)


def test_erf_chi():
    """sigma_w^2 * 4/(pi sqrt(1 + 4 q)): E exp(-2 x^2) times 4/pi."""
    f = run("erf_chi_numpy.py")["gradient_gain"]
    assert f(0.7, sigma_w=1.5) == pytest.approx(1.5**2 * 4 / (math.pi * math.sqrt(1 + 2.8)), rel=4e-16)


def test_gelu_variance_map():
    f = run("gelu_variance_map_numpy.py")["variance_map"]
    q = np.array([0.3, 1.0, 4.0])
    want = [float(theory("gelu").variance_map.number(q=str(v), sigma_w=1.5, sigma_b="0.1")) for v in q]
    assert np.allclose(f(q, sigma_w=1.5, sigma_b=0.1), want, rtol=1e-15)


def test_torch_maps_have_gradients():
    torch = pytest.importorskip("torch")
    for name in ("relu_covariance_map_torch.py", "gelu_covariance_map_torch.py"):
        f = run(name)["covariance_map"]
        q1, q2, c = (torch.tensor([v, v / 2], dtype=torch.float64, requires_grad=True) for v in (0.7, 2.0, 0.6))
        assert torch.autograd.gradcheck(f, (q1, q2, c))
        edge = torch.tensor([1.0, -1.0], dtype=torch.float64, requires_grad=True)
        one = torch.ones(2, dtype=torch.float64)
        (slope,) = torch.autograd.grad(f(one, one, edge).sum(), edge)
        assert torch.isfinite(slope).all()


def test_leaky_relu_keeps_its_slope():
    torch = pytest.importorskip("torch")
    (f,) = run("leaky_relu_second_moment_torch.py").values()
    assert f(torch.tensor(2.0), a=0.5).item() == pytest.approx(2 * (1 + 0.25) / 2)
    with pytest.raises(TypeError):
        f(torch.tensor(2.0))


@pytest.mark.parametrize("name", ["mish_numpy.py", "mish_torch.py"])
def test_mish(name):
    """Against the definition in doubles, at scalars and far out, where exp(x) overflows."""
    phi = run(name)["phi"]
    x = np.array([-700.0, -30.0, -1.25, 0.0, 0.5, 30.0, 1000.0])
    want = x * np.tanh(np.log1p(np.exp(-abs(x))) + np.maximum(x, 0))
    if "torch" in name:
        torch = pytest.importorskip("torch")
        got = phi(torch.tensor(x)).numpy()
    else:
        got = phi(x)
        assert isinstance(phi(0.5), float)
    assert np.allclose(got, want, rtol=3e-15, atol=0)
