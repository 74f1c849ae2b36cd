"""Surrogates of pair maps without a closed form: against enclosures inside the box, checked, refused outside."""

import random
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import torch

from derive import Activation, expect, theory
from derive.records import EocError, Unsupported
from derive.surface.surrogates import ALLOWED, box_of, pair_error, pair_levels

SMOOTH = ("tanh(x)", "x*sigmoid(x)", "x*tanh(log(1+exp(x)))", "log(1+exp(x))", "atan(x)", "x/(1+x^2)+cos(x)/3")
TWINS = ("2*tanh(3*x)", "tanh(-x)", "-x*sigmoid(-x)")
QUICK = (SMOOTH[0], SMOOTH[2], SMOOTH[5], TWINS[0])
OTHERS = tuple(text for text in (*SMOOTH, *TWINS) if text not in QUICK)


@cache
def covariance(text):
    return theory(text).covariance_map


@cache
def emitted(text, backend="numpy", box=1):
    return covariance(text).compile(backend, box=box)


def scale(text, q1, q2):
    second = theory(text).second_moment
    return (float(second.number(q=q1)) * float(second.number(q=q2))) ** 0.5


def error(text, q1, q2, c, box=1):
    want = float(covariance(text).number(q1=q1, q2=q2, c=c))
    return abs(float(emitted(text, box=box)(q1, q2, c)) - want) / scale(text, q1, q2)


@pytest.mark.parametrize("text", [*QUICK, *(pytest.param(t, marks=pytest.mark.slow) for t in OTHERS)])
def test_error_in_the_box(text):
    draw = random.Random(text)
    q1, q2, c = (round(draw.uniform(*ends), 3) for ends in ((0.1, 1), (0.01, 1), (-0.99, 0.99)))
    top = Fraction(1, 8) if text == "2*tanh(3*x)" else Fraction(1)
    for r1, r2, at in ((1, 1, 1), (1, 1, -1), (1, 1e-9, 1), (1e-12, 1e-12, 1), (q1, q2, c)):
        assert error(text, float(r1 * top), float(r2 * top), at, float(top)) < 1e-13, (r1, r2, at)


@pytest.mark.slow
@pytest.mark.parametrize("text", [*SMOOTH, *TWINS])
@pytest.mark.parametrize("top", [2, 10, 100])
def test_error_in_larger_boxes(text, top):
    draw = random.Random(text)
    try:
        emitted(text, box=top)
    except Unsupported:
        assert top == 100 and text in ("atan(x)", "2*tanh(3*x)", "x/(1+x^2)+cos(x)/3")
        return
    for _ in range(6):
        q1, q2 = (round(top * 10 ** draw.uniform(-3, 0), 6) for _ in range(2))
        c = draw.choice((1, -1, round(draw.uniform(-1, 1), 4), round(1 - 10 ** draw.uniform(-9, -1), 10)))
        assert error(text, q1, q2, c, box=top) < 1e-13, (q1, q2, c)


