"""Owen's T and the bivariate normal distribution function on real balls, with relative accuracy in the tails."""

from __future__ import annotations

import math

from flint import acb, arb, ctx

from derive.program.balls import NOWHERE, is_real

GUARD = 20
FARTHEST = 1024
ATTEMPTS = 3


def owens_t(args: list[acb], analytic: bool) -> acb:
    """T(h, a) on real balls; a may be infinite. Non-finite on complex balls."""
    if not all(is_real(arg) for arg in args) or any(arg.real.is_nan() for arg in args):
        return NOWHERE
    return acb(_t(args[0].real, args[1].real))


def bivariate_normal_cdf(args: list[acb], analytic: bool) -> acb:
    """Phi_2(h, k; rho) on real balls; h, k may be infinite. Non-finite on complex balls.

    Increasing in each of its three arguments (in rho: Slepian 1962; Plackett 1954 gives the
    derivative), so a ball is enclosed by the values at its two corners, which are exact numbers.
    """
    if not all(is_real(arg) for arg in args) or any(arg.real.is_nan() for arg in args):
        return NOWHERE
    h, k, rho = (arg.real for arg in args)
    if rho > 1 or rho < -1:
        return NOWHERE
    low, high = rho.lower(), rho.upper()
    low, high = (arb(-1) if not low > -1 else low), (arb(1) if not high < 1 else high)
    if h.is_exact() and k.is_exact() and rho.is_exact():
        return acb(_to_accuracy(h, k, low))
    return acb(_to_accuracy(h.lower(), k.lower(), low).union(_to_accuracy(h.upper(), k.upper(), high)))


def _to_accuracy(h: arb, k: arb, rho: arb) -> arb:
    """The value at exact arguments, with as many more bits as the size of the value asks for."""
    wanted = ctx.prec
    square = _squared_distance(h, k, rho)
    below = square / 2 / arb(2).log()
    if not below < FARTHEST:
        # the quadrant lies in a half-plane at this distance: P <= exp(-square/2)
        return arb(0).union((-square / 2).exp().upper())
    bits = wanted + GUARD + math.ceil(float(below.upper()))
    for _ in range(ATTEMPTS):
        with ctx.workprec(bits):
            value = _cdf(h, k, rho)
        if value.is_zero() or value.rel_accuracy_bits() >= wanted:
            break
        bits *= 2
    return +value if value > 0 else +value.nonnegative_part()


def _squared_distance(h: arb, k: arb, rho: arb) -> arb:
    """The smallest (x**2 - 2 rho x y + y**2)/(1 - rho**2) with x <= h, y <= k (a lower bound)."""
    if not (h.is_finite() and k.is_finite()) or (h >= 0 and k >= 0) or abs(rho) == 1:
        return arb(0)
    if h < 0 and rho * h <= k:
        return h * h
    if k < 0 and rho * k <= h:
        return k * k
    corner = (h * h - 2 * rho * h * k + k * k) / ((1 - rho) * (1 + rho))
    # a hair less: the comparisons above may have been left undecided by rounding
    return (corner * arb("0.99")).lower() if corner > 0 else arb(0)


def _cdf(h: arb, k: arb, rho: arb) -> arb:
    for first, second in ((h, k), (k, h)):
        if first == arb.neg_inf():
            return arb(0)
        if first == arb.pos_inf():
            return _phi(second)
    if rho == 1:
        return _phi(h.min(k))
    if rho == -1:
        return _phi(h) - _phi(-k) if h + k > 0 else arb(0)
    width = ((1 - rho) * (1 + rho)).sqrt()
    if h == 0 and k == 0:
        return arb(1) / 4 + arb.atan2(rho, width) / (2 * arb.pi())
    # Owen 1956, equation 2.1 (his T with slopes (k/h - rho)/sqrt(1 - rho**2))
    value = (_phi(h) + _phi(k)) / 2 - _t_towards(h, k - rho * h, width) - _t_towards(k, h - rho * k, width)
    opposite = h * k < 0 or (h * k == 0 and h + k < 0)
    return value - arb(1) / 2 if opposite else value


def _t_towards(h: arb, numerator: arb, width: arb) -> arb:
    """T(h, numerator/(h*width)), with its limit at h = 0 (numerator is not zero there)."""
    if h == 0:
        return arb(1) / 4 if numerator > 0 else -arb(1) / 4
    return _t(h, numerator / (h * width))


def _phi(x: arb) -> arb:
    if x == arb.pos_inf():
        return arb(1)
    if x == arb.neg_inf():
        return arb(0)
    return (-x / arb(2).sqrt()).erfc() / 2


def _t(h: arb, a: arb) -> arb:
    h = abs(h)
    if a.is_zero():
        return arb(0)
    if a < 0:
        return -_t(h, -a)
    if not a > 0:  # undecided sign: odd and increasing in a
        return _t_hull(h, a)
    return _t_positive(h, a)


def _t_hull(h: arb, a: arb) -> arb:
    low, high = a.lower(), a.upper()
    down = -_t_positive(h, -low) if low < 0 else arb(0)
    up = _t_positive(h, high) if high > 0 else arb(0)
    return down.union(up)


def _t_positive(h: arb, a: arb) -> arb:
    """T(h, a) for h >= 0 and a > 0."""
    if a == arb.pos_inf():
        return _phi(-h) / 2
    if not a > 1:
        return _t_integral(h, a)
    # T(h, a) + T(a h, 1/a) = (Q(h) + Q(a h))/2 - Q(h) Q(a h), with Q = 1 - Phi (Owen 1956, equation 2.3)
    q1, q2 = _phi(-h), _phi(-a * h)
    return (q1 + q2) / 2 - q1 * q2 - _t_integral(a * h, 1 / a)


def _t_integral(h: arb, a: arb) -> arb:
    """The defining integral, for 0 <= a up to about 1; the large factor exp(-h**2/2) stands outside."""
    square = acb(h * h / 2)

    def integrand(x: acb, analytic: bool) -> acb:
        y = x * x
        return (-square * y).exp() / (1 + y)

    integral = acb.integral(integrand, acb(0), acb(a)).real
    return (-square.real).exp() * integral / (2 * arb.pi())
