"""The public names: those that are built are importable and documented, those that are not say which are."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import derive
from derive import Activation, expect, theory

ROOT = Path(__file__).resolve().parents[2]
PROMISED = (
    "Activation", "expect", "theory", "Dense", "Conv", "MaxPool", "AvgPool", "Residual", "LayerNorm", "RMSNorm",
    "Dropout", "GLU",
)  # fmt: skip
ALWAYS = ("Activation", "expect", "theory", "Dense")
RESULT = ("kind", "expr", "steps", "latex", "proof", "number", "code", "compile", "subs", "diff", "series", "plot")
THEORY = (
    "mean", "second_moment", "covariance_map", "variance_map", "correlation_map", "chi", "chi_parallel",
    "edge_of_chaos", "at", "universality", "finite_width", "guessing_bias", "jacobian", "latex", "report",
)  # fmt: skip
LATER = ("universality", "finite_width", "guessing_bias", "jacobian")
EDGE = ("sigma_w", "sigma_b", "q", "chi", "chi_parallel", "valid", "stable")
FIXED = ("q", "stable", "basin", "chi", "chi_parallel", "c", "xi_q", "xi_c")


@pytest.mark.parametrize("name", PROMISED)
def test_names_of_the_package(name):
    if name in ALWAYS or name in dir(derive):
        assert inspect.getdoc(getattr(derive, name))
        return
    with pytest.raises(AttributeError, match=r"Activation.*expect.*theory"):
        getattr(derive, name)


def test_dir_and_all_agree():
    assert set(derive.__all__) <= set(dir(derive))
    for name in derive.__all__:
        assert getattr(derive, name) is not None


def documented(cls, name: str) -> bool:
    found = inspect.getattr_static(cls, name, None)
    target = getattr(found, "fget", None) or getattr(found, "func", None) or found
    return bool(inspect.getdoc(target))


@pytest.mark.parametrize("name", RESULT)
def test_results(name):
    assert hasattr(expect("relu"), name)
    assert documented(type(expect("relu")), name)


@pytest.mark.parametrize("name", THEORY)
def test_theories(name):
    t = theory("relu")
    if name in LATER and not hasattr(type(t), name):
        with pytest.raises(AttributeError, match=r"variance_map.*edge_of_chaos"):
            getattr(t, name)
        return
    assert hasattr(t, name)
    assert documented(type(t), name)


def test_points_carry_what_is_promised():
    t = theory("tanh")
    edge = t.edge_of_chaos(q=1)
    assert all(hasattr(edge.points[0], name) and hasattr(edge, name) for name in EDGE)
    at = t.at(sigma_w=1.5, sigma_b=0.1, q0=1)
    assert all(hasattr(at.fixed_points[0], name) and hasattr(at, name) for name in FIXED)
    assert at.gradient in ("vanishing", "critical", "exploding")
    assert at.geometry


@pytest.mark.parametrize("name", ["derivative", "code", "compile", "jumps"])
def test_activations(name):
    assert hasattr(Activation("relu"), name)
    assert documented(Activation, name)


def test_verify_is_a_function_of_the_package_of_its_name():
    from verify import verify

    assert callable(verify)
    assert inspect.getdoc(verify)
    assert {"device", "budget", "seed"} <= set(inspect.signature(verify).parameters)


def test_public_names_are_in_the_docs():
    docs = "\n".join(path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    built = [name for name in PROMISED if name in dir(derive)]
    for name in (*built, *RESULT, *(n for n in THEORY if n not in LATER)):
        assert re.search(rf"\b{name}\b", docs), f"the docs do not mention {name}"


def test_errors_carry_what_where_why_instead():
    from derive.records import EocError

    with pytest.raises(EocError) as caught:
        Activation("tanhh(x)")
    assert caught.value.what
    assert "^" in caught.value.where
    assert "tanh" in str(caught.value)
