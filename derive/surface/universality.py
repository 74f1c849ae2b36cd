"""The universality class of a theory's block: decided for numbers, and for open parameters where the answer is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import Any

from sympy import Expr, Integer, Symbol, sqrt

from derive.activation.cells import sign_of
from derive.activation.normal_form import normal_form
from derive.activation.signs import sign_cells
from derive.depth import edge
from derive.depth.block_class import of_block
from derive.depth.enclosures import to_ball
from derive.depth.universality import Universality, classify, exponents, scale_invariant
from derive.depth.zero import AtZero, at_zero, critical_sigma_w, slope_at_zero
from derive.gaussian.numbers import plain_ball, to_enclosure
from derive.program.symbols import X
from derive.records import Enclosure, EocError, Interval, Kind, Unsupported
from derive.surface.exact import exact

EVERYWHERE = "all values but isolated ones"


@dataclass(frozen=True)
class Scaled:
    """A number times a function of a parameter: the value at parameter 1 and the factor."""

    at_one: Enclosure
    factor: Expr

    def number(self, **values: Any) -> Enclosure:
        """The certified number at a value of the parameter."""
        given = {name: exact(value, name) for name, value in values.items()}
        return to_enclosure(to_ball(self.at_one) * plain_ball(self.factor, given))

    def __str__(self) -> str:
        return f"{self.at_one} * {self.factor}"


def universality(theory: Any) -> Universality:
    """The class of a block of one activation behind one Dense, decided from its expansions and zeros.

    An open parameter is answered where the class is the same on its whole domain: scale-invariant functions, critical
    points at q = 0 whose coefficient has one sign, and parameters that only scale the argument (swish, snake).
    Other blocks are decided where their maps scale with the variance or keep both above 1.
    Raises EocError naming the parameter otherwise, Unsupported for the rest.
    """
    phi = theory._only_phi()
    if phi is None:
        if theory.noisy:
            raise Unsupported(
                "the universality class of a block other than one activation behind one Dense",
                where=str(theory.block),
                why="noise drawn for each input takes c = 1 away, and with it the edge of chaos",
            )
        return of_block(theory.variance_map.template, theory.chi.template, theory.maps.jumps, theory.block)
    if theory.maps.jumps:
        return Universality("none", ("phi jumps: chi = sigma_w^2 E phi'^2 is infinite at every q",), kind=Kind.EXACT)
    second, slope = edge.split(theory.variance_map.template, theory.chi.template)
    open_names = [name for name, _ in theory.domains]
    if _is_scale_invariant(theory.activation) and not edge.flat(slope):
        found = scale_invariant(slope_at_zero(phi), {})
        return _as_results(theory, found) if open_names else found
    if open_names:
        return _of_parameters(theory, phi, open_names)
    return classify(second, slope, phi, {})


def _is_scale_invariant(activation: Any) -> bool:
    """phi(t x) = t phi(x) for t > 0, on the normal form: breakpoints at 0 only, lines through 0."""
    cells = normal_form(activation.phi).cells
    return all(cell.lower == 0 for cell in cells[1:]) and all(not (cell.value / X).expand().has(X) for cell in cells)


def _as_results(theory: Any, found: Universality) -> Universality:
    """Exact values with open parameters as Results."""
    made = {
        name: theory._result(expr, (), f"{name} at the critical point", rf"\{name}" if name != "q" else "q")
        for name, expr in found.exact.items()
    }
    return replace(found, **made)


def _of_parameters(theory: Any, phi: Expr, names: list[str]) -> Universality:
    try:
        zero = at_zero(phi)
    except Unsupported as error:
        raise _open(theory, error.what) from None
    if zero.value == 0 and zero.slope != 0 and zero.power is not None:
        sign = sign_of(zero.forward)
        if sign == -1:
            return _zero_for_all(theory, zero, names)
        if sign is None and len(names) == 1:
            regions = _regions(zero.forward, phi, names[0])
            if regions == EVERYWHERE:
                return _zero_for_all(theory, zero, names)
            if regions:
                raise _open(
                    theory, f"the class is zero for {regions}, where V(q) < q for small q; elsewhere it depends"
                )
    if len(names) == 1:
        found = _only_scales(theory, phi, names[0])
        if found is not None:
            return found
    raise _open(theory, "its critical point depends on the parameter and has no closed form for all of them")


def _open(theory: Any, why: str) -> EocError:
    given = ", ".join(f"{name}={_inside(domain)}" for name, domain in theory.domains)
    return EocError(
        f"the universality class needs a value for {', '.join(name for name, _ in theory.domains)}",
        why=why,
        instead=f"theory(Activation(..., {given})).universality",
    )


def _inside(domain: Interval) -> Fraction:
    """A short number of a domain."""
    low, high = (float(end) for end in (domain.lower, domain.upper))
    tried = [Fraction(1), Fraction(1, 2), Fraction(-1)]
    if isfinite(low) and isfinite(high):
        tried += [Fraction((low + high) / 2).limit_denominator(64), Fraction((low + high) / 2)]
    elif isfinite(low):
        tried.append(Fraction(ceil(low) + 1))
    elif isfinite(high):
        tried.append(Fraction(floor(high) - 1))
    return next(x for x in tried if x in domain)


def _zero_for_all(theory: Any, zero: AtZero, names: list[str]) -> Universality:
    sigma_w = critical_sigma_w(zero)
    p_0, p_perp, p_par, rate = exponents(zero)
    where = ", ".join(f"{name} in {dict(theory.domains)[name]}" for name in names)
    reasons = (
        f"phi(0) = 0 and E phi'^2 -> {zero.slope} for q -> 0: chi = 1 at q = 0 for sigma_w = {sigma_w}",
        f"V(q) = q (1 + k q^({zero.power}) + ...) with k = {zero.forward} < 0 for {where} unless 0: q = 0 attracts",
    )
    subclass = "analytic" if zero.smooth else "kinked"
    exact_values = {"q": Integer(0), "sigma_w": sigma_w, "sigma_b": Integer(0)}
    found = Universality(
        "zero", reasons, None, None, None, p_0, p_perp, p_par, subclass, rate, (), exact_values, Kind.EXACT
    )
    return _as_results(theory, found)


def _regions(coefficient: Expr, phi: Expr, name: str) -> str:
    """Where a coefficient is negative, as intervals of the parameter."""
    symbol = next(s for s in phi.free_symbols if s.name == name)
    try:
        cells = sign_cells(coefficient.subs(symbol, X).factor())
    except Unsupported:
        return ""
    if all(cell.value == -1 for cell in cells):
        return EVERYWHERE
    return " or ".join(f"{name} in ({cell.lower}, {cell.upper})" for cell in cells if cell.value == -1)


def _only_scales(theory: Any, phi: Expr, name: str) -> Universality | None:
    """phi(x; a) = f(a) phi(a x; 1): the class of a = 1; q and sigma_b^2 scale with 1/a^2, sigma_w with 1/(a f)."""
    symbol = next(s for s in phi.free_symbols if s.name == name)
    if 1 not in dict(theory.domains)[name]:
        return None
    factor = _factor(phi, symbol)
    if factor is None:
        return None
    from derive.surface.activations import Activation
    from derive.surface.blocks import theory as theory_of

    one = universality(theory_of(Activation(phi.subs(symbol, Integer(1)))))
    size = sqrt(symbol**2)
    scales = {"q": 1 / symbol**2, "sigma_b": 1 / size, "sigma_w": 1 / (size * sqrt(factor**2))}
    made: dict[str, Any] = {k: Scaled(getattr(one, k), v) for k, v in scales.items() if getattr(one, k) is not None}
    law = f"phi(x; {name}) = f phi({name} x; 1) with f = {factor}, {name} != 0: q ~ 1/{name}^2, sigma_b ~ 1/|{name}|"
    exact_values = {k: v * scales[k] for k, v in one.exact.items()}
    return replace(one, reasons=(law, *(f"at {name} = 1: {r}" for r in one.reasons)), exact=exact_values, **made)


def _factor(phi: Expr, symbol: Symbol) -> Expr | None:
    """f(a), if phi(x/a; a) = f(a) phi(x; 1)."""
    positive = Symbol(symbol.name, positive=True)
    cells = normal_form(phi.subs(symbol, positive).subs(X, X / positive)).cells
    plain = normal_form(phi.subs(symbol, Integer(1))).cells
    if len(cells) != len(plain) or any((a.lower - b.lower) != 0 for a, b in zip(cells[1:], plain[1:], strict=True)):
        return None
    ratios = {(a.value / b.value).cancel() for a, b in zip(cells, plain, strict=True) if b.value != 0}
    if len(ratios) != 1 or any(r.has(X) for r in ratios):
        return None
    return ratios.pop().subs(positive, symbol)


__all__ = ["Scaled", "universality"]
