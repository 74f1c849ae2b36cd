"""The mean of the signs of four Gaussian variables, S_4 = E[sign(z1 z2 z3 z4)], by their six correlations.

Four-dimensional orthants at the origin are 1/16 + (six arcsines)/(8 pi) + S_4/16.
"""

from __future__ import annotations

from itertools import permutations, product

from sympy import Expr, Integer, Rational, asin, default_sort_key, pi, sqrt

from derive.program.operation import Operation
from derive.program.operations import ratio
from derive.program.sign_moment_balls import PLACES, sign_moment
from derive.program.sign_moment_source import sign_moment_source
from derive.program.special_head import SpecialFunction

_ORDERS = tuple(
    tuple(PLACES.index((min(order[i], order[j]), max(order[i], order[j]))) for i, j in PLACES)
    for order in permutations(range(4))
)
_FLIPS = tuple((flip, tuple(flip[i] * flip[j] for i, j in PLACES)) for flip in product((1, -1), repeat=4))


class SignMoment(SpecialFunction):
    """S_4(r12, r13, r14, r23, r24, r34) = E[sign(z1) sign(z2) sign(z3) sign(z4)].

    Symmetric under permutations of the variables, odd under z_i -> -z_i: the arguments are kept in one canonical
    order, with a sign in front. Kind: SPECIAL. Radius of `ball`: the working precision.
    """

    nargs = 6
    latex_name = "S_4"
    ball = staticmethod(sign_moment)

    @classmethod
    def eval(cls, *args):
        known = _independent(args)
        if known is not None:
            return known
        sign, ordered = _canonical(args)
        if sign == 0:
            return Integer(0)
        if all(r == Rational(1, 2) for r in ordered):
            return sign * Rational(1, 5)
        return None if (sign, ordered) == (1, args) else sign * cls(*ordered)

    def fdiff(self, argindex=1):
        """4 asin(rho)/(pi**2 sqrt(1 - r**2)), rho the correlation of the other two variables given these two."""
        i, j = PLACES[argindex - 1]
        k, m = (n for n in range(4) if n not in (i, j))
        r = {pair: value for place, value in zip(PLACES, self.args, strict=True) for pair in (place, place[::-1])}
        rest = 1 - r[i, j] ** 2
        minors = [rest - r[i, n] ** 2 - r[j, n] ** 2 + 2 * r[i, j] * r[i, n] * r[j, n] for n in (k, m)]
        above = r[k, m] * rest - r[i, k] * r[i, m] - r[j, k] * r[j, m]
        above += r[i, j] * (r[i, k] * r[j, m] + r[j, k] * r[i, m])
        return 4 * asin(above / sqrt(minors[0] * minors[1])) / (pi**2 * sqrt(rest))


def _independent(args: tuple[Expr, ...]) -> Expr | None:
    """The value where two variables are equal up to sign, or two pairs are independent."""
    for place, r in enumerate(args):
        if r in (1, -1):
            return r * 2 * asin(args[5 - place]) / pi
    for place in range(3):
        across = [r for n, r in enumerate(args) if n not in (place, 5 - place)]
        if all(r.is_zero for r in across):
            return 4 * asin(args[place]) * asin(args[5 - place]) / pi**2
    return None


def _canonical(args: tuple[Expr, ...]) -> tuple[int, tuple[Expr, ...]]:
    """(sign, arguments) with S_4(args) = sign * S_4(arguments); sign 0 where both signs lead to the same ones."""
    signs = [-1 if r.could_extract_minus_sign() else 1 for r in args]
    bodies = [sign * r for sign, r in zip(signs, args, strict=True)]
    ranked = sorted(set(bodies), key=default_sort_key)
    ranks = [ranked.index(body) for body in bodies]
    zero = [body.is_zero for body in bodies]
    best: tuple | None = None
    ordered: tuple[Expr, ...] = args
    found: set[int] = set()
    for order in _ORDERS:
        for flip, pairs in _FLIPS:
            turned = [0 if zero[n] else signs[n] * pair for n, pair in zip(order, pairs, strict=True)]
            key = (sum(s < 0 for s in turned), [ranks[n] for n in order], [-s for s in turned])
            if best is None or key < best:
                ordered = tuple(s * bodies[n] if s else bodies[n] for n, s in zip(order, turned, strict=True))
                best, found = key, set()
            if key == best:
                found.add(flip[0] * flip[1] * flip[2] * flip[3])
    return (0 if len(found) == 2 else found.pop()), ordered


