"""Points of the curves that a report draws, as plain floats."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from derive.show.document import attempt

DIGITS = 6
"""Digits of the points of V and C; the edge of chaos is drawn from floats."""


def curves(theory: Any) -> dict[str, Any]:
    """phi and phi' of the first activation, V and C at the edge-of-chaos point with q* = 1, and the edge of chaos.

    Curves that do not exist (a jump, free parameters) are left out.
    """
    if theory.domains:
        return {}
    found: dict[str, Any] = {"activation": _activation(theory)} if theory._first is not None else {}
    edge = attempt(lambda: theory.edge_of_chaos(q=1))
    point = None if isinstance(edge, str) or not edge.points or not edge.points[0].valid else edge.points[0]
    if point is not None:
        sigma_w, sigma_b = float(point.sigma_w), float(point.sigma_b)
        found["variance_map"] = _variance(theory, sigma_w, sigma_b)
        found["correlation_map"] = _correlation(theory, sigma_w, sigma_b)
    if not theory.maps.jumps:
        drawn = attempt(lambda: _edge(theory, point))  # refused behind several Dense layers: no curve of a formula
        if not isinstance(drawn, str) and len(drawn["sigma_w"]) > 2:
            found["edge"] = drawn
    return found


def _activation(theory: Any) -> dict[str, list[float]]:
    import flint

    from derive.program.evaluate import run_balls
    from derive.program.gate import freeze
    from derive.program.symbols import X

    xs = [i / 40 for i in range(-160, 161)]
    program = freeze({"phi": theory.activation.phi, "derivative": theory.activation.dphi}, (X,))
    rows = [run_balls(program, {"x": flint.acb(x)}) for x in xs]
    curves = {name: _torn([float(row[name].real.mid()) for row in rows]) for name in ("phi", "derivative")}
    return {"x": xs, **curves}


def _torn(values: list[float]) -> list[float]:
    """Values with a gap where neighbours are far apart, so that a jump is not drawn as a slope."""
    finite = [value for value in values if value - value == 0]
    span = max(finite) - min(finite)
    return [float("nan") if i and abs(v - values[i - 1]) > max(0.15 * span, 0.2) else v for i, v in enumerate(values)]


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
    """Points of the curve sigma_w^2 = 1/E phi'^2, sigma_b^2 = q - E phi^2/E phi'^2 where sigma_b^2 >= 0."""
    from derive.depth.edge import split
    from derive.gaussian.scan import scan
    from derive.program.symbols import Q

    qs = [10 ** (i / 20) for i in range(-30, 31)]
    second, slope = split(theory.variance_map.template, theory.chi.template)
    squares = [scan(expr, {}, "q", qs) for expr in (1 / slope, Q - second / slope)]
    rounding = 1e-9  # of q: where sigma_b is 0 exactly, floats have either sign
    rows = [(q, w2, max(b2, 0.0)) for q, w2, b2 in zip(qs, *squares, strict=True) if b2 >= -rounding * q]
    point = [float(chosen.sigma_w), float(chosen.sigma_b)] if chosen is not None else []
    bounds = [rows[0][0], rows[-1][0]] if rows else []
    sigma_w, sigma_b = ([float(row[i]) ** 0.5 for row in rows] for i in (1, 2))
    return {"sigma_w": sigma_w, "sigma_b": sigma_b, "range": bounds, "point": point}
