"""Criticality and phases of blocks: pooled, residual, nested, with dropout, and a layer made by hand."""

from dataclasses import dataclass
from fractions import Fraction

import mpmath
import pytest
from sympy import Rational

from derive import Dense, EocError, theory
from derive.depth.joint import folds
from derive.layers.stage import Stage
from derive.layers.unit import moments_only
from derive.records import Unsupported


def close(got, want, relative="1e-12"):
    return abs(mpmath.mpf(got.mid) - mpmath.mpf(want)) <= mpmath.mpf(relative) * abs(mpmath.mpf(want))


POOLED = [
    # pooling of a ReLU: sigma_w^2 with V(q) = q, chi there, sigma_w^2 with chi = 1
    ("maxpool(2)", "1.099922524316", ".82494189323699", "4/3"),
    ("maxpool(4)", ".64775858846618", ".60727367668704", "16/15"),
    ("avgpool(2)", "3.0341879719791", ".758546992994775", "4"),
    ("avgpool(4)", "4.0922188504358", ".511527356304475", "8"),
]


@pytest.mark.parametrize(("pooling", "variance", "chi", "gradient"), POOLED)
def test_a_pooled_relu_keeps_variances_or_gradients(pooling, variance, chi, gradient):
    for text, scale in ((f"dense >> relu >> {pooling}", 1), (f"dense >> 3*max(2*x, 0) >> {pooling}", 36)):
        edge = theory(text).edge_of_chaos(sigma_b="0.1")
        assert edge.points == ()
        assert edge.valid is False
        assert "chi = 1 at sigma_w^2" in edge.reason
        num, _, den = gradient.partition("/")
        want = mpmath.mpf(num) / mpmath.mpf(den or 1)
        assert abs(edge.gradient_critical.sigma_w.mid**2 * scale - want) < mpmath.mpf("1e-13")
        assert abs(edge.variance_critical.sigma_w.mid**2 * scale - mpmath.mpf(variance)) < mpmath.mpf("1e-12")
        assert close(edge.variance_critical.chi, chi)
        assert edge.gradient_critical.valid is False


def test_pooling_the_negative_part_is_critical_with_biases():
    # E min(relu, relu)^2 = (1/4 - 1/(2 pi)) q and gain 1/4: at sigma_w^2 = 4 V(q) = (1 - 2/pi) q + sigma_b^2
    edge = theory("dense >> -max(-x, 0) >> maxpool(2)").edge_of_chaos(sigma_b="0.1")
    assert edge.valid is True
    assert close(edge.sigma_w, 2)
    assert close(edge.q, mpmath.pi / 200)
    assert theory("dense >> -max(-x, 0) >> maxpool(2)").edge_of_chaos(sigma_b=0).points == ()


def test_a_residual_stream_has_no_edge_unless_it_is_damped():
    for text in (
        "residual(tanh >> dense)",
        "residual(relu >> dense, scale=0.5)",
        "residual(sin(x) >> dense >> tanh >> dense)",
    ):
        edge = theory(text).edge_of_chaos(q=1)
        assert edge.points == ()
        assert "positive for every sigma_w" in edge.reason
    point = theory("residual(tanh >> dense, shortcut=0.8)").edge_of_chaos(q=1)
    plain = theory("tanh").edge_of_chaos(q=1)
    # V = a^2 q + w m2 + b, chi = a^2 + w d1: the plain point times 1 - a^2 = 0.36
    assert close(point.sigma_w, plain.sigma_w.mid * mpmath.mpf("0.6"))
    assert close(point.sigma_b2, plain.sigma_b2.mid * mpmath.mpf("0.36"))


def test_two_dense_layers_share_their_sigmas():
    # twice the same turn has the points of one turn
    one = theory("dense >> tanh").edge_of_chaos(q=1)
    two = theory("dense >> tanh >> dense >> tanh").edge_of_chaos(sigma_w=str(mpmath.nstr(one.sigma_w.mid, 17)))
    assert len(two.points) == 1
    assert close(two.q, 1)
    assert close(two.sigma_b, one.sigma_b.mid)
    assert two.stable is True


def test_two_different_activations_in_one_block():
    t = theory("dense >> tanh >> dense >> relu")
    edge = t.edge_of_chaos(q=1)
    assert len(edge.points) == 1
    w, b = edge.sigma_w.mid, edge.sigma_b.mid
    with mpmath.workdps(20):

        def mean(f, q):
            density = lambda x: f(x) * mpmath.exp(-x * x / (2 * q)) / mpmath.sqrt(2 * mpmath.pi * q)  # noqa: E731
            return mpmath.quad(density, [-12, -6, -3, 0, 3, 6, 12])

        inner = w**2 * mean(lambda x: mpmath.tanh(x) ** 2, 1) + b**2
        assert abs(w**2 * inner / 2 + b**2 - 1) < 1e-12
        assert abs(w**4 / 2 * mean(lambda x: mpmath.sech(x) ** 4, 1) - 1) < 1e-12
    here = t.at(sigma_w=str(mpmath.nstr(w, 16)), sigma_b=str(mpmath.nstr(b, 16)))
    assert close(here.q, 1, "1e-10")
    assert here.tendency == "converges"
    both = theory("dense >> relu >> dense >> abs(x)").edge_of_chaos(sigma_b=0)
    assert close(both.sigma_w, mpmath.mpf(2) ** mpmath.mpf("0.25"))