@pytest.mark.parametrize("text", ["tanh(x)", pytest.param("x*sigmoid(x)", marks=pytest.mark.slow)])
def test_a_wrong_table_is_noticed(text):
    f = Activation(text).expr
    (level,) = pair_levels(f, f, (0.0, 1.0))
    assert pair_error(f, f, level) < ALLOWED
    parity = 1 if text == "tanh(x)" else 0
    terms, degree, rank = level.parts[parity]
    for part in ((terms * 3 // 4, degree, rank), (terms, degree - 4, rank), (terms, degree, rank - 4)):
        parts = tuple(part if p == parity else level.parts[p] for p in (0, 1))
        assert pair_error(f, f, replace(level, parts=parts)) > ALLOWED, part
    assert pair_error(f, f, replace(level, step=3 * level.step)) > ALLOWED


def test_nan_outside_the_box_and_quadrature_without_one():
    inside = emitted("tanh(x)")
    assert np.isnan(inside(1.01, 0.5, 0.5)) and np.isnan(inside(0.5, 0.5, 1.5))
    got = inside(np.array([0.5, 3.0]), np.array([0.5, 0.5]), np.array([0.25, 0.25]))
    assert np.isfinite(got[0]) and np.isnan(got[1])
    ladder = covariance("x*exp(-x^2)").compile("numpy")
    value = ladder(np.array([0.5, 200.0]), 0.5, 0.25)
    for q1, got in zip((0.5, 200.0), value, strict=True):
        assert float(covariance("x*exp(-x^2)").number(q1=q1, q2=0.5, c=0.25)) == pytest.approx(float(got), abs=1e-13)


def test_what_is_not_smooth_keeps_quadrature():
    kinked = Activation("Piecewise((tanh(x), x > 0), (0.1*x, True))").expr
    assert pair_levels(kinked, kinked, None) == ()
    with pytest.raises(Unsupported, match="no fast code"):
        pair_levels(kinked, kinked, (0.0, 1.0))
    for wrong in ((1, 1), -1, (-1, 2)):
        with pytest.raises(EocError):
            box_of(wrong)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_every_shape_gives_the_value_of_each_pair(backend):
    f = emitted("x*tanh(log(1+exp(x)))", backend)
    draw = np.random.default_rng(1)
    q, c = 0.02 + 0.9 * draw.random(7), 2 * draw.random((7, 7)) - 1
    given = (q[:, None], q[None], c)
    arrays = [torch.tensor(a) for a in given] if backend == "torch" else given
    gram = np.asarray(f(*arrays))
    one = np.array([[float(f(a, b, d)) for b, d in zip(q, row, strict=True)] for a, row in zip(q, c, strict=True)])
    np.testing.assert_allclose(gram, one, atol=1e-15)
    flipped = np.asarray(f(*(a.T for a in arrays)))
    np.testing.assert_allclose(flipped, one.T, atol=1e-15)
    batch = np.asarray(f(arrays[0], arrays[1], arrays[2][None] * 1))
    assert batch.shape == (1, 7, 7)
    np.testing.assert_allclose(batch[0], one, atol=1e-15)


def test_many_free_triples_are_interpolated_to_the_same_digits():
    for text in ("tanh(x)", "x*tanh(log(1+exp(x)))"):
        f, g = emitted(text), emitted(text, "torch")
        draw = np.random.default_rng(2)
        q1, q2 = 0.01 + 0.9 * draw.random((2, 1500))
        c = 2 * draw.random(1500) - 1
        want = np.array([float(f(*row)) for row in zip(q1[:40], q2[:40], c[:40], strict=True)])
        np.testing.assert_allclose(f(q1, q2, c)[:40], want, atol=2e-14)
        np.testing.assert_allclose(g(*map(torch.tensor, (q1, q2, c)))[:40], want, atol=2e-14)
        want = np.array([float(f(a, a, b)) for a, b in zip(q1[:40], c[:40], strict=True)])
        np.testing.assert_allclose(f(q1, q1, c)[:40], want, atol=2e-14)
        same = torch.tensor(q1)
        np.testing.assert_allclose(g(same, same, torch.tensor(c))[:40], want, atol=2e-14)


def slopes(text, q, c):
    """d/dc and d/dq1 + d/dq2 of the covariance map, as certified numbers."""
    result = covariance(text)
    return [float(result.diff("c").number(q1=q, q2=q, c=c)), 2 * float(result.diff("q1").number(q1=q, q2=q, c=c))]


@pytest.mark.parametrize("box", [1, pytest.param(None, marks=pytest.mark.slow)])
def test_gradients_at_the_edges_in_torch(box):
    f = covariance("tanh(x)").compile("torch", box=box)
    for q, c in ((0.8, 1.0), (0.8, -1.0), (1e-10, 1.0)):
        x = torch.tensor([q, c], dtype=torch.float64, requires_grad=True)
        (grad,) = torch.autograd.grad(f(x[0], x[0], x[1]), x)
        want = slopes("tanh(x)", q, c)
        assert grad[1].item() == pytest.approx(want[0], rel=1e-11)
        assert grad[0].item() == pytest.approx(want[1], rel=1e-11)


def test_types_are_kept():
    f = emitted("tanh(x)", "torch")
    out = f(*(torch.tensor(v, dtype=torch.float32) for v in (0.5, 0.5, 0.5)))
    assert out.dtype == torch.float32
    assert emitted("tanh(x)")(np.float32(0.5), np.float32(0.5), np.float32(0.5)).dtype == np.float32
    both = torch.func.vmap(lambda c: f(torch.tensor(0.5), torch.tensor(0.5), c))(torch.full((2, 90, 90), 0.1))
    assert torch.isfinite(both).all()


def test_jax_gives_the_values_and_gradients_of_the_others():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        f, g = emitted("tanh(x)", "jax"), emitted("tanh(x)")
        draw = np.random.default_rng(3)
        q, c = 0.01 + 0.9 * draw.random(5), 2 * draw.random((5, 5)) - 1
        np.testing.assert_allclose(jax.jit(f)(q[:, None], q[None], c), g(q[:, None], q[None], c), atol=1e-15)
        q[0] = 2.0
        np.testing.assert_allclose(jax.jit(f)(q, q[::-1], c[0]), g(q, q[::-1], c[0]), atol=1e-15)  # NaN in both
        slope = jax.jit(jax.grad(lambda c, q: f(q, q, c).sum(), (0, 1)))
        points = np.array([(0.8, 1.0), (0.8, -1.0), (1e-10, 1.0)])
        want = np.array([slopes("tanh(x)", q, c) for q, c in points])
        np.testing.assert_allclose(np.stack(slope(points[:, 1], points[:, 0]), -1), want, rtol=1e-11)


def test_other_expectations_use_them_too():
    result = expect("tanh(x)", "x*sigmoid(x)")
    value = result.compile("numpy", box=1)(0.5, 0.9, 0.4)
    assert float(value) == pytest.approx(float(result.number(q1=0.5, q2=0.9, c=0.4)), abs=1e-13)
    source = theory("tanh(x)").correlation_map.code("numpy", box=1)
    assert "_surrogate(" in source and "_moment(" in source and "a Hermite series in c (Mehler)" in source
