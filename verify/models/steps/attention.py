"""Softmax attention of many wide heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from verify.models.state import DRAWS, State
from verify.models.step import Step, averaged

HEADS, NUMBERS = 256, 2e7
"""Heads that are drawn, and how many attention weights all of them may have together."""
ASSUMED = "attention: moments over drawn heads of infinite width; gradients at different positions count as independent"


@dataclass(frozen=True, kw_only=True)
class Attention(Step):
    """o_i = sum_j a_ij v_j with a = softmax(scale q k^T + mask) over the positions of one input, head by head.

    In the limit of wide heads with weights of their own the scores are a Gaussian matrix, independent of the values:
    E S_ij S_i'j' = scale^2 d_head E q_i q_i' E k_j k_j'. Then E o_i o_i' = sum_jj' E[a_ij a_i'j'] E v_j v_j', and with
    gradients delta_i of variance g_i that are independent between positions
      values   g_j = sum_i E a_ij^2 g_i,
      queries  g_i scale^2 d_head E sum_jl a_ij a_il C^i_jl E k_j k_l,
      keys     g_j = scale^2 d_head sum_i g_i E q_i^2 E a_ij^2 C^i_jj,
    with C^i the covariance of the values about their attended mean. Expectations are over drawn heads: an estimate.
    Source: Hron et al. 2020 (arXiv 2006.10540), theorem 3; the gradients are derived here from the softmax's Jacobian.
    """

    title: ClassVar[str] = "attention"
    feature: int
    heads: int
    width: int
    scale: float
    p: float
    axes: tuple[int, int]
    mask: Any = field(compare=False, repr=False)

    def plain(self, tensor: Any) -> Any:
        """(inputs, heads, positions, width) as (inputs, positions, features)."""
        return tensor.transpose(1, 2).reshape(self.shape)

    def weights(self, states: Sequence[State]) -> Any:
        """Drawn attention weights (heads drawn, inputs, positions, positions)."""
        q, k, _ = states
        return _drawn(_Law(q.second, k.second, self.scale**2 * self.width, self.mask, q.shape[0]))

    def forward(self, states: Sequence[State]) -> State:
        """Moments of the attended values, over drawn heads."""
        v = states[2]
        a = self.weights(states)
        drawn, inputs, wide, seen = a.shape
        values = v.second.reshape(inputs, seen, inputs, seen)
        second = np.zeros((inputs, wide, inputs, wide))
        for i in range(inputs):
            half = a[:, i] @ values[i].reshape(seen, inputs * seen)
            for j in range(inputs):
                part = half.reshape(drawn, wide, inputs, seen)[:, :, j]
                second[i, :, j] = np.einsum("rxs,rys->xy", part, a[:, j], optimize=True) / drawn
            dropped = np.einsum("rxs,s->x", a[:, i] ** 2, np.einsum("ss->s", values[i, :, i])) / drawn
            second[i, range(wide), i, range(wide)] += dropped * self.p / (1 - self.p)
        mean = np.einsum("rixs,is->ix", a, v.mean.reshape(inputs, seen)).reshape(-1) / drawn
        size = inputs * wide
        how = "measured" if "measured" in (s.how for s in states) else "sampled"
        return State(self.shape, self.feature, second.reshape(size, size), mean, False, how, lambda: _mixed(a, v))

    def back(self, states: Sequence[State], gradient: Any) -> list[Any]:
        """To queries, keys and values."""
        q, k, v = states
        a = self.weights(states)
        drawn, inputs, wide, seen = a.shape
        g = averaged(gradient).reshape(inputs, wide)
        size = self.scale**2 * self.width
        found = np.zeros((3, inputs, seen))
        for i in range(inputs):
            block = slice(i * seen, (i + 1) * seen)
            keys, values = k.second[block, block], v.second[block, block]
            queries = np.diag(q.second)[block]
            weights = a[:, i]
            attended = weights @ values
            about = np.einsum("rxs,rxs->rx", attended, weights)
            own = np.diag(values) - 2 * attended + about[..., None]
            found[1, i] = size * np.einsum("x,rxs,rxs->s", g[i] * queries, weights**2, own, optimize=True)
            found[2, i] = np.einsum("x,rxs->s", g[i] / (1 - self.p), weights**2)
            found[0, i] = size * g[i] * _curved(weights, values, attended, about, keys)
        return [part.reshape(-1) / drawn if n else part.reshape(-1) for n, part in zip((0, 1, 1), found, strict=True)]


def _curved(a: Any, values: Any, attended: Any, about: Any, keys: Any) -> Any:
    """E sum_jl a_ij a_il C^i_jl K_jl with C^i_jl = V_jl - m_j - m_l + m, m_j the attended covariance with j."""
    plain = np.einsum("rxs,rxs->rx", a @ (values * keys), a)
    attending = a @ keys
    crossed = np.einsum("rxs,rxs,rxs->rx", a, attended, attending)
    kept = np.einsum("rxs,rxs->rx", a, attending)
    return (plain - 2 * crossed + about * kept).mean(0)


@dataclass(frozen=True, eq=False)
class _Law:
    queries: Any
    keys: Any
    size: float
    mask: Any
    inputs: int

    def key(self) -> tuple[Any, ...]:
        mask = None if self.mask is None else self.mask.tobytes()
        return self.queries.tobytes(), self.keys.tobytes(), self.size, mask, self.inputs

    def __hash__(self) -> int:
        return hash(self.key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Law) and self.key() == other.key()


@lru_cache(maxsize=4)
def _drawn(law: _Law) -> Any:
    inputs, places = law.inputs, len(law.queries)
    wide, seen = places // inputs, len(law.keys) // inputs
    count = int(max(16, min(HEADS, NUMBERS / (inputs * wide * seen))))
    left, right = (_root(second) for second in (law.queries, law.keys))
    generator = np.random.default_rng([places, count])
    scores = np.empty((count, inputs, wide, seen))
    for r in range(count):
        whole = left @ generator.standard_normal((left.shape[1], right.shape[1]))
        for i in range(inputs):
            rows, columns = slice(i * wide, (i + 1) * wide), slice(i * seen, (i + 1) * seen)
            scores[r, i] = whole[rows] @ right[columns].T
    scores *= law.size**0.5
    if law.mask is not None:
        scores += law.mask
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    return scores / scores.sum(-1, keepdims=True)


def _root(second: Any) -> Any:
    """A square root of a covariance that may be singular."""
    values, vectors = np.linalg.eigh(second)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _mixed(a: Any, v: State) -> Any:
    """Draws of an attended feature: each with the attention of one of the heads."""
    drawn, inputs, _, seen = a.shape
    values = v.draws.reshape(-1, inputs, seen)
    heads = np.arange(DRAWS) % drawn
    return np.stack([np.einsum("dxs,ds->dx", a[heads, i], values[:, i]) for i in range(inputs)], 1).reshape(DRAWS, -1)


def _fused(reader: Any, node: Any) -> Step:
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    given = dict(zip(names, node.args, strict=False)) | dict(node.kwargs)
    mask, causal, scale = given.get("attn_mask"), bool(given.get("is_causal", False)), given.get("scale")
    masks = () if mask is None else ((mask, False),)
    p = float(given.get("dropout_p", 0.0) or 0.0)
    return _made(reader, node, [given[name] for name in names[:3]], masks, causal, scale, p)


def _product(reader: Any, node: Any) -> Step:
    found = reader.written.get(node.name)
    if found is None:
        reader.refuse(node, "it multiplies signals by signals")
    return _made(reader, node, [found.query, found.key, found.value], found.masks, False, found.scale, found.p)


def _made(
    reader: Any, node: Any, streams: list[Any], masks: tuple[Any, ...], causal: bool, scale: float | None, p: float
) -> Step:
    seen = [reader.signals.get(s.name) for s in streams]
    if any(value is None or value.heads is None for value in seen):
        reader.refuse(node, "queries, keys and values are not features taken apart into heads")
    if len({(value.shape, value.heads) for value in seen}) != 1:
        reader.refuse(node, "queries, keys and values have different shapes")
    if seen[0].heads != (1, 3):
        reader.refuse(node, "it attends over something else than positions")
    shape = seen[0].shape
    heads, width = (reader.values[streams[0].name].shape[a] for a in seen[0].heads)
    step = Attention(
        name=node.name, module=reader.module(node), inputs=tuple(reader.settled(s) for s in streams), shape=shape,
        feature=len(shape) - 1, heads=heads, width=width, scale=float(width**-0.5 if scale is None else scale),
        p=p, axes=seen[0].heads, mask=_mask(reader, masks, causal, shape),
    )  # fmt: skip
    if width < 8:
        reader.notes.append(f"{step.module}: heads of {width} features; the scores are taken as Gaussian")
    reader.notes.append(ASSUMED)
    return step


def _mask(reader: Any, masks: tuple[Any, ...], causal: bool, shape: tuple[int, ...]) -> Any:
    """What is added to the scores, (inputs, positions, positions); None where nothing is."""
    inputs, places = shape[:2]
    if not (causal or masks):
        return None
    total = np.zeros((inputs, places, places))
    if causal:
        total += np.where(np.tril(np.ones((places, places), bool)), 0.0, -np.inf)
    for node, hidden in masks:
        if reader.stream(node):
            reader.refuse(node, "the mask depends on the input")
        mask = reader.values[node.name].detach().cpu().numpy()
        if mask.ndim == 4 and mask.shape[1] != 1:
            reader.refuse(node, "every head has a mask of its own")
        mask = mask[:, 0] if mask.ndim == 4 else mask
        if hidden:
            mask = ~mask.astype(bool)
        total += np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask
    return total


OPERATIONS = {"scaled_dot_product_attention": _fused, "matmul": _product, "bmm": _product}
