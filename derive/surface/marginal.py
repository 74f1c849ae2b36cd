"""What the next order of V says at a marginal point of the edge of chaos at q = 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sympy import Rational

from derive.depth.edges import EdgeOfChaos
from derive.depth.reasons import judged
from derive.depth.zero import at_zero
from derive.records import EdgePoint, Enclosure, Unsupported


def decided(theory: Any, found: EdgeOfChaos, parameters: Mapping[str, Any]) -> EdgeOfChaos:
    """The points with chi_parallel = 1 at q = 0 say whether they attract, where V(q) - q has a leading term there."""
    phi = theory._only_phi() if any(map(_marginal, found.points)) and not theory.noisy else None
    if phi is None:
        return found
    try:
        values = theory._values(parameters)
        given = {s: Rational(*values[s.name].as_integer_ratio()) for s in phi.free_symbols if s.name in values}
        attracts, why = judged(at_zero(phi.subs(given)), values)
    except Unsupported:
        return found
    order = f"{'attracts' if attracts else 'repels'}: {why}"
    return replace(found, points=tuple(replace(p, order=order) if _marginal(p) else p for p in found.points))


def _marginal(point: EdgePoint) -> bool:
    q = point.q
    return point.stable is None and isinstance(q, Enclosure) and q.lower == q.upper == 0


__all__ = ["decided"]
