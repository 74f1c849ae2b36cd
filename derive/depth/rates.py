"""How fast a deep stack approaches its limit: exponentially, as a power of the depth, or as its logarithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rate:
    """The approach of a quantity to its limit after l layers.

    of         the quantity: "q", "|q - q*|", "1 - c", "|c - c*|", "squared gradient" (from the last layer back)
    law        "exponential": ~ exp(-l/xi); "power": ~ prefactor * l^(-exponent); "logarithmic": ~ prefactor / log(l);
               "log": ~ prefactor log(l); "geometric": a factor of prefactor a block; "faster": faster than that;
               "at once": gone after one block; "none": it does not move; "unknown": `why` says what is not known
    xi         depth scale of the exponential, an Enclosure
    exponent   of the power, a SymPy number
    prefactor  of the power, exact (a SymPy expression) where the expansion is, else an Enclosure
    why        what it follows from
    """

    of: str
    law: str
    xi: Any = None
    exponent: Any = None
    prefactor: Any = None
    why: str = ""

    @property
    def trainable_depth(self) -> Any:
        """Six depth scales, an Enclosure; None where the approach is not exponential.

        It rests on an observation, not on a theorem: fully connected networks were trained up to about 6 xi layers
        (Schoenholz et al. 2017, arXiv 1611.01232, section 5), beyond which inputs are no longer told apart.
        """
        from derive.records import Enclosure

        return None if self.xi is None else Enclosure(6 * self.xi.mid, 6 * self.xi.rad)

    def __str__(self) -> str:
        if self.law == "exponential":
            return f"{self.of} ~ exp(-l/{self.xi})"
        if self.law == "power":
            sign, exponent = ("*", -self.exponent) if self.exponent < 0 else ("/", self.exponent)
            return f"{self.of} ~ {self.prefactor} {sign} l^{exponent}"
        words = {
            "logarithmic": f"~ {self.prefactor} / log(l)",
            "log": f"~ {self.prefactor} log(l)",
            "geometric": f"changes by a factor of {self.prefactor} a block",
            "at once": "is 0 after one block",
            "faster": "grows faster than exponentially",
            "unknown": f"is not known: {self.why}",
        }
        return f"{self.of} {words.get(self.law, 'does not move')}"


__all__ = ["Rate"]
