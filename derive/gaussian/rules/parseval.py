"""Waves over powers of x without a pole, such as sin(x)/x: their Fourier transforms are polynomials on intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import factorial

from sympy import (
    Abs,
    Add,
    Eq,
    Expr,
    Heaviside,
    I,
    Integer,
    Lambda,
    Mul,
    Ne,
    Piecewise,
    Pow,
    S,
    Symbol,
    cos,
    expand,
    im,
    pi,
    re,
    sin,
    sinc,
    sqrt,
)

from derive.gaussian.decompose import decompose
from derive.gaussian.factors import pair_factors
from derive.gaussian.node import GaussianE, pair
from derive.gaussian.polynomials import written_out
from derive.gaussian.rule import Rule
from derive.gaussian.stops import Blocked
from derive.gaussian.summands import MOST
from derive.program.symbols import DELTA, X
from derive.records import Unsupported

HIGHEST = 8
"""Higher powers below the bar are left to enclosures."""


@dataclass
class Transform:
    """f(x) = regular(x) + integral of (even(t) + i odd(t)) exp(i t x) over t, in the symbol x for t."""

    even: Expr = S.Zero
    odd: Expr = S.Zero
    regular: Expr = S.Zero
    poles: dict[int, Expr] = field(default_factory=dict)


def rewrite(node: GaussianE) -> Expr | None:
    """E f g = 2 pi/sqrt(det S) E[f^ g^] under the law of the inverse covariance."""
    if not node.mean.is_zero_matrix or not node.body.has(sin, cos, sinc):
        return None
    if node.cov.rows == 1:
        found = _transform(node.body.xreplace({node.variables[0]: X}))
        if found is None or node.body.free_symbols & node.cov.free_symbols:
            return None
        q, t = node.cov[0, 0], Symbol("t", real=True)
        rest = GaussianE(Lambda(node.variables, found.regular.xreplace({X: node.variables[0]})), node.cov)
        value = sqrt(2 * pi / q) * GaussianE(Lambda((t,), found.even.xreplace({X: t})), [[1 / q]])
        return value if found.regular == 0 else value + rest
    if node.cov.rows != 2:
        return None
    try:
        first, second = (_transform(f) for f in pair_factors(node))
    except Unsupported:
        return None
    if first is None or second is None or first.regular != 0 or second.regular != 0:
        return None
    t, s = (Symbol(name, real=True) for name in "ts")
    body = Add(
        first.even.xreplace({X: t}) * second.even.xreplace({X: s}),
        -first.odd.xreplace({X: t}) * second.odd.xreplace({X: s}),
    )
    det = node.cov.det()
    shown = DELTA if node.cov == pair(X, X).cov else det
    return 2 * pi / sqrt(shown) * GaussianE(Lambda((t, s), body), node.cov.adjugate() / det)


def _transform(f: Expr) -> Transform | None:
    """The transform of waves over powers of x; None where f is no such sum or has a pole at 0."""
    if written_out(f) > MOST:
        return None
    flat = expand(_unfilled(f).replace(sinc, lambda y: sin(y) / y), power_exp=False, log=False)
    power = max(-_degree(term) for term in Add.make_args(flat))
    if not 0 < power <= HIGHEST:
        return None
    try:
        atoms = decompose(expand(flat * X**power), (X,))
    except Blocked:
        return None
    found = Transform()
    for atom in atoms:
        if atom.exponent or atom.cdfs or atom.halves:
            return None
        rate, phase = atom.wave.get((1,), Integer(0)), atom.wave.get((0,), Integer(0))
        side = -1 if rate.is_negative else 1
        if not (side * rate).is_nonnegative:
            return None
        turn = cos(phase) + I * side * sin(phase)
        for key in {*atom.poly, *atom.imag}:
            weight = (atom.poly.get(key, Integer(0)) + I * side * atom.imag.get(key, Integer(0))) * turn
            _add(found, expand(weight), side * rate, power - key[0])
    return found if all(expand(pole) == 0 for pole in found.poles.values()) else None


def _unfilled(f: Expr) -> Expr:
    """f without the values that fill single points."""

    def main(*pieces):
        kept = [value for value, test in pieces if not isinstance(test, Eq)]
        filled = all(isinstance(test, Eq | Ne) or test == True for _, test in pieces)  # noqa: E712
        return kept[0] if filled and kept else Piecewise(*pieces)

    return f.replace(Piecewise, main)


def _degree(term: Expr) -> int:
    """The power of x among the factors."""
    powers = [(f.base, f.exp) if isinstance(f, Pow) else (f, Integer(1)) for f in Mul.make_args(term)]
    return sum(int(exponent) for base, exponent in powers if base == X and exponent.is_Integer)


def _add(found: Transform, weight: Expr, rate: Expr, n: int) -> None:
    """Add Re[weight exp(i rate x)] x**-n: the remainder of its Taylor series is an integral over (0, rate)."""
    if n <= 0:
        found.regular += (re(weight) * cos(rate * X) - im(weight) * sin(rate * X)) * X**-n
        return
    for k in range(n):
        pole = re(expand(weight * (I * rate) ** k)) / factorial(k)
        found.poles[k - n] = found.poles.get(k - n, Integer(0)) + pole
    if rate == 0:
        return
    value = expand(weight * I**n) / (2 * factorial(n - 1))
    inside = (rate - Abs(X)) ** (n - 1) * Heaviside(rate - X) * Heaviside(rate + X)
    found.even += re(value) * inside
    found.odd += im(value) * inside * (Heaviside(X) - Heaviside(-X))


RULE = Rule(
    name="parseval",
    order=-2,
    statement=r"f(x)=\int\hat f(t)\,e^{itx}dt:\quad\mathbb{E}\prod_jf_j(z_j)=\frac{(2\pi)^{n/2}}{\sqrt{\det\Sigma}}\,"
    r"\mathbb{E}\prod_j\hat f_j(t_j),\quad t\sim\mathcal{N}(0,\Sigma^{-1});\qquad"
    r"\frac{e^{i\omega x}-\sum_{k<n}(i\omega x)^k/k!}{x^n}=i^n\int_0^\omega\frac{(\omega-t)^{n-1}}{(n-1)!}e^{itx}dt",
    source="the characteristic function of a Gaussian vector and Fubini's theorem; Taylor's remainder",
    apply=lambda problem, scalars: None,  # for integrands that are no atoms: derive.gaussian.answer
    rewrite=rewrite,
    cancels=True,
)
