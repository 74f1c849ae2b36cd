"""Scales and shifts around a function that give it wanted moments and slopes at unit variance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import mpmath
from flint import arb
from sympy import Expr, Integer

from derive.activation.jumps import jumps
from derive.activation.normal_form import derivative, normal_form, to_piecewise
from derive.activation.pieces import piece_function
from derive.depth.enclosures import to_ball
from derive.gaussian.enclosure.one import enclose_one
from derive.gaussian.enclosure.prepared import prepare
from derive.gaussian.enclosure.stable import stable
from derive.gaussian.numbers import to_enclosure
from derive.program.symbols import X
from derive.records import Enclosure, EocError, Unsupported

DIGITS = 20
SCALES = ("0.3", "0.1", "1")
SHIFTS = ("0.5", "0.1", "-0.5")


@dataclass(frozen=True)
class Moments:
    """Expectations of phi(a z + b), z ~ N(0, 1), and of what its derivatives make of it, at given a > 0 and b."""

    functions: Mapping[str, Any]

    def at(self, scale: arb, shift: arb) -> Callable[[str], arb]:
        """name -> ball: f, f2, s2 = E phi'^2, zs = E z phi', zfs = E z phi phi', b2 = E phi''^2."""

        def moment(name: str) -> arb:
            f, weight = self.functions[name]
            if f is None:
                return arb(0)
            return enclose_one(f, scale * scale, shift, DIGITS, weight)

        return moment


def moments(phi: Expr, bend: bool) -> Moments:
    """The moments of a continuous function. Raises Unsupported where E phi''^2 is asked of a function with kinks."""
    form = normal_form(phi)
    slope, steps = derivative(form)
    if steps:
        raise Unsupported("the shaping of a function that jumps", where=str(phi), why="its slope at c = 1 is infinite")
    if bend and jumps(slope):
        raise Unsupported("C''(1) of a function with kinks", where=str(phi), why="it is infinite")
    first = to_piecewise(slope)
    bodies = {
        "f": (phi, (1,)),
        "f2": (phi**2, (1,)),
        "s2": (first**2, (1,)),
        "zs": (first, (0, 1)),
        "zfs": (phi * first, (0, 1)),
        "b2": (to_piecewise(derivative(slope)[0]) ** 2 if bend else Integer(0), (1,)),
    }
    return Moments({name: (_prepared(body), weight) for name, (body, weight) in bodies.items()})


def _prepared(body: Expr) -> Any:
    return None if body == 0 else prepare(piece_function(stable(body), {}))


def achieved(found: Moments, scales: tuple[arb, arb, arb, arb]) -> dict[str, arb]:
    """The moments and slopes of g (phi(a x + b) + d) at unit variance, scales = (a, b, g, d).

    mean = E, second_moment = E^2, chi = C'(1) E^2 = g^2 a^2 E phi'^2, chi_parallel = Q'(1) = g^2 a E z (phi + d) phi',
    curvature = C''(1) E^2 = g^2 a^4 E phi''^2, c0 = C(0) = mean^2/second_moment.
    """
    a, b, g, d = scales
    of = found.at(a, b)
    f, f2 = of("f"), of("f2")
    mean, second = g * (f + d), g * g * (f2 + 2 * d * f + d * d)
    return {
        "mean": mean,
        "second_moment": second,
        "chi": g * g * a * a * of("s2"),
        "chi_parallel": g * g * a * (of("zfs") + d * of("zs")),
        "curvature": g * g * a**4 * of("b2"),
        "c0": mean * mean / second,
    }


def outputs(found: Moments, a: arb, b: arb, targets: Mapping[str, arb], sign: int) -> tuple[arb, arb]:
    """(g, d) for the targets that fix them: mean and second moment, or second moment and chi with the sign of the mean,
    or the second moment alone.
    """
    of = found.at(a, b)
    f, f2 = of("f"), of("f2")
    if "mean" in targets:
        g = ((targets["second_moment"] - targets["mean"] ** 2) / (f2 - f * f)).sqrt()
        return g, targets["mean"] / g - f
    if "chi" in targets and "chi_parallel" in targets:
        g = (targets["chi"] / (a * a * of("s2"))).sqrt()
        inside = f * f - f2 + targets["second_moment"] / (g * g)
        return g, -f + sign * inside.sqrt()
    return (targets["second_moment"] / f2).sqrt(), arb(0)


def eliminated(targets: Mapping[str, Any]) -> set[str]:
    """The targets that the output scale and shift meet by themselves."""
    if "mean" in targets:
        return {"mean", "second_moment"}
    return {"second_moment", "chi"} if {"chi", "chi_parallel"} <= set(targets) else {"second_moment"}


