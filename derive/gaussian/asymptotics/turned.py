"""A half-line integral of an algebraic function as an integral over a finite interval, by x = 1/w."""

from __future__ import annotations

from sympy import Add, Dummy, Expr, Function, Integer, Pow, atan, cancel, expand

from derive.program.symbols import X

W = Dummy("w", positive=True)


def is_algebraic(expr: Expr) -> bool:
    """Whether it is made of powers and arctangents only: its decay is that of a power of x."""
    return all(isinstance(part, atan) for part in expr.atoms(Function)) and not any(
        part.exp.has(X) for part in expr.atoms(Pow)
    )


def turned(expr: Expr) -> Expr:
    """f(1/w)/w^2 as an expression in x = w, quotients taken apart so that w -> 0 is a removable singularity at most."""
    value = _walk(expr.xreplace({X: 1 / W})) / W**2
    result = cancel(value) if value.is_rational_function(W) else _quotient(expand(value))
    return result.xreplace({W: X})


def _quotient(value: Expr) -> Expr:
    """The sum over one power of w."""
    powers = [-term.as_powers_dict().get(W, Integer(0)) for term in Add.make_args(value)]
    highest = max(Integer(0), *powers)
    return expand(value * W**highest) / W**highest


def _walk(expr: Expr) -> Expr:
    if not expr.has(W) or not expr.args:
        return expr
    expr = expr.func(*(_walk(arg) for arg in expr.args))
    if isinstance(expr, atan):
        return atan(cancel(expr.args[0]))
    if isinstance(expr, Pow) and not expr.exp.is_Integer and expr.base.is_rational_function(W):
        above, below = cancel(expr.base).as_numer_denom()
        return above**expr.exp / below**expr.exp
    return expr


__all__ = ["is_algebraic", "turned"]
