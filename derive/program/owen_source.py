"""Source text of Owen's T and the bivariate normal distribution function for array libraries.

T(h, a) for |a| <= 1 by 24-point Gauss-Legendre on the part of [0, a] where exp(-h**2*x**2/2) > 2e-16
(relative error 2e-15, measured against 30 digits); for |a| > 1 through
T(h, a) + T(a h, 1/a) = (Q(h) + Q(a h))/2 - Q(h) Q(a h) (Owen 1956, equation 2.3).
"""

from __future__ import annotations

import flint
from flint import arb

NODES = 24


def nodes_and_weights(n: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The n-point Gauss-Legendre rule on [0, 1], rounded from rigorous enclosures."""
    with flint.ctx.workprec(100):
        pairs = [arb.legendre_p_root(n, k, weight=True) for k in range(n)]
        nodes = tuple(float(((1 + node) / 2).mid()) for node, _ in pairs)
        return nodes, tuple(float((weight / 2).mid()) for _, weight in pairs)


def rule() -> str:
    """The nodes and weights on [0, 1] as text."""
    listed = zip(("_NODES", "_WEIGHTS"), nodes_and_weights(NODES), strict=True)
    return "\n".join(f"{name} = (\n{_wrapped(values)}\n)" for name, values in listed)


def _wrapped(values: tuple[float, ...]) -> str:
    """Numbers six a line."""
    rows = (values[i : i + 6] for i in range(0, len(values), 6))
    return "\n".join("    " + ", ".join(repr(v) for v in row) + "," for row in rows)


CONSTANTS = {
    "np": "np.array(_NODES, dtype=end.dtype), np.array(_WEIGHTS, dtype=end.dtype)",
    "torch": "end.new_tensor(_NODES), end.new_tensor(_WEIGHTS)",
    "jnp": "jnp.array(_NODES, dtype=end.dtype), jnp.array(_WEIGHTS, dtype=end.dtype)",
}


def gauss_source(namespace: str) -> str:
    """`_integral(f, end, *arguments)`, the integral of f(s, ...) over s in [0, end], on one more axis."""
    return f'''
{rule()}


def _integral(f, end, *arguments):
    """The integral of f(s, *arguments) over s from 0 to end, by Gauss-Legendre on a last axis."""
    nodes, weights = {CONSTANTS[namespace]}
    return (f(nodes*end[..., None], *(argument[..., None] for argument in arguments)) @ weights)*end
'''


def owens_t_source(namespace: str, tail: str) -> str:
    """`_owens_t(h, a)`; `tail` is the spelling of 1 - Phi({0})."""
    return f'''
{gauss_source(namespace).strip()}


def _owens_density(s, h):
    """exp(-h**2*(1 + s**2)/2)/(1 + s**2)."""
    square = 1 + s*s
    return {namespace}.exp(-0.5*h*h*square)/square


def _owens_t_value(h, a):
    """Owen's T function."""
    height, slope = {namespace}.abs(h), {namespace}.abs(a)
    steep = slope > 1
    turned = {namespace}.where(height > 0, height, 1)*{namespace}.where(height > 0, slope, 0)
    near = {namespace}.where(steep, turned, height)
    angle = {namespace}.where(steep, 1/{namespace}.where(steep, slope, 1), slope)
    end = {namespace}.where(near*angle > 8.5, 8.5/{namespace}.where(near > 1, near, 1), angle)
    inner = _integral(_owens_density, end, near)/{2 * 3.141592653589793!r}
    q1, q2 = {tail.format("height")}, {tail.format("turned")}
    outer = {namespace}.where(height > 0, 0.5*(q1 + q2) - q1*q2, 0.25) - inner
    return {namespace}.where(a < 0, -1, 1)*{namespace}.where(steep, outer, inner)
'''


def exp_cdf_source(namespace: str, erfc: str, erfcx: str) -> str:
    """`_exp_normal_cdf(e, h)`, exp(e)*Phi(h) as exp(e - h**2/2)*erfcx(-h/sqrt(2))/2 for h < 0."""
    np = namespace
    return f'''
def _exp_normal_cdf(e, h):
    """exp(e)*Phi(h), also where exp(e) overflows and Phi(h) vanishes."""
    low = h < 0
    below, above = {np}.where(low, h, 0), {np}.where(low, 0, h)
    scaled = {np}.exp({np}.where(low, e - 0.5*h*h, 0))*{erfcx}(-0.7071067811865476*below)
    return 0.5*{np}.where(low, scaled, {np}.exp({np}.where(low, 0, e))*{erfc}(-0.7071067811865476*above))
'''


MILLS = '''
def _mills_density(s, h):
    """exp(-h*s - s**2/2)."""
    return jnp.exp(-s*(h + 0.5*s))


def _mills(h):
    """(1 - Phi(h))*exp(h**2/2) for h >= 2, times sqrt(2 pi)."""
    return _integral(_mills_density, 72/(jnp.sqrt(h*h + 72) + h), h)


def _erfcx(x):
    """exp(x**2)*erfc(x)."""
    far = x > 2
    near = jnp.where(far, 0, x)
    tail = 0.7978845608028654*_mills(1.4142135623730951*jnp.where(far, jnp.minimum(x, 1e18), 2))
    return jnp.where(far, tail, jnp.exp(near*near)*jax.scipy.special.erfc(near))
'''
"""erfcx for JAX, which has none: the integral of Mills' ratio by Gauss-Legendre."""

_BIVARIATE = '''
def _towards(h, k, rho, width):
    """(k - rho*h)/width, with 1 - |rho| from the width: exact up to rho = +-1."""
    side = np.where(rho < 0, -1, 1)
    return _ratio((k - side*h) + side*h*width*width/(1 + np.abs(rho)), width)


def _half_square(h, k, rho, width):
    """(h**2 - 2*rho*h*k + k**2)/(2*width**2)."""
    side = np.where(rho < 0, -1, 1)
    return _ratio((h - side*k)**2, 2*width*width) + side*h*k/(1 + np.abs(rho))


def _beyond_density(s, h, u):
    """exp(-u*s - s**2/2)/(h**2 + (u + s)**2)."""
    return np.exp(-s*(u + 0.5*s))/(h*h + (u + s)**2)


def _beyond(h, u):
    """B(h, u)*exp((h**2 + u**2)/2)."""
    h, u = np.abs(h), np.where(np.abs(u) < 1e6, np.abs(u), 1e6)
    end = 72/(np.sqrt(u*u + 72) + u)
    return _integral(_beyond_density, end, h, u)*h/6.283185307179586


def _piece(e, half, h, u):
    """The share of h in exp(e)*Phi_2, less exp(e)/2 where h >= 0."""
    side = np.where(h < 0, 1, -1)
    beyond = np.exp(e - half)*_beyond(h, u)
    return side*np.where(u > 0, _exp_normal_cdf(e, -np.abs(h)) - beyond, beyond)


def _near_t(h, u):
    """Owen's T(h, u/h) for h**2 + u**2 < 6: the integrand is even, so half the points of a rule on both sides."""
    nodes, weights = {constants}
    height, other = np.abs(h), np.abs(u)
    steep = other > height
    first, second = np.where(steep, other, height), np.where(steep, height, other)
    angle = second/np.where(first > 0, first, 1)
    x = 1 + (nodes*angle[..., None])**2
    total = 0.15915494309189535*angle*((np.exp(-0.5*(first*first)[..., None]*x)/x) @ weights)
    q, p = {first}, {second}
    return np.where(steep, 0.5*(q + p) - q*p - total, total)*np.where((h < 0) ^ (u < 0), -1, 1)


def _near(h, k, rho, width, u, v):
    """Phi_2 by Owen's T (1956, equation 2.1), for points near the origin."""
    both = (h == 0) & (k == 0)
    low, high = np.where(h < k, h, k), np.where(h < k, k, h)
    opposite = (h*k < 0) | ((h*k == 0) & (h + k < 0))
    zero = np.zeros_like(h)
    mean = _exp_normal_cdf(zero, low) + np.where(opposite, -_exp_normal_cdf(zero, -high), _exp_normal_cdf(zero, high))
    origin = 0.5 - np.arctan2(np.where(both, width, 1), np.where(both, rho, 1))/6.283185307179586
    return np.where(both, origin, 0.5*mean - _near_t(h, u) - _near_t(k, v))


def _exp_bivariate_value(e, h, k, rho, width):
    """exp(e)*P(X <= h, Y <= k), standard normal X, Y of correlation rho, width = sqrt(1 - rho**2)."""
    u, v = _towards(h, k, rho, width), _towards(k, h, rho, width)
    half = _half_square(h, k, rho, width)
    far = half >= 3
    e_far, h_far, k_far = np.where(far, e, 0), np.where(far, h, -3), np.where(far, k, -3)
    u_far, v_far, half_far = np.where(far, u, 0), np.where(far, v, 0), np.where(far, half, 4.5)
    tail = _piece(e_far, half_far, h_far, u_far) + _piece(e_far, half_far, k_far, v_far)
    both = (h_far >= 0) & (k_far >= 0)
    tail = np.where(both, tail + np.exp(np.where(both, e_far, 0)), tail)
    near = np.exp(np.where(far, 0, e))*_near(
        np.where(far, 0, h), np.where(far, 0, k), rho, width, np.where(far, 0, u), np.where(far, 0, v)
    )
    value = np.where(far, tail, near)
    return np.where(value > 0, value, 0)
'''


def even_rule() -> str:
    """`_EVEN`, the positive nodes of the rule on [-1, 1] and their doubled weights, as text."""
    pairs = zip(*nodes_and_weights(NODES), strict=True)
    right = zip(*((2 * node - 1, 2 * weight) for node, weight in pairs if node > 0.5), strict=True)
    return "_EVEN = (" + ", ".join(f"(\n{_wrapped(values)}\n)" for values in right) + ")"


def bivariate_head(namespace: str) -> str:
    """`_towards` and `_half_square` alone."""
    source = bivariate_source(namespace)
    return source[: source.index("def _beyond_density(")].rstrip()


def bivariate_source(namespace: str) -> str:
    """`_exp_bivariate_value(e, h, k, rho, width)`: exp(e)*Phi_2(h, k; rho), relatively accurate in the tails.

    With u = (k - rho h)/width and r**2 = h**2 + u**2 = k**2 + v**2 let
    B(h, u) = Q(|h|)/2 - T(|h|, |u/h|) = exp(-r**2/2) |h|/(2 pi) int_0^oo exp(-|u| s - s**2/2)/(h**2 + (|u| + s)**2) ds,
    which Gauss-Legendre gives to a relative 1e-15 for r**2 >= 6. Owen's formula is then a sum of terms
    B and Phi(-|h|) - B that do not cancel. Nearer than that nothing is small and his T is used as it stands.
    """
    array = {"np": "np.array({0}, dtype=u.dtype)", "torch": "u.new_tensor({0})", "jnp": "np.array({0}, dtype=u.dtype)"}
    constants = ", ".join(array[namespace].format(f"_EVEN[{i}]") for i in (0, 1))
    erfc = {"np": "erfc", "torch": "torch.erfc", "jnp": "jax.scipy.special.erfc"}[namespace]
    tails = {
        word: f"0.5*{erfc}(0.7071067811865476*{name})" for word, name in (("first", "height"), ("second", "other"))
    }
    source = _BIVARIATE
    for field, text in {"constants": constants, **tails}.items():
        source = source.replace("{" + field + "}", text)
    source = source.replace("np.arctan2", "np.atan2") if namespace == "torch" else source
    return source.replace("np.", f"{namespace}.")
