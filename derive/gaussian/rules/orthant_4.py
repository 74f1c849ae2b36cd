"""A four-dimensional orthant at the origin."""

from itertools import combinations

from derive.gaussian.closed import constant, monomial
from derive.gaussian.orthants import angle, correlation, orthant
from derive.gaussian.rule import Outcome, Rule
from derive.gaussian.special import SignMoment


def apply(problem, scalars):
    found = orthant(problem, scalars, 4)
    if found is None or any(found.thresholds):
        return None
    rho = [correlation(found.cov, i, j, scalars) for i, j in combinations(range(4), 2)]
    total = constant(scalars, found.weight / 16)
    for r in rho:
        if r != 0:
            total = total + angle(found.weight / (8 * scalars.pi), r, scalars)
    sign, moment = SignMoment(*rho).as_coeff_Mul()
    if moment.has(SignMoment):
        return Outcome(((total + monomial(scalars, found.weight * scalars.lift(sign) / 16, special=moment), ()),))
    return Outcome(((total + _elementary(found.weight / 16, sign * moment, scalars), ()),))


def _elementary(weight, value, scalars):
    """weight * value for a special value: a number, or a number times angles over powers of pi."""
    number, rest = value.as_coeff_Mul()
    total = constant(scalars, weight * scalars.lift(number))
    for factor, power in rest.as_powers_dict().items():
        if not factor.free_symbols and not factor.is_Function:
            total = total * constant(scalars, scalars.lift(factor**power))
        else:
            total = total * monomial(scalars, scalars.one, special=factor**power)
    return total


RULE = Rule(
    name="orthant_4",
    order=140,
    statement=r"\mathbb{P}(w>0)=\frac1{16}+\frac1{8\pi}\sum_{i<j}\arcsin\rho_{ij}+\frac{S_4(\rho)}{16},\quad "
    r"S_4=\mathbb{E}\prod_i\operatorname{sgn}w_i=\frac4{\pi^2}\sum_{j>1}\int_0^1\frac{\rho_{1j}"
    r"\arcsin\rho_{kl\cdot1j}(t)}{\sqrt{1-t^2\rho_{1j}^2}}\,dt,\quad \rho_{1i}(t)=t\rho_{1i}",
    source="Plackett 1954, Biometrika 41, 351; Childs 1967, Biometrika 54, 293",
    apply=apply,
)
