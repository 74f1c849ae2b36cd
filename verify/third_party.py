"""Statements of others under test: the definition of the left side against the formula on the right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath

from derive.records import Enclosure, EocError, Unsupported
from verify.checking import Check, Claim, Exact, Point, Sampled
from verify.enclosures import agree, ball, to_enclosure
from verify.layers import drawn, line_sampling, plane_sampling, scale_of
from verify.reference import exact_value, slope_function, torch_function
from verify.statements import Statement
from verify.subject import drawn_parameter
from verify.tested import Tested

COUNT, DIGITS = 5, 20


@dataclass(frozen=True)
class Statements(Tested):
    """Statements under test, as a subject of the engine."""

    statements: tuple[Statement, ...]
    seed: int = 0
    dtype: Any = None
    parameters: Mapping[str, Fraction] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    def derived(self) -> tuple[str, ...]:
        """Nothing but the statements themselves is claimed."""
        return ()

    def report(self, *run: Any) -> Any:
        """The report on the statements."""
        title = self.statements[0].text if len(self.statements) == 1 else f"{len(self.statements)} statements"
        return self.reported(*run, subject=title, formula=title, domains=(), latex="")

    def claims(self, subject: Any) -> Iterator[Claim]:
        """A claim a statement."""
        for statement in self.statements:
            yield _Tested(statement, self).claim()

    @property
    def checks(self) -> dict[str, Check]:
        """The one check there is."""
        return {"statements": Check("statements", (), self.claims)}


@dataclass(frozen=True)
class _Tested:
    """One statement with the points at which it is tested."""

    statement: Statement
    subject: Statements

    @property
    def pair(self) -> bool:
        """Whether it is about two inputs."""
        return self.statement.variables == ("u", "v")

    @cached_property
    def values(self) -> list[dict[str, Fraction]]:
        """Drawn points, the ends c = -1 and 1 among them; one where the statement fixes everything."""
        rng, s = self.subject.choices(self.statement.text), self.statement
        law = ("q1", "q2", "c") if self.pair else ("q",)
        fixed = {name: Fraction(1) for name in law if name != "c"} if s.tolerance else {}
        found = []
        for index in range(COUNT):
            value = {name: drawn_parameter(domain, rng) for name, domain in s.domains.items()}
            value |= {name: drawn(rng, 0.2, 4.0) for name in law if name != "c"}
            if self.pair:
                drawn_c = Fraction(round(100 * rng.uniform(-0.95, 0.95)), 100)
                value["c"] = Fraction((-1, 1)[index]) if index < 2 else drawn_c
            value |= {"sigma_w": drawn(rng, 0.6, 2.0)} if "sigma_w" in s.names else {}
            value |= {"sigma_b": drawn(rng, 0.05, 0.6)} if "sigma_b" in s.names else {}
            found.append({**value, **fixed, **s.at})
        if {"q", "q1", "q2"} & s.names and "q" in law and {"q1", "q2"} & s.names:
            raise EocError("q1 and q2 belong to a pair", where=s.text, instead="E(f(u)*g(v)) = ...")
        return [dict(items) for items in dict.fromkeys(tuple(v.items()) for v in found)]

    def claim(self) -> Claim:
        """The claim, with an enclosure of the definition and samples of it as witnesses."""
        points = []
        for value in self.values:
            right = self._right(value)
            if right is not None:
                points.append(Point(tuple(value.items()), right, scale_of(float(right.mid), 0.0)))
        left_out = len(self.values) - len(points)
        if not points:
            raise EocError("the right side is no real number", where=self.statement.text)
        kind = "NUMBER" if self.statement.tolerance else "FORMULA"
        where = tuple(points)
        witnesses: list[Exact | Sampled] = [Exact("enclosure", lambda: self._enclosed(where))]
        witnesses.append(self._sampled(where))
        note = f"{left_out} points left out: the right side is no real number there" if left_out else ""
        return Claim("statement", self.statement.text, "", kind, where, tuple(witnesses), note=note)

    def _right(self, value: Mapping[str, Fraction]) -> Enclosure | None:
        """The right side with its tolerance; None where it is no real number."""
        mp = mpmath.mp.clone()
        mp.dps = 50
        names = {name: mp.mpf(v.numerator) / v.denominator for name, v in value.items()}
        if self.pair:
            names["K"] = names["c"] * mp.sqrt(names["q1"] * names["q2"])
            names |= {"q": names["q1"]} if names["q1"] == names["q2"] else {}
        try:
            found = exact_value(self.statement.right.tree, names, mp)
        except KeyError as error:
            raise EocError(f"{error.args[0]} has no meaning here", where=self.statement.text) from None
        if isinstance(found, mp.mpc) or not mp.isfinite(found):
            return None
        tolerance = mp.mpf(self.statement.tolerance.numerator) / self.statement.tolerance.denominator
        radius = tolerance + abs(found) * mp.mpf(10) ** -25
        return Enclosure(*(mpmath.mp.make_mpf(number._mpf_) for number in (found, radius)))

    def _enclosed(self, points: Sequence[Point]) -> list[Any]:
        import flint

        judged = []
        for point in points:
            with flint.ctx.workprec(160):
                judged.append(agree(point.predicted, to_enclosure(self._definition(dict(point.values))), point.scale))
        return judged

    def _definition(self, value: Mapping[str, Any]) -> Any:
        """The left side as an Arb ball."""
        from derive.formula import to_sympy
        from derive.gaussian.enclosure import enclose
        from derive.gaussian.node import pair, single

        f, law = to_sympy(self.statement.formula), self.statement.law
        known = {name: number for name, number in value.items() if name in self.statement.formula.parameters}

        def mean(body: Any) -> Any:
            return enclose(single(body), {**known, "q": value["q"]}, DIGITS)

        if self.pair:
            first, second = _factors(f, self.statement.text)
            return enclose(pair(first, second), {**known, **{n: value[n] for n in ("q1", "q2", "c")}}, DIGITS)
        if law == "E":
            return mean(f)
        if law in ("chi", "critical_gain"):
            slope = mean(_slope(f, self.statement.text) ** 2)
            return ball(value.get("sigma_w", 1)) ** 2 * slope if law == "chi" else 1 / slope.sqrt()
        second = mean(f**2)
        spread = second - mean(f) ** 2 if law in ("Var", "std_gain") else second
        if law == "V":
            return ball(value.get("sigma_w", 1)) ** 2 * second + ball(value.get("sigma_b", 0)) ** 2
        return spread if law == "Var" else (ball(value["q"]) / spread).sqrt()

    def _sampled(self, points: Sequence[Point]) -> Sampled:
        """Samples of the left side's own tree, one witness for all points; parameters differ from point to point."""
        from verify.sampling import Draw

        parts = [self._sample_at(point) for point in points]

        def draw(streams: Sequence[Any]) -> Draw:
            import torch

            drawn_parts = [part.draw(streams) for part in parts]
            warning = next((part.warning for part in drawn_parts if part.warning), "")
            return Draw(torch.cat([part.values for part in drawn_parts], 1), drawn_parts[0].draws, warning)

        return Sampled("sampling", draw)

    def _sample_at(self, point: Point) -> Sampled:
        import torch

        formula, law, value = self.statement.formula, self.statement.law, dict(point.values)
        parameters = {name: value[name] for name in formula.parameters}
        f = torch_function(formula, parameters, self.statement.variables)
        q = float(value.get("q", 1))
        w2, b2 = float(value.get("sigma_w", 1)) ** 2, float(value.get("sigma_b", 0)) ** 2
        under: Any = _Dtype(torch.float64)
        if self.pair:
            return plane_sampling(under, [point], [f], lambda means, v: means[0])
        integrand: Callable = f
        finish: Callable = lambda mean, v: mean  # noqa: E731
        if law in ("chi", "critical_gain"):
            slope = slope_function(f)
            integrand = lambda x: slope(x) ** 2  # noqa: E731
            finish = (lambda mean, v: w2 * mean) if law == "chi" else (lambda mean, v: mean**-0.5)
        elif law in ("V", "gain"):
            integrand = lambda x: f(x) ** 2  # noqa: E731
            finish = (lambda mean, v: w2 * mean + b2) if law == "V" else (lambda mean, v: (q / mean) ** 0.5)
        elif law in ("Var", "std_gain"):
            return self._spread(point, f, q)
        return line_sampling(under, [point], integrand, finish)

    def _spread(self, point: Point, f: Callable, q: float) -> Sampled:
        """Var f and the gain it stands for, from the mean and the second moment of one batch."""
        from verify.sampling import Draw, line_means

        def draw(streams: Sequence[Any]) -> Draw:
            import torch

            found = line_means([f, lambda x: f(x) ** 2], [q, q], streams, torch.float64)
            variance = found.values[:, 1] - found.values[:, 0] ** 2
            values = variance if self.statement.law == "Var" else (q / variance) ** 0.5
            return Draw(values[:, None], found.draws, found.warning)

        return Sampled("sampling", draw)


@dataclass(frozen=True)
class _Dtype:
    """What the samplers ask of a subject."""

    dtype: Any


def _factors(f: Any, text: str) -> tuple[Any, Any]:
    """f(u) g(v) as two functions of x."""
    from sympy import Mul

    from derive.program.symbols import X

    symbols = {s.name: s for s in f.free_symbols if s.name in ("u", "v")}
    parts = {"u": [], "v": []}
    for factor in Mul.make_args(f):
        used = [name for name, s in symbols.items() if factor.has(s)]
        if len(used) > 1:
            raise Unsupported("no enclosure of a function of both inputs", where=text, why="it is no product f(u)*g(v)")
        parts[used[0] if used else "u"].append(factor)
    u, v = symbols.get("u", X), symbols.get("v", X)
    return Mul(*parts["u"]).subs(u, X), Mul(*parts["v"]).subs(v, X)


def _slope(f: Any, text: str) -> Any:
    from derive.activation.normal_form import derivative, normal_form, to_piecewise

    slope, jumps = derivative(normal_form(f))
    if jumps:
        raise Unsupported("the function jumps: the mean square of its derivative is infinite", where=text)
    return to_piecewise(slope)