def solve(phi: Expr, targets: Mapping[str, Fraction], shift: Fraction | None) -> tuple[Fraction, ...]:
    """(a, b, g, d) as decimals of 18 digits, found by Newton's method from several starts; `shift` fixes b.

    Of the solutions with a positive and with a negative mean the one with the smaller |b| is taken.
    Raises EocError where no start leads to a solution with a > 0.
    """
    found = moments(phi, "curvature" in targets)
    spread = targets["second_moment"] - targets.get("mean", Fraction(0)) ** 2
    if "mean" in targets and not targets.get("chi", spread + 1) > spread > 0:
        raise EocError(
            "no function meets the targets",
            why="C'(1) > 1 - C(0) > 0 for any but a linear one: C is a power series with non-negative coefficients",
            instead=f"chi above {float(spread):g}",
        )
    rest = sorted(set(targets) - eliminated(targets))
    free = 1 if shift is not None else 2
    if len(rest) not in (0, free):
        raise EocError(
            f"{len(targets)} targets for {2 + free} scales and shifts",
            why=f"{', '.join(rest) or 'nothing'} is left for {'the input scale' if free == 1 else 'scale and shift'}",
            instead="give input_shift, or another number of targets",
        )
    with mpmath.workdps(DIGITS + 8), flint.ctx.workprec(int(3.4 * DIGITS) + 40):
        wanted = {name: _ball(value) for name, value in targets.items()}
        fixed = None if shift is None else _ball(shift)
        if not rest:
            return _decimals(found, arb(1), fixed if fixed is not None else arb(0), wanted, 1)
        signs = (1, -1) if "chi" in eliminated(targets) else (1,)
        made = [_found(found, wanted, rest, fixed, sign) for sign in signs]
    solutions = [numbers for numbers in made if numbers is not None]
    if not solutions:
        raise EocError("no scales and shifts meet the targets", why="no start of Newton's method led to a solution")
    return min(solutions, key=lambda numbers: abs(numbers[1]))


def _found(
    found: Moments, wanted: Mapping[str, arb], rest: list[str], fixed: arb | None, sign: int
) -> tuple[Fraction, ...] | None:
    """The first solution that a start leads to; None where none does."""

    def miss(*inner: Any) -> list[mpmath.mpf]:
        a, b = _from_mp(mpmath.exp(inner[0])), fixed if fixed is not None else _from_mp(inner[1])
        got = achieved(found, (a, b, *outputs(found, a, b, wanted, sign)))
        if not all(got[name].is_finite() for name in rest):
            raise ZeroDivisionError
        return [to_enclosure((got[name] - wanted[name]) / a).mid for name in rest]

    for start in product(SCALES, SHIFTS if fixed is None else ("0",)):
        root = _newton(miss, [mpmath.log(mpmath.mpf(start[0])), mpmath.mpf(start[1])][: len(rest)])
        if root is not None:
            b = fixed if fixed is not None else _from_mp(root[1])
            return _decimals(found, _from_mp(mpmath.exp(root[0])), b, wanted, sign)
    return None


def _newton(miss: Callable[..., list[Any]], guess: list[Any]) -> list[Any] | None:
    """Newton's method with differences for slopes and halved steps where the misses grow."""
    n, x = len(guess), list(guess)
    try:
        value = miss(*x)
        for _ in range(16):
            size = max(abs(v) for v in value)
            if size < mpmath.mpf(10) ** (3 - DIGITS):
                return x
            step = mpmath.mpf(10) ** (-DIGITS // 2)
            columns = [
                [(m - v) / step for m, v in zip(miss(*_moved(x, j, step)), value, strict=True)] for j in range(n)
            ]
            slopes = mpmath.matrix(n, n)
            for i, j in product(range(n), range(n)):
                slopes[i, j] = columns[j][i]
            move = mpmath.lu_solve(slopes, mpmath.matrix([-v for v in value]))
            for _ in range(6):
                trial = [a + m for a, m in zip(x, move, strict=True)]
                if all(abs(m) < 3 for m in move):
                    tried = miss(*trial)
                    if max(abs(v) for v in tried) < size:
                        break
                move = move / 2
            else:
                return None
            x, value = trial, tried
    except (ZeroDivisionError, ValueError, Unsupported):
        return None
    return None


def _moved(x: list[Any], j: int, step: Any) -> list[Any]:
    return [v + step if i == j else v for i, v in enumerate(x)]


def _decimals(found: Moments, a: arb, b: arb, wanted: Mapping[str, arb], sign: int) -> tuple[Fraction, ...]:
    g, d = outputs(found, a, b, wanted, sign)
    return tuple(Fraction(mpmath.nstr(to_enclosure(v).mid, DIGITS - 2)) for v in (a, b, g, d))


def conditions(phi: Expr, numbers: tuple[Fraction, ...], bend: bool) -> dict[str, Enclosure]:
    """What g (phi(a x + b) + d) really has, certified."""
    with flint.ctx.workprec(int(3.4 * DIGITS) + 40):
        a, b, g, d = (_ball(v) for v in numbers)
        return {k: to_enclosure(v) for k, v in achieved(moments(phi, bend), (a, b, g, d)).items()}


def _ball(value: Fraction) -> arb:
    return arb(value.numerator) / value.denominator


def _from_mp(value: Any) -> arb:
    return to_ball(Enclosure(mpmath.mpf(value), mpmath.mpf(0)))


def shaped(phi: Expr, numbers: tuple[Fraction, ...]) -> Expr:
    """The expression g (phi(a x + b) + d)."""
    from sympy import Rational

    a, b, g, d = (Rational(v.numerator, v.denominator) for v in numbers)
    return g * (phi.subs(X, a * X + b) + d)


__all__ = ["conditions", "shaped", "solve"]
