"""Finite width for several inputs: the recursions of a pair as formulas, and numbers for a set of inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import flint
import numpy as np
from sympy import Derivative, Expr, ImmutableDenseMatrix, Lambda, Mul, Rational, Symbol

from derive.depth.finite import inputs, inputs_at
from derive.depth.finite.through import widths_of
from derive.gaussian.node import GaussianE, pair, single
from derive.gaussian.numbers import ball, to_enclosure
from derive.program.symbols import Q1, Q2, SIGMA_B, SIGMA_W, K, Q
from derive.records import EocError
from derive.surface.exact import exact
from derive.surface.results import Result

PAIRS = ("11", "22", "12")
LAW = {"11": Q1, "22": Q2, "12": K}
RATIO = Symbol("r_n", positive=True)
CORRECTIONS = {p: Symbol(f"K1_{p}", real=True) for p in PAIRS}
VERTICES = {(p, q): Symbol(f"V_{p}{q}", real=True) for p, q in combinations_with_replacement(PAIRS, 2)}


def vertex_symbol(p: str, q: str) -> Symbol:
    """The vertex of two pairs of inputs."""
    return VERTICES.get((p, q)) or VERTICES[q, p]


@dataclass(frozen=True)
class TwoInputs:
    """One layer's recursions of two inputs, as Results in q1, q2, c.

    Pairs are named "11", "22", "12". With f_p = sigma_w^2 E phi_a phi_b + sigma_b^2, chi_pa = df_p/dK_a and
    f_p,ab = d^2 f_p/dK_a dK_b over K_a in (q1, q2, K):

        V'_pq = sigma_w^4 (E phi^4_pq - E phi^2_p E phi^2_q) + r_n sum chi_pa chi_qb V_ab
        K1'_p = r_n (sum chi_pa K1_a + sum f_p,ab V_ab/2)

    They close on two inputs: V of a set of inputs is known once all pairs are, up to entries in which three or four
    inputs meet, on which K and K1 do not depend. Kind: that of the expectations. Source: Yaida 2019
    (arXiv 1910.00019); Roberts, Yaida, Hanin 2021 (arXiv 2106.10165), chapter 4; the derivatives are taken on the
    density of the pair, so that kinks and jumps of phi count.
    """

    finite: Any

    @cached_property
    def _weights(self) -> tuple[Expr, Expr]:
        weight, bias = self.finite._dense
        return weight**2, bias**2

    def _result(self, template: Expr, title: str, symbol: str) -> Result:
        theory, free = self.finite.theory, {s.name for s in template.free_symbols}
        later = [s.name for s in (*VERTICES.values(), *CORRECTIONS.values(), RATIO, SIGMA_W, SIGMA_B)]
        names = ("q1", "q2", "c", *(n for n in later if n in free))
        return Result(template, names, theory.domains, title, symbol, theory.notes)

    def _moment(self, p: str, q: str = "") -> Expr:
        """E of the product of phi over the inputs named."""
        phi, (i, j) = self.finite._phi, ((p + q).count("1"), (p + q).count("2"))
        if i and j:
            return pair(phi**i, phi**j)
        return single(phi ** (i + j)).xreplace({Q: Q1 if i else Q2})

    def _kernel(self, p: str) -> Expr:
        weight, bias = self._weights
        return weight * self._moment(p) + bias

    def _derivative(self, p: str, *by: str) -> Expr:
        if p != "12" and any(a != p for a in by):
            return Rational(0)
        return self._weights[0] * Derivative(self._moment(p), *(LAW[a] for a in by))

    def _source(self, p: str, q: str) -> Expr:
        product = self._moment(p) * self._moment(q)
        return self._weights[0] ** 2 * (self._moment(p, q) - product)

    def kernel(self, p: str = "12") -> Result:
        """K'_p = sigma_w^2 E phi_a phi_b + sigma_b^2."""
        return self._result(self._kernel(_named(p)), f"kernel {p}", f"K'_{{{p}}}")

    def transport(self, p: str, a: str) -> Result:
        """chi_pa = dK'_p/dK_a at fixed other entries of the kernel (K = c sqrt(q1 q2) is one of them)."""
        return self._result(self._derivative(_named(p), _named(a)), f"transport {p} {a}", rf"\chi_{{{p},{a}}}")

    def curvature(self, p: str, a: str, b: str) -> Result:
        """d^2 K'_p/dK_a dK_b."""
        template = self._derivative(_named(p), _named(a), _named(b))
        return self._result(template, f"curvature {p} {a} {b}", rf"\partial_{{{a}}}\partial_{{{b}}} K'_{{{p}}}")

    def source(self, p: str, q: str) -> Result:
        """sigma_w^4 Cov(phi_a phi_b, phi_c phi_d): the width times the covariance that one layer adds."""
        return self._result(self._source(_named(p), _named(q)), f"vertex source {p} {q}", f"S_{{{p},{q}}}")

    def vertex(self, p: str, q: str) -> Result:
        """V'_pq of two pairs, in the vertex of the layer below."""
        total = self._source(_named(p), _named(q))
        for a in PAIRS:
            for b in PAIRS:
                both = self._derivative(p, a) * self._derivative(q, b)
                total += RATIO * both * vertex_symbol(a, b)
        return self._result(total, f"four-point vertex {p} {q}", f"V'_{{{p},{q}}}")

    def mean_correction(self, p: str = "12") -> Result:
        """K1'_p, in the vertex and the correction of the layer below."""
        total: Expr = Rational(0)
        for a in PAIRS:
            total += self._derivative(_named(p), a) * CORRECTIONS[a]
            for b in PAIRS:
                total += self._derivative(p, a, b) * vertex_symbol(a, b) / 2
        return self._result(RATIO * total, f"mean correction {p}", f"K_{{1,{p}}}'")

    def contact(self, names: str = "1234") -> Result:
        """sigma_w^4 Cov(phi_a phi_b, phi_c phi_d) of up to four inputs with any covariance, entries K11, K12, ...

        Kind: EXACT or SPECIAL where the calculus closes it (polynomials, sin, exp), INTEGRAL else: then
        `FiniteWidth.inputs(..., distinct=4)` gives numbers.
        """
        if len(names) != 4 or not set(names) <= set("1234"):
            raise EocError(f"{names!r} names no four inputs", instead='contact("1234") or contact("1123")')
        phi = self.finite._phi
        both = _product(phi, names) - _product(phi, names[:2]) * _product(phi, names[2:])
        template = self._weights[0] ** 2 * both
        theory, entries = self.finite.theory, sorted(s.name for s in template.free_symbols)
        known = {n for n, _ in theory.domains}
        title = f"vertex source of inputs {names}"
        listed = tuple(n for n in entries if n not in known)
        return Result(template, listed, theory.domains, title, f"S_{{{names}}}", theory.notes)

    @property
    def results(self) -> dict[str, Result]:
        """Every formula by name: "kernel 12", "vertex 11 12", "mean correction 12" and the parts of them."""
        made = [self.kernel(p) for p in PAIRS] + [self.mean_correction(p) for p in PAIRS]
        for p, q in combinations_with_replacement(PAIRS, 2):
            made += [self.source(p, q), self.vertex(p, q), self.curvature("12", p, q)]
        made += [self.transport("12", a) for a in PAIRS]
        return {result.title: result for result in made}


