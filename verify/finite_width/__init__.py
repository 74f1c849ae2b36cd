"""Evidence at finite width: the recursions at order 1/n against networks of several widths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.judge import Judgement, Verdict, judge

BATCHES = 24
QUADRATURE = 1e-12
"""Relative error of the brute-force conditional means; the mean correction multiplies it by the width."""
QUANTITIES = {"correction": "correction", "vertex": "vertex"}
TANGENT = {
    "overlap": "gradient_overlap", "mixed": "gradient_mixed", "spread": "gradient_spread",
    "gradient": "gradient_correction",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One comparison: a quantity at a layer, what is predicted, and the judgement of what was measured."""

    quantity: str
    layer: int
    predicted: float
    judgement: Judgement


@dataclass(frozen=True)
class FiniteReport:
    """Every comparison of a finite-width theory with networks."""

    rows: tuple[Row, ...]
    widths: tuple[int, ...]
    networks: int

    @property
    def passed(self) -> bool:
        """Nothing is refuted."""
        return all(row.judgement.verdict is not Verdict.FAILS for row in self.rows)

    @property
    def table(self) -> str:
        """The comparisons as text: layer, predicted, measured, standard error, resolution, verdict."""
        lines = [f"networks of widths {', '.join(map(str, self.widths))}, {self.networks} each, extrapolated in 1/n"]
        for row in self.rows:
            j = row.judgement
            lines.append(
                f"{row.quantity:10s} layer {row.layer:3d}  {row.predicted:13.6g} {j.estimate:13.6g} "
                f"± {j.standard_error:9.2g}  sees {j.resolution:7.2%}  {j.verdict} {j.note}".rstrip()
            )
        return "\n".join(lines)


def verify_finite_width(
    theory: Any,
    sigma_w: Any,
    sigma_b: Any = 0,
    q0: Any = 1,
    *,
    layers: Sequence[int] = (3, 6),
    widths: Sequence[int] = (128, 256, 512),
    networks: int = 24_000,
    seed: int = 0,
    tangent: bool = False,
    predicted: Any = None,
    **parameters: Any,
) -> FiniteReport:
    """Compare V, K1 (and the tangent's statistics) with networks of several widths, extrapolated in 1/n.

    theory     a Theory of one activation behind one Dense
    layers     at which layers
    widths     two or more; with k of them the first k - 1 orders of what is left are removed
    networks   at each width, in 24 batches
    predicted  a `FiniteDepth` to test; by default the theory's own

    Judged by standard errors at a family-wise error of 1e-6 over the report.
    """
    from derive.surface.exact import deviation, exact

    depth = max(layers)
    w, b, q = deviation(sigma_w, "sigma_w"), deviation(sigma_b, "sigma_b"), exact(q0, "q0")
    if predicted is None:
        predicted = theory.finite_width.depth(q, depth, int(widths[0]), w, b, **parameters)
    names = {**QUANTITIES, **(TANGENT if tangent else {})}
    values = theory._values(parameters)
    found = measured(theory, values, (float(w), float(b), float(q)), depth, widths, networks, seed, tangent)
    rows, floor = [], QUADRATURE * max(widths)
    for name, attribute in names.items():
        want = np.array([float(v) for v in getattr(predicted, attribute)])
        size_of = np.array([float(v) for v in predicted.kernel])
        scale = np.maximum(np.abs(want), 1e-3 * size_of)
        for layer in layers:
            batches = found[name][:, layer - 1].tolist()
            size = float(scale[layer - 1])
            judged = judge(batches, float(want[layer - 1]), floor * size_of[layer - 1], size, len(names) * len(layers))
            rows.append(Row(name, layer, float(want[layer - 1]), judged))
    return FiniteReport(tuple(rows), tuple(widths), networks)


def measured(
    theory: Any, values: Any, point: tuple[float, float, float], depth: int, widths: Sequence[int], networks: int,
    seed: int, tangent: bool,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Extrapolated estimates by quantity, (batches, layers), at (sigma_w, sigma_b, q0)."""
    from verify.finite_width.chains import chains
    from verify.finite_width.estimates import estimate, richardson
    from verify.finite_width.tables import OneLayer
    from verify.reference import slope_function, torch_function
    from verify.stream import stream

    sigma_w, sigma_b, q0 = point
    phi = torch_function(theory.activation.source.formula, values)
    slope = slope_function(phi) if tangent else None
    layer = OneLayer(phi, slope, breakpoints(theory, values))
    weights = richardson(widths)
    totals: dict[str, np.ndarray] = {}
    for i, (width, share) in enumerate(zip(widths, weights, strict=True)):
        for k in range(BATCHES):
            below = [int(width)] * (depth - 1)
            drawn = chains(phi, q0, below, sigma_w, sigma_b, networks // BATCHES, stream(seed, i, k), slope)
            found = estimate(layer, drawn, below, sigma_w, sigma_b)
            for name in (*QUANTITIES, *(TANGENT if tangent else ())):
                totals.setdefault(name, np.zeros((BATCHES, depth)))[k] += share * getattr(found, name)
    return totals


def breakpoints(theory: Any, values: Any) -> tuple[float, ...]:
    """Where the activation has kinks and jumps: the quadrature is split there."""
    import flint

    from derive.activation.pieces import piece_function

    phi = theory.activation.phi
    with flint.ctx.workprec(64):
        found = piece_function(phi, {s.name: values[s.name] for s in phi.free_symbols if s.name in values})
        return tuple(float(b.mid()) for b in found.breaks)


__all__ = ["FiniteReport", "Row", "verify_finite_width"]
