"""Layer by layer: variances, correlations and tangent kernels of a set of inputs through a deep stack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from derive.layers.block import Block
from derive.records import EocError
from derive.surface.exact import deviation
from derive.surface.recursions import derivative_covariance

LARGEST = 64
"""Layers of which a formula is composed; kernels of more layers are numbers."""


@dataclass(frozen=True, eq=False)
class Depth:
    """Kernels of n inputs at layers 1 to L, as float arrays.

    q        (L, n) variances
    c        (L, n, n) correlations
    tangent  (L, n, n) tangent kernels; None for a block whose function jumps or that has several activations
    kind     what the maps behind them are; the numbers are those of their emitted code, not enclosures
    """

    q: np.ndarray
    c: np.ndarray
    tangent: np.ndarray | None
    kind: str

    @property
    def gram(self) -> np.ndarray:
        """(L, n, n) second moments."""
        root = np.sqrt(self.q)
        return self.c * root[:, :, None] * root[:, None, :]


def depth(theory: Any, gram: Any, layers: int, sigma_w: Any, sigma_b: Any = 0, **parameters: Any) -> Depth:
    """Kernels of the pre-activations at layers 1 to `layers`, from the Gram matrix (n, n) of those of layer 1.

    q' = V(q), c' = C(q1, q2, c); Theta' = K' + sigma_w^2 E[phi'(u) phi'(v)] Theta with Theta = K at layer 1
    (Jacot, Gabriel & Hongler 2018, arXiv 1806.07572, theorem 1). Raises EocError for what is no Gram matrix.
    """
    start = _gram(gram)
    if not isinstance(layers, int) or layers < 1:
        raise EocError(f"layers = {layers!r}", why="layers are counted from 1", instead="layers=20")
    fixed = {name: float(value) for name, value in theory._values(parameters).items()}
    fixed |= {"sigma_w": float(deviation(sigma_w, "sigma_w")), "sigma_b": float(deviation(sigma_b, "sigma_b"))}
    variance, correlation = (_filled(theory, name, fixed) for name in ("variance_map", "correlation_map"))
    slopes = derivative_covariance(theory)
    change = None if slopes is None else slopes.compile("numpy")
    own = {} if slopes is None else {name: fixed[name] for name in slopes.parameters}
    root = np.sqrt(np.diagonal(start))
    q, c, tangent = np.diagonal(start).copy(), _unit(start / np.outer(root, root)), start
    rows: list[list[np.ndarray]] = [[q], [c], [tangent]]
    for _ in range(layers - 1):
        first, second = np.broadcast_arrays(q[:, None], q[None, :])
        gain = 0.0 if change is None else fixed["sigma_w"] ** 2 * np.asarray(change(first, second, c, **own))
        c, q = _unit(np.asarray(correlation(first, second, c))), np.asarray(variance(q))
        tangent = c * np.sqrt(np.outer(q, q)) + gain * tangent
        for kept, value in zip(rows, (q, c, tangent), strict=True):
            kept.append(value)
    kind = str(theory.correlation_map.kind)
    return Depth(np.stack(rows[0]), np.stack(rows[1]), None if change is None else np.stack(rows[2]), kind)


def _gram(gram: Any) -> np.ndarray:
    try:
        start = np.array(gram, float)
    except (TypeError, ValueError):
        start = np.empty(0)
    if start.ndim != 2 or start.shape[0] != start.shape[1] or not len(start) or not np.isfinite(start).all():
        raise EocError("the Gram matrix of the inputs is no square matrix", instead="[[1, 0.5], [0.5, 1]]")
    diagonal = np.diagonal(start)
    if (diagonal <= 0).any() or np.abs(start - start.T).max() > 1e-12 * diagonal.max():
        raise EocError("the Gram matrix is not symmetric with a positive diagonal", instead="[[1, 0.5], [0.5, 1]]")
    if np.linalg.eigvalsh(start).min() < -1e-10 * diagonal.max():
        raise EocError("the Gram matrix is not positive semi-definite", why="no inputs have these inner products")
    return (start + start.T) / 2


def _unit(c: np.ndarray) -> np.ndarray:
    """Correlations cut off at 1, with the diagonal exactly 1."""
    c = np.clip(c, -1, 1)
    np.fill_diagonal(c, 1.0)
    return c


def _filled(theory: Any, name: str, fixed: dict[str, float]) -> Any:
    result = getattr(theory, name)
    given = {key: fixed[key] for key in (*result.parameters, "sigma_w", "sigma_b") if key in _keywords(result)}
    function = result.compile("numpy")
    return lambda *args: function(*args, **given)


def _keywords(result: Any) -> set[str]:
    return {*result.parameters, *result.arguments}


def repeated(theory: Any, layers: int) -> Block:
    """The block that is `layers` turns of this one: its maps are the composed maps, as formulas."""
    if not isinstance(layers, int) or not 1 <= layers <= LARGEST:
        raise EocError(
            f"layers = {layers!r}", why="a formula is composed of a few layers", instead="depth(gram, layers, ...)"
        )
    return Block(theory.block.cycle() * layers)


__all__ = ["Depth", "depth", "repeated"]
