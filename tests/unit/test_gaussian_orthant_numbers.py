"""Orthants without a closed form have certified numbers: three shifted half-spaces, six and seven at the origin."""

from itertools import combinations, permutations

import flint
import mpmath
import pytest
from flint import arb

from derive import EocError, Kind, expect
from derive.gaussian.orthant_balls import at_origin, three_shifted

LOADS = (0.7, -0.4, 0.5, 0.9, -0.6, 0.3)
"""z_i = a_i y + sqrt(1 - a_i^2) x_i: given y the variables are independent."""


def one_factor(loads) -> list[list[arb]]:
    exact = [arb(load) for load in loads]
    return [[arb(1) if i == j else a * b for j, b in enumerate(exact)] for i, a in enumerate(exact)]


def integrated(factors, loads):
    """E prod f_i(z_i) by the integral over y of products of one-variable means `factors(i, a, y)`."""

    def integrand(y):
        value = mpmath.npdf(y)
        for i, a in enumerate(loads):
            value *= factors(i, mpmath.mpf(a), y)
        return value

    return mpmath.quad(integrand, [-10, -2, 0, 2, 10])


def below(height):
    return lambda i, a, y: mpmath.ncdf((height[i] - a * y) / mpmath.sqrt(1 - a * a))


@pytest.mark.parametrize("loads", [LOADS, (0.5, 0.5, 0.5, 0.5, 0.5, 0.0)])
def test_six_at_the_origin(loads):
    with flint.ctx.workprec(80):
        found = at_origin(one_factor(loads))
    value = integrated(below([0] * 6), loads)
    assert abs(found - arb(mpmath.nstr(value, 18))) < 1e-14
    assert found.rad() < 1e-18


def test_equal_correlations_of_one_half():
    """P(z > 0) = 1/(n + 1): each of n + 1 independent variables is the smallest equally often."""
    with flint.ctx.workprec(80):
        for n in (3, 5, 6):
            found = at_origin([[arb(1) if i == j else arb(1) / 2 for j in range(n)] for i in range(n)])
            assert (found * (n + 1)).contains(1)
            assert found.rad() < 1e-18
            assert not (found * (n + 1) + arb("1e-15")).contains(1)


def test_any_variable_may_come_first():
    order = next(p for p in permutations(range(6)) if p[0] == 3)
    with flint.ctx.workprec(80):
        r = one_factor(LOADS)
        turned = [[r[i][j] for j in order] for i in order]
        assert at_origin(r).overlaps(at_origin(turned))


@pytest.mark.parametrize("height", [(0.5, -1.25, 1.0), (0.0, 2.0, -3.0), (1.5, 0.0, 0.0)])
def test_three_shifted(height):
    loads = LOADS[:3]
    with flint.ctx.workprec(80):
        found = three_shifted(one_factor(loads), [arb(h) for h in height])
        again = three_shifted(one_factor(loads[::-1]), [arb(h) for h in height[::-1]])
    value = integrated(below([mpmath.mpf(h) for h in height]), loads)
    assert abs(found - arb(mpmath.nstr(value, 18))) < 1e-15
    assert found.overlaps(again)
    assert found.rad() < 1e-18


def test_numbers_name_what_has_no_closed_form():
    """E of three shifted ReLUs: a certified number, and the blocker beside it."""
    cov = [[1, "1/2", "1/2"], ["1/2", 1, "1/2"], ["1/2", "1/2", 1]]
    result = expect("relu(u - 1)*relu(v - 1)*relu(w - 2)", of="u v w", mean=[0, 0, 0], cov=cov)
    assert result.kind is Kind.INTEGRAL
    assert "orthant of dimension 3 away from the origin" in result.blockers[0]
    value = result.number()

    def rectified(i, a, y):
        mean, spread = a * y + (-1, -1, -2)[i], mpmath.sqrt(1 - a * a)
        return mean * mpmath.ncdf(mean / spread) + spread * mpmath.npdf(mean / spread)

    expected = integrated(rectified, [mpmath.sqrt(mpmath.mpf(1) / 2)] * 3)
    assert abs(value.mid - expected) < 1e-14
    assert value.rad < 1e-20


@pytest.mark.slow
def test_products_of_six_and_seven():
    names = ["a", "b", "d", "g", "h", "m", "n"]
    for size in (6, 7):
        cov = [[1 if i == j else "1/2" for j in range(size)] for i in range(size)]
        text = "*".join(f"step({name})" for name in names[:size])
        found = expect(text, of=" ".join(names[:size]), mean=[0] * size, cov=cov).number()
        with mpmath.workdps(40):
            assert abs(found.mid - mpmath.mpf(1) / (size + 1)) < 1e-20
        assert found.rad < 1e-20


def test_four_shifted_are_refused_by_name():
    cov = [[1 if i == j else "1/2" for j in range(4)] for i in range(4)]
    result = expect("step(a - 1)*step(b)*step(d)*step(g)", of="a b d g", mean=[0] * 4, cov=cov)
    assert "dimension 4 away from the origin" in result.blockers[0]
    with pytest.raises(EocError, match="no enclosure"):
        result.number()


def test_every_pair_of_correlations_matters():
    """A matrix without structure against its sign-flipped twins: the 16 orthants of four variables sum to 1."""
    with flint.ctx.workprec(60):
        r = one_factor(LOADS[:4])
        total = arb(0)
        for flipped in range(16):
            sign = [1 if flipped >> i & 1 else -1 for i in range(4)]
            turned = [row.copy() for row in r]
            for i, j in combinations(range(4), 2):
                turned[i][j] = turned[j][i] = sign[i] * sign[j] * r[i][j]
            total += at_origin(turned)
        assert total.contains(1)
        assert total.rad() < 1e-12