def test_dropout_takes_the_edge_away_and_moves_the_fixed_point():
    # SELU with p = 0.1: finite only while 1 - p > lambda^2/2
    point = theory("dense >> selu >> dropout(0.1)").at(1, 0)
    assert close(point.q, "1.6255874806317")
    assert point.geometry.startswith("c -> c* < 1")
    assert 0 < point.c.mid < 1
    assert theory("dense >> selu >> dropout(0.44)").at(1, 0).tendency == "converges"
    far = theory("dense >> selu >> dropout(0.45)").at(1, 0)
    assert (far.tendency, far.gradient) == ("grows without bound", "exploding")
    edge = theory("dense >> relu >> dropout(0.5)").edge_of_chaos(sigma_b=0)
    assert edge.valid is False
    assert close(edge.sigma_w, 1)
    assert "no edge of chaos" in edge.reason
    # ReLU: C(1) = 1 - p at sigma_b = 0
    relu = theory("dense >> relu >> dropout(0.3)").at(1, "0.5")
    assert close(relu.q, "0.875")
    assert relu.c.upper < 1


def test_streams_that_grow_say_how_fast():
    relu = theory("residual(relu >> dense)").at("1.3", "0.1")
    assert (relu.gradient, relu.tendency) == ("exploding", "grows without bound")
    rates = {rate.of: rate for rate in relu.rates}
    assert close(rates["q"].prefactor, "1.845")
    assert close(rates["squared gradient"].prefactor, "1.845")
    tanh = theory("residual(tanh >> dense)").at("1.3", "0.1")
    rates = {rate.of: rate for rate in tanh.rates}
    # q ~ (sigma_w^2 + sigma_b^2) l; E sech^4 ~ (4/3)/sqrt(2 pi q)
    assert close(rates["q"].prefactor, "1.7")
    want = 2 * mpmath.mpf("1.69") * 4 / 3 / mpmath.sqrt(2 * mpmath.pi * mpmath.mpf("1.7"))
    assert close(rates["log of the squared gradient"].prefactor, want)
    assert (tanh.gradient, rates["log of the squared gradient"].exponent) == ("exploding", Rational(-1, 2))
    pooled = theory("dense >> relu >> maxpool(2)").at("1.1", 0)
    assert pooled.gradient == "vanishing"
    assert pooled.geometry == "c -> 1, exponentially"


def test_batch_normalisation_separates_inputs():
    # next layer: K -> 0, so that c* = (w^2/(2 pi) + b^2)/(w^2/2 + b^2) at once
    point = theory("dense >> batchnorm >> relu").at(2, 1)
    assert close(point.q, 3)
    assert close(point.c, (2 / mpmath.pi + 1) / 3, "1e-10")


@dataclass(frozen=True, repr=False)
class Squashed(Stage):
    """A layer made by hand from its maps: M -> M/(1 + M), the cross moment alike."""

    def forward(self, state):
        def squashed(m):
            return m / (1 + m)

        moments = {name: squashed(getattr(state, name)) for name in ("second1", "second2", "cross")}
        return moments_only(state, **moments, gain=state.gain / (1 + state.second1) ** 2)


def test_depth_theory_sees_only_maps():
    t = theory(Dense() >> Squashed())
    # w^2 q/(1 + q) = q: q = w^2 - 1; chi = w^2/(1 + q)^2 = 1 at q = w - 1; b^2 = q - (1 + q) q
    point = t.at(2, 0)
    assert close(point.q, 3)
    assert close(point.chi, "0.25")
    edge = t.edge_of_chaos(q="1/2")
    assert close(edge.sigma_w, "1.5")
    assert edge.valid is False
    assert close(edge.sigma_b2, "-0.25")


def test_the_class_of_a_block_is_decided_from_its_maps():
    pooled = theory("dense >> relu >> maxpool(2)").universality
    assert pooled.name == "none"
    assert "1.33333333333333" in pooled.reasons[1]
    both = theory("dense >> relu >> dense >> abs(x)").universality
    assert both.name == "scale-invariant"
    assert close(both.sigma_w, mpmath.mpf(2) ** mpmath.mpf("0.25"))
    assert theory("residual(tanh >> dense)").universality.name == "none"
    with pytest.raises(EocError, match="other than one activation"):
        _ = theory("dense >> tanh >> maxpool(3)").universality
    with pytest.raises(EocError, match="other than one activation"):
        _ = theory("dense >> glu(silu)").universality


@pytest.mark.slow
def test_fixed_points_meet_in_blocks_of_two_activations():
    """On the two sides of the sigma_w at which they meet, the grid counts two and none."""
    t = theory("dense >> gelu >> dense >> silu")
    (fold,) = t.bifurcations(sigma_b="0.1")
    assert fold.kind == "two meet"
    w, q = float(fold.sigma_w), float(fold.q)
    d = t.phase(sigma_w=[w - 1e-3, w + 1e-3], sigma_b=[0.1, 0.2])
    assert (d.count[0] == [2, 0]).all()
    near = d.fixed_points[0, 0]
    assert near[0] < q < near[1]
    stays = t.variance_map.number(q=fold.q.mid, sigma_w=fold.sigma_w.mid, sigma_b="0.1")
    assert abs(float(stays) / q - 1) < 1e-12
    assert theory("dense >> gelu >> dense >> tanh").bifurcations(sigma_b="0.1") == ()
    with pytest.raises(Unsupported):
        t.bifurcations(sigma_b=0)


def test_folds_in_two_unknowns_are_those_of_one():
    """GELU alone, where sigma_w^2 is a function of q, through the solver for several Dense layers."""
    t = theory("gelu")
    alone = [b for b in t.bifurcations(sigma_b="0.1") if b.kind == "two meet"]
    pairs = sorted(folds(t.variance_map.template, {}, Fraction(1, 10)), key=lambda p: float(p[1].mid()))
    assert len(pairs) == len(alone) == 2
    for (q, w), b in zip(pairs, alone, strict=True):
        assert abs(float(w.mid()) / float(b.sigma_w) - 1) < 1e-12
        assert abs(float(q.mid()) / float(b.q) - 1) < 1e-9
