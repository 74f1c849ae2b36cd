"""A half-line."""

from derive.gaussian.closed import constant, monomial
from derive.gaussian.orthants import orthant, ratio
from derive.gaussian.rule import Outcome, Rule
from derive.gaussian.special import NormalCdf


def apply(problem, scalars):
    found = orthant(problem, scalars, 1)
    if found is None:
        return None
    if not found.thresholds[0]:
        return Outcome(((constant(scalars, found.weight / 2), ()),))
    value = NormalCdf(ratio(-found.thresholds[0], found.cov[0][0], scalars))
    return Outcome(((monomial(scalars, found.weight, special=value), ()),))


RULE = Rule(
    name="orthant_1",
    order=100,
    statement=r"\mathbb{P}(w>t)=\Phi(-t/\sqrt{\operatorname{Var}w})",
    source="definition of the normal distribution function",
    apply=apply,
)
