"""A quadrant anywhere."""

from derive.gaussian.closed import monomial
from derive.gaussian.orthants import correlation, orthant, ratio
from derive.gaussian.rule import Outcome, Rule
from derive.gaussian.special import BivariateNormalCdf


def apply(problem, scalars):
    found = orthant(problem, scalars, 2)
    if found is None:
        return None
    h, k = (ratio(-t, found.cov[i][i], scalars) for i, t in enumerate(found.thresholds))
    value = BivariateNormalCdf(h, k, correlation(found.cov, 0, 1, scalars))
    return Outcome(((monomial(scalars, found.weight, special=value), ()),))


RULE = Rule(
    name="orthant_2_shifted",
    order=120,
    statement=r"\mathbb{P}(w_1>t_1,w_2>t_2)=\Phi_2\Bigl(-\tfrac{t_1}{s_1},-\tfrac{t_2}{s_2};\rho\Bigr),"
    r"\quad s_i^2=\operatorname{Var}w_i",
    source="definition of the bivariate normal distribution function",
    apply=apply,
)
