"""Variables that do not occur, and variables that are constant."""

from dataclasses import replace

from derive.gaussian.closed import constant
from derive.gaussian.problem import restrict, used
from derive.gaussian.rule import Outcome, Rule


def apply(problem, scalars):
    keep = used(problem)
    still = [i for i in keep if not problem.cov[i][i] and not any(s.index == i for s in problem.steps)]
    if any(problem.mean) or problem.quad or problem.wave or problem.cdfs or problem.spaces:
        still = []
    if len(keep) == len(problem.names) and not still:
        return None
    poly = tuple((key, c) for key, c in problem.poly if not any(key[i] for i in still))
    kept = replace(problem, poly=poly)
    return Outcome(((constant(scalars, scalars.one), (restrict(kept, [i for i in keep if i not in still]),)),))


RULE = Rule(
    name="marginal",
    order=0,
    statement=r"\mathbb{E}\,f(z_1)=\int f\,\mathrm{d}\mathcal{N}(\mu_1,\Sigma_{11})"
    r"\text{, and a variable of variance }0\text{ equals its mean}",
    source="definition of a Gaussian vector",
    apply=apply,
)
