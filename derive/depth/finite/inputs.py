"""The statistics at order 1/width of a set of inputs through a deep stack, in floats or in balls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

Pair = tuple[int, int]
Kernel = dict[Pair, Any]
Vertex = dict[tuple[Pair, Pair], Any]


@dataclass(frozen=True)
class PairCoefficients:
    """What one pair of inputs (or one input twice) passes on: C_W E phi phi + C_b with derivatives in its slots.

    slots      the entries of the kernel it depends on: (aa), or (aa), (bb), (ab)
    kernel     its value
    transport  first derivatives, one for each slot
    curvature  second derivatives
    """

    slots: tuple[Pair, ...]
    kernel: Any
    transport: Sequence[Any]
    curvature: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Layer:
    """One layer's coefficients at a kernel: by pair, and the sources C_W^2 Cov(phi phi, phi phi) by pair of pairs."""

    pairs: Mapping[Pair, PairCoefficients]
    sources: Mapping[tuple[Pair, Pair], Any]


LayerAt = Callable[[Kernel], Layer]


@dataclass(frozen=True, eq=False)
class FiniteInputs:
    """What width does to layers 1 to L for P inputs; entry l - 1 for layer l; floats, or Enclosures.

    widths      width of the layer that feeds layer l; entry 0 is nan
    kernel      K_ab, (L, P, P): the infinite network's kernel
    correction  K1_ab, (L, P, P): width times (mean kernel - K)
    vertex      V_abcd, (L, P, P, P, P): width times Cov(G_ab, G_cd); nan (None) where more inputs meet than were asked
    kind        "float" or "ENCLOSURE"
    """

    widths: np.ndarray
    kernel: np.ndarray
    correction: np.ndarray
    vertex: np.ndarray
    kind: str

    def _per_width(self, values: np.ndarray) -> np.ndarray:
        scale = 1 / self.widths
        scale[0] = 0.0
        return np.asarray(values, float) * scale.reshape(-1, *(1,) * (values.ndim - 1))

    @property
    def mean(self) -> np.ndarray:
        """E G = K + K1/n, float."""
        return np.asarray(self.kernel, float) + self._per_width(self.correction)

    @property
    def covariance(self) -> np.ndarray:
        """Cov(G_ab, G_cd) = V/n, float."""
        return self._per_width(self.vertex)


def pairs_of(count: int) -> tuple[Pair, ...]:
    """(a, b) with a <= b < count."""
    return tuple(combinations_with_replacement(range(count), 2))


def followed(count: int, distinct: int) -> tuple[tuple[Pair, Pair], ...]:
    """Pairs of pairs in which at most `distinct` inputs meet: they pass on to each other alone."""
    both = combinations_with_replacement(pairs_of(count), 2)
    return tuple((p, q) for p, q in both if len({*p, *q}) <= distinct)


def entry(vertex: Mapping[tuple[Pair, Pair], Any], p: Pair, q: Pair) -> Any:
    """V_pq, symmetric under exchange of the pairs."""
    return vertex[(p, q) if p <= q else (q, p)]


def step(at: Layer, vertex: Vertex, correction: Kernel, ratio: Any) -> tuple[Kernel, Vertex, Kernel]:
    """The next layer's (K, V, K1).

    Given a layer, G'_ab = C_b + (C_W/n) sum_j phi_a phi_b has conditional mean f_ab(G) and covariance
    C_W^2 Cov(phi_a phi_b, phi_c phi_d)/n, both exact; expanded in G - K as for one input:
    V'_pq = S_pq + r chi_pa chi_qb V_ab and K1'_p = r (chi_pa K1_a + f_p,ab V_ab/2).
    """
    kernel = {p: c.kernel for p, c in at.pairs.items()}
    moved = {}
    for (p, q), source in at.sources.items():
        left, right = at.pairs[p], at.pairs[q]
        total = source
        for a, x in zip(left.slots, left.transport, strict=True):
            for b, y in zip(right.slots, right.transport, strict=True):
                total = total + ratio * x * y * entry(vertex, a, b)
        moved[p, q] = total
    shifted = {}
    for p, c in at.pairs.items():
        total = sum((x * correction[a] for a, x in zip(c.slots, c.transport, strict=True)), start=0 * c.kernel)
        for i, a in enumerate(c.slots):
            for j, b in enumerate(c.slots):
                total = total + c.curvature[i][j] * entry(vertex, a, b) / 2
        shifted[p] = ratio * total
    return kernel, moved, shifted


def through(
    layer_at: LayerAt, start: Kernel, layers: int, widths: Sequence[int], count: int, distinct: int, number: Any,
    pack: Any = float, kind: str = "float",
) -> FiniteInputs:  # fmt: skip
    """The statistics of layers 1 to `layers`; `number` makes a ratio, `pack` a printed number."""
    kernel = start
    zero = number(0)
    vertex: Vertex = dict.fromkeys(followed(count, distinct), zero)
    correction: Kernel = dict.fromkeys(pairs_of(count), zero)
    rows = [(kernel, vertex, correction)]
    for layer in range(layers - 1):
        ratio = number(widths[layer]) / number(widths[layer - 1]) if layer else number(1)
        kernel, vertex, correction = step(layer_at(kernel), vertex, correction, ratio)
        rows.append((kernel, vertex, correction))
    missing, dtype = (np.nan, float) if kind == "float" else (None, object)
    shape = (layers, count, count)
    made = [np.full(s, missing, dtype) for s in (shape, shape, (*shape, count, count))]
    for i, (k, v, k1) in enumerate(rows):
        for out, values in ((made[0], k), (made[1], k1)):
            for (a, b), value in values.items():
                out[i, a, b] = out[i, b, a] = pack(value)
        for (p, q), value in v.items():
            for (a, b), (c, d) in ((p, q), (q, p)):
                made[2][i, a, b, c, d] = made[2][i, b, a, c, d] = pack(value)
                made[2][i, a, b, d, c] = made[2][i, b, a, d, c] = pack(value)
    return FiniteInputs(np.array([np.nan, *widths], float), made[0], made[1], made[2], kind)


__all__ = ["FiniteInputs", "Layer", "LayerAt", "PairCoefficients", "entry", "followed", "pairs_of", "step", "through"]
