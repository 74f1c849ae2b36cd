"""The drift ratio through depth: q, e = 1 - c, gamma, chi and dq'/dq at layers 1 to L over whole arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from derive.depth.bias.floats import LayerMaps
from derive.gaussian.numbers import evaluate, to_enclosure
from derive.program.symbols import Q1, Q2
from derive.records import Enclosure, EocError


@dataclass(frozen=True, eq=False)
class Drift:
    """Arrays (L, ...) over the layers, then over the nodes of (sigma_w, sigma_b).

    log_q      logarithm of q_aa (q itself may overflow)
    log_e      logarithm of e = 1 - c = 1/(1 + gamma) (e itself may underflow)
    chi        gradient gain at each layer
    slope      dV/dq there: for pooled blocks another number than chi
    Kind: floats, uncertified; relative error of e about 1e-13 a layer for scale-free blocks, 1e-11 for tables.
    """

    log_q: Any
    log_e: Any
    chi: Any
    slope: Any

    @property
    def q(self) -> Any:
        """q_aa; inf where it overflows."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_q)

    @property
    def e(self) -> Any:
        """1 - c."""
        return np.exp(self.log_e)

    @property
    def c(self) -> Any:
        """The correlation gamma/(1 + gamma)."""
        return 0.0 - np.expm1(self.log_e)

    @property
    def gamma(self) -> Any:
        """sigma_mu^2/sigma_y^2 = (1 - e)/e; inf where it overflows."""
        with np.errstate(over="ignore"):
            return np.expm1(0.0 - self.log_e)

    @property
    def sigma_mu2(self) -> Any:
        """Variance of the centres over weights."""
        return self.q * self.c

    @property
    def sigma_y2(self) -> Any:
        """Variance of the signal around its centre."""
        return self.q * self.e

    @property
    def log_growth(self) -> Any:
        """log of the squared gradient at layer l over that at layer L: the sum of log chi over l..L-1."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.chi[:-1])
        return np.concatenate([np.cumsum(logs[::-1], 0)[::-1], np.zeros_like(self.chi[:1])])

    def __len__(self) -> int:
        return len(self.log_e)


def drift(maps: LayerMaps, layers: int, q: Any, e: Any, sigma_w: Any, sigma_b: Any) -> Drift:
    """The recursion q' = V(q), e' = (V - K')/V from the state of layer 1, in floats."""
    if not isinstance(layers, int) or layers < 1:
        raise EocError(f"layers = {layers!r}", why="layers are counted from 1", instead="layers=20")
    w, b = np.asarray(sigma_w, float), np.asarray(sigma_b, float)
    shape = np.broadcast_shapes(w.shape, b.shape, np.shape(q), np.shape(e))
    w, b = np.broadcast_to(w, shape), np.broadcast_to(b, shape)
    log_q, log_e = (np.broadcast_to(np.log(np.asarray(a, float)), shape) for a in (q, e))
    rows = []
    for layer in range(layers):
        rows.append((log_q, log_e))
        if layer < layers - 1:
            log_q, log_e = maps.step(log_q, log_e, w, b)
    every_q, every_e = (np.stack(column) for column in zip(*rows, strict=True))
    return Drift(every_q, every_e, *maps.gains(every_q, w, b))


@dataclass(frozen=True)
class CertifiedLayer:
    """Enclosures of q, 1 - c and gamma at one layer."""

    q: Enclosure
    e: Enclosure
    gamma: Enclosure


def certified(
    second: Any, cross: Any, values: Mapping[str, Any], layers: int, q: Fraction, e: Fraction, digits: int = 20
) -> tuple[CertifiedLayer, ...]:
    """The same recursion with certified enclosures, layer by layer, for any block.

    second, cross  second and cross moment of the next pre-activation, in q1, q2, K
    Errors of a layer are carried by the next one's evaluation, so that radii grow with depth.
    """
    found = []
    gap = second - cross
    with flint.ctx.workprec(int(3.4 * (digits + 10)) + 80):
        here: dict[str, Any] = {"q": _ball(q), "e": _ball(e)}
        for layer in range(layers):
            gamma = (1 - here["e"]) / here["e"]
            found.append(CertifiedLayer(*(to_enclosure(v) for v in (here["q"], here["e"], gamma))))
            if layer < layers - 1:
                known = {**values, "q1": here["q"], "q2": here["q"], "c": 1 - here["e"]}
                v, _ = evaluate(second.xreplace({Q2: Q1}), known, digits)
                change, _ = evaluate(gap, known, digits)
                here = {"q": v, "e": change / v}
    return tuple(found)


def _ball(value: Any) -> flint.arb:
    value = Fraction(value)
    return flint.arb(value.numerator) / flint.arb(value.denominator)


__all__ = ["CertifiedLayer", "Drift", "certified", "drift"]
