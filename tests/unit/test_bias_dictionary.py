"""The dictionary between averages over weights and over data, the first layer, and the law of class fractions."""

import math

import mpmath
import numpy as np
import pytest

from derive.depth.bias.dictionary import Guessing, MeanField, c_of_gamma, first_layer, gamma_of_c, of_activations
from derive.depth.bias.gradients import ClassGradients, ratio
from derive.depth.bias.guess import Classes, TwoClasses, agreement
from derive.depth.bias.normal import bivariate_cdf, cdf, owen
from derive.records import DomainError, EocError


def test_both_directions():
    state = MeanField(2.0, 0.5)
    assert state.guessing == Guessing(0.5, 1.5)
    assert state.guessing.mean_field == state
    assert state.c == c_of_gamma(state.guessing.gamma) == 0.25
    assert gamma_of_c(0.5) == 1 and gamma_of_c(1) == math.inf and c_of_gamma(math.inf) == 1


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_the_identity_of_means_holds_for_any_matrix(scale):
    rng = np.random.default_rng(1)
    y = scale * (rng.standard_exponential((17, 5)) ** 2 + rng.standard_cauchy(5) + np.arange(17)[:, None])
    found = of_activations(y)
    gram = y @ y.T / 5
    diagonal = np.trace(gram) / 17
    beside = (gram.sum() - np.trace(gram)) / (17 * 16)
    assert found.mean_field.q_aa == pytest.approx(diagonal, rel=1e-13)
    assert found.mean_field.q_ab == pytest.approx(beside, rel=1e-12)
    assert found.c_bar == pytest.approx(beside / diagonal, rel=1e-12)
    assert found.gamma == pytest.approx(beside / (diagonal - beside), rel=1e-12)
    assert found.spread > 0.1  # single pairs are not gamma/(1 + gamma)
    with pytest.raises(EocError):
        of_activations(y[:1])


def test_the_first_layer_of_networks_with_sampled_weights():
    rng = np.random.default_rng(2)
    d, mean, spread = 40, rng.normal(size=40), rng.uniform(0.5, 2, 40)
    x = mean + np.sqrt(spread) * rng.normal(size=(1000, d))
    y = 1.3 / math.sqrt(d) * x @ rng.normal(size=(d, 8000)) + 0.4 * rng.normal(size=8000)
    want, got = first_layer(1.3, 0.4, mean=mean, covariance=spread), of_activations(y)
    assert want.gamma == pytest.approx((mean @ mean) / spread.sum() + 0.16 * d / (1.69 * spread.sum()), rel=1e-13)
    assert got.gamma == pytest.approx(want.gamma, rel=0.07)
    assert first_layer(1.3, 0.4, mean=mean, covariance=np.diag(spread)) == want


def test_normal_functions_against_mpmath():
    for h, a in ((0.3, 0.7), (2.5, 4.0), (0.01, -3.0), (5.0, 0.2)):
        want = mpmath.quad(lambda x, h=h: mpmath.exp(-(h**2) * (1 + x * x) / 2) / (1 + x * x), [0, a]) / (2 * mpmath.pi)
        assert float(owen(h, a)) == pytest.approx(float(want), abs=2e-16)
    assert float(cdf(np.array(-20.0))) == pytest.approx(float(mpmath.ncdf(-20)), rel=1e-12)
    assert float(bivariate_cdf(0.0, 0.0, 0.6)) == pytest.approx(0.25 + math.asin(0.6) / (2 * math.pi), abs=1e-15)


@pytest.mark.parametrize("gamma", [0.05, 1.0, 10.0])
def test_two_classes_by_quadrature(gamma):
    law = TwoClasses(gamma)
    z = np.arange(-9, 9, 0.002)
    weight = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * 0.002
    g = cdf(math.sqrt(gamma) * z)
    assert law.variance == pytest.approx(weight @ (g - 0.5) ** 2, abs=1e-12)
    assert law.same_class == pytest.approx(weight @ (g**2 + (1 - g) ** 2), abs=1e-12)
    assert law.mean_largest == pytest.approx(weight @ np.maximum(g, 1 - g), abs=1e-6)
    assert law.exceeds(0.9) == pytest.approx(2 * (1 - law.cdf(0.9)), abs=1e-12)
    step = 1e-5
    assert law.density(0.3) == pytest.approx((law.cdf(0.3 + step) - law.cdf(0.3 - step)) / (2 * step), rel=1e-7)
    mass = law.finite_mass(60)
    k = np.arange(61) / 60
    assert mass.sum() == pytest.approx(1, abs=1e-12)
    assert mass @ (k - 0.5) ** 2 == pytest.approx(law.finite_variance(60), abs=1e-12)


