"""Coefficients of the recursions for several inputs in floats and in balls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from sympy import Expr

from derive.depth.finite.inputs import Kernel, Layer, LayerAt, Pair, PairCoefficients, followed, pairs_of
from derive.depth.finite.joint import CLOSEST, Joint
from derive.depth.finite.moments import Moments
from derive.depth.finite.weights import Monomials, first, second
from derive.gaussian.enclosure import enclose
from derive.gaussian.node import pair, single
from derive.gaussian.numbers import ball
from derive.program.symbols import X
from derive.records import EocError


def slots_of(p: Pair) -> tuple[Pair, ...]:
    """The kernel's entries that E phi_a phi_b depends on."""
    a, b = p
    return (p,) if a == b else ((a, a), (b, b), p)


def apart(kernel: Kernel, p: Pair) -> None:
    """Raises EocError where two inputs are one and the same line."""
    a, b = p
    if not abs(float(kernel[p])) < (1 - CLOSEST) * (float(kernel[a, a]) * float(kernel[b, b])) ** 0.5:
        raise EocError(
            f"inputs {a} and {b} are collinear",
            why="|c| = 1: their kernel moves with that of one input",
            instead="one of them, or depth(...) with its tangent for what happens next to it",
        )


def powers(p: Pair, q: Pair) -> Counter[int]:
    """How often each input occurs in phi_a phi_b phi_c phi_d."""
    return Counter((*p, *q))


def floats(
    phi: Expr, dphi: Expr, weight: float, bias: float, values: Mapping[str, Any], count: int, distinct: int
) -> LayerAt:
    """The coefficients in floats, to about 1e-10 of each expectation's size."""
    one, joint = Moments(phi, dphi, values), Joint(phi, values)

    def at(kernel: Kernel) -> Layer:
        found = {}
        slope: Any
        bend: Any
        for p in pairs_of(count):
            if p[0] == p[1]:
                m = one(kernel[p])
                value, slope, bend = m.g, (m.g_slope,), ((m.g_curvature,),)
            else:
                apart(kernel, p)
                two = joint.pair(kernel[p[0], p[0]], kernel[p[1], p[1]], kernel[p])
                value, slope, bend = two.value, two.slope, two.curvature
            slope, bend = weight * np.asarray(slope), weight * np.asarray(bend)
            found[p] = PairCoefficients(slots_of(p), weight * value + bias, slope, bend)
        sources, known = {}, {}
        for p, q in followed(count, distinct):
            often = tuple(sorted(powers(p, q).items()))
            if often not in known:
                cov = np.array([[kernel[min(a, b), max(a, b)] for a, _ in often] for b, _ in often])
                known[often] = joint.product(cov, [k for _, k in often])
            fourth = known[often]
            sources[p, q] = weight**2 * fourth - (found[p].kernel - bias) * (found[q].kernel - bias)
        return Layer(found, sources)

    return at


def balls(phi: Expr, weight: Any, bias: Any, values: Mapping[str, Any], count: int, digits: int) -> LayerAt:
    """The coefficients in balls for entries in which at most two inputs meet, at the precision that is set."""

    def one(power: int, monomial: int, q: Any) -> Any:
        return enclose(single(phi**power * X**monomial), {**values, "q": q}, digits)

    def two(i: int, j: int, k: int, m: int, law: Mapping[str, Any]) -> Any:
        return enclose(pair(phi**i * X**k, phi**j * X**m), {**values, **law}, digits)

    def alone(q: Any) -> tuple[Any, Any, Any]:
        e0, e2, e4 = (one(2, k, q) for k in (0, 2, 4))
        return e0, (e2 - q * e0) / (2 * q**2), (e4 - 6 * q * e2 + 3 * q**2 * e0) / (4 * q**4)

    def at(kernel: Kernel) -> Layer:
        found, laws = {}, {}
        for p in pairs_of(count):
            a, b = p
            if a == b:
                value, slope, bend = alone(kernel[p])
                found[p] = PairCoefficients(slots_of(p), weight * value + bias, (weight * slope,), ((weight * bend,),))
                continue
            apart(kernel, p)
            law = laws[p] = {"q1": kernel[a, a], "q2": kernel[b, b], "K": kernel[p]}
            found[p] = _pair_in_balls(p, law, weight, bias, lambda k, m, law=law: two(1, 1, k, m, law))
        sources = {}
        for p, q in followed(count, 2):
            often = sorted(powers(p, q).items())
            if len(often) == 1:
                fourth = one(4, 0, kernel[p])
            else:
                (a, i), (b, j) = often
                fourth = two(i, j, 0, 0, laws[a, b])
            sources[p, q] = weight**2 * fourth - (found[p].kernel - bias) * (found[q].kernel - bias)
        return Layer(found, sources)

    return at


def _pair_in_balls(p: Pair, law: Mapping[str, Any], weight: Any, bias: Any, moment: Any) -> PairCoefficients:
    q1, q2, k = law["q1"], law["q2"], law["K"]
    delta = q1 * q2 - k * k
    inverse = q2 / delta, q1 / delta, -k / delta
    y = Monomials({(1, 0): inverse[0], (0, 1): inverse[2]}), Monomials({(1, 0): inverse[2], (0, 1): inverse[1]})
    known: dict[tuple[int, int], Any] = {}

    def mean(w: Monomials) -> Any:
        for key in w.terms:
            if key not in known:
                known[key] = moment(*key)
        return weight * sum((x * known[key] for key, x in w.terms.items()), start=ball(0))

    slope = [mean(w) for w in first(y, inverse)]
    bend = [[ball(0)] * 3 for _ in range(3)]
    for (i, j), w in second(y, inverse).items():
        bend[i][j] = bend[j][i] = mean(w)
    return PairCoefficients(slots_of(p), weight * known[0, 0] + bias, slope, bend)


__all__ = ["balls", "floats", "slots_of"]
