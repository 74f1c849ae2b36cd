"""A number that is certainly inside [mid - rad, mid + rad]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mpmath


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A rigorous enclosure of a real number.

    mid   midpoint, an mpmath number with all its digits (±inf for a divergent quantity)
    rad   radius, rounded up
    """

    mid: mpmath.mpf
    rad: mpmath.mpf

    def __float__(self) -> float:
        return float(self.mid)

    @property
    def lower(self) -> mpmath.mpf:
        """A lower bound."""
        return _rounded(lambda mp: mp.fsub(self.mid, self.rad, rounding="f"))

    @property
    def upper(self) -> mpmath.mpf:
        """An upper bound."""
        return _rounded(lambda mp: mp.fadd(self.mid, self.rad, rounding="c"))

    def __contains__(self, value: object) -> bool:
        import mpmath

        with mpmath.workprec(400):
            other = value.mid if isinstance(value, Enclosure) else mpmath.mpf(value)
            slack = value.rad if isinstance(value, Enclosure) else 0
            return bool(abs(other - self.mid) + slack <= self.rad) or other == self.mid

    def overlaps(self, other: Enclosure) -> bool:
        """Whether both enclosures share a number."""
        import mpmath

        with mpmath.workprec(400):
            return self.mid == other.mid or bool(abs(self.mid - other.mid) <= self.rad + other.rad)

    def digits(self) -> int:
        """The number of certified significant digits (50 for an exact number)."""
        import mpmath

        if self.rad == 0:
            return 50
        if self.mid == 0 or not mpmath.isfinite(self.mid) or not mpmath.isfinite(self.rad):
            return 0
        return max(0, int(mpmath.floor(-mpmath.log10(2 * self.rad / abs(self.mid)))))

    def __str__(self) -> str:
        """Certified digits only."""
        import mpmath

        if not mpmath.isfinite(self.mid):
            return {"+inf": "inf", "-inf": "-inf"}.get(str(self.mid), "undecided")
        if not mpmath.isfinite(self.rad):
            return "undecided"
        if self.mid == 0 and self.rad == 0:
            return "0"
        digits = min(self.digits(), 50)
        if digits < 1:
            return f"{mpmath.nstr(self.mid, 3)} ± {mpmath.nstr(self.rad, 2)}"
        return str(mpmath.nstr(self.mid, digits, strip_zeros=self.rad == 0))


def _rounded(compute):
    import mpmath

    with mpmath.workprec(400):
        return compute(mpmath.mp)
