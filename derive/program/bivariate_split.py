"""Source text of Phi_2 for arrays whose values are seen: near and far points apart, sums in the processor's cache.

The same formulas as `owen_source`; of T(h, a) for h**2 (1 + a**2) < 6 the integrand is even in x, so that 12 points of
the 24-point rule on [-a, a] are enough (relative error below 1e-15: the nearest pole is at x = i).
"""

from __future__ import annotations

_SPLIT = '''
def _split_t(h, u, q):
    """Owen's T(h, u/h) for h**2 + u**2 < 6; q is 1 - Phi(|h|)."""
    height, other = np.abs(h), np.abs(u)
    steep = other > height
    first, second = np.where(steep, other, height), np.where(steep, height, other)
    angle = second/np.where(first > 0, first, 1)
    square, scaled, total = angle*angle, -0.5*first*first, 0.0
    if bool((angle > 1e-15).any()):
        for node, weight in zip(*_EVEN):
            x = 1 + (node*node)*square
            total = total + weight*np.exp(scaled*x)/x
    total = 0.15915494309189535*angle*total
    p = 0.5*{erfc}(0.7071067811865476*other)
    return np.where(steep, 0.5*(q + p) - q*p - total, total)*np.where((h < 0) ^ (u < 0), -1, 1)


def _split_near(e, h, k, rho, width, u, v):
    """exp(e)*Phi_2 by Owen's T (1956, equation 2.1), for points near the origin."""
    q, p = 0.5*{erfc}(0.7071067811865476*np.abs(h)), 0.5*{erfc}(0.7071067811865476*np.abs(k))
    opposite = (h*k < 0) | ((h*k == 0) & (h + k < 0))
    apart, alike = np.where(h < 0, q - p, p - q), np.where((h < 0) | (k < 0), q + p, 2 - q - p)
    value = 0.5*np.where(opposite, apart, alike) - _split_t(h, u, q) - _split_t(k, v, p)
    both = (h == 0) & (k == 0)
    if bool(both.any()):
        value = np.where(both, 0.5 - {atan2}(width, rho)/6.283185307179586, value)
    return np.exp(e)*value


def _split_beyond(h, u):
    """B(h, u)*exp((h**2 + u**2)/2)."""
    h, u = np.abs(h), np.clip(np.abs(u), 0.0, 1e6)
    end, square, total = 72/(np.sqrt(u*u + 72) + u), h*h, 0.0
    for node, weight in zip(_NODES, _WEIGHTS):
        s = node*end
        w = u + s
        total = total + weight*np.exp(-s*(u + 0.5*s))/(square + w*w)
    return total*end*h/6.283185307179586


def _split_piece(e, half, h, u):
    """The share of h in exp(e)*Phi_2, less exp(e)/2 where h >= 0."""
    beyond = np.exp(e - half)*_split_beyond(h, u)
    return np.where(h < 0, 1, -1)*np.where(u > 0, _exp_normal_cdf(e, -np.abs(h)) - beyond, beyond)


def _split_far(e, h, k, u, v, half):
    """exp(e)*Phi_2 for points far from the origin."""
    value = _split_piece(e, half, h, u) + _split_piece(e, half, k, v)
    both = (h >= 0) & (k >= 0)
    return np.where(both, value + np.exp(np.where(both, e, 0)), value)


def _exp_bivariate_split(e, h, k, rho, width):
    """exp(e)*P(X <= h, Y <= k) for arrays of one dimension."""
    u, v = _towards(h, k, rho, width), _towards(k, h, rho, width)
    half = _half_square(h, k, rho, width)
    far = half >= 3
    if bool(far.all()):
        value = _split_far(e, h, k, u, v, half)
    elif not bool(far.any()):
        value = _split_near(e, h, k, rho, width, u, v)
    else:
        value, near = np.empty_like(half), ~far
        value[far] = _split_far(*(part[far] for part in (e, h, k, u, v, half)))
        value[near] = _split_near(*(part[near] for part in (e, h, k, rho, width, u, v)))
    return np.where(value > 0, value, 0*value)
'''


def split_source(namespace: str) -> str:
    """`_exp_bivariate_split(e, h, k, rho, width)` for np or torch; it calls functions of `bivariate_source`."""
    erfc, atan2 = {"np": ("erfc", "np.arctan2"), "torch": ("torch.erfc", "torch.atan2")}[namespace]
    source = _SPLIT.format(erfc=erfc, atan2=atan2)
    return source.replace("np.", "torch.") if namespace == "torch" else source
