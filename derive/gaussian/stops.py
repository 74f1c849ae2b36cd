"""Why a derivation stops: a part that no rule takes, or an infinite expectation."""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Expr

from derive.records import SelfTestFailed, Undefined, Unsupported


class Blocked(Unsupported):
    """No rule takes these parts of an integrand."""

    def __init__(self, parts: Iterable[Expr | str]) -> None:
        self.parts = tuple(dict.fromkeys(str(part) for part in parts))
        super().__init__("No rule of the calculus takes this part.", where=", ".join(self.parts))

    def __reduce__(self):
        return Blocked, (self.parts,)


class Diverges(Undefined):
    """The expectation is infinite: what must be positive for it to converge never is."""

    def __init__(self, positive: Expr) -> None:
        self.positive = positive
        super().__init__(
            "The expectation diverges.", why=f"det(I - 2*cov*A) of the exponent z'Az must be positive and is {positive}"
        )

    def __reduce__(self):
        return Diverges, (self.positive,)


class Untested(SelfTestFailed):
    """A closed form that could not be compared with an independent evaluation at any point."""


__all__ = ["Blocked", "Diverges", "Untested"]
