"""Enclosures of expectations over pairs of maxima: one integral over the plane, whatever the number of units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import flint
from flint import acb, arb

from derive.gaussian.enclosure.growth import tail
from derive.gaussian.enclosure.quadrature import best_bound, rule, upper
from derive.gaussian.maxima.mehler import normal_cdf, phi2_on_grid
from derive.records import Unsupported

POINTS = 48
RHOS = (2.0, 3.0, 4.5, 7.0, 12.0, 25.0)
DEEPEST = 12


@dataclass(frozen=True)
class Axis:
    """One input's side of the integral: h(sigma s) ds over s, cut into panels.

    nodes, weights   quadrature nodes in units of sigma, weights with h inside
    error            bound of the rule's remainder per unit of the other factor, integrated over |s| < reach
    mass             bound of the integral of |h| over |s| < reach
    beyond           bound of the integral of |h| exp(-3 s^2/8) over |s| > reach
    far              the same with exp(-s^2/4)
    """

    nodes: list[arb]
    weights: list[arb]
    error: arb
    mass: arb
    beyond: arb
    far: arb


def axis(h, jumps: tuple[tuple[arb, arb], ...], sigma: arb, width: arb, k: int, reach: float, goal: float) -> Axis:
    """Panels, nodes and bounds for one input.

    h      the analysed function; jumps are (place, height) of Dirac parts beside it
    width  sqrt(1 - c^2): a shift of s by i y multiplies the modulus of Phi_2^k by at most exp(k y^2/(2 width^2)),
           because the bivariate density at a complex shift does
    """
    nodes, weights, error, mass, atoms = [], [], arb(0), arb(0), arb(0)
    edges = [arb(-reach), *(e / sigma for e in h.breaks if abs(e / sigma) < reach), arb(reach)]
    points, ws = rule(POINTS, flint.ctx.prec)
    for piece, (left, right) in enumerate(pairwise(edges), sum(1 for e in h.breaks if e / sigma <= -reach)):
        for middle, half, remainder, size in _panels(h, piece, sigma, left.mid(), right.mid(), width, k, goal):
            error, mass = error + remainder * half, mass + 2 * half * size
            for x, w in zip(points, ws, strict=True):
                s = middle + half * x
                nodes.append(s)
                weights.append(w * half * sigma * h.value(piece, acb(sigma * s), False).real)
    for place, height in jumps:
        nodes.append(place / sigma)
        weights.append(height)
        atoms = atoms + abs(height)
    beyond, far = (_outside(h, sigma, reach, rate) for rate in (arb(3) / 4, arb(1) / 2))
    return Axis(nodes, weights, error * sigma, mass * sigma + atoms, beyond, far)


def _outside(h, sigma: arb, reach: float, rate: arb) -> arb:
    """A bound of the integral of |h(sigma s)| sigma exp(-rate s^2/2) over |s| > reach."""
    root = rate.sqrt()
    return 2 * tail(h.bound, sigma / root, arb(reach) * root) * sigma / root


def _panels(h, piece, sigma: arb, left: arb, right: arb, width: arb, k: int, goal: float):
    """(middle, half, remainder, sup |h|) of panels small enough for the rule."""
    stack = [(left, right, 0)]
    while stack:
        low, high, depth = stack.pop()
        middle, half = ((low + high) / 2).mid(), ((high - low) / 2).mid()

        def sizes(box: acb, middle=middle, half=half) -> tuple[float, float]:
            z = middle + half * box
            alone = upper(h.value(piece, sigma * z, True))
            y = abs(z.imag).upper()
            return alone * float((k * y * y / (2 * width * width)).exp().upper()) * 2, alone

        remainder, size = best_bound(sizes, POINTS, RHOS, goal)
        if remainder <= goal:
            yield middle, half, arb(remainder), arb(size)
        elif depth > DEEPEST:
            raise Unsupported("the pair of maxima was not enclosed", why="the function varies too fast")
        else:
            stack += [(low, middle, depth + 1), (middle, high, depth + 1)]


def hoeffding(first: Axis, second: Axis, c: arb, k: int, accuracy: float) -> arb:
    """The integral of F'(s) G'(t) [Phi_2(s, t; c)^k - Phi(s)^k Phi(t)^k]: Cov(F(max u), G(max v)) (Hoeffding 1940).

    Outside the square |Phi_2^k - Phi^k Phi^k| <= k |Phi_2 - Phi Phi|, which is at most
    Phi(-|s|)^a Phi(-|t|)^(1-a) for every a in [0, 1], and Phi(-x) <= exp(-x^2/2)/2.
    """
    joint, rest = phi2_on_grid(first.nodes, second.nodes, c, accuracy)
    left, right = ([normal_cdf(x) ** k for x in axis.nodes] for axis in (first, second))

    def kernel(i: int, j: int) -> arb:
        return (joint[i, j] + arb(0, rest)) ** k - left[i] * right[j]

    return _sum(first, second, kernel) + arb(0, (_left_out(first, second, arb(k) / 2)).upper())


def agreeing(first: Axis, second: Axis, c: arb, k: int, accuracy: float) -> arb:
    """E f(u) g(v) Phi_2(u, v; c)^(k-1) for one pair, in units of sigma: both maxima are taken by the same unit.

    The density of a pair is exp(-max(s^2, t^2)/2) or less, up to its norm.
    """
    joint, rest = phi2_on_grid(first.nodes, second.nodes, c, accuracy)
    square = (1 - c) * (1 + c)

    def kernel(i: int, j: int) -> arb:
        s, t = first.nodes[i], second.nodes[j]
        density = (-(s * s - 2 * c * s * t + t * t) / (2 * square)).exp()
        return (joint[i, j] + arb(0, rest)) ** (k - 1) * density

    norm = 1 / (2 * arb.pi() * square.sqrt())
    return norm * (_sum(first, second, kernel) + arb(0, _left_out(first, second, arb(1)).upper()))


def _sum(first: Axis, second: Axis, kernel: Callable[[int, int], arb]) -> arb:
    total = arb(0)
    for i, weight in enumerate(first.weights):
        row = arb(0)
        # the kernel is symmetric: alike axes need one triangle
        for j, other in enumerate(second.weights[:i] if second is first else second.weights):
            row = row + kernel(i, j) * other
        total = total + weight * (2 * row + kernel(i, i) * weight if second is first else row)
    return total


def _left_out(first: Axis, second: Axis, factor: arb) -> arb:
    """Bounds of the rule's remainders and of what lies outside the square."""
    outer = first.beyond * second.mass + second.beyond * first.mass + first.far * second.far
    return factor * outer + first.error * second.mass + second.error * _absolute(first)


def _absolute(axis: Axis) -> arb:
    total = arb(0)
    for weight in axis.weights:
        total = total + abs(weight)
    return total.upper()
