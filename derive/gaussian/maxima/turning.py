"""A function next to a point where it turns: the other x with the same value, which is analytic there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import flint
from flint import acb, acb_poly, arb

SAMPLES = 128
SPREAD = 1.5


@dataclass(frozen=True, eq=False)
class Turn:
    """f(t + h) = f(t) + h^2 g(h) for |h| <= radius, g a polynomial with ball coefficients that has no zero there.

    r(h) = h sqrt(g(h)) is a local coordinate: f takes one value at r and -r.
    """

    at: arb
    radius: arb
    g: acb_poly

    def coordinate(self, h: acb) -> tuple[acb, acb]:
        """r and its slope at h."""
        g, dg = self.g(h), self.g.derivative()(h)
        root = g.sqrt(analytic=True) if g.real > 0 else acb("nan")
        return h * root, root + h * dg / (2 * root)

    def mirror(self, x: acb) -> tuple[acb, acb] | None:
        """(y, dy/dx) with f(y) = f(x) on the other side of the turning point; None outside of the neighbourhood."""
        h = x - acb(self.at)
        if not abs(h).upper() * SPREAD < self.radius:
            return None
        target, steep = self.coordinate(h)
        centre = acb(h.mid())
        goal = -self.coordinate(centre)[0]
        y = -centre
        for _ in range(12):
            value, slope = self.coordinate(y)
            step = (value - goal) / slope
            if not step.is_finite():
                return None
            y = acb((y - step).mid())
            if abs(step).upper() < arb(2) ** (-flint.ctx.prec // 2 - 8):
                break
        value, slope = self.coordinate(y)
        inverse = 1 / acb(slope.mid())
        off = (value + target) * inverse
        for factor in (1.5, 3.0, 8.0):
            size = (abs(off).upper() * factor).mid() + arb(2) ** (-flint.ctx.prec)
            box = acb(arb(0, size), arb(0, size))
            if not abs(y + box).upper() < self.radius:
                return None
            inner = -off + (1 - inverse * self.coordinate(y + box)[1]) * box
            if inner.is_finite() and abs(inner.real).upper() < size and abs(inner.imag).upper() < size:
                found = y + inner
                return acb(self.at) + found, -steep / self.coordinate(found)[1]
        return None


def turn(value: Callable[[acb, bool], acb], at: arb, widest: float) -> Turn | None:
    """The neighbourhood of a turning point, from Taylor coefficients by Cauchy's formula on a circle; None if none.

    value   f at a complex ball, not finite where f is not analytic (second argument True)
    """
    outer = arb(widest)
    for _ in range(12):
        size = _largest(value, at, outer)
        if size.is_finite():
            found = _on_circle(value, at, outer, size)
            if found is not None:
                return found
        outer = outer * 3 / 4
    return None


def _largest(value, at: arb, radius: arb) -> arb:
    """A bound of |f| in the disc, whose every point lies in one of the boxes."""
    best, parts = arb(0), 6
    step = (2 * radius / parts).mid()
    for i in range(parts):
        for j in range(parts // 2):
            low, tall = -radius + step * i, step * j
            box = acb(at + low.union(low + step), tall.union(tall + step))
            best = best.max(abs(value(box, True)).upper())
            if not best.is_finite():
                return arb.pos_inf()
    return best


def _on_circle(value, at: arb, outer: arb, size: arb) -> Turn | None:
    """Coefficients from samples on half the radius; those of the tail are at most size/outer^j."""
    inner, at = (outer / 2).mid(), at
    angles = [acb(arb(2 * k) / SAMPLES).exp_pi_i() for k in range(SAMPLES)]
    samples = [value(acb(at) + inner * w, False) for w in angles]
    count = SAMPLES // 2
    ratio = inner / outer
    coefficients = []
    for j in range(2, count):
        total = sum((s * angles[-(j * k) % SAMPLES] for k, s in enumerate(samples)), acb(0)) / SAMPLES
        alias = size * ratio**SAMPLES / (1 - ratio**SAMPLES) * 2
        exact = (total.real + arb(0, alias.upper())) / inner**j
        coefficients.append(exact)
    # f'(at) is 0 within the ball `at`: what is left of the linear term is of the size of the ball
    radius = (outer / 5).mid()
    rest = size / outer**count * radius ** (count - 2) / (1 - radius / outer)
    coefficients[0] = coefficients[0] + arb(0, rest.upper())
    g = acb_poly(coefficients)
    sign = 1 if coefficients[0] > 0 else -1
    g = g * sign
    while radius > outer / 512:
        everywhere = g(acb(arb(0, radius), arb(0, radius)))
        if everywhere.real > 0:
            return Turn(at, radius, g)
        radius = radius / 2
    return None
