"""The set of edge-of-chaos points that answers a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from derive.records import EdgePoint

if TYPE_CHECKING:
    from derive.depth.limits import EdgeLimit

SCALARS = ("sigma_w", "sigma_b", "sigma_b2", "q", "chi", "chi_parallel", "valid", "stable")


@dataclass(frozen=True)
class EdgeOfChaos:
    """Points sorted by q, with the reason where there is none.

    Scalar attributes (sigma_w, sigma_b, q, ...) are those of the valid and stable point with the smallest q, else of
    the first point; without points `valid` is False and the others raise AttributeError with the reason.

    gradient_critical, variance_critical   where the two conditions cannot hold together at sigma_b = 0: the point with
                                           chi = 1 and the one with V(q) = q, each with the other's value; else None
    limits                                 of the whole curve (q="q"): its ends for q -> 0 and q -> oo, leading terms
    """

    points: tuple[EdgePoint, ...]
    reason: str = ""
    gradient_critical: EdgePoint | None = None
    variance_critical: EdgePoint | None = None
    limits: tuple[EdgeLimit, ...] = ()

    @property
    def chosen(self) -> EdgePoint | None:
        """The point whose values the scalar attributes show."""
        good = [p for p in self.points if p.valid and p.stable]
        return next(iter(good or self.points), None)

    def __getattr__(self, name: str) -> Any:
        if name not in SCALARS:
            raise AttributeError(f"an edge of chaos has no attribute {name}")
        point = self.chosen
        if point is None:
            if name == "valid":
                return False
            raise AttributeError(f"there is no edge of chaos: {self.reason}")
        return getattr(point, name)

    def __repr__(self) -> str:
        if self.limits:
            rows = ["a curve in q", *map(str, self.limits)]
        else:
            rows = [
                ", ".join(f"{name} = {getattr(p, name)}" for name in ("sigma_w", "sigma_b", "q")) for p in self.points
            ]
        return f"<EdgeOfChaos: {'; '.join(filter(None, [*rows, self.reason]))}>"
