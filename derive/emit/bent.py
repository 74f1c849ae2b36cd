"""Piecewise polynomials at large and small variances: closed forms cancel there, and are integrated instead.

For phi piecewise linear, with bends h_i of its slope at a_i, Price's theorem (1958) twice gives
E phi(u) phi(v) = E phi(u) E phi(v) + K E phi'(u) E phi'(v) + int_0^K (K - s) sum_ij h_i h_j p(a_i, a_j; s) ds
with p the density of the pair at covariance s; for phi piecewise constant, with jumps h_i, the same holds with the
integral of the sum alone, and for phi continuous and piecewise quadratic it is taken three times. With
s = sqrt(q1 q2) sin t and z = a_i a_j sin t/(sqrt(q1 q2) cos(t)^2) the density at two points is that of independent u
and v times exp(z), and sums of bends are taken of its expm1: nothing cancels where the bends add up to 0. Expectations
of one variable are their tails and Gauss-Legendre between the breakpoints.
"""

from __future__ import annotations

from derive.emit.small import _SPELLING

_SOURCE = '''
_BENT = {gauss}


def _between(f, q, low, high):
    """E f(x) on low < x < high, x ~ N(0, q), for f smooth there."""
    nodes, weights = _BENT
    root, total = {np}.sqrt(q), 0*q
    for start, end in ((-13.0, -4.0), (-4.0, 0.0), (0.0, 4.0), (4.0, 13.0)):
        first, last = {clip}(low/root, start, end), {clip}(high/root, start, end)
        for node, weight in zip(nodes, weights):
            z = first + (last - first)*node
            total = total + weight*(last - first)*f(root*z)*{np}.exp(-0.5*z*z)
    return 0.3989422804014327*total


def _excess(x, y, sine, cosine):
    """The joint density at x cosine and y cosine less the product of the two, over 1/(2 pi cosine)."""
    z = x*y*sine
    apart = 0.5*(x - y)**2 + x*y*cosine*cosine/(1 + sine)
    less = {np}.expm1(-{np}.abs(z))
    return {np}.exp(-{np}.where(z > 0, apart, 0.5*(x*x + y*y)))*{np}.where(z > 0, -less, less)


def _mass(heights, xs):
    """The sum of heights times exp(-x**2/2), where the heights may add up to 0."""
    return sum(heights) + sum(h*{np}.expm1(-0.5*x*x) for h, x in zip(heights, xs))


def _joint(one, two, sine, cosine, heights):
    """The sum over pairs of bends of the product of heights and the density."""
    total = _mass(heights, one)*_mass(heights, two)
    for h, x in zip(heights, one):
        for g, y in zip(heights, two):
            total = total + h*g*_excess(x, y, sine, cosine)
    return total


def _joint_of_kinks(one, two, sine, cosine, heights, mirrored, left, right):
    """The same where the third derivative is a sum of heights times Dirac's delta and kinks times its derivative."""
    far = [{np}.exp(-0.5*x*x) for x in one], [{np}.exp(-0.5*y*y) for y in two]
    p, r = (sum(k*e for k, e in zip(kinks, es)) for kinks, es in zip((left, right), far))
    px, ry = (sum(k*x*e for k, x, e in zip(ks, xs, es)) for ks, xs, es in zip((left, right), (one, two), far))
    first, second = _mass(heights, one) + px, _mass(mirrored, two) + ry
    firsts = sum((h + k*x)*x*e for h, k, x, e in zip(heights, left, one, far[0]))
    seconds = sum((h + k*y)*y*e for h, k, y, e in zip(mirrored, right, two, far[1]))
    total = first*second + sine*(p*r - firsts*r - p*seconds + sine*px*ry)
    for h, k, x in zip(heights, left, one):
        for g, m, y in zip(mirrored, right, two):
            factor = (h + k*(x - sine*y))*(g + m*(y - sine*x)) + k*m*sine
            total = total + factor*_excess(x, y, sine, cosine)
    return total


def _bends(q1, q2, c, places, heights, order, kinks=()):
    """The remainder of order 1, 2, 3 of Taylor's formula in the covariance: the integral over t, sin t from 0 to c,
    of (c - sin t)**(order - 1) times a sum of densities at the bends, on panels that shrink towards t = pi/2."""
    nodes, weights = _BENT
    side = {np}.where(c < 0, -{np}.ones_like(c), {np}.ones_like(c))
    beside = {atan2}({np}.sqrt((1 - c)*(1 + c)), {np}.abs(c))
    total = 0*c
    for k in range(10):
        start, end = 1.5707963267948966*0.25**k, 1.5707963267948966*0.25**(k + 1) if k < 9 else 0.0
        width = {np}.where(beside < start, start - {np}.where(beside > end, beside, end + 0*beside), 0*beside)
        for node, weight in zip(nodes, weights):
            d = start - width*node
            sine, cosine = {np}.cos(d), {np}.sin(d)
            one = [place/({np}.sqrt(q1)*cosine) for place in places]
            two = [side*place/({np}.sqrt(q2)*cosine) for place in places]
            step = 0.5*(d - beside)
            lead = (2*{np}.sin(step)*{np}.sin(beside + step))**(order - 1)
            if order < 3:
                density = _joint(one, two, sine, cosine, heights)
            else:
                slopes = [[kink/({np}.sqrt(q)*cosine) for kink in kinks] for q in (q1, q2)]
                density = _joint_of_kinks(one, two, sine, cosine, heights, [side*h for h in heights], *slopes)
            density = lead*density
            total = total + weight*width*density
    scale = ({np}.sqrt(q1)*{np}.sqrt(q2))**(order - 1)
    return (side if order == 1 else scale/(order - 1))*total/6.283185307179586
'''

_MORE = {
    "numpy": {"clip": "np.clip", "atan2": "np.arctan2"},
    "torch": {"clip": "torch.clip", "atan2": "torch.atan2"},
    "jax": {"clip": "jnp.clip", "atan2": "jnp.arctan2"},
}


def bent_source(backend: str) -> str:
    """The functions that every integrated value of a piecewise polynomial shares."""
    from derive.program.owen_source import nodes_and_weights

    spelling = {"np": _SPELLING[backend]["np"], **_MORE[backend]}
    return _SOURCE.format(gauss=repr(nodes_and_weights(20)), **spelling).strip("\n")
