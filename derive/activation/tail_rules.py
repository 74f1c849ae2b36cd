"""Elementary inequalities for each operation: how a tail bounds g(u) from bounds of u."""

from __future__ import annotations

from flint import arb
from sympy import Add, exp, log, pi, sqrt

from derive.activation.growth import Log, best, product, total
from derive.program.symbols import X


def _at_most_its_argument(factor: int = 1):
    return lambda tail, u: product([Log(arb(factor).log()), tail.above(u)])


def _rewritten(form):
    return lambda tail, *args: tail.above(form(*args))


def _falling(form):
    """exp(form) bounds the function where the argument has the sign that makes it decay."""
    return lambda tail, u: tail.signed(form(tail.size(u))) if tail.size(u) is not None else None


def _part(tail, u):
    """A polynomial that is at most u: a falling function is largest there."""
    rest = [term for term in Add.make_args(u) if not (tail.is_positive(term) and not term.is_polynomial(X))]
    return Add(*rest)


ABOVE = {
    "sin": _at_most_its_argument(),
    "tanh": _at_most_its_argument(),
    "atan": _at_most_its_argument(),
    "asinh": _at_most_its_argument(),
    "erf": _at_most_its_argument(2),
    "expm1": _rewritten(lambda u: exp(u) - 1),
    "cosh": _rewritten(lambda u: (exp(u) + exp(-u)) / 2),
    "sinh": _rewritten(lambda u: (exp(u) - exp(-u)) / 2),
    "normal_pdf": _rewritten(lambda u: exp(-(u**2) / 2) / sqrt(2 * pi)),
    "sech": _falling(lambda size: log(2) - size),
    "sigmoid": lambda tail, u: tail.signed(u),
    "normal_cdf": lambda tail, u: tail.signed(-(u**2) / 2) if tail.is_negative(u) else None,
    "erfc": lambda tail, u: best(*(tail.signed(-(w**2)) if tail.is_positive(w) else None for w in (u, _part(tail, u)))),
    "erfcx": lambda tail, u: tail.signed(u**2 + log(2)),
    "softplus": lambda tail, u: best(tail.signed(u), total([Log(arb(2).log().log()), tail.above(u)])),
    "log1p": lambda tail, u: best(tail.above(u) if tail.is_positive(u) else None, tail.logarithm(1 + u)),
    "log": lambda tail, u: best(
        tail.above(u - 1) if tail.is_positive(u - 1) and isinstance(u, Add) else None, tail.logarithm(u)
    ),
}
"""Bounds of |g(u)| beyond the range of g: elementary inequalities for each operation."""

BELOW = {
    "cosh": lambda tail, u: tail.below((exp(u) + exp(-u)) / 2),
    "sinh": lambda tail, u: tail.below((exp(u) - exp(-u)) / 2),
    "sigmoid": lambda tail, u: product([Log(-arb(2).log()), tail.below(exp(u))]) if tail.is_negative(u) else None,
    "softplus": lambda tail, u: (
        tail.below(u)
        if tail.is_positive(u)
        else product([Log(-arb(2).log()), tail.below(exp(u))])
        if tail.is_negative(u)
        else None
    ),
}
"""Bounds of |g(u)| from below."""
