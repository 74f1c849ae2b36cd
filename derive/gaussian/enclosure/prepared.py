"""What the rules ask of a function, computed once: breaks at the working precision, parity, growth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import flint
from flint import acb, arb

from derive.activation.corners import corner
from derive.gaussian.enclosure.growth import Bound, everywhere
from derive.program.symbols import X
from derive.records import Unsupported

if TYPE_CHECKING:
    from derive.activation.pieces import PieceFunction
    from derive.gaussian.enclosure.corners import Approach

CLOSE = arb(2) ** -40
"""Relative size of the neighbourhood of an end in which a piece must be analytic."""
PROBES = (0.71, 1.93, 0.057)


class Analysed(Protocol):
    """What the rules ask of a function: a `Prepared`, or one made of others (`products`)."""

    @property
    def breaks(self) -> tuple[arb, ...]:
        """The breakpoints at the working precision."""

    @property
    def undecided(self) -> tuple[int, ...]:
        """Pieces that hold breaks in an unknown order."""

    @property
    def parity(self) -> int:
        """1 even, -1 odd, 0 neither is known."""

    @property
    def bound(self) -> Bound:
        """A growth bound on the whole line."""

    def value(self, i: int, z: acb, analytic: bool) -> acb:
        """The i-th piece at a complex ball."""

    def corner(self, i: int, side: int) -> Approach | None:
        """The i-th piece next to its left (side +1) or right (-1) end, where it is not analytic there."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A piecewise analytic function with its facts kept.

    source     the function
    undecided  indices of pieces that hold breaks in an unknown order (none here; see `LineProduct`)
    """

    source: PieceFunction
    undecided: tuple[int, ...] = ()
    memo: dict = field(default_factory=dict, repr=False)

    @property
    def breaks(self) -> tuple[arb, ...]:
        """The breakpoints at the working precision."""
        key = "breaks", flint.ctx.prec
        if key not in self.memo:
            self.memo[key] = tuple(self.source.breaks)
        return self.memo[key]

    @property
    def parity(self) -> int:
        """1 for an even function, -1 for an odd one, 0 where neither is known."""
        if "parity" not in self.memo:
            self.memo["parity"] = self._parity()
        return self.memo["parity"]

    @property
    def bound(self) -> Bound:
        """A growth bound on the whole line, with b, s, n >= 0; next to `poles` it holds from their corners on."""
        if "bound" not in self.memo:
            with flint.ctx.workprec(80):
                self.memo["bound"] = everywhere(self.source, self.corner)
        return self.memo["bound"]

    def corner(self, i: int, side: int) -> Approach | None:
        """The i-th piece next to its left (side +1) or right (-1) end, where it is not analytic there."""
        key = "corner", i, side
        if key not in self.memo:
            with flint.ctx.workprec(80):
                self.memo[key] = self._corner(i, side)
        return self.memo[key]

    def _corner(self, i: int, side: int) -> Approach | None:
        ends = i - 1 if side > 0 else i, i if side > 0 else i - 1
        if not hasattr(self.source, "form") or not 0 <= ends[0] < len(self.breaks):
            return None
        end = self.breaks[ends[0]]
        if self.value(i, acb(end + arb(0, 1) * CLOSE * (1 + abs(end))), True).is_finite():
            return None
        other = self.breaks[ends[1]] if 0 <= ends[1] < len(self.breaks) else arb.pos_inf()
        cell = self.source.form.cells[i]
        length = abs(other - end).lower() if other.is_finite() else arb.pos_inf()
        try:
            return corner(cell.value, cell.lower if side > 0 else cell.upper, side, length, self.source.values)
        except Unsupported:  # the boxes may still find a bound; where they do not, they say where
            return None

    def value(self, i: int, z: acb, analytic: bool) -> acb:
        """The i-th piece at a complex ball."""
        return self.source.value(i, z, analytic)

    def piece_at(self, x: arb) -> int:
        """The index of the piece at the midpoint of a ball."""
        middle = x.mid()
        return sum(1 for edge in self.breaks if edge.mid() < middle)

    def _parity(self) -> int:
        # A proof by formula can be slow; two balls that do not meet refute a symmetry at once.
        with flint.ctx.workprec(80):
            even = odd = True
            for probe in PROBES:
                right, left = (self.value(self.piece_at(x), acb(x), False) for x in (arb(probe), arb(-probe)))
                even, odd = even and right.overlaps(left), odd and right.overlaps(-left)
        if even and not odd and hasattr(self.source, "form"):
            return int(_is_mirrored(self.source.form.cells))
        return {"even": 1, "odd": -1}.get(self.source.parity or "", 0) if even or odd else 0


def _is_mirrored(cells) -> bool:
    """Whether f(-x) is written as f(x) is: evenness halves the work, which is not worth a long proof."""
    return all(
        left.value.subs(X, -X) == right.value and left.lower == -right.upper
        for left, right in zip(cells, reversed(cells), strict=True)
    )


def prepare(f: PieceFunction | Analysed) -> Analysed:
    """The function with its facts kept (unchanged if it is so already)."""
    return f if hasattr(f, "bound") else Prepared(f)  # type: ignore[return-value,arg-type]
