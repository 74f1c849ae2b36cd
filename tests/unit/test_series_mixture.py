"""tanh as a mixture of error functions: the bound is proved, tight enough, and rejects what is wrong."""

from fractions import Fraction

import flint
import mpmath
import pytest
from flint import acb, arb, fmpq

from derive.gaussian.series.kolmogorov import density, line_integral
from derive.gaussian.series.mixture import _step, certify, hermite_coefficients, mixture
from derive.gaussian.series.tanh_powers import derivative_in_tanh, largest_derivative, power_in_derivatives
from derive.records import DomainError

POINTS = [Fraction(10) ** e * m for e in range(-6, 4) for m in (1, 2, 3, 5, 7)]


def ball(value):
    return arb(fmpq(value.numerator, value.denominator))


def difference(found, x, order):
    """tanh^(order)(x) less the mixture, as a ball."""
    x, root, total = ball(x), arb(2).sqrt(), arb(0)
    for s, w in zip(found.scales, found.weights, strict=True):
        z = x / ball(s)
        if order == 0:
            total += ball(w) * (z / root).erf()
        else:
            he = sum((c * z**n for n, c in enumerate(hermite_coefficients(order - 1))), arb(0))
            value = (2 / arb.pi()).sqrt() * (-1) ** (order - 1) * he * (-z * z / 2).exp()
            total += ball(w) * value / ball(s) ** order
    truth = sum((ball(c) * x.tanh() ** n for n, c in enumerate(derivative_in_tanh(order))), arb(0))
    return truth - total


@pytest.mark.parametrize(
    ("accuracy", "slopes"), [("1e-2", 0), ("1e-6", 1), ("1e-14", 0), ("1e-14", 3), ("1e-10", 4), ("1e-30", 1)]
)
def test_the_bound_holds_at_every_point_and_meets_the_accuracy(accuracy, slopes):
    found = mixture(Fraction(accuracy), slopes)
    assert len(found.bounds) == slopes + 1
    assert all(0 < bound <= Fraction(accuracy) for bound in found.bounds)
    assert sum(found.weights) == 1
    assert min(found.weights) > 0
    with flint.ctx.workprec(300):
        for order, bound in enumerate(found.bounds):
            worst = max(abs(difference(found, x, order)).upper() for x in POINTS)
            assert worst <= ball(bound)
            assert worst > 0


def test_few_terms_suffice():
    assert len(mixture(Fraction(1, 10**14)).scales) <= 30
    assert len(mixture(Fraction(1, 10**6)).scales) <= 14


def spoil(values, i, factor):
    return tuple(v * factor if j == i else v for j, v in enumerate(values))


def first_node(found, step):
    return round(mpmath.log(mpmath.mpf(found.scales[0].numerator) / found.scales[0].denominator) / float(step))


@pytest.mark.parametrize("factor", [Fraction(99, 100), Fraction(1000001, 1000000), Fraction(-1)])
def test_a_wrong_weight_or_scale_is_rejected(factor):
    accuracy = Fraction(1, 10**12)
    found = mixture(accuracy, 1)
    goal = float(accuracy)
    with flint.ctx.workprec(140):
        while True:  # the step that was taken: the goal is halved until the bounds hold
            step = _step(goal, 1)
            first = first_node(found, step)
            if certify(found.scales, found.weights, step, first, 0) <= accuracy:
                break
            goal /= 2
            assert goal > 1e-14
        for order in (0, 1):
            assert certify(found.scales, found.weights, step, first, order) <= accuracy
            middle = len(found.scales) // 2
            assert certify(found.scales, spoil(found.weights, middle, factor), step, first, order) > accuracy
            if factor > 0:
                assert certify(spoil(found.scales, middle, factor), found.weights, step, first, order) > accuracy
            assert certify(found.scales[1:-3], found.weights[1:-3], step, first + 1, order) > accuracy


def test_both_forms_of_the_density_agree_and_it_integrates_to_one():
    with flint.ctx.workprec(120):
        for angle in ("0", "0.3", "0.65"):
            left, right = (density(acb(arb(t), arb(angle))) for t in ("-1e-6", "1e-6"))
            whole = density(acb(arb(0, 2e-6), arb(angle)))
            assert whole.overlaps(left)
            assert whole.overlaps(right)
            assert abs(left - right) < 1e-3
        total = sum((density(acb(arb(j) / 16)).real for j in range(-70, 60)), arb(0)) / 16
        assert abs(total - 1) < arb("1e-25")
    # E S^-1 sqrt(2/pi) = tanh'(0) = 1; on a line off the axis the modulus is larger
    assert 1 < line_integral(0.01, 0) < 1.15
    assert (mpmath.pi / 2) ** 0.5 < float(line_integral(0.01, 1)) < 1.15 * (mpmath.pi / 2) ** 0.5


def test_powers_of_tanh_are_combinations_of_derivatives():
    with mpmath.workdps(40):
        x = mpmath.mpf("0.37")
        for power in range(1, 7):
            constant, coefficients = power_in_derivatives(power)
            total = mpmath.mpf(constant.numerator) / constant.denominator
            for order, c in enumerate(coefficients):
                slope = mpmath.diff(mpmath.tanh, x, order)
                total += mpmath.mpf(c.numerator) / c.denominator * slope
                assert abs(slope) <= float(largest_derivative(order))
            assert abs(total - mpmath.tanh(x) ** power) < mpmath.mpf(10) ** -20


def test_accuracies_that_are_none_are_refused():
    for accuracy in (Fraction(0), Fraction(1, 10**60), Fraction(1)):
        with pytest.raises(DomainError):
            mixture(accuracy)
