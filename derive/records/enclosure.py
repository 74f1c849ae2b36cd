"""A number that is certainly inside [mid - rad, mid + rad]."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

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
        """Whether a number (int, Fraction, float, mpmath or SymPy number) or a whole enclosure lies inside."""
        import mpmath

        if isinstance(value, Enclosure):
            return (value.mid == self.mid and value.rad <= self.rad) or (
                self._holds(value.lower) and self._holds(value.upper)
            )
        if isinstance(value, Fraction):
            return self._holds(value)
        with mpmath.workprec(400):
            return self._holds(mpmath.mpf(value))

    def _holds(self, value: Any) -> bool:
        import mpmath

        if (not isinstance(value, Fraction) and not mpmath.isfinite(value)) or not mpmath.isfinite(self.mid):
            return bool(value == self.mid)
        if not mpmath.isfinite(self.rad):
            return True
        exact = value if isinstance(value, Fraction) else _fraction(value)
        return abs(exact - _fraction(self.mid)) <= _fraction(self.rad)

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


def _fraction(value: mpmath.mpf) -> Fraction:
    sign, man, exp, _ = value._mpf_
    return Fraction((-1) ** sign * int(man)) * Fraction(2) ** int(exp)


def _rounded(compute):
    import mpmath

    with mpmath.workprec(400):
        return compute(mpmath.mp)
