"""One layer in floats: log q and log e, e = 1 - c, to the next layer's, for whole arrays of (sigma_w, sigma_b).

log e is followed and not c, so that a bias that grows without bound keeps its digits at every depth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import flint
import numpy as np
from numpy.polynomial import chebyshev
from sympy import Expr

from derive.activation.normal_form import normal_form
from derive.depth.bias.pinned import pinned_maps
from derive.depth.bias.pooled import PooledMaps, pooled_gap
from derive.depth.grid_gap import GapTable, gap_table
from derive.depth.grid_maps import TemplateMaps, gap_of
from derive.gaussian.factors import pair_factors
from derive.gaussian.node import GaussianE
from derive.gaussian.numbers import canonical, evaluate, outermost
from derive.layers.nested import every_stage
from derive.program.symbols import Q1, Q2, SIGMA_B, SIGMA_W, Q, X
from derive.records import Unsupported

Array = Any
NODES = 40
"""Chebyshev nodes in theta = arccos c on [0, pi/2] of a scale-free map."""
NO_PAIR = ("dropout",)
"""Layers whose statistics are not those of one network acting on inputs."""
FREE = frozenset({"elementwise", "dense", "maxpool", "avgpool", "residual", "sum", "concat", "flatten"})


class LayerMaps(Protocol):
    """What a recursion over depth needs of a block. Arrays broadcast over nodes of (sigma_w, sigma_b).

    step   (log q, log e, sigma_w, sigma_b) -> the first two of the next layer
    gains  (log q, sigma_w, sigma_b) -> chi and dV/dq
    """

    def step(self, log_q: Array, log_e: Array, sigma_w: Array, sigma_b: Array) -> tuple[Array, Array]: ...
    def gains(self, log_q: Array, sigma_w: Array, sigma_b: Array) -> tuple[Array, Array]: ...


@dataclass(frozen=True)
class ScaleFree:
    """A block of functions with phi(t x) = t phi(x), one Dense: V = (a0 + a1 sigma_w^2) q + sigma_b^2, and the gap
    q (g0(e) + g1(e) sigma_w^2) e; nothing overflows at any depth.

    variance, gain   (a0, a1) of V and of chi
    bias             (b0, b1): what is added to both moments, b0 + b1 sigma_b^2
    gap              coefficients of g0 and g1 in Chebyshev polynomials of theta on [0, pi/2]
    """

    variance: tuple[float, float]
    gain: tuple[float, float]
    bias: tuple[float, float]
    gap: tuple[np.ndarray, np.ndarray]

    def step(self, log_q: Array, log_e: Array, sigma_w: Array, sigma_b: Array) -> tuple[Array, Array]:
        """The next layer: e' = e (g0 + g1 sigma_w^2) q/q'."""
        w2, b2 = sigma_w**2, self.bias[0] + self.bias[1] * sigma_b**2
        with np.errstate(divide="ignore"):
            after = np.logaddexp(log_q + np.log(self.variance[0] + self.variance[1] * w2), np.log(b2))
        theta = 2 * np.arcsin(np.sqrt(np.exp(log_e) / 2))
        local = 4 * theta / np.pi - 1
        ratio = chebyshev.chebval(local, self.gap[0]) + chebyshev.chebval(local, self.gap[1]) * w2
        return after, np.minimum(log_e + np.log(ratio) + log_q - after, 0.0)

    def gains(self, log_q: Array, sigma_w: Array, sigma_b: Array) -> tuple[Array, Array]:
        """chi and dV/dq: they differ for pooled blocks."""
        shape = np.broadcast_shapes(np.shape(log_q), np.shape(sigma_w))
        both = (a + b * sigma_w**2 for a, b in (self.gain, self.variance))
        chi, slope = (np.broadcast_to(value, shape) for value in both)
        return chi, slope


@dataclass(frozen=True)
class Tabulated:
    """Any block whose expectations are of one and two units, by tables in the variance and in t = sqrt(e)."""

    maps: TemplateMaps

    def step(self, log_q: Array, log_e: Array, sigma_w: Array, sigma_b: Array) -> tuple[Array, Array]:
        """The next layer: e' = e (1 - C)/(1 - c)."""
        shape = np.broadcast_shapes(*map(np.shape, (log_q, log_e, sigma_w, sigma_b)))
        q, e, w, b = (np.broadcast_to(a, shape).ravel() for a in (np.exp(log_q), log_e, sigma_w, sigma_b))
        # below exp(-650) the ratio has had its limit long before
        after, ratio = self.maps.decay(q, w, b, np.exp(np.clip(e, -650, 0)))
        with np.errstate(divide="ignore"):
            return np.log(after).reshape(shape), np.minimum(e + np.log(ratio), 0.0).reshape(shape)

    def gains(self, log_q: Array, sigma_w: Array, sigma_b: Array) -> tuple[Array, Array]:
        """chi and dV/dq."""
        q = np.exp(log_q)
        return self.maps.gain(q, sigma_w, sigma_b), self.maps.slope(q, sigma_w, sigma_b)


