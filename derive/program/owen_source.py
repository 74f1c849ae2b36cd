"""Source text of Owen's T and the bivariate normal distribution function for array libraries.

T(h, a) for |a| <= 1 by 24-point Gauss-Legendre on the part of [0, a] where exp(-h**2*x**2/2) > 2e-16
(relative error 2e-15, measured against 30 digits); for |a| > 1 through
T(h, a) + T(a h, 1/a) = (Q(h) + Q(a h))/2 - Q(h) Q(a h) (Owen 1956, equation 2.3).
"""

from __future__ import annotations

import flint
from flint import arb

NODES = 24


def rule() -> str:
    """The nodes and weights on [0, 1] as text, rounded from rigorous enclosures."""
    with flint.ctx.workprec(100):
        pairs = [arb.legendre_p_root(NODES, k, weight=True) for k in range(NODES)]
        nodes = [float(((1 + node) / 2).mid()) for node, _ in pairs]
        weights = [float((weight / 2).mid()) for _, weight in pairs]
    lines = [f"    ({node!r}, {weight!r})," for node, weight in zip(nodes, weights, strict=True)]
    return "\n".join(lines)


def owens_t_source(namespace: str, tail: str) -> str:
    """`_owens_t(h, a)`; `tail` is the spelling of 1 - Phi(x)."""
    return f'''
_GAUSS_LEGENDRE = (
{rule()}
)


def _owens_t_value(h, a):
    """Owen's T function."""
    height, slope = {namespace}.abs(h), {namespace}.abs(a)
    steep = slope > 1
    turned = {namespace}.where(height > 0, height*slope, 0)
    near = {namespace}.where(steep, turned, height)
    angle = {namespace}.where(steep, 1/{namespace}.where(steep, slope, 1), slope)
    end = {namespace}.where(near*angle > 8.5, 8.5/{namespace}.where(near > 1, near, 1), angle)
    total = 0
    for node, weight in _GAUSS_LEGENDRE:
        square = (node*end)**2
        total = total + weight*{namespace}.exp(-0.5*near*near*(1 + square))/(1 + square)
    inner = total*end/{2 * 3.141592653589793!r}
    q1, q2 = {tail.replace("x", "height")}, {tail.replace("x", "turned")}
    outer = {namespace}.where(height > 0, 0.5*(q1 + q2) - q1*q2, 0.25) - inner
    return {namespace}.where(a < 0, -1, 1)*{namespace}.where(steep, outer, inner)
'''


def bivariate_source(namespace: str, cdf: str, suffix: str) -> str:
    """`_bivariate_normal_cdf(h, k, rho, width)`; `cdf` is the spelling of Phi(x)."""
    np = namespace

    def phi(text: str) -> str:
        return cdf.replace("x", text)

    return f'''
def _towards(h, k, rho, width):
    """(k - rho*h)/width, with 1 - |rho| from the width: exact up to rho = +-1."""
    side = {np}.where(rho < 0, -1, 1)
    top = (k - side*h) + side*h*width*width/(1 + {np}.abs(rho))
    edge = {np}.where(top == 0, 0, {np}.where(top < 0, -{np}.inf, {np}.inf))
    return {np}.where(width > 0, top/{np}.where(width > 0, width, 1), edge)


def _slope(u, h):
    """u/h, with its limits at h = 0 and 0 where u = 0."""
    ratio = {np}.where(h == 0, {np}.inf, 1/{np}.where(h == 0, 1, h))
    return {np}.where(u == 0, 0, {np}.where(u == 0, 1, u)*ratio)


def _bivariate_normal_cdf{suffix}(h, k, rho, width):
    """P(X <= h, Y <= k) for standard normal X, Y with correlation rho, width = sqrt(1 - rho**2) (Owen 1956)."""
    u, v = _towards(h, k, rho, width), _towards(k, h, rho, width)
    first, second = _owens_t(h, _slope(u, h)), _owens_t(k, _slope(v, k))
    opposite = (h*k < 0) | ((h*k == 0) & (h + k < 0))
    low, high = {np}.minimum(h, k), {np}.maximum(h, k)
    mean = 0.5*{np}.where(opposite, {phi("low")} - {phi("(-high)")}, {phi("low")} + {phi("high")})
    origin = 0.5 - {np}.{"arctan2" if np != "torch" else "atan2"}(width, rho)/{2 * 3.141592653589793!r}
    value = {np}.where((h == 0) & (k == 0), origin, mean - first - second)
    return {np}.where(value > 0, value, 0)
'''
