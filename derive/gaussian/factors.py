"""A pair expectation as a product of one function of each variable."""

from __future__ import annotations

from sympy import Expr, Mul, expand_power_base, expand_power_exp

from derive.gaussian.node import GaussianE
from derive.program.symbols import X
from derive.records import Unsupported


def pair_factors(node: GaussianE) -> tuple[Expr, Expr]:
    """(f, g) in the symbol x with node = E f(u) g(v).

    Raises Unsupported where the integrand is no such product.
    """
    u, v = node.variables
    body = node.body
    for split in (body, expand_power_base(expand_power_exp(body), force=True)):
        args = Mul.make_args(split)
        if not any(arg.has(u) and arg.has(v) for arg in args):
            second = [arg for arg in args if arg.has(v)]
            first = [arg for arg in args if not arg.has(v)]
            return Mul(*first).subs(u, X), Mul(*second).subs(v, X)
    raise Unsupported(
        "a function of two variables that is no product f(u) g(v)",
        where=str(body),
        why="its expectation is taken one variable at a time",
    )
