"""What is known about a function of x before any expectation is taken: proved, never sampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from flint import arb, fmpq
from sympy import Expr, Poly, S

from derive.activation import monotone as rising
from derive.activation import parity as symmetry
from derive.activation.bounds import bound
from derive.activation.domain import check
from derive.activation.growth import Growth
from derive.activation.interval import INF, Range
from derive.activation.jumps import Jump, jumps, vanishes_at
from derive.activation.normal_form import normal_form
from derive.activation.ranges import Ranges
from derive.activation.tail import Tail
from derive.activation.terms import NormalForm, breakpoints, is_ordered
from derive.program.symbols import X
from derive.records import REAL_LINE, DomainError, Interval, Unsupported

SMOOTHNESS_LIMIT = 12


@dataclass(frozen=True)
class Facts:
    """Facts of a function of x on the whole line; each is proved, or None where it is not.

    form     its normal form
    domains  the domain of each parameter
    problem  where the function is not real and finite, and why; None if it is (or if `notes` says what is open)
    notes    what could not be decided, what was filled by its limit
    """

    form: NormalForm
    domains: Mapping[str, Interval]
    problem: DomainError | None
    notes: tuple[str, ...]

    def __getstate__(self) -> tuple:
        # what was computed from them on the way holds balls, which do not pickle
        return self.form, dict(self.domains), self.problem, self.notes

    def __setstate__(self, state: tuple) -> None:
        for name, value in zip(("form", "domains", "problem", "notes"), state, strict=True):
            object.__setattr__(self, name, value)

    @property
    def values(self) -> dict[str, Range]:
        """The range of each parameter."""
        return {name: range_of_domain(domain) for name, domain in self.domains.items()}

    def raise_if_not_real(self) -> None:
        """Raise the DomainError that says where the function is not real and finite."""
        if self.problem is not None:
            raise self.problem

    @cached_property
    def breakpoints(self) -> tuple[Expr, ...]:
        """Where one expression gives way to another, ascending as far as that is decidable."""
        return breakpoints(self.form)

    @cached_property
    def jumps(self) -> tuple[Jump, ...]:
        """Places and heights of its jumps."""
        return jumps(self.form)

    @property
    def continuous(self) -> bool:
        """Whether it has no jump."""
        return not self.jumps

    @cached_property
    def parity(self) -> str | None:
        """ "odd", "even" or None."""
        return symmetry.parity(self.form)

    @cached_property
    def monotone(self) -> str | None:
        """ "increasing" (never falls), "decreasing" (never rises) or None."""
        return rising.monotone(self.form, self.values)

    @cached_property
    def degree(self) -> int | None:
        """The degree of a polynomial; None for any other function."""
        if len(self.form.cells) != 1 or not self.form.cells[0].value.is_polynomial(X):
            return None
        return max(0, Poly(self.form.cells[0].value, X).degree()) if self.form.cells[0].value != 0 else 0

    @cached_property
    def scale_invariant(self) -> bool:
        """Whether f(t x) = t f(x) for every t > 0: lines that break at 0 only."""
        if not is_ordered(self.form):
            return False
        ends = [cell.lower for cell in self.form.cells[1:]]
        return all(end == 0 for end in ends) and all(_is_line(cell.value) for cell in self.form.cells)

    @cached_property
    def smoothness(self) -> tuple[tuple[Expr, int], ...]:
        """(breakpoint, number of continuous derivatives) with -1 at a jump, 0 at a kink; empty if the order is open."""
        if not is_ordered(self.form):
            return ()
        pairs = zip(self.form.cells, self.form.cells[1:], strict=False)
        return tuple(
            (right.lower, _continuous_derivatives(left.value, right.value, right.lower)) for left, right in pairs
        )

    @cached_property
    def growth(self) -> tuple[Growth | None, Growth | None]:
        """Bounds of |f(x)| for x <= -R and x >= R, R beyond every breakpoint; None while a parameter is open."""
        return self._growth(-1), self._growth(1)

    def _growth(self, side: int) -> Growth | None:
        cell = self.form.cells[-1 if side > 0 else 0]
        if cell.value.free_symbols - {X} or any(point.free_symbols for point in self.breakpoints):
            return None
        numbers = Ranges(arb(0), arb(0), {})
        start = max([arb(4), *(numbers(abs(point)).high + 1 for point in self.breakpoints)])
        try:
            return bound(cell.value, side, start, INF, {})
        except Unsupported:
            return None

    def _power(self, side: int) -> float | None:
        """The power of |x| that bounds a function of at most algebraic growth, not rounded up to a whole one."""
        numbers = Ranges(arb(0), arb(0), {})
        start = max([arb(4), *(numbers(abs(point)).high + 1 for point in self.breakpoints)])
        log = Tail(side, start, {}).above(self.form.cells[-1 if side > 0 else 0].value)
        return None if log is None or log.b != 0 or log.s != 0 else float(log.n)

    @cached_property
    def growth_text(self) -> tuple[str, str]:
        """The growth at -infinity and +infinity in words."""
        return self._in_words(-1), self._in_words(1)

    def _in_words(self, side: int) -> str:
        value = self.form.cells[-1 if side > 0 else 0].value
        if value.is_polynomial(X):
            degree = Poly(value, X).degree() if value.has(X) else 0
            constant = str(value).replace("**", "^").replace("*", " ")
            return {0: f"constant {constant}", 1: "linear"}.get(degree, f"like |x|^{degree}")
        found = self.growth[side > 0]
        if found is None:
            open_parameters = sorted(s.name for s in value.free_symbols - {X})
            return (
                f"open while {', '.join(open_parameters)} is a symbol" if open_parameters else "no Gaussian bound known"
            )
        if found.s > 0 or found.b > 0:
            rates = [f"{float(c):.6g} {name}" for c, name in ((found.b, "|x|"), (found.s, "x^2")) if c != 0]
            return f"at most exp({' + '.join(rates)})".replace("+ -", "- ") + (f" |x|^{found.n}" if found.n else "")
        if found.s < 0 or found.b < 0:
            return "decays exponentially"
        power = self._power(side)
        if power is not None and power < 0:
            return f"decays at least like |x|^{power:.6g}"
        if power is not None and 0 < power < found.n:
            return f"at most like |x|^{power:.6g}"
        return {0: "bounded", 1: "at most linear"}.get(found.n, f"at most like |x|^{found.n}")


def facts(expr: Expr, domains: Mapping[str, Interval] | None = None) -> Facts:
    """The facts of a SymPy expression in x whose parameters range over the given domains.

    Raises Unsupported where the pieces cannot be found, DomainError where the function is undefined on an interval.
    """
    form = normal_form(S(expr))
    names = {s.name for cell in form.cells for s in cell.value.free_symbols if s != X}
    known = {name: (domains or {}).get(name, REAL_LINE) for name in sorted(names | set(domains or {}))}
    problem, notes = check(form.cells, {name: range_of_domain(domain) for name, domain in known.items()})
    return Facts(form, known, problem, notes)


def range_of_domain(interval: Interval) -> Range:
    """A parameter's domain as a closed range."""
    ends = []
    for end in (interval.lower, interval.upper):
        if end in (float("inf"), float("-inf")):
            ends.append(INF if end > 0 else -INF)
        else:
            ends.append(arb(fmpq(*end.as_integer_ratio())))
    return Range(ends[0].lower(), ends[1].upper())


def _is_line(value: Expr) -> bool:
    return not (value / X).has(X) if value != 0 else True


def _continuous_derivatives(left: Expr, right: Expr, at: Expr) -> int:
    difference = right - left
    for order in range(SMOOTHNESS_LIMIT):
        if not vanishes_at(difference, at):
            return order - 1
        difference = difference.diff(X)
    return SMOOTHNESS_LIMIT


__all__ = ["Facts", "facts", "range_of_domain"]
