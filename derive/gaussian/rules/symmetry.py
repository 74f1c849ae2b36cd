"""The mean of a function is that of its even part about the mean of the law: odd parts leave."""

from sympy import Expr, Integer, Lambda, Pow, cancel, count_ops, exp, expand_mul, log, tanh

from derive.gaussian.decompose import KINKS
from derive.gaussian.node import GaussianE
from derive.gaussian.polynomials import written_out
from derive.gaussian.rule import Rule
from derive.gaussian.summands import is_atomic
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus

LONGEST = 200
"""Operations beyond which an integrand is not compared with its mirror image."""


def rewrite(node: GaussianE) -> Expr | None:
    """E of the even part where that is made of atoms: 0 for an odd integrand, 1/2 for the logistic function."""
    zs = node.variables
    body = node.body
    centre = dict(zip(zs, node.mean, strict=True))
    mirrored = body.xreplace({z: 2 * centre[z] - z for z in zs})
    if mirrored == -body:
        return Integer(0)
    if count_ops(body) > LONGEST or is_atomic(body, zs):
        return None
    even = _even_part(body, mirrored, zs)
    if even is None:
        return None
    return even if not even.has(*zs) else GaussianE(Lambda(zs, even), node.cov, node.mean)


def _even_part(body: Expr, mirrored: Expr, zs) -> Expr | None:
    """(f(z) + f(mirror image of z))/2 as atoms, in heads of one sign or as a quotient in exponentials; else None."""
    total = (_one_sign(body) + _one_sign(mirrored)) / 2
    if written_out(total) > LONGEST:
        return None
    total = expand_mul(total)
    if is_atomic(total, zs):
        return total
    quotient = ((body + mirrored) / 2).rewrite((Sigmoid, tanh), exp)
    if quotient.has(*KINKS) or not quotient.has(exp) or count_ops(quotient) > LONGEST:
        return None
    total = cancel(quotient)
    return total if is_atomic(total, zs) else None


def _one_sign(expr: Expr) -> Expr:
    """sigma(-x) = 1 - sigma(x) and softplus(-x) = softplus(x) - x, logarithms of 1 + exp(x) included."""
    expr = expr.replace(
        lambda e: isinstance(e, log) and _exponent(e.args[0]) is not None, lambda e: Softplus(_exponent(e.args[0]))
    )
    expr = expr.replace(
        lambda e: isinstance(e, Pow) and e.exp.is_Integer and e.exp < 0 and _exponent(e.base) is not None,
        lambda e: (1 - Sigmoid(_exponent(e.base))) ** -e.exp,
    )
    expr = expr.replace(
        lambda e: isinstance(e, Sigmoid) and e.args[0].could_extract_minus_sign(), lambda e: 1 - Sigmoid(-e.args[0])
    )
    return expr.replace(
        lambda e: isinstance(e, Softplus) and e.args[0].could_extract_minus_sign(),
        lambda e: Softplus(-e.args[0]) + e.args[0],
    )


def _exponent(expr: Expr) -> Expr | None:
    """u where the expression is 1 + exp(u)."""
    if expr.is_Add and len(expr.args) == 2 and isinstance(expr - 1, exp):
        return (expr - 1).args[0]
    return None


RULE = Rule(
    name="symmetry",
    order=-20,
    statement=r"\mathbb{E}f(z)=\tfrac12\,\mathbb{E}\left[f(z)+f(2\mu-z)\right]",
    source="symmetry of a Gaussian law about its mean",
    apply=lambda problem, scalars: None,  # for integrands without atoms: derive.gaussian.answer
    rewrite=rewrite,
)
