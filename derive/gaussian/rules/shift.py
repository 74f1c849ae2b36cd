"""A law with a mean: centre it."""

from dataclasses import replace

from derive.gaussian.closed import monomial
from derive.gaussian.linalg import dot
from derive.gaussian.problem import frozen, shifted
from derive.gaussian.rule import Outcome, Rule


def apply(problem, scalars):
    if not any(problem.mean):
        return None
    centred, constant = centre(problem, problem.mean, scalars)
    return Outcome(((monomial(scalars, scalars.one, exponent=constant), (centred,)),))


def centre(problem, mean, scalars):
    """The problem in y = z - mean for y of mean 0, and the constant that leaves the exponent."""
    zero = scalars.zero
    quad = dict(shifted(problem.quad, mean, zero))
    constant = quad.pop((0,) * len(problem.names), zero)
    cdfs = tuple(replace(cdf, offset=cdf.offset + dot(cdf.vector, mean, zero)) for cdf in problem.cdfs)
    spaces = tuple((vector, side, t - dot(vector, mean, zero)) for vector, side, t in problem.spaces)
    steps = tuple(replace(step, threshold=step.threshold - mean[step.index]) for step in problem.steps)
    phase = problem.phase + dot(problem.wave, mean, zero) if problem.wave else None
    moved = replace(
        problem,
        mean=(zero,) * len(mean),
        poly=shifted(problem.poly, mean, zero),
        imag=shifted(problem.imag, mean, zero),
        quad=frozen(quad),
        phase=phase,
        cdfs=cdfs,
        spaces=spaces,
        steps=steps,
    )
    return moved, constant


RULE = Rule(
    name="shift",
    order=20,
    statement=r"z\sim\mathcal{N}(\mu,\Sigma):\quad\mathbb{E}f(z)=\mathbb{E}f(\mu+y),\; y\sim\mathcal{N}(0,\Sigma)",
    source="translation of a Gaussian vector",
    apply=apply,
)