def test_limits():
    assert TwoClasses(1).density(np.array([0.01, 0.5, 0.9])) == pytest.approx(1)
    assert TwoClasses(0).variance == 0 and TwoClasses(0).mean_largest == 0.5
    deep = TwoClasses(math.inf)
    assert deep.variance == 0.25 and deep.mean_largest == 1 and deep.regime == "deep prejudice"
    assert deep.finite_mass(3) == pytest.approx([0.5, 0, 0, 0.5])
    assert TwoClasses(0).finite_mass(2) == pytest.approx([0.25, 0.5, 0.25])
    assert Classes(0, 7).mean_largest == pytest.approx(1 / 7) and Classes(math.inf, 7).same_class == 1
    with pytest.raises(DomainError):
        TwoClasses(-0.1)
    with pytest.raises(DomainError):
        deep.density(0.5)


@pytest.mark.parametrize("k", [3, 10])
def test_classes_against_sampled_centres(k):
    rng = np.random.default_rng(k)
    gamma, law = 1.7, Classes(1.7, k)
    # given its centres a network's fractions are integrals over one variable: the largest, and the sum of squares
    centres = math.sqrt(gamma) * rng.normal(size=(1500, k))
    y = np.linspace(-7, 7, 141)
    weight = np.exp(-y * y / 2) / math.sqrt(2 * math.pi) * (y[1] - y[0])
    from scipy.special import ndtr

    shares = np.stack(
        [
            np.prod(ndtr(y[:, None, None] + centres[None, :, [i]] - np.delete(centres, i, 1)), -1).T @ weight
            for i in range(k)
        ],
        1,
    )
    assert shares.sum(1) == pytest.approx(1, abs=1e-9)
    for found, want in ((shares.max(1), law.mean_largest), ((shares**2).sum(1), law.same_class)):
        assert abs(found.mean() - want) < 5 * found.std() / math.sqrt(1500)


def test_agreement_of_two_is_closed_and_of_three_an_orthant():
    # two classes inside the rule for K: K = 2 by the same quadrature as K > 2
    p = np.arange(-9, 9.1, 0.1)
    u, v = np.meshgrid(p, p)
    r = 0.6
    density = np.exp(-(u * u - 2 * r * u * v + v * v) / (2 * (1 - r * r))) / (2 * math.pi * math.sqrt(1 - r * r))
    for k in (2, 3, 10):
        want = k * np.sum(density * bivariate_cdf(u, v, r) ** (k - 1)) * 0.01
        assert agreement(r, k) == pytest.approx(want, abs=1e-11)


def test_class_gradients():
    d = 3.25
    assert ratio(d) == pytest.approx(((1 / (1 + math.exp(d))) / (1 / (1 + math.exp(-d)))) ** 2, rel=1e-13)
    law = ClassGradients(2.0, 1.0)
    rng = np.random.default_rng(0)
    delta = math.sqrt(4.0) * rng.normal(size=200_000)
    assert law.median_log_ratio == pytest.approx(float(np.median(-2 * np.abs(delta))), rel=0.01)
    assert ClassGradients(500.0, 1.0).underflows() == pytest.approx(
        float((np.abs(math.sqrt(1000) * rng.normal(size=200_000)) > 24 * math.log(2)).mean()), abs=0.005
    )
    single = np.float32(1) / (np.float32(1) + np.exp(np.float32(-17)))
    assert np.float32(1) - single == 0


def test_very_many_classes_at_both_ends():
    assert Classes(1e14, 100_000).mean_largest <= 1 and Classes(1e14, 100_000).same_class <= 1
    assert Classes(1e-300, 100_000).same_class == pytest.approx(1e-5, rel=1e-10)
    assert Classes(1e-300, 1000).same_class == pytest.approx(1e-3, rel=1e-11)
