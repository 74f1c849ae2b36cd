"""An odd function has mean zero under a centred law."""

from sympy import Expr, Integer

from derive.gaussian.node import GaussianE
from derive.gaussian.rule import Rule


def is_odd(node: GaussianE) -> bool:
    """Whether the integrand changes its sign with z -> -z, as far as its form shows, under a centred law."""
    if not node.mean.is_zero_matrix:
        return False
    return bool(node.body.xreplace({z: -z for z in node.variables}) == -node.body)


def rewrite(node: GaussianE) -> Expr | None:
    """0 for an odd integrand."""
    return Integer(0) if is_odd(node) else None


RULE = Rule(
    name="symmetry",
    order=-20,
    statement=r"f(-z)=-f(z),\;\mu=0:\quad\mathbb{E}f(z)=0",
    source="symmetry of a centred Gaussian law",
    apply=lambda problem, scalars: None,  # for integrands without atoms: derive.gaussian.answer
    rewrite=rewrite,
)
