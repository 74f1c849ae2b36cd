"""Standalone modules with the recursions at order 1/width and a loop over layers."""

from __future__ import annotations

from typing import Any

from derive.emit.layout import indented
from derive.surface.emission import results_code
from derive.surface.results import Result

DOC = (
    "K, V, K1 of layers 1 to len(widths) + 1 as a list of triples, from the variance q0 of layer 1.\n"
    "\n"
    "widths are those of layers 1, 2, ...; the kernel of a layer that is fed by a width n has mean K + K1/n and\n"
    "variance V/n to leading order. q0 and the keywords broadcast."
)


def finite_width_code(finite: Any, backend: str) -> str:
    """`kernel_map`, `vertex`, `mean_correction` and `finite_width_recursion` as source text of one module."""
    kept = {"kernel_map": finite.kernel, "vertex": finite.vertex, "mean_correction": finite.mean_correction}
    header = f"Finite-width recursions of {finite.theory.block}, to order 1/width."
    keywords = list(dict.fromkeys(name for r in kept.values() for name in _keywords(r)))
    keywords.sort(key=lambda name: (name in ("sigma_w", "sigma_b"), name != "sigma_w", name))
    lines = ["k, v, k1 = q0, 0.0*q0, 0.0*q0", "rows = [(k, v, k1)]", "for i, width in enumerate(widths):"]
    lines += ["    r = width/widths[i - 1] if i else 1.0"]
    lines += [f"    after = {_call('mean_correction', kept['mean_correction'])}"]
    lines += [f"    k, v, k1 = {_call('kernel_map', kept['kernel_map'])}, {_call('vertex', kept['vertex'])}, after"]
    lines += ["    rows.append((k, v, k1))", "return rows"]
    star = ", *, " + ", ".join(keywords) if keywords else ""
    loop = indented(f"def finite_width_recursion(q0, widths{star}):", DOC, lines)
    return results_code(kept, backend, header) + "\n\n" + loop + "\n"


def _keywords(result: Result) -> list[str]:
    free = {s.name for s in result.template.free_symbols}
    return [n for n in (*(name for name, _ in result.domains), "sigma_w", "sigma_b") if n in free]


def _call(name: str, result: Result) -> str:
    places = {"q": "k", "V4": "v", "K1": "k1", "r_n": "r"}
    given = [places[a] for a in result.arguments if a in places]
    return f"{name}({', '.join([*given, *(f'{k}={k}' for k in _keywords(result))])})"


__all__ = ["finite_width_code"]