def _exact(mp, *r):
    """The integral over the path t -> 1 + t (R - 1) (Plackett 1954, Biometrika 41, 351, applied to each pair)."""

    def slope(t):
        a, b, c, d, e, f = (t * x for x in r)
        det = 1 - a * a - b * b - c * c - d * d - e * e - f * f + (a * f) ** 2 + (b * e) ** 2 + (c * d) ** 2
        det += 2 * (a * b * d + a * c * e + b * c * f + d * e * f)
        det -= 2 * (a * b * e * f + a * c * d * f + b * c * d * e)
        total = mp.mpf(0)
        # each pair of variables with its correlation, that of the other two, and the four across
        for x, y, ik, im, jk, jm in (
            (a, f, b, c, d, e),
            (b, e, a, c, d, f),
            (c, d, a, b, e, f),
            (d, c, a, e, b, f),
            (e, b, a, d, c, f),
            (f, a, b, d, c, e),
        ):
            rest = 1 - x * x
            above = y * rest - ik * im - jk * jm + x * (ik * jm + jk * im)
            total += x / mp.sqrt(rest) * mp.atan2(above, mp.sqrt(max(rest * det, 0)))
        return total / t

    return 4 * mp.quad(slope, [0, 1]) / mp.pi**2


_NUMPY = (
    sign_moment_source("np")
    + """

def _sign_moment(r12, r13, r14, r23, r24, r34):
    return _sign_moment_value(*np.broadcast_arrays(r12, r13, r14, r23, r24, r34))
"""
)

_STATED = """

def _sign_moment_slope(r12, r13, r14, r23, r24, r34):
    inside, above, _ = _minors(r12, r13, r14, r23, r24, r34)
    square = inside*_determinant(r12, r13, r14, r23, r24, r34)
    root = np.sqrt(np.where(square > 0, square, 0))
    return _ratio(0.4052847345693511*np.arctan2(above, root), np.sqrt(inside))


_sign_moment_stated = _differentiable(
    _sign_moment_value,
    {
        0: _sign_moment_slope,
        1: lambda r12, r13, r14, r23, r24, r34: _sign_moment_slope(r13, r12, r14, r23, r34, r24),
        2: lambda r12, r13, r14, r23, r24, r34: _sign_moment_slope(r14, r12, r13, r24, r34, r23),
        3: lambda r12, r13, r14, r23, r24, r34: _sign_moment_slope(r23, r12, r24, r13, r34, r14),
        4: lambda r12, r13, r14, r23, r24, r34: _sign_moment_slope(r24, r12, r23, r14, r34, r13),
        5: lambda r12, r13, r14, r23, r24, r34: _sign_moment_slope(r34, r13, r23, r14, r24, r12),
    },
    ("r12", "r13", "r14", "r23", "r24", "r34"),
)


def _sign_moment(r12, r13, r14, r23, r24, r34):
    return _sign_moment_stated(*np.broadcast_arrays(r12, r13, r14, r23, r24, r34))
"""

_MPMATH = """
def _sign_moment(*r):
    \"\"\"The mean of four signs, by the path t -> 1 + t*(R - 1) (Plackett 1954, Biometrika 41, 351).\"\"\"

    def slope(t):
        a, b, c, d, e, f = (t*x for x in r)
        det = 1 - a*a - b*b - c*c - d*d - e*e - f*f + (a*f)**2 + (b*e)**2 + (c*d)**2
        det += 2*(a*b*d + a*c*e + b*c*f + d*e*f - a*b*e*f - a*c*d*f - b*c*d*e)
        total = mp.mpf(0)
        for x, y, ik, im, jk, jm in (
            (a, f, b, c, d, e),
            (b, e, a, c, d, f),
            (c, d, a, b, e, f),
            (d, c, a, e, b, f),
            (e, b, a, d, c, f),
            (f, a, b, d, c, e),
        ):
            rest = 1 - x*x
            above = y*rest - ik*im - jk*jm + x*(ik*jm + jk*im)
            total += x/mp.sqrt(rest)*mp.atan2(above, mp.sqrt(max(rest*det, 0)))
        return total/t

    return 4*mp.quad(slope, [0, 1])/mp.pi**2
"""


def _source(namespace: str) -> str:
    text = _STATED.replace("np.", f"{namespace}.")
    if namespace == "torch":
        text = text.replace("torch.arctan2", "torch.atan2").replace("torch.broadcast_arrays", "torch.broadcast_tensors")
    return ratio.OPERATION.helpers["jax" if namespace == "jnp" else namespace] + sign_moment_source(namespace) + text


OPERATION = Operation(
    name="sign_moment",
    arity=6,
    domain="correlations of four variables",
    build=SignMoment,
    head=SignMoment,
    ball=sign_moment,
    exact=_exact,
    backends={
        "numpy": "_sign_moment({0}, {1}, {2}, {3}, {4}, {5})",
        "torch": "_sign_moment({0}, {1}, {2}, {3}, {4}, {5})",
        "jax": "_sign_moment({0}, {1}, {2}, {3}, {4}, {5})",
        "mpmath": "_sign_moment({0}, {1}, {2}, {3}, {4}, {5})",
    },
    helpers={"numpy": _NUMPY, "torch": _source("torch"), "jax": _source("jnp"), "mpmath": _MPMATH},
    source="Plackett 1954, Biometrika 41, 351 (reduction); Childs 1967, Biometrika 54, 293 (orthants by mean signs)",
)
