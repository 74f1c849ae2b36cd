"""Certified numbers at q = 1: moments, gains and the edge of chaos."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from derive.show.text import escape

if TYPE_CHECKING:
    from derive.records import Enclosure


def number(title: str, latex: str, plain: str, value: Any, digits: int = 16) -> dict[str, Any]:
    """A row of a table: an enclosure, or text where there is no number."""
    row: dict[str, Any] = {"title": title, "symbol": {"latex": latex, "unicode": plain}}
    if isinstance(value, str):
        return {**row, "text": value, "latex": rf"\text{{{escape(value)}}}", "value": None, "radius": None}
    return {**row, **certified(value, digits)}


def certified(value: Enclosure, digits: int = 16) -> dict[str, Any]:
    """An enclosure as text (certified digits only), float and radius."""
    import mpmath

    with mpmath.workdps(60):
        shown = str(value)
        if value.rad == 0 or value.digits() > digits:
            shown = mpmath.nstr(value.mid, digits, strip_zeros=value.rad == 0) if mpmath.isfinite(value.mid) else shown
    shown = shown.removesuffix(".0")
    latex = shown.replace("inf", r"\infty").replace("±", r"\pm")
    mantissa, e, exponent = latex.partition("e")
    latex = rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e and exponent.lstrip("+-").isdigit() else latex
    return {"text": shown, "latex": latex, "value": _json(value.mid), "radius": _json(value.rad)}


def _json(value: Any) -> float | str:
    number = float(value)
    return number if number - number == 0 else str(number)


@dataclass(frozen=True)
class Gains:
    """The three gains of an activation at a variance q, as Results in q."""

    rms: Any
    std: Any
    critical: Any


def gains(found: dict[str, Any]) -> Gains:
    """sqrt(q/E phi^2), sqrt(q/Var phi), 1/sqrt(E phi'^2); at q = 1 the usual 1/sqrt(E phi^2), 1/sqrt(Var phi)."""
    from sympy import sqrt

    from derive.program.symbols import Q

    mean, second, slope = (found[name] for name in ("mean", "second_moment", "derivative_second_moment"))
    return Gains(
        rms=replace(second, template=sqrt(Q / second.template), title="root-mean-square gain"),
        std=replace(second, template=sqrt(Q / (second.template - mean.template**2)), title="standard-deviation gain"),
        critical=replace(slope, template=1 / sqrt(slope.template), title="chi-critical gain"),
    )


def values(theory: Any, found: dict[str, Any], digits: int) -> list[dict[str, Any]]:
    """Moments, gains and the edge-of-chaos point at q = 1; empty where the activation has free parameters."""
    from derive.show.document import attempt

    if theory.domains:
        return []
    chosen = gains(found)
    rows = [
        ("mean", r"\operatorname{\mathbb{E}}\varphi", "E φ", found["mean"]),
        ("mean square", r"\operatorname{\mathbb{E}}\varphi^{2}", "E φ²", found["second_moment"]),
        (
            "mean squared derivative",
            r"\operatorname{\mathbb{E}}\varphi'^{2}",
            "E φ'²",
            found["derivative_second_moment"],
        ),
        ("root-mean-square gain", r"(\operatorname{\mathbb{E}}\varphi^{2})^{-1/2}", "1/√(E φ²)", chosen.rms),
        ("standard-deviation gain", r"(\operatorname{Var}\varphi)^{-1/2}", "1/√(Var φ)", chosen.std),
        ("chi-critical gain", r"(\operatorname{\mathbb{E}}\varphi'^{2})^{-1/2}", "1/√(E φ'²)", chosen.critical),
    ]
    if theory.maps.jumps:
        rows.pop()
    table = [
        number(title, latex, plain, attempt(lambda r=result: r.number(q=1, digits=digits)), digits)
        for title, latex, plain, result in rows
    ]
    return table + _edge_rows(attempt(lambda: theory.edge_of_chaos(q=1, digits=digits)), digits)


def _edge_rows(edge: Any, digits: int) -> list[dict[str, Any]]:
    if isinstance(edge, str):
        return [number("edge of chaos at q* = 1", "", "", edge)]
    if not edge.points:
        return [number("edge of chaos at q* = 1", "", "", "none")]
    point = edge.points[0]
    rows = [number("edge of chaos at q* = 1", r"\sigma_w", "σ_w", point.sigma_w, digits)]
    if point.valid:
        rows.append(number("", r"\sigma_b", "σ_b", point.sigma_b, digits))
    else:
        rows.append(number("no real point:", r"\sigma_b^{2}", "σ_b²", point.sigma_b2, digits))
    rows.append(number("", r"\chi_{\parallel}", "χ∥", point.chi_parallel, digits))
    rows.append(number("stable", r"|\chi_{\parallel}| < 1", "|χ∥| < 1", stability(point.stable)))
    return rows


def stability(stable: bool | None) -> str:
    """In words."""
    return {True: "yes", False: "no", None: "marginal or undecided"}[stable]


def edge_of_chaos(theory: Any) -> dict[str, Any]:
    """The curve of the edge of chaos, sigma_w^2 = 1/E phi'^2 and sigma_b^2 = q - E phi^2/E phi'^2, as formulas in q."""
    from derive.depth.edge import split, zero_everywhere
    from derive.show.document import SYMBOLS, Names, attempt, formula

    if theory.maps.jumps:
        return {
            "reason": "the activation jumps, so that the gradient gain is infinite at every weight variance",
            "formulas": [],
        }
    variance, gain = theory.variance_map.template, theory.chi.template
    parts = attempt(lambda: split(variance, gain))
    if isinstance(parts, str):
        return {"reason": parts, "formulas": []}
    from sympy import Integer, Symbol

    from derive.program.symbols import Q

    invariant = zero_everywhere(*parts)
    reason = (
        "the activation is scale-invariant: every q is a fixed point; with a bias there is none" if invariant else ""
    )
    second, slope = Symbol("_m", positive=True), Symbol("_d", positive=True)
    known = {
        second: (SYMBOLS["second_moment"][0], "E[φ(z)²]"),
        slope: (SYMBOLS["derivative_second_moment"][0], "E[φ'(z)²]"),
    }
    short = Names({s: pair[0] for s, pair in known.items()}, {s: pair[1] for s, pair in known.items()})
    closed = dict(zip((second, slope), (replace(theory.mean, template=part).closed for part in parts), strict=True))
    rows = []
    for name, latex, plain, expr in (
        ("sigma_w2", r"\sigma_{w}^{2}", "σ_w²", 1 / slope),
        ("sigma_b2", r"\sigma_{b}^{2}", "σ_b²", Integer(0) if invariant else Q - second / slope),
    ):
        symbol = {"latex": latex, "unicode": plain}
        rows.append({"id": name, "symbol": symbol, "text": str(expr.xreplace(closed)), **formula(expr, short)})
    return {"reason": reason, "formulas": rows}
