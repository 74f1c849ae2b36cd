"""One unit of a window, drawn with a chance in proportion to its size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sympy import Add, Expr, Piecewise

from derive.layers.finite import Finite, grouped
from derive.layers.stage import Stage, demand_unit, size
from derive.layers.unit import copies, moments_only, of_unit, one, two
from derive.program.symbols import X
from derive.records import EocError
from derive.records.state import State, Unit


@dataclass(frozen=True, repr=False)
class StochasticPool(Stage):
    """x = x_i with chance p_i = x_i/(x_1 + ... + x_k), units x_i >= 0; 0 where all are 0. As in training.

    k  number of units

    E x^n = E sum_i p_i x_i^n; two inputs draw by themselves, so that copies of one input come apart; the gradient
    flows to the unit that was drawn. Expectations over all units, which only `estimate` answers.
    Source: Zeiler & Fergus 2013 (arXiv 1301.3557), eqs. 4-5.
    """

    k: Any = 2
    separates: ClassVar[bool] = True

    def forward(self, state: State) -> State:
        """The state of the unit drawn. Raises EocError behind a function that is not known to be nonnegative."""
        unit, k = demand_unit(self, state), size(self.k, "k")
        if len(unit.variables) != 1 or not _nonnegative(unit.body.subs(unit.variables[0], X)):
            raise EocError(
                f"{self!r} draws by size",
                why="the signal before it is not known to be nonnegative",
                instead=f"dense >> relu >> {self!r}",
            )
        parts = copies(unit, k)
        sizes = [part.body for part in parts]
        total = Add(*sizes)

        def share(top: Expr) -> Expr:
            return Piecewise((top / total, total > 0), (0, True))

        drawn = share(Add(*(x**2 for x in sizes)))
        ((_, slope),) = parts[0].slopes
        first, (q1, q2, _) = share(sizes[0]), unit.law
        pooled = Unit(tuple(z for part in parts for z in part.variables), drawn, ((k, slope * first),), unit.law)
        known = of_unit(pooled, state.before)
        square = share(Add(*(x**3 for x in sizes)))
        return moments_only(
            replace(known, cross=two(pooled, drawn, drawn)),
            second1=one(pooled, square, q1),
            second2=one(pooled, square, q2),
            gain=state.before[0] * k * one(pooled, slope**2 * first, q1),
        )

    def apply(self, x: Any, finite: Finite) -> Any:
        """A unit of every window, drawn anew."""
        k = size(self.k, "k")
        windows = grouped(x, k)
        total = windows.sum(-1)
        mark, passed, found = finite.uniform(tuple(total.shape)) * total, 0 * total, 0 * total
        for i in range(k):
            below = passed
            passed = passed + windows[..., i]
            found = found + finite.xp.where((mark >= below) & (mark < passed), windows[..., i], 0 * total)
        return found


def _nonnegative(body: Expr) -> bool:
    from derive.activation.decompose import decompose
    from derive.activation.demands import known_sign

    return all(known_sign(cell.value, cell.lower, cell.upper, "nonnegative") for cell in decompose(body))


LAYER = StochasticPool
