"""Fixed points of the variance map and points of the edge of chaos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class EdgePoint:
    """A point of the edge of chaos: V(q) = q and chi(q) = 1.

    Values are Enclosures when the question had numbers and Results when it had symbols.

    sigma_w       weight standard deviation times sqrt(fan-in)
    sigma_b       bias standard deviation; None where sigma_b2 is negative
    sigma_b2      its square
    q             the variance at which both conditions hold
    chi           gradient gain (1 by construction where the point is joint)
    chi_parallel  slope of the variance map at q
    valid         sigma_b2 >= 0; None where its sign is undecided
    stable        |chi_parallel| < 1; None where it is exactly 1 or undecided
    order         what the next order of V says where q = 0 and chi_parallel = 1: "attracts: ..." or "repels: ..." with
                  the reason; empty where it is not asked or not decided
    """

    sigma_w: Any
    sigma_b: Any
    sigma_b2: Any
    q: Any
    chi: Any
    chi_parallel: Any
    valid: bool | None
    stable: bool | None
    order: str = ""


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """A fixed point q = V(q) of the variance map at given sigma_w, sigma_b.

    q             variance (0, a positive number, or inf)
    stable        whether nearby variances return to it
    basin         interval of starting variances that are attracted to it; None if unstable
    chi           gradient gain there
    chi_parallel  slope of the variance map there
    c             the attracting correlation c*
    xi_q, xi_c    depth scales -1/ln|chi_parallel| and -1/ln|C'(c*)|, in layers
    """

    q: Any
    stable: bool | None
    basin: tuple[Any, Any] | None
    chi: Any
    chi_parallel: Any
    c: Any = None
    xi_q: Any = None
    xi_c: Any = None


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """What a deep stack does at given sigma_w, sigma_b from a starting variance q0.

    fixed_points  all that were found, sorted by q
    attractor     index of the one that q0 is attracted to; None if q grows without bound or falls to 0
    gradient      "vanishing", "critical" or "exploding" by chi at the attractor; None without one
    geometry      "c -> 1", "c -> c*" in words, with how it is approached
    tendency      "converges", "falls to 0" or "grows without bound"
    certificate   what is proved about the completeness of the fixed points
    ends          what q = 0 and q = infinity are, by the leading terms of V(q) - q there
    rates         how q and c approach their limits: Rates with a depth scale, or an exponent and a prefactor
    The scalar attributes q, stable, chi, chi_parallel, c, xi_q, xi_c are those of the attractor.
    """

    fixed_points: tuple[FixedPoint, ...]
    attractor: int | None
    gradient: str | None
    geometry: str | None
    tendency: str
    certificate: str = ""
    ends: tuple[str, str] = ("", "")
    rates: tuple[Any, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name in ("q", "stable", "chi", "chi_parallel", "c", "xi_q", "xi_c", "basin"):
            if self.attractor is None:
                raise AttributeError(f"no fixed point attracts q0: the variance {self.tendency}")
            return getattr(self.fixed_points[self.attractor], name)
        raise AttributeError(name)
