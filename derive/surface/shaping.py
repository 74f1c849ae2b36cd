"""shape: an activation with wanted moments and slopes, by scales and shifts or by a parameter of its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
from sympy import Rational

from derive.depth.shaping import conditions, shaped, solve
from derive.records import DomainError, Enclosure, EocError
from derive.surface.activations import Activation
from derive.surface.exact import exact

TARGETS = ("mean", "second_moment", "chi", "chi_parallel", "curvature", "c0")


@dataclass(frozen=True)
class Shaped:
    """A shaped activation.

    activation  output_scale*(phi(input_scale*x + input_shift) + output_shift), with the numbers in it
    parameters  the numbers by name, exact decimals
    targets     what was asked
    conditions  what the activation has at unit variance, certified: mean, second_moment, chi (= C'(1) times the
                second moment), chi_parallel (= Q'(1)), curvature (= C''(1) times it; 0 where not asked), c0 (= C(0))
    """

    activation: Activation
    parameters: dict[str, Fraction]
    targets: dict[str, Fraction]
    conditions: dict[str, Enclosure]

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={float(v):.10g}" for k, v in self.parameters.items())
        return f"<Shaped {self.activation.name[:60]}: {shown}>"


def shape(phi: Any, *, parameter: str = "", input_shift: Any = None, second_moment: Any = 1, **targets: Any) -> Shaped:
    """Scales and shifts such that g (phi(a x + b) + d) has the wanted moments and slopes at unit variance.

    phi           an Activation, or what one is made of
    second_moment E of the square (default 1)
    targets       mean; chi = C'(1) (times the second moment); chi_parallel = Q'(1) = dV/dq at q = 1;
                  curvature = C''(1); c0 = C(0), which fixes |mean|. Mean and second moment fix g and d, or else chi
                  does; what is left is met by the input scale a and shift b
    input_shift   fixes b (a function such as ReLU has no use for two of a, b)
    parameter     the name of a parameter of phi that is solved for, with g, in place of a, b, d: one target besides
                  the second moment

    Deep kernel shaping: mean=0, chi_parallel=1, chi=target (Martens et al. 2021, arXiv 2110.01765); tailored
    activations: chi=1, chi_parallel=1, curvature=target (Zhang, Botev, Martens 2022, arXiv 2203.08120). The numbers
    are decimals of 18 digits found by Newton's method, and `conditions` certifies what they give.
    Raises EocError where no solution is found, Unsupported for functions that jump.
    """
    act = phi if isinstance(phi, Activation) else Activation(phi)
    for name in targets:
        if name not in TARGETS:
            raise EocError(f"there is no target {name}", instead=", ".join(TARGETS))
    wanted = {name: exact(value, name) for name, value in {**targets, "second_moment": second_moment}.items()}
    if wanted["second_moment"] <= 0:
        raise DomainError("a second moment is positive", where=str(second_moment))
    if parameter:
        return _by_parameter(act, parameter, wanted)
    if act.parameters:
        raise EocError(f"no value for {', '.join(act.parameters)}", instead=f"Activation(..., {act.parameters[0]}=1)")
    if "c0" in wanted:
        if "mean" in wanted:
            raise EocError("c0 and the mean are both given", why="C(0) = mean^2/second moment")
        wanted["mean"] = _root(wanted.pop("c0") * wanted["second_moment"])
    numbers = solve(act.expr, wanted, None if input_shift is None else exact(input_shift, "input_shift"))
    names = ("input_scale", "input_shift", "output_scale", "output_shift")
    made = Activation(shaped(act.expr, numbers), name=f"shaped {act.formula.name}" if act.formula.name else "")
    has = conditions(act.expr, numbers, "curvature" in wanted)
    return Shaped(made, dict(zip(names, numbers, strict=True)), wanted, has)


def _root(square: Fraction) -> Fraction:
    if square < 0:
        raise DomainError("c0 is a square", where=str(square))
    with flint.ctx.workprec(200):
        return Fraction((flint.arb(square.numerator) / square.denominator).sqrt().str(30, radius=False))


def _by_parameter(act: Activation, name: str, wanted: dict[str, Fraction]) -> Shaped:
    """One target met by a parameter of phi, the second moment by the output scale."""
    if act.parameters != (name,):
        raise EocError(f"the free parameters are {', '.join(act.parameters) or 'none'}", instead=f"leave {name} open")
    rest = [key for key in wanted if key != "second_moment"]
    if len(rest) != 1:
        raise EocError("a parameter meets one target besides the second moment", where=", ".join(rest))
    key = rest[0]
    symbol = next(s for s in act.expr.free_symbols if s.name == name)

    def miss(value: Fraction) -> tuple[float, tuple[Fraction, ...], dict[str, Enclosure]]:
        expr = act.expr.subs(symbol, Rational(value.numerator, value.denominator))
        numbers = solve(expr, {"second_moment": wanted["second_moment"]}, None)
        has = conditions(expr, numbers, key == "curvature")
        return float(has[key].mid - wanted[key].numerator / _mpf(wanted[key])), numbers, has

    value = _bracketed(lambda v: miss(v)[0], act.domains[name])
    _, numbers, has = miss(value)
    expr = act.expr.subs(symbol, Rational(value.numerator, value.denominator))
    made = Activation(shaped(expr, numbers))
    return Shaped(made, {name: value, "output_scale": numbers[2]}, wanted, has)


def _mpf(value: Fraction) -> Any:
    import mpmath

    return mpmath.mpf(value.denominator)


def _bracketed(miss: Any, domain: Any) -> Fraction:
    """A root between neighbouring points of a grid of the domain, by secant steps; its decimals to 17 digits."""
    grid = [Fraction(k, 20) for k in range(-60, 61) if Fraction(k, 20) in domain]
    before: tuple[Fraction, float] | None = None
    for point in sorted(grid, key=lambda v: (v < 0, abs(v))):
        now = (point, miss(point))
        if before is not None and before[1] * now[1] <= 0 and abs(before[0] - point) < Fraction(1, 10):
            return _secant(miss, before, now)
        before = now
    raise EocError("no value of the parameter meets the target", where=f"on the part of {domain} between -3 and 3")


def _secant(miss: Any, low: tuple[Fraction, float], high: tuple[Fraction, float]) -> Fraction:
    (a, fa), (b, fb) = low, high
    for _ in range(60):
        if fb == fa or abs(b - a) < Fraction(1, 10**16):
            break
        step = b - Fraction(fb) * (b - a) / (Fraction(fb) - Fraction(fa))
        step = Fraction(f"{float(step):.17g}")
        inside = min(low[0], high[0]) <= step <= max(low[0], high[0])
        a, fa, b = b, fb, step if inside else (a + b) / 2
        fb = miss(b)
    return b


__all__ = ["Shaped", "shape"]
