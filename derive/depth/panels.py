"""One function under all variances at once: samples on panels with proved remainders, made once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import flint
from flint import acb, arb

from derive.activation.pieces import PieceFunction
from derive.activation.ranges import Ranges
from derive.gaussian.enclosure.growth import tail
from derive.gaussian.enclosure.prepared import Analysed, prepare
from derive.program.symbols import X
from derive.records import Unsupported

BITS = 96
NODES = 26
RHO = 3
INNERMOST, OUTERMOST = -13, 16
"""Panels are octaves from 2^INNERMOST to 2^OUTERMOST: variances from about 1e-6 to 5e7."""
DEEPEST = 24
MOST_PANELS = 600
FLAT_FROM = 16
NEGLIGIBLE = 56


@dataclass(frozen=True, slots=True)
class Panel:
    """An interval [left, right] on one side of 0 (mirrored if side is -1) on which f is analytic.

    nodes  (x^2, weight f(x)) of the Gauss-Legendre rule; none where f is negligible and only bounded
    bound  an upper bound of |f| on the Bernstein ellipse with parameter RHO (on the interval, without nodes)
    """

    left: arb
    right: arb
    nodes: tuple[tuple[arb, arb], ...]
    bound: arb


@dataclass(frozen=True, eq=False)
class Panels:
    """E f(x), x ~ N(0, q), for any q: one set of samples of f serves all.

    The remainder of the n-point rule on a panel is at most (64/15) M rho^(2 - 2n)/(1 - rho^-2) times its half-width,
    with M a bound of the integrand on the ellipse (Trefethen, Approximation Theory and Approximation Practice,
    theorem 19.3); what lies beyond the panels is bounded by the growth of f.
    """

    f: Analysed
    panels: tuple[Panel, ...]
    twice: bool
    memo: dict = field(default_factory=dict, repr=False)

    def at(self, q: arb) -> arb:
        """The ball of E f(x), x ~ N(0, q)."""
        scale, error, left_out, total = -1 / (2 * q), arb(0), arb(0), arb(0)
        for panel in self.panels:
            nearest = panel.left * panel.left * scale
            if nearest < -NEGLIGIBLE or not panel.nodes:
                left_out += panel.bound * (panel.right - panel.left) * nearest.exp()
                continue
            for square, value in panel.nodes:
                total += value * (square * scale).exp()
            error += panel.bound * (panel.right - panel.left)
        root = q.sqrt()
        left_out += tail(self.f.bound, root, arb(2) ** OUTERMOST / root) * root * (1 if self.twice else 2)
        # Re z^2 >= 0 on the ellipse of an octave or a part of it; next to 0 it is above -(2^INNERMOST)^2
        error *= arb(64) / 15 * arb(RHO) ** (2 - 2 * NODES) * (-scale * arb(4) ** INNERMOST).exp()
        total += arb(0, (error + left_out).upper())
        return total * (2 if self.twice else 1) / (2 * arb.pi() * q).sqrt()


def panels(f: PieceFunction) -> Panels:
    """The samples of a function. Raises Unsupported where it is not analytic between its breaks, or grows too fast."""
    with flint.ctx.workprec(BITS):
        known = prepare(f)
        even = known.parity > 0
        found: list[Panel] = []
        largest = arb(0)
        for side in (1,) if even else (1, -1):
            for low, high, piece in _octaves(known, side):
                made = _panels_of(known, f, side, piece, low, high, largest)
                for panel in made:
                    largest = max([largest, *(abs(v).mid() / (panel.right - panel.left) for _, v in panel.nodes)])
                found += made
        return Panels(known, tuple(found), even)


def _octaves(f: Analysed, side: int) -> list[tuple[arb, arb, int]]:
    """Octaves on one side of 0, cut at the breaks, with the index of the piece."""
    cuts = [arb(0), *(arb(2) ** k for k in range(INNERMOST, OUTERMOST + 1))]
    own = [side * b for b in f.breaks if 0 < (side * b).mid() < arb(2) ** OUTERMOST]
    edges = sorted([c for c in cuts if not any(c.overlaps(b) for b in own)] + own, key=lambda e: float(e.mid()))
    out = []
    for low, high in pairwise(edges):
        middle = side * (low + high) / 2
        out.append((low, high, sum(1 for b in f.breaks if b.mid() < middle.mid())))
    return out


def _panels_of(
    f: Analysed, source: PieceFunction, side: int, piece: int, low: arb, high: arb, largest: arb
) -> list[Panel]:
    """One octave as panels that are halved until the bound on the ellipse is near the size of f."""
    if low.mid() >= FLAT_FROM and piece in (0, len(f.breaks)):
        flat = _faint(source, side, low, high, largest) or _flat(source, side, low, high, largest)
        if flat is not None:
            return [flat]
    out, todo = [], [(low, high, 0)]
    while todo:
        a, b, depth = todo.pop()
        panel = _panel(f, side, piece, a, b)
        size = max([arb(0), *(abs(v).mid() for _, v in panel.nodes)]) / (b - a)
        if panel.bound.is_finite() and (panel.bound < size * 10**5 or panel.bound * (1 + b) < largest * 1000):
            out.append(panel)
            continue
        if depth == DEEPEST and panel.bound.is_finite():
            out.append(panel)
            continue
        if depth == DEEPEST or len(out) > MOST_PANELS:
            where = f"near x = {(side * (a + b) / 2).str(5, radius=False)}"
            raise Unsupported("the function is not known to be analytic and tame between its breaks", where=where)
        middle = ((a + b) / 2).mid()
        todo += [(middle, b, depth + 1), (a, middle, depth + 1)]
    return out


def _panel(f: Analysed, side: int, piece: int, a: arb, b: arb) -> Panel:
    centre, half = (a + b) / 2, (b - a) / 2
    wide = arb(0, (half * (RHO + arb(1) / RHO) / 2).upper())
    tall = arb(0, (half * (RHO - arb(1) / RHO) / 2).upper())
    bound = f.value(piece, acb(side * (centre + wide), tall), True).abs_upper()
    if not bound.is_finite():
        return Panel(a, b, (), arb("inf"))
    nodes = []
    for u, w in _rule():
        x = centre + half * u
        nodes.append((x * x, w * half * f.value(piece, acb(side * x), False).real))
    return Panel(a, b, tuple(nodes), bound)


@lru_cache(maxsize=1)
def _rule() -> tuple[tuple[arb, arb], ...]:
    with flint.ctx.workprec(BITS + 20):
        return tuple(arb.legendre_p_root(NODES, k, weight=True) for k in range(NODES))


def _faint(source: PieceFunction, side: int, low: arb, high: arb, largest: arb) -> Panel | None:
    """A panel that is only bounded, where f has decayed to nothing by its proved growth."""
    growth = source.tail(side, low.lower())
    if not (growth.b < 0 and growth.s <= 0 and -growth.b * (1 + low) > growth.n):
        return None
    bound = (growth.a + growth.b * low).exp() * (1 + low) ** growth.n
    return Panel(low, high, (), bound.upper()) if bound * high < largest * arb("1e-22") else None


def _flat(source: PieceFunction, side: int, low: arb, high: arb, largest: arb) -> Panel | None:
    """The panel of r x^n where f is that to all digits; the range of f/x^n encloses r."""
    value: Any = source.form.cells[-1 if side > 0 else 0].value
    ends = (low.lower(), high.upper()) if side > 0 else (-high.upper(), -low.lower())
    for power in range(7):
        try:
            found = Ranges(*ends, source.values)(value / X**power)
        except Unsupported:
            return None
        if not found.finite():
            continue
        r = found.ball()
        if r.rad() <= abs(r).mid() * arb("1e-18") or r.abs_upper() * high**power < largest * arb("1e-20"):
            centre, half = (low + high) / 2, (high - low) / 2
            nodes = []
            for u, w in _rule():
                x = centre + half * u
                nodes.append((x * x, w * half * r * (side * x) ** power))
            return Panel(low, high, tuple(nodes), r.abs_upper() * (2 * high) ** power)
    return None


__all__ = ["Panels", "panels"]
