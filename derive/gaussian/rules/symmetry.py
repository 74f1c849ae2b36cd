"""The mean of a function is that of its even part about the mean of the law: odd parts leave."""

from sympy import (
    Add,
    Expr,
    Function,
    Integer,
    Lambda,
    Matrix,
    Pow,
    cancel,
    count_ops,
    exp,
    expand_mul,
    expand_power_exp,
    log,
    tanh,
    zeros,
)

from derive.gaussian.decompose import KINKS
from derive.gaussian.node import GaussianE
from derive.gaussian.polynomials import written_out
from derive.gaussian.rule import Rule
from derive.gaussian.summands import is_atomic
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus

LONGEST = 200
"""Operations beyond which an integrand is not compared with its mirror image."""
SHORT = 80
"""Operations beyond which quotients of exponentials are not cancelled."""


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
    even = even if even is not None else _orbit_mean(node)
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
    if not _is_short_quotient(quotient):
        return None
    total = cancel(quotient)
    return total if is_atomic(total, zs) else None


def _orbit_mean(node: GaussianE) -> Expr | None:
    """The mean of f over a cyclic symmetry of a centred law of several variables as atoms, else None.

    Tried: z -> (z_2, ..., z_k, z_1), and z -> (z_2 - z_1, ..., z_k - z_1, -z_1) for differences to one of k + 1 alike
    variables. The outputs of a softmax add up to 1, so that each has mean 1/n.
    """
    zs, body = node.variables, node.body
    if len(zs) < 2 or not node.mean.is_zero_matrix or body.has(*KINKS) or not body.has(exp):
        return None
    for turned in ((*zs[1:], zs[0]), (*(z - zs[0] for z in zs[1:]), -zs[0])):
        matrix = Matrix([[w.coeff(z) for z in zs] for w in turned])
        if (matrix * node.cov * matrix.T - node.cov).expand() != zeros(len(zs)):
            continue
        order = len(zs) + (turned[-1] != zs[0])
        orbit = [body]
        for _ in range(order - 1):
            orbit.append(expand_power_exp(orbit[-1].xreplace(dict(zip(zs, turned, strict=True)))))
        if not _is_short_quotient(Add(*orbit)):
            continue
        mean = cancel(Add(*orbit) / order)
        if is_atomic(mean, zs):
            return mean
    return None


def _is_short_quotient(expr: Expr) -> bool:
    """Whether it is a quotient of a few exponentials: of more, cancelling takes minutes."""
    functions = expr.atoms(Function)
    return bool(functions) and all(isinstance(f, exp) for f in functions) and count_ops(expr) <= SHORT


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
