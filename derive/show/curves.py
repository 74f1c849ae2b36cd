"""Points of the curves that a report draws, as plain floats."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from derive.show.document import attempt

DIGITS = 6
"""Digits of a plotted point; its enclosure is far below a pixel."""


def curves(theory: Any) -> dict[str, Any]:
    """phi and phi', V and C at the edge-of-chaos point with q* = 1, and the edge of chaos itself.

    Curves that do not exist (a jump, free parameters) are left out.
    """
    if theory.domains:
        return {}
    found: dict[str, Any] = {"activation": _activation(theory)}
    edge = attempt(lambda: theory.edge_of_chaos(q=1))
    point = None if isinstance(edge, str) or not edge.points or not edge.points[0].valid else edge.points[0]
    if point is not None:
        sigma_w, sigma_b = float(point.sigma_w), float(point.sigma_b)
        found["variance_map"] = _variance(theory, sigma_w, sigma_b)
        found["correlation_map"] = _correlation(theory, sigma_w, sigma_b)
    if not theory.maps.jumps:
        drawn = _edge(theory, point)
        if len(drawn["sigma_w"]) > 2:
            found["edge"] = drawn
    return found


def _activation(theory: Any) -> dict[str, list[float]]:
    from sympy import Float, nan

    from derive.program.symbols import X

    xs = [i / 40 for i in range(-160, 161)]

    def sample(expr: Any) -> list[float]:
        values = [expr.subs(X, Float(x, 15)).evalf(8) for x in xs]
        return [float(v) if v.is_real and v is not nan else float("nan") for v in values]

    phi, slope = sample(theory.activation.phi), sample(theory.activation.dphi)
    return {"x": xs, "phi": _torn(phi), "derivative": _torn(slope)}


def _torn(values: list[float]) -> list[float]:
    """Values with a gap where neighbours are far apart, so that a jump is not drawn as a slope."""
    span = max(values) - min(values)
    return [
        float("nan") if i and abs(v - values[i - 1]) > 0.15 * span and abs(v - values[i - 1]) > 0.2 else v
        for i, v in enumerate(values)
    ]


def _variance(theory: Any, sigma_w: float, sigma_b: float) -> dict[str, Any]:
    qs = [Fraction(i, 20) for i in range(1, 51)]
    values = [float(theory.variance_map.number(q=q, sigma_w=sigma_w, sigma_b=sigma_b, digits=DIGITS)) for q in qs]
    return {"q": [float(q) for q in qs], "V": values, "sigma_w": sigma_w, "sigma_b": sigma_b, "point": [1.0, 1.0]}


def _correlation(theory: Any, sigma_w: float, sigma_b: float) -> dict[str, Any]:
    cs = [Fraction(i, 20) for i in range(-20, 21)]
    at = {"q1": 1, "q2": 1, "sigma_w": sigma_w, "sigma_b": sigma_b, "digits": DIGITS}
    values = [float(theory.correlation_map.number(c=c, **at)) for c in cs]
    return {"c": [float(c) for c in cs], "C": values, "sigma_w": sigma_w, "sigma_b": sigma_b}


def _edge(theory: Any, chosen: Any) -> dict[str, Any]:
    qs = [Fraction(round(10 ** (i / 10) * 1000), 1000) for i in range(-15, 16)]
    rows = []
    for q in qs:
        edge = attempt(lambda q=q: theory.edge_of_chaos(q=q, digits=DIGITS))
        if not isinstance(edge, str) and edge.points and edge.points[0].valid:
            rows.append((float(q), float(edge.points[0].sigma_w), float(edge.points[0].sigma_b)))
    point = [float(chosen.sigma_w), float(chosen.sigma_b)] if chosen is not None else []
    bounds = [rows[0][0], rows[-1][0]] if rows else []
    return {"sigma_w": [r[1] for r in rows], "sigma_b": [r[2] for r in rows], "range": bounds, "point": point}
