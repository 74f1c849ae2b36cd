"""Result: a derived formula with its kind, derivation, numbers, LaTeX and code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import mpmath
from sympy import Derivative, Expr, oo, sqrt

from derive.gaussian import numbers
from derive.gaussian.answer import answer
from derive.gaussian.node import GaussianE
from derive.program.symbols import DELTA, Q1, Q2, SIGMA_B, SIGMA_W, C, K, Q
from derive.records import DomainError, Enclosure, EocError, Interval, Kind, Step, Unsupported
from derive.show.printer import latex
from derive.surface.exact import exact
from derive.surface.resolving import resolve, shortened

RESERVED = {s.name: s for s in (Q, Q1, Q2, C, SIGMA_W, SIGMA_B)}
PAIR = sqrt(Q1 * Q2)


@dataclass(frozen=True)
class Result:
    """A quantity as an exact expression in Gaussian expectations, closed where a closed form exists.

    template   the expression in `GaussianE` nodes, (q) or (q1, q2, K) and parameters
    arguments  names of its arguments: ("q",) or ("q1", "q2", "c"), then sigma_w, sigma_b
    domains    (parameter, interval) of phi's parameters
    title      its name ("variance map")
    symbol     its LaTeX left-hand side ("V(q)")
    notes      warnings that travel with the value

    `.kind` is the worst kind of its nodes. Numbers are certified enclosures.
    """

    template: Expr
    arguments: tuple[str, ...]
    domains: tuple[tuple[str, Interval], ...] = ()
    title: str = ""
    symbol: str = ""
    notes: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the activation's free parameters in it."""
        free = {s.name for s in self.template.free_symbols}
        return tuple(sorted(name for name, _ in self.domains if name in free))

    @property
    def nodes(self) -> tuple[GaussianE, ...]:
        """The expectations it is made of, outermost first."""
        return tuple(part.expr if isinstance(part, Derivative) else part for part in numbers.outermost(self.template))

    @property
    def kind(self) -> Kind:
        """EXACT, SPECIAL, SERIES, INTEGRAL, ...: the worst kind of its parts."""
        if not self.template.is_finite and self.template.is_infinite:
            return Kind.DIVERGENT
        kinds = [answer(numbers.canonical(node)).kind for node in self._all_nodes()]
        if Kind.INTEGRAL in kinds and not self.closed.has(GaussianE):  # they drop out: 0*E[...]
            kinds = [kind for kind in kinds if kind is not Kind.INTEGRAL]
        return Kind.EXACT.worst(*kinds)

    def _all_nodes(self) -> list[GaussianE]:
        found = list(self.nodes)
        for node in found:
            found += [inner for entry in node.cov for inner in numbers.outermost(entry)]
        return found

    @property
    def closed(self) -> Expr:
        """The formula with closed nodes substituted, in K and Delta = q1*q2 - K**2."""
        return resolve(self.template)

    @property
    def written(self) -> Expr:
        """The formula as pages print it: the closed form, in which d/dq of an expectation that stays open is kept."""
        return shortened(resolve(self.template, slopes=True))

    @property
    def expr(self) -> Expr:
        """The formula in its arguments: K is written c*sqrt(q1*q2)."""
        delta = Q1 * Q2 * (1 - C) * (1 + C)
        return self.closed.subs({DELTA: delta, K: C * PAIR}, simultaneous=True)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The derivation: one tree of steps for each expectation."""
        found = (answer(numbers.canonical(node)).step for node in self._all_nodes())
        return tuple(step for step in found if step is not None)

    @property
    def blockers(self) -> tuple[str, ...]:
        """Why it is not closed: the smallest subexpressions no rule took."""
        if not self.closed.has(GaussianE):
            return ()
        return tuple(dict.fromkeys(b for n in self._all_nodes() for b in answer(numbers.canonical(n)).blockers))

    @property
    def conditions(self) -> tuple[str, ...]:
        """Conditions under which its expectations converge."""
        found = (answer(numbers.canonical(n)).condition for n in self._all_nodes())
        return tuple(dict.fromkeys(c for c in found if c))

    def number(self, values: dict[str, Any] | None = None, /, *, digits: int = 16, **named: Any) -> Enclosure:
        """A certified number: number(q=0.25, a=0.1, digits=16).

        Floats are read as their shortest decimals. Names that are no Python identifiers go in a dict.
        q = 0 is the limit q -> 0 from above; c = +-1 is evaluated as a one-variable expectation; what certainly
        diverges is an infinity with its sign.
        Raises EocError naming a missing or unknown name, DomainError for a value outside its domain.
        """
        if not isinstance(digits, int) or digits < 1:
            raise EocError(f"digits = {digits!r}", why="the number of certified digits wanted", instead="digits=16")
        given = self._checked({**(values or {}), **named})
        if self.template.is_infinite:
            return Enclosure(mpmath.inf if self.template.is_extended_positive else -mpmath.inf, mpmath.mpf(0))
        if given.get("q") == 0 or given.get("q1") == 0 or given.get("q2") == 0:
            from derive.surface.expansions import limit_at_zero

            return limit_at_zero(self.template, given, digits)
        found = numbers.number(self.template, given, digits)
        if mpmath.isnan(found.mid) and not isinstance(given.get("c"), flint.arb) and abs(given.get("c", 0)) == 1:
            return self._pole(given) or found
        return found

    def estimate(self, values: dict[str, Any] | None = None, /, *, samples: int = 1 << 18, **named: Any) -> Any:
        """A sample mean with its standard error, for expectations over many correlated variables: kind ESTIMATE.

        For questions that `number` refuses, such as the largest over a 3 x 3 window with any covariance. Parts that
        have a proved number keep it; draws are seeded by the question. Raises EocError like `number`.
        """
        from derive.gaussian.estimates import estimate

        return estimate(self.template, self._checked({**(values or {}), **named}), samples)

    def _pole(self, given: dict[str, Any]) -> Enclosure | None:
        """An infinity at c = 1 or -1, where the formula has a term in 1/sqrt(Delta) (a density at a corner)."""
        if not self.template.has(DELTA) or self.nodes:
            return None
        with flint.ctx.workprec(120):
            lead = numbers.plain_ball((self.template * sqrt(DELTA)).expand(), {**given, "Delta": Fraction(0)})
        if not lead.is_finite() or lead.contains(0):
            return None
        return Enclosure(mpmath.inf if lead > 0 else -mpmath.inf, mpmath.mpf(0))

    def _checked(self, given: dict[str, Any]) -> dict[str, Any]:
        allowed = (*self.arguments, *(name for name, _ in self.domains))
        for name in given:
            if name not in allowed:
                raise EocError(f"{self.title or 'this result'} has no argument {name}", instead=", ".join(allowed))
        free = {s.name for s in self.template.free_symbols} | ({"c"} if self.template.has(K) else set())
        missing = [n for n in allowed if n in free and n not in given]
        if missing:
            raise EocError(f"no value for {', '.join(missing)}", instead=f"number({missing[0]}=...)")
        values: dict[str, Any] = {}
        for name, value in given.items():
            values[name] = value if isinstance(value, flint.arb) else exact(value, name)
            self._check_domain(name, values[name], value)
        return values

    def _check_domain(self, name: str, value: Any, shown: Any) -> None:
        if isinstance(value, flint.arb):
            return
        if name in ("q", "q1", "q2", "sigma_w", "sigma_b") and value < 0:
            what = "a variance" if name.startswith("q") else "a standard deviation"
            raise DomainError(f"{name} = {shown} is negative", why=f"{name} is {what}")
        if name == "c" and abs(value) > 1:
            raise DomainError(f"c = {shown} is no correlation", why="|c| <= 1")
        domain = dict(self.domains).get(name)
        if domain is not None and value not in domain:
            raise DomainError(f"{name} = {shown} is outside its domain {domain}")

    def __float__(self) -> float:
        return float(self.number())

    def subs(self, values: dict[str, Any] | None = None, /, **named: Any) -> Result:
        """The result with some arguments or parameters fixed to exact numbers."""
        given = {**(values or {}), **named}
        template, names = self.template, {s.name: s for s in self.template.free_symbols}
        for name, value in given.items():
            if name not in (*self.arguments, *dict(self.domains)):
                what = f"{self.title or 'this result'} has no argument {name}"
                raise EocError(what, instead=", ".join(self.arguments))
            number = exact(value, name)
            self._check_domain(name, number, value)
            fixed = _rational(number)
            if name in ("q1", "q2", "c"):
                template = template.subs(K, C * PAIR)
            template = template.subs(names.get(name, RESERVED.get(name, name)), fixed)
        rest = tuple(a for a in self.arguments if a not in given)
        kept = tuple((p, d) for p, d in self.domains if p not in given)
        return replace(self, template=template, arguments=rest, domains=kept)

    def diff(self, name: Any) -> Result:
        """The partial derivative in an argument (q; q1, q2 or c; sigma_w, sigma_b) or a parameter, by name."""
        name = str(name)
        found = [s for s in self.template.free_symbols | {C, *RESERVED.values()} if s.name == name]
        if not found or name not in (*self.arguments, *self.parameters):
            what = f"{self.title or 'this result'} does not depend on {name}"
            raise EocError(what, instead=", ".join(self.arguments))
        if "c" in self.arguments:
            from derive.surface.partials import partial

            template = partial(self.template, found[0])
        else:
            template = numbers.differentiate(self.template, found[0])
        symbol = rf"\partial_{{{latex(found[0])}}} {self.symbol}" if self.symbol else ""
        title = f"derivative of {self.title or 'the result'} in {name}"
        return replace(self, template=template, title=title, symbol=symbol)

    def series(self, name: str = "q", at: Any = 0, order: int = 4) -> Any:
        """The expansion in q at 0 (all powers below q^order) or at oo (`order` successive powers of sqrt(q)).

        Kinks and jumps at 0 give half-integer powers; no closed form is needed. The coefficients are exact, the
        remainder is an order. Kind: SERIES. In other arguments and at other points: SymPy's series of a closed
        result, as an expression. Raises Unsupported where there is none.
        """
        from derive.surface.expansions import ExpansionResult, expand, point

        place = point(at)
        blocked = None
        if name == "q" and place in (0, oo):
            try:
                return ExpansionResult(expand(self.template, place, order), self.title, self.symbol)
            except Unsupported as error:
                blocked = error
        target = {s.name: s for s in self.expr.free_symbols}.get(name)
        if target is None or self.expr.has(GaussianE):
            why = "; ".join(self.blockers) or f"it does not depend on {name}"
            raise blocked or Unsupported(f"no expansion in {name}", why=why)
        from derive.surface.expansions import formal

        return formal(self.expr, target, place, order)

    def as_series(self, accuracy: Any = "1e-14") -> Result:
        """The result with tanh, the logistic function, softplus and their kin as finite mixtures of error functions.

        Open expectations become sums of closed forms; `accuracy` is that of the mixture, uniform on the real line,
        and the proved bound of what follows for the result is in the radius of `.number()`. Kind: SERIES.
        Raises Unsupported naming what is neither of this family nor an atom.
        """
        from derive.surface.series import as_series

        return as_series(self, accuracy)

    def latex(self) -> str:
        """LaTeX of the formula, with K = c sqrt(q1 q2) and Delta = q1 q2 - K^2."""
        body = latex(shortened(self.closed))
        return f"{self.symbol} = {body}" if self.symbol else body

    def proof(self) -> str:
        """LaTeX of the derivation."""
        from derive.show.proof import proof_latex

        return proof_latex(self.steps)

    def code(self, backend: str = "numpy", *, box: Any = None) -> str:
        """Standalone source text of a vectorised function.

        box  the variances asked for, (low, high) or the highest, where the result has no closed form: one surrogate
             for them without branches on the data (for jit, vmap, full graphs), NaN beyond. Without it, surrogates
             up to 1, 2, 10, 100 as far as they reach, chosen by the largest variance of a call, and quadrature beyond.
        """
        from derive.surface.emission import result_code

        return result_code(self, backend, box)

    def compile(self, backend: str = "numpy", *, box: Any = None) -> Any:
        """The emitted function itself: arguments in order, then parameters as keywords; `box` as in `code`."""
        from derive.surface.emission import function_name, load_function

        return load_function(self.code(backend, box=box), function_name(self))

    def plot(self, **options: Any) -> Any:
        """A matplotlib figure of the result over its arguments."""
        from derive.show.plots import plot_result

        return plot_result(self, **options)

    def __repr__(self) -> str:
        text = str(self.closed)
        name = f"{self.title}: " if self.title else ""
        return f"<{self.kind} {name}{text if len(text) <= 120 else text[:117] + '...'}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


def _rational(number: Fraction) -> Expr:
    from sympy import Rational

    return Rational(number.numerator, number.denominator)


__all__ = ["Result", "resolve"]
