"""The edge of chaos of a theory: what was asked for, in numbers or with symbols left open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from sympy import Expr, Integer, Rational, expand, sqrt

from derive.depth import edge
from derive.depth.conditions import Affine, above_one, affine
from derive.depth.criticality import critical, never
from derive.depth.edges import EdgeOfChaos
from derive.depth.homogeneity import scales
from derive.depth.invariant import EVERY_Q, agree
from derive.depth.limits import EdgeLimit, limits
from derive.gaussian.enclosure.budget import limited
from derive.program.symbols import Q
from derive.records import EdgePoint, EocError, Unsupported
from derive.surface.exact import deviation, exact

SECONDS = 120.0
"""Processor time of a numerical edge of chaos: some dozens of expectations, which may take seconds each."""
APART = (
    "noise drawn for each input takes two copies of it apart: c = 1 is no fixed point and there is no edge of chaos; "
    "at the points V(q) = q and chi(q) = 1 hold"
)


def edge_of_chaos(
    theory: Any, q: Any, sigma_b: Any, sigma_w: Any, digits: int, parameters: Mapping[str, Any]
) -> EdgeOfChaos:
    """The points where V(q) = q and chi(q) = 1; see `Theory.edge_of_chaos`."""
    if theory.maps.jumps:
        return EdgeOfChaos((), "the activation jumps, so that chi is infinite at every sigma_w")
    if sigma_w is not None and (q is not None or sigma_b is not None):
        raise EocError("sigma_w is given with q or sigma_b", why="one of them fixes the point")
    if q is not None and sigma_b is not None:
        raise EocError("q and sigma_b are both given", why="one of them fixes the point", instead="edge_of_chaos(q=1)")
    variance, gain = theory.variance_map.template, theory.chi.template
    if "c" in theory.chi.arguments:
        raise Unsupported(
            "the edge of chaos of a block with batch normalisation",
            why="its gradient gain depends on the correlation of the batch's inputs",
            instead=".chi.number(q=..., c=..., sigma_w=...) or .at(sigma_w, sigma_b)",
        )
    open_names = set(dict(theory.domains)) - set(parameters)
    if sigma_b is None and sigma_w is None and (q == "q" or q == Q or open_names):
        found = _symbolic(theory, 1 if q is None else q, parameters)
        whole = q is not None and (q == "q" or q == Q) and bool(found.points)
        return _apart(theory, replace(found, limits=_ends(theory, parameters)) if whole else found)
    values = theory._values(parameters)
    if sigma_w is not None:
        asked: dict[str, Any] = {"sigma_w": deviation(sigma_w, "sigma_w")}
    elif sigma_b is not None:
        asked = {"sigma_b": deviation(sigma_b, "sigma_b")}
    else:
        asked = {"q": exact(1 if q is None else q, "q")}
        if asked["q"] <= 0:
            raise EocError(f"q = {q} is no variance", instead="q=1")
    with limited(SECONDS):
        return _apart(theory, critical(variance, gain, values, digits=digits, **asked))


def _apart(theory: Any, found: EdgeOfChaos) -> EdgeOfChaos:
    """Noise in a block takes c = 1 away: the points say where variances and gradients are kept, and are not valid."""
    if not theory.noisy:
        return found
    points = tuple(replace(point, valid=False) for point in found.points)
    return replace(found, points=points, reason=f"{APART}; {found.reason}" if found.reason else APART)


def _symbolic(theory: Any, q: Any, parameters: Mapping[str, Any]) -> EdgeOfChaos:
    """The point with symbols left: its values are Results in q and the parameters."""
    variance, gain = theory.variance_map.template, theory.chi.template
    parts = affine(variance, gain)
    if parts is not None and edge.flat(parts.slope):
        return EdgeOfChaos((), edge.CONSTANT)
    if above_one(variance, gain):
        return EdgeOfChaos((), never(variance))
    if parts is None or parts.share == 0:
        raise Unsupported(
            "the curve of a block with several or fixed Dense layers, as a formula",
            why="its two conditions are not linear in sigma_w^2 and sigma_b^2",
            instead="numbers for q, sigma_b or sigma_w, and for the parameters",
        )
    given = {**parameters, **({} if q == "q" or q == Q else {"q": q})}
    invariant = scales(variance, gain)
    zero = invariant and (agree(variance, gain) or _identical(parts))
    bias = Integer(0) if zero else parts.bias
    point = _results(theory, given, parts.weight, bias, Integer(1), parts.parallel, True if zero else None)
    if zero or not invariant:
        return EdgeOfChaos((point,), EVERY_Q if zero else "")
    own = (Q - parts.kept) / parts.second
    other = _results(theory, given, own, Integer(0), parts.through + own * parts.slope, Integer(1), False)
    alone = _results(theory, given, parts.weight, Integer(0), Integer(1), parts.parallel, False)
    return EdgeOfChaos((point,), "", alone, other)


def _ends(theory: Any, parameters: Mapping[str, Any]) -> tuple[EdgeLimit, ...]:
    """The ends of the whole curve, given parameters put in."""
    parts = affine(theory.variance_map.template, theory.chi.template)
    if parts is None:
        return ()
    symbols = {s for f in fields(parts) for s in getattr(parts, f.name).free_symbols}
    numbers = {
        s: Rational(*exact(parameters[s.name], s.name).as_integer_ratio()) for s in symbols if s.name in parameters
    }
    return limits(Affine(*(getattr(parts, f.name).xreplace(numbers) for f in fields(parts))))


def _identical(parts: Affine) -> bool:
    return bool(expand(Q * parts.slope - parts.second) == 0)


def _results(
    theory: Any, given: Mapping[str, Any], weight: Expr, bias: Expr, chi: Expr, slope: Expr, valid: bool | None
) -> EdgePoint:
    """A point whose values are Results."""
    templates = {
        "sigma_w": (sqrt(weight), r"\sigma_w"),
        "sigma_b": (sqrt(bias), r"\sigma_b"),
        "sigma_b2": (bias, r"\sigma_b^{2}"),
        "q": (Q, "q"),
        "chi": (chi, r"\chi"),
        "chi_parallel": (slope, r"\chi_\parallel"),
    }
    made = {}
    for name, (template, symbol) in templates.items():
        result = theory._result(template, ("q",), f"{name} on the edge of chaos", symbol)
        known = {k: v for k, v in given.items() if k in (*result.arguments, *dict(result.domains))}
        made[name] = result.subs(known)
    return EdgePoint(**made, valid=valid, stable=None)


__all__ = ["edge_of_chaos"]
