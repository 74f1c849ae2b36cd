"""Residual connections: the stream plus a scaled branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr

from derive.layers.finite import Finite
from derive.layers.flatten import Flatten
from derive.layers.nested import Nested, act, independent, passed, run, stages_of
from derive.layers.scale import Scale, scale
from derive.layers.unit import gaussian, moments_only, of_unit
from derive.records import EocError
from derive.records.state import State, Unit


@dataclass(frozen=True, repr=False)
class Residual(Nested):
    """y = a x + b F(x): `shortcut` a, `scale` b, `branch` F.

    branch    a block; where it ends in a Dense its output has mean zero and is independent of x:
              M_y = a^2 M_x + b^2 M_F for second and cross moments, and gradients grow by a^2 + b^2 B_F.
              A branch that passes the stream on itself, F = p x + n with fresh weights or noise in n (residual and
              sum branches inside), adds 2 a b p M_x, and 2 a b p to the gradients' factor.
              An elementwise branch stays a function of the same units. Where a layer without weights follows the
              last fresh ones, M_y = a^2 M_x + 2 a b mu_x mu_F + b^2 M_F, mu_y = a mu_x + b mu_F, and that is noted.
              Other branches, of which E x F is not known, are refused.
    scale     number or text, "1/sqrt(2)", "1/sqrt(L)", "beta"; 0 is a branch that starts dead (ReZero, SkipInit,
              Fixup's last layer, a zero BatchNorm weight)
    shortcut  the same for the stream

    Source: Yang & Schoenholz 2017 (arXiv 1712.08969), section 3; Hayou et al. 2021 (arXiv 2010.12859), section 2.
    Gradients use that backward weights are independent of forward ones, which needs branches that end in a Dense.
    """

    blocks: ClassVar[tuple[str, ...]] = ("branch",)
    branch: Any = None
    scale: Any = 1
    shortcut: Any = 1
    keeps_width: ClassVar[bool] = True

    @property
    def inner(self) -> tuple[Any, ...]:
        """The stages of the branch."""
        return stages_of(self.branch)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The scales of the branch and of the stream."""
        return scale(self.scale, "scale"), scale(self.shortcut, "shortcut")

    @property
    def notes(self) -> tuple[str, ...]:
        """A warning where the branch keeps a mean of its own."""
        if passed(self.inner) is not None or _same(self.inner):
            return ()
        return ("a residual branch that does not end in a Dense adds its mean at every block: the stream drifts",)

    def forward(self, state: State) -> State:
        """The state of the sum. Raises EocError for a branch whose width cannot be that of the stream."""
        b, a = (s.expr for s in self.scales)
        branch, share = run(self.inner, state), passed(self.inner)
        if _same(self.inner) and state.unit is not None and branch.unit is not None:
            return of_unit(_same_units(state.unit, branch.unit, a, b), state.before)
        if share is not None:
            return _passing(state, branch, a, b, share)
        if independent(self.inner):
            return _with_means(state, branch, a, b)
        if not all(stage.keeps_width for stage in self.inner):
            raise EocError(
                "the branch changes the width of the stream",
                where=repr(self),
                instead="end the branch in a Dense: Residual(... >> Dense())",
            )
        raise EocError(
            "the branch depends on the coordinate of the stream that it is added to",
            where=repr(self),
            why=f"its moment with the stream, E x F(x), is not known behind {self.inner[-1]!r} without fresh weights",
            instead="end the branch in a Dense: Residual(... >> Dense())",
        )

    @property
    def passed(self) -> Expr | None:
        """a + b p, where the branch is known to pass p x."""
        (b, a), share = (s.expr for s in self.scales), passed(self.inner)
        return None if share is None else a + b * share

    def apply(self, x: Any, finite: Finite) -> Any:
        """The stream plus the scaled branch."""
        b, a = (finite.number(s.expr) for s in self.scales)
        return a * x + b * act(self.inner, x, finite)


def _passing(x: State, f: State, a: Expr, b: Expr, p: Expr) -> State:
    """A branch p x + n, n with fresh weights or noise: second moments add, the shares of the stream as amplitudes."""

    def add(stream: Expr, branch: Expr) -> Expr:
        return (a**2 + 2 * a * b * p) * stream + b**2 * branch

    second1, second2, cross = add(x.second1, f.second1), add(x.second2, f.second2), add(x.cross, f.cross)
    gain, tangent = add(x.gain, f.gain), add(x.tangent, f.tangent)
    if x.gaussian and f.gaussian:
        return gaussian(second1, second2, cross, gain, tangent)
    means = {"mean1": (a + b * p) * x.mean1, "mean2": (a + b * p) * x.mean2}
    return moments_only(x, **means, second1=second1, second2=second2, cross=cross, gain=gain, tangent=tangent)


def _same_units(x: Unit, f: Unit, a: Expr, b: Expr) -> Unit:
    slopes = tuple((n, a * g + b * h) for (n, g), (_, h) in zip(x.slopes, f.slopes, strict=True))
    return Unit(x.variables, a * x.body + b * f.body, slopes, x.law)


def _with_means(x: State, f: State, a: Expr, b: Expr) -> State:
    """Independent given their means: the cross term is the product of the means."""
    return moments_only(
        x,
        mean1=a * x.mean1 + b * f.mean1,
        mean2=a * x.mean2 + b * f.mean2,
        second1=a**2 * x.second1 + 2 * a * b * x.mean1 * f.mean1 + b**2 * f.second1,
        second2=a**2 * x.second2 + 2 * a * b * x.mean2 * f.mean2 + b**2 * f.second2,
        cross=a**2 * x.cross + a * b * (x.mean1 * f.mean2 + x.mean2 * f.mean1) + b**2 * f.cross,
        gain=a**2 * x.gain + b**2 * f.gain,
        tangent=a**2 * x.tangent + b**2 * f.tangent,
    )


def _same(stages: tuple[Any, ...]) -> bool:
    """Whether the stages are a function of each coordinate by itself."""
    return all(
        hasattr(s, "dphi") or isinstance(s, Flatten) or (isinstance(s, Residual) and _same(s.inner)) for s in stages
    )


LAYER = Residual
