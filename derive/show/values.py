"""Certified numbers at q = 1: moments, gains and the edge of chaos."""

from __future__ import annotations

from collections.abc import Mapping
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
    """The three gains at a variance q, as Results in q; None where the block has no such gain."""

    rms: Any
    std: Any
    critical: Any


def gains(theory: Any, found: dict[str, Any]) -> Gains:
    """sqrt(q/E phi^2), sqrt(q/Var phi), 1/sqrt(E phi'^2); at q = 1 the usual 1/sqrt(E phi^2), 1/sqrt(Var phi).

    Of a block the first two are those of its output, where V(q) = sigma_w^2 E y^2 + sigma_b^2, and the third is
    1/sqrt(chi(q)) at sigma_w = 1, where chi is proportional to sigma_w^2.
    """
    from sympy import sqrt

    from derive.program.symbols import Q
    from derive.show.wording import weighted

    mean, second, slope = found["mean"], found["second_moment"], slope_of(found)
    own = weighted(theory)
    spread = second.template - mean.template**2
    single = slope is not None and slope.arguments in ((), ("q",))
    return Gains(
        rms=replace(second, template=sqrt(Q / second.template), title="root-mean-square gain") if own else None,
        std=replace(second, template=sqrt(Q / spread), title="standard-deviation gain") if own else None,
        critical=replace(slope, template=1 / sqrt(slope.template), title="chi-critical gain") if single else None,
    )


def slope_of(found: Mapping[str, Any]) -> Any:
    """E phi'^2 of an activation, the gradient gain at sigma_w = 1 of a block; None where there is none."""
    return found.get("derivative_second_moment") or found.get("unit_gain")


def symbols_of(theory: Any) -> dict[str, tuple[str, str]]:
    """What the rows of moments and gains are called: LaTeX and text."""
    from derive.show.wording import alone

    if alone(theory):
        y, variance, slope = (r"\varphi", "φ"), "Var φ", (r"\operatorname{\mathbb{E}}\varphi'^{2}", "E φ'²")
    else:
        y, variance, slope = ("y", "y"), "Var y", (r"\chi_{1}", "χ₁")
    mean = (rf"\operatorname{{\mathbb{{E}}}}{y[0]}", f"E {y[1]}")
    return {
        "mean": mean,
        "second_moment": (f"{mean[0]}^{{2}}", f"{mean[1]}²"),
        "slope": slope,
        "rms": (f"({mean[0]}^{{2}})^{{-1/2}}", f"1/√({mean[1]}²)"),
        "std": (rf"(\operatorname{{Var}}{y[0]})^{{-1/2}}", f"1/√({variance})"),
        "critical": (f"({slope[0]})^{{-1/2}}", f"1/√({slope[1]})" if len(slope[1]) > 2 else f"1/√{slope[1]}"),
    }


def values(theory: Any, found: dict[str, Any], digits: int) -> list[dict[str, Any]]:
    """Moments, gains and the edge-of-chaos point at q = 1; empty where the activation has free parameters."""
    from derive.show.document import attempt
    from derive.show.wording import alone

    if theory.domains:
        return []
    chosen, symbols, slope = gains(theory, found), symbols_of(theory), slope_of(found)
    rows = [
        ("mean", "mean", found["mean"]),
        ("mean square", "second_moment", found["second_moment"]),
        ("mean squared derivative" if alone(theory) else "gradient gain at σ_w = 1", "slope", slope),
        ("root-mean-square gain", "rms", chosen.rms),
        ("standard-deviation gain", "std", chosen.std),
        ("chi-critical gain", "critical", None if theory.maps.jumps else chosen.critical),
    ]
    table = [
        number(title, *symbols[name], attempt(lambda r=result: r.number(q=1, digits=digits)), digits)
        for title, name, result in rows
        if result is not None and set(result.arguments) <= {"q"}
    ]
    return table + _edge_rows(attempt(lambda: theory.edge_of_chaos(q=1, digits=digits)), digits)


def _edge_rows(edge: Any, digits: int) -> list[dict[str, Any]]:
    if isinstance(edge, str):
        return [number("edge of chaos at q* = 1", "", "", edge)]
    if not edge.points:
        return [number("edge of chaos at q* = 1", "", "", "none")]
    if edge.gradient_critical is not None and edge.variance_critical is not None:
        return [
            number("edge of chaos at q* = 1", "", "", "none"),
            number("χ = 1 alone (σ_b = 0)", r"\sigma_w", "σ_w", edge.gradient_critical.sigma_w, digits),
            number("V(q) = q alone (σ_b = 0)", r"\sigma_w", "σ_w", edge.variance_critical.sigma_w, digits),
        ]
    point = edge.points[0]
    apart = point.valid is False and point.sigma_b is not None
    title = "V(q) = q and χ(q) = 1 at q = 1" if apart else "edge of chaos at q* = 1"
    rows = [number(title, r"\sigma_w", "σ_w", point.sigma_w, digits)]
    if point.valid or apart:
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
    from derive.show.document import Names, attempt, bracketed, formula
    from derive.show.edge_limits import edge_limits
    from derive.show.wording import alone, terms

    if theory.maps.jumps:
        return {
            "reason": "the activation jumps, so that the gradient gain is infinite at every weight variance",
            "formulas": [],
            "limits": [],
        }
    variance, gain = theory.variance_map.template, theory.chi.template
    reason, none = "", False
    if not alone(theory):
        asked = attempt(lambda: theory.edge_of_chaos("q" if theory.domains else 1))
        reason, none = (asked, False) if isinstance(asked, str) else (asked.reason, not asked.valid)
    parts = attempt(lambda: split(variance, gain))
    if isinstance(parts, str) or (reason and none):
        return {"reason": reason or parts, "formulas": [], "limits": []}
    from sympy import Integer, Symbol

    from derive.program.symbols import Q

    invariant = zero_everywhere(*parts)
    if invariant:
        what = "activation" if alone(theory) else "block"
        reason = f"the {what} is scale-invariant: every q is a fixed point; with a bias there is none"
    second, slope = Symbol("_m", positive=True), Symbol("_d", positive=True)
    words = terms(theory)
    moment, derivative = words["second_moment"], words.get("unit_gain") or words["derivative_second_moment"]
    short = Names(
        {second: moment.latex, slope: derivative.latex},
        {second: bracketed(moment.plain), slope: bracketed(derivative.plain)},
    )
    closed = dict(zip((second, slope), (replace(theory.mean, template=part).closed for part in parts), strict=True))
    rows = []
    for name, latex, plain, expr in (
        ("sigma_w2", r"\sigma_{w}^{2}", "σ_w²", 1 / slope),
        ("sigma_b2", r"\sigma_{b}^{2}", "σ_b²", Integer(0) if invariant else Q - second / slope),
    ):
        symbol = {"latex": latex, "unicode": plain}
        rows.append({"id": name, "symbol": symbol, "text": str(expr.xreplace(closed)), **formula(expr, short)})
    return {"reason": reason, "formulas": rows, "limits": [] if invariant else edge_limits(theory)}
