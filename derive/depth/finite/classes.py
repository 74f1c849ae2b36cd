"""What the recursions become in depth at criticality: a law for each universality class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import flint
from sympy import Expr, Integer, Rational, oo

from derive.depth.enclosures import to_ball
from derive.depth.universality import Universality
from derive.depth.zero import slope_at_zero
from derive.gaussian.asymptotics import expand_small
from derive.gaussian.node import single
from derive.gaussian.numbers import evaluate, to_enclosure
from derive.records import DomainError, Kind, Unsupported


@dataclass(frozen=True)
class ClassLaw:
    """The statistics of layer l of a critical network of width n, leading order in 1/n and then in l.

    name      the universality class
    spread    nu with V/(n K^2) ~ nu l/n: relative variance of the kernel; None for "half-stable" off its point
    shift     kappa with K1/(n K) ~ kappa l/n: relative mean correction
    s         the relative variance (times n) that one layer adds
    sigma     power of q' = q (1 - c q^sigma) for the class "zero"
    vertex, correction      "half-stable": V/(l - 1) and K1/((l - 1)(l - 2)), exact, started at the critical variance
    vertex_from, correction_from   "half-stable": V/l and K1/l^2 on approach from the attracting side
    parameter  what has to be small, in words
    reasons    how the numbers follow
    kind       EXACT or ENCLOSURE
    """

    name: str
    parameter: str
    reasons: tuple[str, ...]
    spread: Any = None
    shift: Any = None
    s: Any = None
    sigma: Any = None
    vertex: Any = None
    correction: Any = None
    vertex_from: Any = None
    correction_from: Any = None
    kind: Kind = Kind.EXACT

    def at_ratio(self, t: Any) -> tuple[float, float]:
        """(E, Var) of log(G_L/K_L) for L, n -> oo at L/n = t held fixed, with no expansion in t; floats.

        "zero": the law of a power of an exponential functional of Brownian motion, from a start that is forgotten;
        "scale-invariant": the normal law N(-s t/2, s t). Small t gives back spread and shift.
        Raises Unsupported for the other classes.
        """
        from derive.depth.finite.fixed_ratio import power_class

        ratio = float(t)
        if not 0 < ratio < oo:
            raise DomainError(f"L/n = {t} is no ratio of depth to width", instead="at_ratio(0.5)")
        if self.name == "scale-invariant":
            return -float(self.s) * ratio / 2, float(self.s) * ratio
        if self.name != "zero" or self.sigma == oo:
            raise Unsupported(
                "a law at fixed L/n", where=f"class {self.name}", why="its kernel follows no power law in depth",
                instead="depth(...), to order 1/width",
            )  # fmt: skip
        return power_class(float(self.s), float(self.sigma), ratio)

    def __repr__(self) -> str:
        rate = "" if self.spread is None else f": V/(n K^2) ~ {_short(self.spread)} l/n"
        rate += "" if self.shift is None else f", K1/(n K) ~ {_short(self.shift)} l/n"
        return f"<ClassLaw {self.name}{rate}>"


def _short(value: Any) -> str:
    """A number as text; a long rational as a decimal."""
    text = str(value)
    return f"{float(value):.12g}" if len(text) > 24 and not getattr(value, "free_symbols", None) else text


def relative_source(phi: Expr) -> Expr:
    """s = lim E phi^4/(E phi^2)^2 - 1 for q -> 0, for phi(0) = 0 with one-sided slopes: 3 A_4/A_2^2 - 1. Exact."""
    fourth = expand_small(single(phi**4), Rational(5, 2)).coefficient(Integer(2))
    return (fourth / slope_at_zero(phi) ** 2 - 1).cancel()


def class_law(found: Universality, phi: Expr, source: Expr, values: Mapping[str, Any]) -> ClassLaw:
    """The law of a class. `source` is sigma_w^4 Var phi^2 as an expression in q and sigma_w.

    Derivation: docs/theory/finite-width.md; the values for phi analytic at 0 agree with Roberts, Yaida, Hanin 2021
    (arXiv 2106.10165), chapter 5.
    """
    if found.name == "scale-invariant":
        s = relative_source(phi)
        reasons = ("chi_parallel = 1 and chi_parallel' = 0 at every q, and the source is s q^2: V = s (l - 1) q^2",)
        return ClassLaw(found.name, f"{s} l/n", reasons, s, Integer(0), s)
    if found.name == "zero":
        return _at_zero(found, phi)
    if found.name == "half-stable":
        return _half_stable(found, source, values)
    return ClassLaw(found.name, "none: there is no critical point", found.reasons, kind=found.kind)


def _at_zero(found: Universality, phi: Expr) -> ClassLaw:
    s = relative_source(phi)
    spread = s / 3
    if found.subclass == "linear":
        reasons = (
            "V/q^2 grows by s - 2 (V/q^2)/l a layer, whatever the power of q' - q: V/q^2 ~ s l/3",
            "the mean correction has no power law: q falls as 1/log(l)",
        )
        return ClassLaw(found.name, f"{_short(spread)} l/n", reasons, spread, None, s, oo)
    sigma = 1 / found.p_0
    shift = -s * (1 + sigma) / 12
    why = (
        f"q' = q (1 - c q^sigma), sigma = {sigma}: c sigma q^sigma ~ 1/l",
        "v = V/q^2 has v' - v = s - 2 v/l: v ~ s l/3",
        "k = K1/q has k' - k = -k/l - (1 + sigma) v/(2 l): k ~ -s (1 + sigma) l/12",
    )
    return ClassLaw(found.name, f"{_short(spread)} l/n", why, spread, shift, s, sigma)


def _half_stable(found: Universality, source: Expr, values: Mapping[str, Any]) -> ClassLaw:
    first = found.points[0]
    with flint.ctx.workprec(120):
        here = {**values, "q": to_ball(first.point.q), "sigma_w": to_ball(first.point.sigma_w)}
        s = evaluate(source, here, 16)[0]
        bend = to_ball(first.curvature) / 2
        spread = s / here["q"] ** 2
        reasons = (
            "at the critical variance chi_parallel = 1: V = S (l - 1), K1 = a S (l - 1)(l - 2)/2, a = chi_parallel'/2",
            "from the attracting side chi_parallel ~ 1 - 2/l: V ~ S l/5, K1 ~ a S l^2/20",
        )
        return ClassLaw(
            found.name, "l/n, and K1/(n q) ~ l^2/n", reasons, to_enclosure(spread), None, to_enclosure(spread),
            None, to_enclosure(s), to_enclosure(bend * s / 2), to_enclosure(s / 5), to_enclosure(bend * s / 20),
            Kind.ENCLOSURE,
        )  # fmt: skip


__all__ = ["ClassLaw", "class_law", "relative_source"]
