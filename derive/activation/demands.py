"""What each part of an expression needs to be real and finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import (
    Add,
    Expr,
    Pow,
    S,
    acos,
    acosh,
    asin,
    atanh,
    cos,
    cot,
    coth,
    csc,
    csch,
    expand,
    log,
    sec,
    sin,
    tan,
)

from derive.activation.signs import located
from derive.program.registry import operations
from derive.program.symbols import X

RELATIONS = {"positive": "> 0", "nonnegative": ">= 0", "nonzero": "!= 0"}


@dataclass(frozen=True, slots=True)
class Demand:
    """A subexpression is real and finite where `inner` stands in a relation to zero.

    relation  "positive", "nonnegative" or "nonzero"
    failure   what the subexpression is elsewhere: "undefined", "complex", "infinite"
    """

    whole: Expr
    inner: Expr
    relation: str
    failure: str

    @property
    def condition(self) -> str:
        """The demand as text."""
        return f"{self.inner} {RELATIONS[self.relation]}"


def demands(expr: Expr) -> Iterator[Demand]:
    """What each part of an expression needs, innermost parts first."""
    log1p = operations()["log1p"].head
    for part in expr.args:
        yield from demands(part)
    if isinstance(expr, Pow):
        yield from _power_demands(expr)
        return
    u = expr.args[0] if expr.args else S.Zero
    if isinstance(expr, log):
        yield Demand(expr, u, "positive", "undefined")
    elif expr.func == log1p:
        yield Demand(expr, 1 + u, "positive", "undefined")
    elif isinstance(expr, (asin, acos)):
        yield Demand(expr, 1 - u**2, "nonnegative", "complex")
    elif isinstance(expr, atanh):
        yield Demand(expr, 1 - u**2, "positive", "undefined")
    elif isinstance(expr, acosh):
        yield Demand(expr, u - 1, "nonnegative", "complex")
    elif isinstance(expr, (tan, sec)):
        yield Demand(expr, cos(u), "nonzero", "infinite")
    elif isinstance(expr, (cot, csc)):
        yield Demand(expr, sin(u), "nonzero", "infinite")
    elif isinstance(expr, (coth, csch)):
        yield Demand(expr, u, "nonzero", "infinite")


def _power_demands(expr: Pow) -> Iterator[Demand]:
    base, exponent = expr.args
    if exponent.is_integer:
        if not exponent.is_nonnegative:
            yield Demand(expr, base, "nonzero", "infinite")
    elif exponent.is_positive:
        yield Demand(expr, base, "nonnegative", "complex")
    elif not (base.is_positive and not base.has(X)):
        yield Demand(expr, base, "positive", "undefined")


def known_sign(expr: Expr, lower: Expr, upper: Expr, relation: str) -> bool:
    """Whether the relation to zero follows inside the interval from assumptions, over one denominator or by squares."""
    u = located(expr, lower, upper)
    if _has_relation(u, relation):
        return True
    above, below = u.as_numer_denom()
    if below != 1 and below.is_positive and _has_relation(expand(above), relation):
        return True
    roots = [r for r in Add.make_args(u) if r.has(Pow) and r.is_positive and expand(r**2).is_polynomial()]
    # r + p > 0 if r > 0 and r^2 > p^2
    return any(_has_relation(expand(root**2 - (u - root) ** 2), "positive") for root in roots if root != u)


def _has_relation(u: Expr, relation: str) -> bool:
    if relation == "nonzero":
        return bool(u.is_positive or u.is_negative)
    return bool(u.is_positive if relation == "positive" else u.is_nonnegative)


def _condition(demand: Demand) -> str:
    return f"{demand.inner} {RELATIONS[demand.relation]}"
