"""Questions about deep stacks from public threads and scripts, each with a twin A*phi(a*x) whose answer is transformed.

Scales a inside and A outside turn q, sigma_w, sigma_b into q / a^2, sigma_w / (A a), sigma_b / a; chi and c* stay.
"""

from __future__ import annotations

import pytest
from mpmath import mpf, sqrt, workdps

from derive import Activation, expect, theory


def near(got, want, digits=10) -> bool:
    """Equal to so many digits, relative to the value wanted."""
    with workdps(30):
        value = mpf(got.mid) if hasattr(got, "mid") else mpf(got)
        return abs(value / mpf(want) - 1) < mpf(10) ** -digits


SELU = "1.0507009873554804934*{u} if {x} > 0 else 1.0507009873554804934*1.6732632423543772848*(exp({u}) - 1)"


# https://github.com/pytorch/pytorch/issues/24991: the gains of a scaled, mirrored function
@pytest.mark.parametrize(
    ("twin", "second", "slope"),
    [
        ("3*sigmoid(-x)", ".293379035858093", ".0448362413501944"),
        ("-3*tanh(-x)", ".394294490397841", ".464402902448268"),
        ("3*max(-x, 0)", ".5", ".5"),
        ("3*(-x if x < 0 else -x/5)", ".52", ".52"),
        ("3*(-x if x < 0 else exp(-x) - 1)", ".644945417492924", ".668102001223171"),
        (f"3*({SELU.format(u='(-x)', x='-x')})", "1", "1.0715749924558"),
    ],
)
def test_gains_of_scaled_and_mirrored_functions(twin, second, slope):
    assert near(expect(Activation(twin) ** 2).number(q=1, digits=20), 9 * mpf(second))
    assert near(expect(Activation(twin).derivative() ** 2).number(q=1, digits=20), 9 * mpf(slope))


# https://discuss.pytorch.org/t/calculate-gain-tanh/20854: what a gain of 5/3 keeps
@pytest.mark.parametrize(
    ("formula", "sigma_w", "factor", "output"),
    [("tanh(x)", "5/3", 1, 1), ("3*tanh(-x/2)", "10/9", 4, 3), ("1 - 2/(1 + exp(2*x))", "5/3", 1, 1)],
)
def test_a_gain_of_five_thirds(formula, sigma_w, factor, output):
    t, phi = theory(formula), Activation(formula)
    point = t.at(sigma_w=sigma_w, sigma_b=0)
    assert near(point.q, factor * mpf("1.17848049038591"))
    assert near(point.chi, "1.20983132038283")
    assert float(point.c) == 0
    second = expect(phi**2).number(q=point.q.mid, digits=20)
    assert near(sqrt(mpf(second.mid)), output * mpf(".651347047693414"))
    # slope of the correlation map at c = 0: sigma_w^2 (E phi')^2
    first = expect(phi.derivative()).number(q=point.q.mid, digits=20)
    w = mpf(sigma_w.partition("/")[0]) / mpf(sigma_w.partition("/")[2])
    assert near(w**2 * mpf(first.mid) ** 2, ".920790652845")
    kept = expect(phi**2).number(q=factor, digits=20)
    assert near(factor / mpf(kept.mid), mpf("2.53617543321745") * factor / output**2)


# https://github.com/ghliu/mean-field-fcdnn at sigma_b^2 = .05
@pytest.mark.parametrize(
    ("sigma_b2", "q", "sigma_w2"),
    [(".05", ".570047881640764", "1.76095463960674"), (".2", "1.16449628745798", "2.28515247372019")],
)
def test_critical_curve_of_a_scaled_tanh(sigma_b2, q, sigma_w2):
    with workdps(30):
        sigma_b = 2 * sqrt(mpf(sigma_b2))
    (point,) = theory("3*tanh(-x/2)").edge_of_chaos(sigma_b=str(sigma_b)).points
    assert near(point.q, 4 * mpf(q))
    assert near(mpf(point.sigma_w.mid) ** 2, mpf(sigma_w2) * 4 / 9)


# https://github.com/soufiane001/impact_of_init_and_activation finds these by sampling
EDGES = [
    ("tanh(x)", ".05", ".15369193582122", "1.1225390047696", 1, 1),
    ("tanh(x)", ".2", ".5120785042339", "1.3041458400565", 1, 1),
    ("tanh(x)", ".5", "1.3179389989721", "1.5496739125082", 1, 1),
    ("tanh(x)", "1", "3.0363963946237", "1.8555891011389", 1, 1),
    ("x if x > 0 else exp(x) - 1", ".2", "1.1069305403461", "1.2292511241372", 1, 1),
    ("gelu", ".2", ".57563711661921", "1.5470094704162", 1, 1),
    ("silu", ".2", ".68945250291377", "1.6795316006916", 1, 1),
    ("selu", ".2", ".71704910951074", ".93747558210532", 1, 1),
    ("mish", ".2", ".74554946996318", "1.4634392077936", 1, 1),
    ("erf(x)", ".2", ".4657629357829", "1.1527954134921", 1, 1),
    ("3*tanh(-x/2)", "1", "1.3179389989721", "1.5496739125082", 2, 3),
    ("-3*x*(1 + erf(-x/2/sqrt(2)))/4", ".4", ".57563711661921", "1.5470094704162", 2, 3),
    ("3*(-x/2 if x < 0 else exp(-x/2) - 1)", ".4", "1.1069305403461", "1.2292511241372", 2, 3),
    ("-3*x/2/(1 + exp(x/2))", ".4", ".68945250291377", "1.6795316006916", 2, 3),
    ("-3*x/2*tanh(log(1 + exp(-x/2)))", ".4", ".74554946996318", "1.4634392077936", 2, 3),
    (f"3*({SELU.format(u='(-x/2)', x='-x')})", ".4", ".71704910951074", ".93747558210532", 2, 3),
    ("3*erf(-x/2)", ".4", ".4657629357829", "1.1527954134921", 2, 3),
]


@pytest.mark.parametrize(("formula", "sigma_b", "q", "sigma_w", "wide", "high"), EDGES)
def test_edges_at_a_bias(formula, sigma_b, q, sigma_w, wide, high):
    found = theory(formula).edge_of_chaos(sigma_b=sigma_b).points
    assert any(near(p.q, mpf(q) * wide**2) and near(p.sigma_w, mpf(sigma_w) * wide / high) for p in found), found
