"""Where V(q) = q and chi(q) = chi_parallel(q) = 1 at once: zeros of E phi phi'' over all q > 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import flint
from flint import arb
from sympy import Expr, trigsimp

from derive.activation.cells import sign_of
from derive.activation.jumps import value_at
from derive.activation.normal_form import NormalForm, derivative, normal_form
from derive.activation.signs import sign_cells
from derive.depth.chart import Model, in_log, moment, variance_model
from derive.depth.edge import _at_root, factored
from derive.depth.isolate import Zeros, zeros
from derive.depth.roots import closed_in
from derive.gaussian.numbers import differentiate, evaluate, to_enclosure
from derive.program.symbols import Q, X
from derive.records import EdgePoint, Enclosure, Unsupported


@dataclass(frozen=True)
class Gap:
    """chi_parallel - chi = sigma_w^2 (d/dq E phi^2 - E phi'^2) = sigma_w^2 E phi phi'', phi'' with its Dirac parts.

    sign    its sign at every q > 0, proved from phi; None where the sign is not the same everywhere, or not proved
    zeros   else its zeros on an interval of q
    """

    sign: int | None
    zeros: Zeros | None

    @property
    def how(self) -> str:
        """What is proved, in a sentence."""
        if self.sign is not None:
            return f"phi phi'' {'>=' if self.sign > 0 else '<='} 0 everywhere, kinks included"
        assert self.zeros is not None
        return self.zeros.how


def gap(second: Expr, slope: Expr, phi: Expr | None, values: Mapping[str, Any]) -> Gap:
    """The gap between chi_parallel and chi over all q > 0: by the sign of phi phi'' or by models in log q."""
    sign = None if phi is None else pointwise_sign(phi)
    if sign is not None:
        return Gap(sign, None)
    (m2, f2), (d1, f1) = (factored(e, values) for e in (second, slope))
    fixed = tuple(sorted(values.items()))
    big, small = moment(m2, fixed), moment(d1, fixed)

    def family(start: float, end: float) -> Model:
        forward = in_log(big.model(start, end), start, end).scaled(f2)
        return forward + (small.model(start, end) * variance_model(start, end)).scaled(-f1)

    return Gap(None, zeros(family))


def pointwise_sign(phi: Expr) -> int | None:
    """The sign of phi phi'' where it is the same everywhere, kinks of phi included; None where that is not proved."""
    form = normal_form(phi)
    slope, _ = derivative(form)
    _, kinks = derivative(slope)
    if _above_its_tangent(phi, slope, bool(kinks)):
        return 1
    signs = set()
    try:
        for cell in form.cells:
            product = cell.value * cell.value.diff(X, 2)
            signs |= {int(part.value) for part in sign_cells(product.factor(), cell.lower, cell.upper)}
        for kink in kinks:
            piece = next(cell for cell in form.cells if cell.upper == kink.at)
            sign = sign_of(value_at(piece.value, kink.at) * kink.height)
            signs.add(2 if sign is None else sign)
    except Unsupported:
        return None
    signs.discard(0)
    return signs.pop() if len(signs) == 1 and not signs & {2} else None


def _above_its_tangent(phi: Expr, slope: NormalForm, kinks: bool) -> bool:
    """Whether phi is convex and has its minimum phi(0) >= 0 at 0, hence phi phi'' >= 0."""
    if kinks or len(slope.cells) != 1 or slope.cells[0].value.subs(X, 0) != 0 or sign_of(phi.subs(X, 0)) not in (0, 1):
        return False
    try:
        bend = sign_cells(trigsimp(slope.cells[0].value.diff(X)).factor())
    except Unsupported:
        bend = []
    return bool(bend) and all(cell.value == 1 for cell in bend)


@dataclass(frozen=True)
class CriticalPoint:
    """A point with V(q) = q, chi = chi_parallel = 1; `curvature` is d chi_parallel/dq there (its sign says which side
    is attracted: from above if it is negative, from below if it is positive), `tilt` is d chi/dq."""

    point: EdgePoint
    curvature: Enclosure
    tilt: Enclosure


def critical_points(second: Expr, slope: Expr, values: Mapping[str, Any], found: Zeros) -> tuple[CriticalPoint, ...]:
    """The critical point at each zero of the gap; sigma_b^2 = q - E phi^2/E phi'^2 may be negative (`point.valid`)."""
    forward = differentiate(second, Q)

    def excess(q: Any, digits: int) -> arb:
        here = {**values, "q": q}
        return evaluate(forward, here, digits)[0] - evaluate(slope, here, digits)[0]

    points = []
    for low, high in found.brackets:
        root = closed_in(excess, low, high)
        points.append(_critical(second, slope, {**values, "q": root}))
    return tuple(points)


def _critical(second: Expr, slope: Expr, values: Mapping[str, Any]) -> CriticalPoint:
    forward = differentiate(second, Q)
    with flint.ctx.workprec(120):
        m2, d1 = (evaluate(e, values, 20)[0] for e in (second, slope))
        bias = values["q"] - m2 / d1
        # sigma_b^2 has no slope in q where chi_parallel = chi: the width of q does not widen it to first order
        curvature = evaluate(differentiate(forward, Q), values, 14)[0] / d1
        tilt = evaluate(differentiate(slope, Q), values, 14)[0] / d1
        point = _at_root(second, slope, dict(values), bias)
    return CriticalPoint(point, to_enclosure(curvature), to_enclosure(tilt))


__all__ = ["CriticalPoint", "Gap", "critical_points", "gap", "pointwise_sign"]
