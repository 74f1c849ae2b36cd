"""Source text of the Faddeeva function w(x + iy), y >= 0, for array libraries.

w(z) = (2iz/pi) int_0^oo exp(-t**2)/(z**2 - t**2) dt by the trapezoidal or the midpoint rule of step
h = sqrt(pi/12), with the residue of the pole where it lies near the real line; of the two rules the one whose
nodes are farther from x. Relative error about 1e-15 (Al Azah and Chandler-Wilde 2021, SIAM J. Numer. Anal. 59, 2346).
"""

from __future__ import annotations

import flint
from flint import arb

TERMS = 13

_SOURCE = '''
_W_STEP = {step!r}
_W_WHOLE = {whole}
_W_HALF = {half}


def _w_rule(z, near, nodes, sign):
    """The sum over the nodes (t**2, weight) and, where asked for, the residue of the pole at t = z."""
    square, total = z*z, 0*z
    for place, weight in nodes:
        total = total + weight/(square - place)
    close = np.where(near, z, 1j)
    turn = np.exp({turn!r}j*close)
    return {factor!r}j*z*total + np.where(near, 2*np.exp(-close*close)*turn/(turn + sign), 0)


def _faddeeva(x, y):
    """exp(-z**2)*erfc(-i*z) at z = x + iy, y >= 0."""
    z, near = np.abs(x) + 1j*y, y < {border!r}
    part = np.abs(x)/_W_STEP - np.floor(np.abs(x)/_W_STEP)
    middle = (part >= 0.25) & (part <= 0.75)
    # each rule at points away from its own nodes
    whole = _w_rule(np.where(middle, z, {quarter!r} + 1j*y), near, _W_WHOLE, -1)
    half = _w_rule(np.where(middle, 1j*y, z), near, _W_HALF, 1)
    value = np.where(middle, whole, half)
    return np.where(x < 0, np.conj(value), value)


def _wave_cdf(h, b):
    """E[exp(i*b*z)*1{{z < h}}] for standard normal z, less exp(-b**2/2) where h > 0."""
    low = -np.where(np.abs(h) < 1e3, np.abs(h), 1e3)
    w = _faddeeva(0.7071067811865476*b, -0.7071067811865476*low)
    value = 0.5*np.exp(-0.5*low*low + 1j*low*b)*np.conj(w)
    return np.where(h > 0, -np.conj(value), value)


def _dawson_value(x):
    """exp(-x**2) times the integral of exp(t**2) from 0 to x."""
    return 0.886226925452758*np.imag(_faddeeva(x, 0*x))


def _cosine_cdf_value(h, b):
    """E[cos(b*z)*1{{z < h}}] for standard normal z."""
    return np.real(_wave_cdf(h, b)) + np.where(h > 0, np.exp(-0.5*b*b), 0)


def _sine_cdf_value(h, b):
    """E[sin(b*z)*1{{z < h}}] for standard normal z."""
    return np.imag(_wave_cdf(h, b))
'''

_PLAIN = """
def _dawson(x):
    return _dawson_value(x)


def _cosine_cdf(h, b):
    return _cosine_cdf_value(*np.broadcast_arrays(h, b))


def _sine_cdf(h, b):
    return _sine_cdf_value(*np.broadcast_arrays(h, b))
"""

_STATED = """
def _wave_density(h):
    return 0.3989422804014327*np.exp(-0.5*h*h)


_dawson = _differentiable(_dawson_value, {0: lambda x: 1 - 2*x*_dawson(x)}, ("x",))


_cosine_cdf_stated = _differentiable(
    _cosine_cdf_value,
    {
        0: lambda h, b: np.cos(b*h)*_wave_density(h),
        1: lambda h, b: np.sin(b*h)*_wave_density(h) - b*_cosine_cdf(h, b),
    },
    ("h", "b"),
)


_sine_cdf_stated = _differentiable(
    _sine_cdf_value,
    {
        0: lambda h, b: np.sin(b*h)*_wave_density(h),
        1: lambda h, b: -np.cos(b*h)*_wave_density(h) - b*_sine_cdf(h, b),
    },
    ("h", "b"),
)


def _cosine_cdf(h, b):
    return _cosine_cdf_stated(*np.broadcast_arrays(h, b))


def _sine_cdf(h, b):
    return _sine_cdf_stated(*np.broadcast_arrays(h, b))
"""


def faddeeva_source(namespace: str) -> str:
    """`_dawson(x)`, `_cosine_cdf(h, b)` and `_sine_cdf(h, b)` in NumPy's names or another library's."""
    with flint.ctx.workprec(120):
        step = (arb.pi() / (TERMS - 1)).sqrt()

        def nodes(first: arb) -> str:
            places = [(first + k) * step for k in range(TERMS)]
            pairs = [(float((t * t).mid()), float((-t * t).exp().mid() / (2 if t == 0 else 1))) for t in places]
            return "(\n" + "".join(f"    {pair!r},\n" for pair in pairs) + ")"

        text = _SOURCE.format(
            step=float(step.mid()),
            whole=nodes(arb(0)),
            half=nodes(arb(1) / 2),
            turn=float((2 * arb.pi() / step).mid()),
            factor=float((2 * step / arb.pi()).mid()),
            border=float((arb.pi() / step).mid()),
            quarter=float((step / 4).mid()),
        )
    text += "\n" + (_PLAIN if namespace == "np" else _STATED)
    if namespace == "torch":
        text = text.replace("np.broadcast_arrays", "torch.broadcast_tensors")
    return text.replace("np.", f"{namespace}.")


__all__ = ["faddeeva_source"]
