"""Where the edge of chaos goes for q -> 0 and q -> oo, by the expansions of its two expectations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath
from sympy import Add, Expr, Integer, Mul, Pow, Rational, cancel, exp, log, oo

from derive.activation.cells import sign_of
from derive.depth.conditions import Affine
from derive.gaussian.asymptotics import Expansion, expand_large, expand_small
from derive.gaussian.asymptotics.expansion import made
from derive.gaussian.asymptotics.line_integral import LineIntegral
from derive.gaussian.asymptotics.moments import certified
from derive.gaussian.enclosure import budget
from derive.gaussian.node import GaussianE, single
from derive.gaussian.numbers import closed_form, outermost
from derive.program.symbols import Q, X
from derive.records import Unsupported

ORDERS = {0: (Rational(5, 2), Rational(7, 2), Rational(5), Rational(8)), oo: (2, 4, 8)}
"""Orders tried one after the other until the leading terms have not cancelled."""
SECONDS = 4.0
"""Processor time for one end of a curve; coefficients with parameters can swell without end."""
LONGEST = 60
"""Characters of a coefficient without parameters beyond which its number is shown instead."""


@dataclass(frozen=True)
class Lead:
    """A leading term coefficient * q^power; the coefficient is exact and may hold convergent integrals."""

    coefficient: Expr
    power: Rational

    def number(self, values: Mapping[str, Any] | None = None) -> Any:
        """The coefficient as an Enclosure, parameters given as exact numbers. Raises Unsupported."""
        return certified(self.coefficient, values or {})

    @cached_property
    def sign(self) -> int | None:
        """The sign of the coefficient; None where it is not decided for every value of the parameters."""
        if not self.coefficient.has(LineIntegral):
            return sign_of(self.coefficient)
        if self.coefficient.free_symbols:
            return None
        size = self.number()
        return 1 if size.lower > 0 else -1 if size.upper < 0 else None

    def __str__(self) -> str:
        size = str(self.coefficient)
        if not self.coefficient.free_symbols and (self.coefficient.has(LineIntegral) or len(size) > LONGEST):
            size = mpmath.nstr(self.number().mid, 10)
        if self.power == 0:
            return size
        power = "q" if self.power == 1 else f"q^{self.power}" if self.power.is_Integer else f"q^({self.power})"
        power = f"q^({self.power})" if self.power < 0 else power
        sum_like = self.coefficient.is_Add and size == str(self.coefficient)
        return power if self.coefficient == 1 else f"{f'({size})' if sum_like else size} {power}"

    def arrow(self) -> str:
        """How a quantity with this leading term moves: "-> 2" or "~ 4/3 q^3"."""
        return f"-> {self}" if self.power == 0 else f"~ {self}"


@dataclass(frozen=True)
class EdgeLimit:
    """One end of the curve sigma_w^2 = 1/E phi'^2, sigma_b^2 = q - E phi^2/E phi'^2.

    at            0 or oo, where q goes
    sigma_w2      leading term of sigma_w^2 there; None where there is no expansion (`why`)
    sigma_b2      that of sigma_b^2; None where it is smaller than every power computed (`why`), or identically 0
    chi_parallel  that of chi_parallel
    excess        that of chi_parallel - 1; None where it vanishes to the order computed
    valid         whether sigma_b^2 >= 0 near this end; None where its sign is not decided
    stable        whether chi_parallel < 1 near this end (and > -1), so that q attracts; None where it is not decided
    why           what is not known

    Coefficients are exact, remainders are orders in q: the claim is about the limit, not about any given q.
    """

    at: Any
    sigma_w2: Lead | None = None
    sigma_b2: Lead | None = None
    chi_parallel: Lead | None = None
    excess: Lead | None = None
    valid: bool | None = None
    stable: bool | None = None
    why: str = ""

    def __str__(self) -> str:
        head = f"q -> {self.at}: "
        if self.sigma_w2 is None:
            return f"{head}not known: {self.why}"
        parts = [f"sigma_w^2 {self.sigma_w2.arrow()}"]
        parts.append(self.why if self.sigma_b2 is None else f"sigma_b^2 {self.sigma_b2.arrow()}")
        if self.valid is False:
            parts.append("no real point: sigma_b^2 < 0")
        elif self.stable is not None:
            parts.append(f"q {'attracts' if self.stable else 'repels'}")
        return head + ", ".join(parts)


def limits(parts: Affine) -> tuple[EdgeLimit, EdgeLimit]:
    """Both ends of the curve of a block with affine maps, q -> 0 first."""
    found = []
    for at in (Integer(0), oo):
        with budget.limited(SECONDS):
            found.append(_limit(parts, at))
    return found[0], found[1]


def _limit(parts: Affine, at: Expr) -> EdgeLimit:
    found = EdgeLimit(at, why="the expansions cancel to the order computed")
    for order in ORDERS[0 if at == 0 else oo]:
        try:
            found = _at_order(parts, at, order)
        except Unsupported as error:
            return found if found.sigma_w2 is not None else EdgeLimit(at, why=error.what)
        if found.sigma_b2 is not None and (found.excess is not None or found.stable is not None):
            break
    return found


def _at_order(parts: Affine, at: Expr, order: Any) -> EdgeLimit:
    kept, second, through, slope, share = (
        expansion(e, at, order) for e in (parts.kept, parts.second, parts.through, parts.slope, parts.share)
    )
    one, q = (made({Rational(p): Integer(1)}, at, None) for p in (0, 1))
    weight = (one + _minus(through)) * inverse(slope, order)
    bias = (q + _minus(kept) + _minus(weight * second)) * inverse(share, order)
    parallel = _in_q(kept) + weight * _in_q(second)
    w, b, p, excess = (_lead(e) for e in (weight, bias, parallel, parallel + _minus(one)))
    why = "" if b is not None else _smaller(bias)
    valid = bias.remainder is None if b is None else _positive(b.sign)
    stable = True if _vanishes(parallel) else _stable(p, excess)
    return EdgeLimit(at, w, b, p, excess, valid or None if b is None else valid, stable, why)


def _positive(sign: int | None) -> bool | None:
    return None if sign is None else sign >= 0


def _vanishes(series: Expansion) -> bool:
    """Whether it tends to 0, logarithms in its leading term or not."""
    powers = [series.terms[0][0]] if series.terms else [] if series.remainder is None else [series.remainder]
    return all(power > 0 if series.at == 0 else power < 0 for power in powers)


def _smaller(bias: Expansion) -> str:
    return "sigma_b^2 is 0" if bias.remainder is None else f"sigma_b^2 = O(q^{bias.remainder})"


def _stable(parallel: Lead | None, excess: Lead | None) -> bool | None:
    """|chi_parallel| < 1 close to an end where it does not vanish."""
    if parallel is None or parallel.sign is None:
        return None
    if parallel.power != 0:
        return False
    beyond = None if excess is None else excess.sign
    if beyond is None or parallel.sign > 0:
        return None if beyond is None else beyond < 0
    below = sign_of(parallel.coefficient + 1)
    return None if below in (None, 0) else below > 0


def expansion(expr: Expr, at: Expr, order: Any) -> Expansion:
    """The expansion of a polynomial in expectations under N(0, q) and powers of q. Raises Unsupported for others."""
    if expr == Q:
        return made({Rational(1): Integer(1)}, at, None)
    if not expr.has(Q):
        return made({Rational(0): _constant(expr)}, at, None)
    if isinstance(expr, GaussianE):
        return _of_node(expr, at, order)
    if isinstance(expr, Add | Mul):
        total = expansion(expr.args[0], at, order)
        for arg in expr.args[1:]:
            other = expansion(arg, at, order)
            total = total + other if isinstance(expr, Add) else total * other
        return total
    if isinstance(expr, Pow) and expr.exp.is_Integer:
        base = expansion(expr.base, at, order)
        base = base if expr.exp > 0 else inverse(base, order)
        total = base
        for _ in range(abs(int(expr.exp)) - 1):
            total = total * base
        return total
    raise Unsupported("its maps are no quotients of expectations under N(0, q)", where=str(expr)[:80])


def _constant(expr: Expr) -> Expr:
    """With the expectations in it closed: signs are asked of what is left. Raises Unsupported where one is not."""
    found = {node: closed_form(node) if isinstance(node, GaussianE) else None for node in outermost(expr)}
    if any(closed is None or closed.has(GaussianE) for closed in found.values()):
        raise Unsupported("an expectation in it has a law free of q and no closed form, so that signs are not decided")
    return expr.xreplace(found)


def _of_node(node: GaussianE, at: Expr, order: Any) -> Expansion:
    if node.cov.rows != 1 or node.cov[0, 0] != Q or not node.mean.is_zero_matrix:
        raise Unsupported("an expectation of several units or of nested layers has no expansion here")
    plain = single(node.body.xreplace({node.variables[0]: X}))
    if at == 0:
        return expand_small(plain, Rational(order))
    try:
        return expand_large(plain, order)
    except Unsupported:
        return _of_closed(plain)


def _of_closed(node: GaussianE) -> Expansion:
    """For q -> oo from a closed form in powers of q and decaying exponentials of it. Raises Unsupported."""
    closed = closed_form(node)
    if closed is None:
        raise Unsupported(f"{node.body} has no power as its behaviour at infinity, and no closed form")
    decaying = {e: Integer(0) for e in closed.atoms(exp) if (e.args[0] / Q).is_negative}
    rest = closed.expand().xreplace(decaying).expand()
    terms: dict[Rational, Expr] = {}
    for term in Add.make_args(rest):
        factor, power = term.as_coeff_exponent(Q)
        if factor.has(Q) or not power.is_Rational:
            raise Unsupported("its behaviour for q -> oo is no power of q", where=str(closed)[:80])
        terms[power] = terms.get(power, Integer(0)) + factor
    # what was left out is smaller than any power
    return made(terms, oo, None if not decaying else Rational(-8))


def inverse(series: Expansion, order: Any) -> Expansion:
    """1/series. Raises Unsupported for one without a leading term, or with a logarithm in it."""
    if not series.terms or series.terms[0][1].has(log(Q)) or series.terms[0][1].has(Q):
        raise Unsupported("a leading term with a logarithm, or none")
    power, lead = series.terms[0]
    at = series.at
    one = made({Rational(0): Integer(1)}, at, None)
    rest = _minus(series.times(1 / lead, -power) + _minus(one))
    if not rest.terms and rest.remainder is None:
        return one.times(1 / lead, -power)
    step = abs(rest.terms[0][0] if rest.terms else rest.remainder or Integer(1))
    cut = Rational(order) if at == 0 else -Rational(order, 2)
    total, product = one, one
    for _ in range(int(abs(cut) / step) + 1):
        product = product * rest
        total = total + product
    keep = cut if total.remainder is None else max(cut, total.remainder) if at is oo else min(cut, total.remainder)
    return made(dict(total.terms), at, keep, total.log_remainder).times(1 / lead, -power)


def _minus(series: Expansion) -> Expansion:
    return series.times(Integer(-1), Rational(0))


def _in_q(series: Expansion) -> Expansion:
    """d/dq term by term: the expectations are analytic in a sector around q > 0."""
    terms = {p - 1: p * c + Q * c.diff(Q) for p, c in series.terms}
    rest = None if series.remainder is None else series.remainder - 1
    return made(terms, series.at, rest, series.log_remainder)


def _lead(series: Expansion) -> Lead | None:
    """The leading term; None where there is none, or a logarithm stands in it."""
    for power, coefficient in series.terms:
        if coefficient.has(Q):
            return None
        if coefficient.free_symbols and not coefficient.has(LineIntegral):
            coefficient = cancel(coefficient)
            if coefficient == 0:
                continue
        size = Lead(coefficient, power)
        if coefficient.has(LineIntegral) and not coefficient.free_symbols and size.sign is None:
            raise Unsupported("a leading coefficient whose sign is not decided")
        return size
    return None


__all__ = ["EdgeLimit", "Lead", "expansion", "inverse", "limits"]
