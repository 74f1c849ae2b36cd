"""The kinds of result, from exact to unknown."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """What a result is. The value is its rank: an expression has the worst kind of its parts.

    EXACT       elementary functions and erf
    SPECIAL     names special functions (bivariate normal cdf, Owen's T, ...)
    SERIES      a truncated series with its order and a rigorous bound
    INTEGRAL    an exact formula that contains an unevaluated Gaussian expectation
    ENCLOSURE   a number with a rigorous radius
    ESTIMATE    a sample mean with a standard error
    DIVERGENT   the expectation is infinite; the condition of convergence is stated
    UNKNOWN     no answer; the blockers are named
    """

    EXACT = 0
    SPECIAL = 1
    SERIES = 2
    INTEGRAL = 3
    ENCLOSURE = 4
    ESTIMATE = 5
    DIVERGENT = 6
    UNKNOWN = 7

    def __str__(self) -> str:
        return self.name

    def worst(self, *others: Kind) -> Kind:
        """The worst of this kind and the others."""
        return max((self, *others), key=lambda kind: kind.value)
