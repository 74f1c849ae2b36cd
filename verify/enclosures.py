"""Rigorous enclosures of the quantities a theory claims, from the definition of each and not from its closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from derive.records import Enclosure, Kind
from verify.checking import Exact, Point
from verify.judge import Judgement, compare
from verify.subject import Subject

DIGITS = 16


def ball(value: Any) -> Any:
    """An Arb ball of a rational, a float or an Enclosure; a ball is itself."""
    import flint

    if isinstance(value, flint.arb):
        return value
    if isinstance(value, Enclosure):
        return flint.arb(ball(rational(value.mid)), ball(rational(value.rad)))
    value = Fraction(value)
    return flint.arb(value.numerator) / flint.arb(value.denominator)


def rational(value: Any) -> Fraction:
    """The exact value of a finite mpmath number."""
    sign, mantissa, exponent, _ = value._mpf_
    return Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** int(exponent)


class Moments:
    """Enclosed expectations of a subject's activation: mean, second, slope, weighted, and those of a pair."""

    def __init__(self, subject: Subject) -> None:
        from derive.activation.normal_form import derivative, normal_form, to_piecewise
        from derive.formula import to_sympy

        self.parameters, self.memo = dict(subject.parameters), subject.memo
        if "phi" not in self.memo:
            phi = to_sympy(subject.formula)
            self.memo["phi"] = phi, to_piecewise(derivative(normal_form(phi))[0])
        self.phi, self.dphi = self.memo["phi"]

    def _enclose(self, node: Any, **values: Any) -> Any:
        from derive.gaussian.enclosure import enclose

        key = (node, *((name, str(value)) for name, value in values.items()))
        if key not in self.memo:
            self.memo[key] = enclose(node, {**self.parameters, **values}, DIGITS)
        return self.memo[key]

    def mean(self, q: Any) -> Any:
        """E phi."""
        from derive.gaussian.node import single

        return self._enclose(single(self.phi), q=q)

    def second(self, q: Any) -> Any:
        """E phi^2."""
        from derive.gaussian.node import single

        return self._enclose(single(self.phi**2), q=q)

    def slope(self, q: Any) -> Any:
        """E phi'^2."""
        from derive.gaussian.node import single

        return self._enclose(single(self.dphi**2), q=q)

    def parallel(self, q: Any) -> Any:
        """d/dq E phi^2 = E phi^2 (x^2/q - 1)/(2q), the derivative of the density."""
        from derive.gaussian.node import single
        from derive.program.symbols import X

        weighted = self._enclose(single(self.phi**2 * X**2), q=q)
        return (weighted / ball(q) - self.second(q)) / (2 * ball(q))

    def pair(self, q1: Any, q2: Any, c: Any) -> Any:
        """E phi(u) phi(v)."""
        from derive.gaussian.node import pair

        return self._enclose(pair(self.phi, self.phi), q1=q1, q2=q2, c=c)


def witness(
    subject: Subject, result: Any, points: Sequence[Point], formula: Callable[[Moments, Mapping[str, Any]], Any]
) -> tuple[Exact, ...]:
    """The witness that compares a claimed closed form with its enclosure; none if the claim is no closed form.

    formula   the quantity at a point from enclosed moments
    """
    if result.kind not in (Kind.EXACT, Kind.SPECIAL, Kind.SERIES):
        return ()

    def decide() -> list[Judgement]:
        import flint

        moments = Moments(subject)
        judgements = []
        for point in points:
            with flint.ctx.workprec(120):
                enclosed = to_enclosure(formula(moments, dict(point.values)))
            judgements.append(agree(point.predicted, enclosed, point.scale))
        return judgements

    return (Exact("enclosure", decide),)


def to_enclosure(value: Any) -> Enclosure:
    """An Arb ball as an Enclosure."""
    from derive.gaussian.numbers import to_enclosure as convert

    return convert(value)


def agree(claimed: Enclosure, enclosed: Enclosure, scale: float) -> Judgement:
    """Whether two enclosures of one number can both be right: they have to share a point."""
    import mpmath

    if not (mpmath.isfinite(claimed.mid) and mpmath.isfinite(enclosed.mid)):
        return compare(float(enclosed.mid), float(claimed.mid), float(claimed.rad + enclosed.rad), scale)
    with mpmath.workprec(400):
        gap, allowed = abs(claimed.mid - enclosed.mid), claimed.rad + enclosed.rad
        judged = compare(float(gap), 0.0, float(allowed), scale)
    return Judgement(judged.verdict, float(enclosed.mid), 0.0, judged.deviation, judged.resolution, judged.note)
