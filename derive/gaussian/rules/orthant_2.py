"""A quadrant at the origin."""

from derive.gaussian.closed import constant
from derive.gaussian.orthants import angle, correlation, orthant
from derive.gaussian.rule import Outcome, Rule


def apply(problem, scalars):
    found = orthant(problem, scalars, 2)
    if found is None or any(found.thresholds):
        return None
    turn = angle(found.weight / (2 * scalars.pi), correlation(found.cov, 0, 1, scalars), scalars)
    return Outcome(((constant(scalars, found.weight / 4) + turn, ()),))


RULE = Rule(
    name="orthant_2",
    order=110,
    statement=r"\mathbb{P}(w_1>0,w_2>0)=\frac14+\frac{\arcsin\rho}{2\pi}",
    source="Sheppard 1899, Phil. Trans. R. Soc. A 192, 101",
    apply=apply,
)
