"""Source text of the mean of four signs for array libraries.

The integrand over [0, 1] is even in t and its singularities are real, at |t| >= 1, where a minor of R(t)
vanishes. With t = tanh(s) they lie at |Im s| = pi/2 however near to t = 1 they are, and the trapezoidal rule
converges geometrically; s = A*sinh(i*h/A) spreads the nodes where the integrand has fallen off.
"""

from __future__ import annotations

import flint
from flint import arb

STEP = arb(1) / 4
STRETCH = 10
FARTHEST = 78


def rule() -> str:
    """(1 - t**2, weight) as text, rounded from rigorous enclosures; the first node is t = 0."""
    lines = []
    with flint.ctx.workprec(120):
        for k in range(FARTHEST + 1):
            place = k * STEP / STRETCH
            fall = 1 / (STRETCH * place.sinh()).cosh() ** 2
            weight = STEP * place.cosh() * fall / (2 if k == 0 else 1)
            lines.append(f"    ({float(fall.mid())!r}, {float(weight.mid())!r}),")
    return "\n".join(lines)


_SOURCE = '''
_TRAPEZOID = (
{rule}
)


def _partial(rkl, rjk, rjl):
    """rkl - rjk*rjl by the complements 1 - r, which are exact near 1."""
    return (1 - rjk) + (1 - rjl) - (1 - rkl) - (1 - rjk)*(1 - rjl)


def _minors(r1j, r1k, r1l, rjk, rjl, rkl):
    """1 - r1j**2, and N and its slope in 1 - t**2: N/sqrt(N**2 + (1 - r1j**2)*det) is the correlation given 1, j."""
    inside = (1 - r1j)*(1 + r1j)
    end = _partial(rkl, r1k, r1l)*inside - _partial(rjk, r1j, r1k)*_partial(rjl, r1j, r1l)
    return inside, end, _partial(rkl, rjk, rjl) - end


def _determinant(r12, r13, r14, r23, r24, r34):
    a22, a33, a44 = ((1 - r)*(1 + r) for r in (r12, r13, r14))
    a23, a24, a34 = _partial(r23, r12, r13), _partial(r24, r12, r14), _partial(r34, r13, r14)
    return a22*(a33*a44 - a34*a34) - a23*(a23*a44 - a34*a24) + a24*(a23*a34 - a33*a24)


def _sign_moment_value(r12, r13, r14, r23, r24, r34):
    """E[sign(z1 z2 z3 z4)] of four standard normal variables with these correlations."""
    s2, s3, s4 = (np.where(r < 0, -1, 1) for r in (r12, r13, r14))
    r12, r13, r14, r23, r24, r34 = s2*r12, s3*r13, s4*r14, s2*s3*r23, s2*s4*r24, s3*s4*r34
    pairs = (
        (r12, _minors(r12, r13, r14, r23, r24, r34)),
        (r13, _minors(r13, r12, r14, r23, r34, r24)),
        (r14, _minors(r14, r12, r13, r24, r34, r23)),
    )
    end = _determinant(r12, r13, r14, r23, r24, r34)
    slope = (1 - r23)*(1 + r23)*(1 - r24)*(1 + r24) - _partial(r34, r23, r24)**2 - end
    end, slope, total = np.where(end > 0, end, 0), np.where(slope > 0, slope, 0), 0*r12
    for fall, weight in _TRAPEZOID:
        root = np.sqrt(end + fall*slope)
        for r, (inside, above, steep) in pairs:
            width = inside + fall*r*r
            width = np.where(width > 0, width, 1)
            total = total + weight*r/np.sqrt(width)*np.arctan2(above + fall*steep, np.sqrt(width)*root)
    total = 0.4052847345693511*total
    for first, second in ((r12, r34), (r13, r24), (r14, r23)):  # two of the signs are equal or opposite
        total = np.where(np.abs(first) == 1, 0.6366197723675814*first*np.arcsin(second), total)
        total = np.where(np.abs(second) == 1, 0.6366197723675814*second*np.arcsin(first), total)
    return s2*s3*s4*total
'''


def sign_moment_source(namespace: str) -> str:
    """`_sign_moment_value(r12, r13, r14, r23, r24, r34)`."""
    text = _SOURCE.format(rule=rule())
    if namespace == "torch":
        text = text.replace("np.arctan2", "torch.atan2").replace("np.arcsin", "torch.asin")
    return text.replace("np.", f"{namespace}.")
