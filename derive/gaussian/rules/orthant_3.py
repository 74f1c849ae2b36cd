"""An octant at the origin."""

from derive.gaussian.closed import constant
from derive.gaussian.orthants import angle, correlation, orthant
from derive.gaussian.rule import Outcome, Rule


def apply(problem, scalars):
    found = orthant(problem, scalars, 3)
    if found is None or any(found.thresholds):
        return None
    total = constant(scalars, found.weight / 8)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if found.cov[i][j]:
            rho = correlation(found.cov, i, j, scalars)
            total = total + angle(found.weight / (4 * scalars.pi), rho, scalars)
    return Outcome(((total, ()),))


RULE = Rule(
    name="orthant_3",
    order=130,
    statement=r"\mathbb{P}(w>0)=\frac18+\frac{\arcsin\rho_{12}+\arcsin\rho_{13}+\arcsin\rho_{23}}{4\pi}",
    source="David 1953, Biometrika 40, 458",
    apply=apply,
)
