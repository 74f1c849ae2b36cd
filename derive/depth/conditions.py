"""V(q) = q and chi(q) = 1 of a block whose maps are affine in sigma_w^2 and sigma_b^2."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Add, Dummy, Expr, Mul, Pow

from derive.gaussian.node import GaussianE
from derive.gaussian.numbers import differentiate, outermost
from derive.program.symbols import SIGMA_B, SIGMA_W, Q

NEVER_BELOW_ONE = "V(q) - q and chi(q) - 1 are sums of terms that are positive for every sigma_w > 0"


@dataclass(frozen=True)
class Affine:
    """V = kept + sigma_w^2 second + sigma_b^2 share and chi = through + sigma_w^2 slope.

    A residual stream keeps a^2 q and lets a^2 of the gradient through; a Dense alone keeps nothing.
    """

    kept: Expr
    second: Expr
    share: Expr
    through: Expr
    slope: Expr

    @property
    def weight(self) -> Expr:
        """sigma_w^2 with chi(q) = 1."""
        return (1 - self.through) / self.slope

    @property
    def bias(self) -> Expr:
        """sigma_b^2 with V(q) = q at that sigma_w."""
        return (Q - self.kept - self.weight * self.second) / self.share

    @property
    def parallel(self) -> Expr:
        """chi_parallel there."""
        return differentiate(self.kept, Q) + self.weight * differentiate(self.second, Q)

    @property
    def plain(self) -> bool:
        """Whether it is one Dense around functions: nothing is kept and the bias enters as it is."""
        return self.kept == 0 and self.through == 0 and self.share == 1


def affine(variance: Expr, gain: Expr) -> Affine | None:
    """The parts of maps that are affine in sigma_w^2 and sigma_b^2; None for other maps (nested Dense layers)."""
    if any(node.has(SIGMA_W, SIGMA_B) for expr in (variance, gain) for node in outermost(expr)):
        return None
    forward, backward = _parts(variance), _parts(gain)
    if forward is None or backward is None or backward[2] != 0:
        return None
    return Affine(*forward, *backward[:2])


def _parts(expr: Expr) -> tuple[Expr, Expr, Expr] | None:
    """(1, sigma_w^2, sigma_b^2) coefficients; the expectations stand as they are: an expanded integrand cancels."""
    stand_ins = {node: Dummy(f"e{i}", real=True) for i, node in enumerate(outermost(expr))}
    back = {v: k for k, v in stand_ins.items()}
    flat = expr.xreplace(stand_ins).expand()
    weight, share = flat.coeff(SIGMA_W, 2), flat.coeff(SIGMA_B, 2)
    rest = (flat - weight * SIGMA_W**2 - share * SIGMA_B**2).expand()
    if any(part.has(SIGMA_W, SIGMA_B) for part in (weight, share, rest)):
        return None
    return rest.xreplace(back), weight.xreplace(back), share.xreplace(back)


def above_one(variance: Expr, gain: Expr) -> bool:
    """Whether V(q) > q and chi(q) > 1 for every sigma_w > 0: both differences are sums of terms of proved sign."""
    return all(positive_sum(expr) for expr in ((variance - Q).expand(deep=False), (gain - 1).expand(deep=False)))


def positive_sum(expr: Expr) -> bool:
    """Whether an expression is a sum of terms that are positive for sigma_w > 0, or never negative beside one."""
    terms = Add.make_args(expr)
    return expr != 0 and all(_nonnegative(term) for term in terms) and any(term.has(SIGMA_W) for term in terms)


def _nonnegative(term: Expr) -> bool:
    return all(nonnegative(factor) for factor in Mul.make_args(term))


def nonnegative(factor: Expr) -> bool:
    """Whether an expression in expectations is proved never to be negative, sign by sign."""
    if factor.is_nonnegative:
        return True
    if isinstance(factor, GaussianE):
        return all(_square(part) for part in Mul.make_args(factor.body))
    if isinstance(factor, Pow):
        return bool(factor.exp.is_even) or nonnegative(factor.base)
    return bool(factor.is_Add) and all(_nonnegative(arg) for arg in factor.args)


def _square(part: Expr) -> bool:
    """Whether a factor of an integrand, real on the law of its node, is never negative."""
    if isinstance(part, Pow) and part.exp.is_even and part.base.is_extended_real is not False:
        return True
    return bool(part.is_nonnegative)


__all__ = ["NEVER_BELOW_ONE", "Affine", "above_one", "affine", "nonnegative", "positive_sum"]