@dataclass(frozen=True)
class KeptTables(TemplateMaps):
    """Maps of a block that keep the table of a pair for all variances met so far."""

    tables: dict[Any, tuple[float, float, GapTable]] = field(default_factory=dict, compare=False, repr=False)

    def gaps(self, node: GaussianE, v: Array) -> GapTable:
        """The kept table where it covers the variances, else one for these and the earlier ones."""
        low, high = float(np.nanmin(v)), float(np.nanmax(v))
        kept = self.tables.get(node)
        if kept is None or low < kept[0] or high > kept[1]:
            low, high = (low, high) if kept is None else (min(low, kept[0]), max(high, kept[1]))
            # up to half a decade further on both sides: the next layers' variances are near
            low, high = 10 ** (np.floor(2 * np.log10(low) - 0.5) / 2), 10 ** (np.ceil(2 * np.log10(high) + 0.5) / 2)
            f, g = pair_factors(canonical(node))
            self.tables[node] = kept = (low, high, gap_table(self.function(f), self.function(g), low, high))
        return kept[2]


def layer_maps(theory: Any, values: Mapping[str, Any]) -> LayerMaps:
    """The fast maps of a theory, with numbers for its parameters.

    Raises Unsupported for layers that have no such map: dropout, batch normalisation of a part of the signal, and
    functions of several units that are not scale-free.
    """
    for stage in every_stage(theory.block.stages):
        if type(stage).__name__.lower() in NO_PAIR:
            raise Unsupported(
                f"guessing bias of a block with {type(stage).__name__}",
                why="its output on one input depends on a mask",
            )
    if any(type(stage).__name__ == "BatchNorm" for stage in every_stage(theory.block.stages)):
        return pinned_maps(theory, values)
    if scale_free(theory.block):
        return _scale_free(theory, values)
    return Tabulated(tables(theory, values))


def tables(theory: Any, values: Mapping[str, Any]) -> TemplateMaps:
    """The maps in floats. Raises Unsupported for expectations of several units other than their maximum."""
    cycle, jumps = theory.maps.cycle, bool(theory.maps.jumps)
    finite = theory.variance_map.template if jumps else theory.chi.template
    pooled = any(type(stage).__name__ == "MaxPool" for stage in every_stage(theory.block.stages))
    gap = pooled_gap(cycle.second1, cycle.cross) if pooled else gap_of(cycle.second1, cycle.cross)
    return (PooledMaps if pooled else KeptTables)(theory.variance_map.template, finite, gap, values, jumps)


def scale_free(block: Any) -> bool:
    """Whether a block without biases maps t x to t times its output: lines through 0 on both sides, layers that keep
    scales, and no biases but those of one Dense, added last in the block or in a branch."""
    stages = list(every_stage(block.stages))
    names = [type(stage).__name__.lower() for stage in stages]
    last = block.cycle()[-1]
    ends = [last, *(getattr(stage, "inner", (None,))[-1] for stage in stages if names.count("residual") == 1)]
    dense = [stage for stage in (*stages, last) if hasattr(stage, "weights")]
    if not set(names) <= FREE or len({id(stage) for stage in dense}) != 1 or not any(dense[0] is end for end in ends):
        return False
    return all(_lines(stage.phi) for stage in stages if hasattr(stage, "phi"))


