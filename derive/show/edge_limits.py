"""The ends of the edge of chaos, q -> 0 and q -> oo, as rows of a page."""

from __future__ import annotations

from typing import Any

SYMBOLS = {
    "sigma_w2": (r"\sigma_{w}^{2}", "σ_w²"),
    "sigma_b2": (r"\sigma_{b}^{2}", "σ_b²"),
    "chi_parallel": (r"\chi_{\parallel}", "χ∥"),
}
LONGEST = 40
"""Operations of a coefficient beyond which its number is shown, or nothing where it has parameters."""


def edge_limits(theory: Any) -> list[dict[str, Any]]:
    """A row an end: text, LaTeX, and the leading terms as coefficient and power of q; [] where nothing is known."""
    from derive.show.document import attempt

    found = attempt(lambda: theory.edge_of_chaos(q="q").limits)
    return [_row(limit) for limit in found if limit.sigma_w2 is not None] if not isinstance(found, str) else []


def _row(limit: Any) -> dict[str, Any]:
    at = "0" if limit.at == 0 else "oo"
    terms = {name: _term(getattr(limit, name)) for name in SYMBOLS}
    latex, plain = [], []
    for name, (symbol, text) in SYMBOLS.items():
        term = terms[name]
        if term is not None and term["unicode"] and name != "chi_parallel":
            arrow = (r"\to", "→") if term["power"] == "0" else (r"\sim", "~")
            latex.append(f"{symbol} {arrow[0]} {term['latex']}")
            plain.append(f"{text} {arrow[1]} {term['unicode']}")
    if limit.sigma_b2 is None and limit.why:
        plain.append(limit.why.replace("sigma_b^2", "σ_b²"))
        latex.append(limit.why.replace("sigma_b^2", r"\sigma_{b}^{2}"))
    remark = _remark(limit)
    end = (r"q \to 0", "q → 0") if at == "0" else (r"q \to \infty", "q → ∞")
    return {
        "at": at,
        "symbol": {"latex": end[0], "unicode": end[1]},
        "latex": r",\quad ".join(latex),
        "unicode": ", ".join(plain),
        "remark": remark,
        "terms": terms,
        "valid": limit.valid,
        "stable": limit.stable,
    }


def _remark(limit: Any) -> str:
    if limit.valid is False:
        return "no real point: σ_b² < 0"
    return {True: "stable there", False: "unstable there", None: ""}[limit.stable]


def _term(lead: Any) -> dict[str, Any] | None:
    """A leading term: exact where it is short, its number where it has no parameters."""
    from sympy import Symbol, count_ops

    from derive.gaussian.asymptotics.line_integral import LineIntegral
    from derive.program.symbols import Q
    from derive.show.printer import latex
    from derive.show.unicode_text import unicode_text
    from derive.show.values import certified

    if lead is None:
        return None
    row = {"power": str(lead.power), "coefficient": str(lead.coefficient), "value": None, "latex": "", "unicode": ""}
    exact = not lead.coefficient.has(LineIntegral) and count_ops(lead.coefficient) <= LONGEST
    if not lead.coefficient.free_symbols:
        size = certified(lead.number(), 10)
        row["value"] = size["value"]
        known = {Symbol("_k", positive=True): size} if not exact else {}
    else:
        known = {}
        if not exact:
            return row
    shown = next(iter(known), lead.coefficient) * Q**lead.power
    row["latex"] = latex(shown, {s: size["latex"] for s, size in known.items()})
    row["unicode"] = unicode_text(shown, {s: size["text"] for s, size in known.items()})
    return row


__all__ = ["edge_limits"]