def _named(p: str) -> str:
    if p not in PAIRS:
        raise EocError(f"{p!r} names no pair of inputs", instead='"11", "22" or "12"')
    return p


def _product(phi: Expr, names: str) -> Expr:
    from derive.program.symbols import X

    used = sorted(set(names))
    z = [Symbol(f"z{i}", real=True) for i in used]
    body = Mul(*(phi.subs(X, v) ** names.count(i) for i, v in zip(used, z, strict=True)))
    diagonal = {i: Symbol(f"K{i}{i}", positive=True) for i in used}
    cov = ImmutableDenseMatrix(
        [[diagonal[i] if i == j else Symbol(f"K{min(i, j)}{max(i, j)}", real=True) for j in used] for i in used]
    )
    return GaussianE(Lambda(tuple(z), body), cov)


def several_inputs(
    finite: Any, kernel: Any, layers: int, widths: Any, sigmas: tuple[Any, Any], distinct: int, certified: bool,
    digits: int, parameters: Mapping[str, Any],
) -> inputs.FiniteInputs:  # fmt: skip
    """The numbers of `FiniteWidth.inputs`."""
    values = finite._values(*sigmas, parameters)
    start = _kernel(kernel)
    count, given = len(start), widths_of(widths, layers)
    if distinct not in (2, 3, 4):
        raise EocError(f"distinct = {distinct!r}", why="2, 3 or 4 inputs meet in a vertex", instead="distinct=2")
    entries = {p: start[p[0]][p[1]] for p in inputs.pairs_of(count)}
    weight, bias = (values[n] ** 2 for n in ("sigma_w", "sigma_b"))
    phi = finite._phi
    if certified:
        if distinct != 2:
            raise EocError("certified numbers follow two inputs at a time", instead="distinct=2, or certified=False")
        with flint.ctx.workprec(int(6.66 * digits) + 120):
            at = inputs_at.balls(phi, ball(weight), ball(bias), values, count, 2 * digits + 8)
            begun = {p: ball(value) for p, value in entries.items()}
            return inputs.through(at, begun, layers, given, count, 2, ball, to_enclosure, "ENCLOSURE")
    dphi = finite.theory.activation.dphi
    at = inputs_at.floats(phi, dphi, float(weight), float(bias), values, count, distinct)
    return inputs.through(at, {p: float(v) for p, v in entries.items()}, layers, given, count, distinct, float)


def _kernel(kernel: Any) -> list[list[Fraction]]:
    """A covariance matrix with exact entries. Raises EocError for what is none."""
    given = np.asarray(kernel, object)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.size:
        raise EocError("the kernel is no square matrix", instead="[[1, 0.3], [0.3, 1]]")
    rows = [[exact(v, "an entry of the kernel") for v in row] for row in given.tolist()]
    if any(rows[i][j] != rows[j][i] for i in range(len(rows)) for j in range(i)):
        raise EocError("the kernel is not symmetric", where=str([[float(v) for v in row] for row in rows])[:120])
    smallest = np.linalg.eigvalsh(np.array([[float(v) for v in row] for row in rows])).min()
    if smallest <= 0:
        raise EocError(
            "the kernel is not positive definite",
            where=f"smallest eigenvalue {smallest:.3g}",
            why="it holds the inner products of different inputs: K_ab = sigma_w^2 x_a.x_b/d + sigma_b^2",
            instead="inputs none of which is a combination of the others",
        )
    return rows


__all__ = ["TwoInputs", "several_inputs"]