def _lines(phi: Expr) -> bool:
    cells = normal_form(phi).cells
    return all(cell.lower == 0 for cell in cells[1:]) and all(not (cell.value / X).expand().has(X) for cell in cells)


def _scale_free(theory: Any, values: Mapping[str, Any]) -> ScaleFree:
    cycle, key = theory.maps.cycle, tuple(sorted(values.items()))
    finite = None if theory.maps.jumps else theory.chi.template
    variance, gain, bias = (np.inf, np.inf), (np.inf, np.inf), (0.0, 0.0)
    second = cycle.second1.xreplace({Q1: Q})
    level = [_number(second, key, w, 0) for w in (0, 1)]
    start = _number(second, key, 0, 0, 0)
    bias = (start, _number(second, key, 0, 1, 0) - start)
    variance = (level[0] - start, level[1] - level[0])
    if finite is not None:
        chi = [_number(finite, key, w, 0) for w in (0, 1)]
        gain = (chi[0], chi[1] - chi[0])
    pooled = any(type(stage).__name__ == "MaxPool" for stage in every_stage(theory.block.stages))
    gap = _pooled_coefficients(tables(theory, values)) if pooled else _gap_coefficients(cycle.second1, cycle.cross, key)
    return ScaleFree(variance, gain, bias, gap)


def _pooled_coefficients(maps: TemplateMaps) -> tuple[np.ndarray, np.ndarray]:
    """The same for the largest of several units, from the table of pairs at variance 1."""
    x, e = _angles()
    known = [np.ones(len(e)), np.zeros(len(e))]
    rows = []
    for w in (1.0, 2.0):
        ratio, _ = maps.contraction(known[0], w * known[0], known[1])(np.arange(len(e)), np.sqrt(e))
        rows.append(ratio * maps.variance(known[0], w * known[0], known[1]))
    slope = (rows[1] - rows[0]) / 3
    return _resolved(x, np.stack([rows[0] - slope, slope], 1))


def _number(expr: Expr, key: tuple, w: int, b: int, q: int = 1) -> float:
    free = {SIGMA_W: w, SIGMA_B: b}
    if q == 0:  # a scale-free moment vanishes with q: what is left are biases
        expr = expr.xreplace(dict.fromkeys(outermost(expr), 0 * Q)).xreplace({Q: Q * 0})
    known = {**dict(key), "q": Fraction(1), **{s.name: Fraction(v) for s, v in free.items()}}
    with flint.ctx.workprec(120):
        return float(evaluate(expr, known, 20)[0].mid())


@lru_cache(maxsize=32)
def _gap_coefficients(second: Expr, cross: Expr, key: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Chebyshev coefficients in theta of gap/(q e), its part free of sigma_w and the factor of sigma_w^2.

    The map is analytic in theta up to c = 1 for functions of lines: the nodes resolve it to about 1e-15, which is
    checked. Values are certified numbers, so that nothing is lost as e -> 0.
    """
    x, e = _angles()
    gap = (second - cross).xreplace({Q2: Q1})
    rows = []
    with flint.ctx.workprec(200):
        for value in e:
            exact = Fraction(float(value))
            known = {**dict(key), "q1": Fraction(1), "q2": Fraction(1), "c": 1 - exact, "sigma_b": Fraction(0)}
            pair = [evaluate(gap, {**known, "sigma_w": Fraction(w)}, 30)[0] / float(value) for w in (0, 1)]
            rows.append([float(pair[0].mid()), float((pair[1] - pair[0]).mid())])
    return _resolved(x, np.array(rows))


def _angles() -> tuple[np.ndarray, np.ndarray]:
    """Chebyshev nodes of theta on [0, pi/2] in [-1, 1], and e = 1 - cos(theta) there."""
    x = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    return x, 2 * np.sin((x + 1) * np.pi / 8) ** 2


def _resolved(x: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found = chebyshev.chebfit(x, values, NODES - 1)
    if np.abs(found[-2:]).max() > 1e-11 * np.abs(found).max():
        raise Unsupported("a correlation map that is not resolved in the angle between inputs")
    return found[:, 0], found[:, 1]


__all__ = ["FREE", "LayerMaps", "ScaleFree", "Tabulated", "layer_maps", "scale_free"]
