"""Moments of a centred Gaussian vector."""

from derive.gaussian.closed import constant
from derive.gaussian.rule import Outcome, Rule


def apply(problem, scalars):
    if problem.steps or problem.wave:
        return None
    known: dict = {}
    total = scalars.zero
    for key, c in problem.poly:
        total = total + c * _moment(key, problem.cov, scalars, known)
    return Outcome(((constant(scalars, total), ()),))


def _moment(key, cov, scalars, known):
    """E z^key = sum_k cov[i][k] E d/dz_k (z^key / z_i)."""
    if not any(key):
        return scalars.one
    if sum(key) % 2:
        return scalars.zero
    if key not in known:
        first = next(i for i, power in enumerate(key) if power)
        rest = list(key)
        rest[first] -= 1
        total = scalars.zero
        for k, power in enumerate(rest):
            if power and cov[first][k]:
                lower = tuple(p - (i == k) for i, p in enumerate(rest))
                total = total + power * cov[first][k] * _moment(lower, cov, scalars, known)
        known[key] = total
    return known[key]


RULE = Rule(
    name="moments",
    order=70,
    statement=r"\mathbb{E}[z_{i_1}\cdots z_{i_{2n}}]=\sum_{\text{pairings}}\prod\Sigma_{ij}",
    source="Isserlis 1918, Biometrika 12, 134",
    apply=apply,
)
