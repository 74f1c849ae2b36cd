"""Integration by parts: lowers the degree; each half-space leaves a term on its face."""

from dataclasses import replace

from derive.gaussian.closed import constant, monomial
from derive.gaussian.problem import Side, frozen, shifted
from derive.gaussian.rule import Outcome, Rule


def apply(problem, scalars):
    if not problem.steps or not any(sum(key) for key, _ in problem.poly):
        return None
    index = _variable(problem)
    quotient, rest = {}, {}
    for key, c in problem.poly:
        if key[index]:
            quotient[_lowered(key, index)] = c
        else:
            rest[key] = c
    for k, covariance in enumerate(problem.cov[index]):
        if covariance:
            for key, c in quotient.items():
                if key[k]:
                    lower = _lowered(key, k)
                    rest[lower] = rest.get(lower, scalars.zero) + covariance * key[k] * c
    terms = []
    inner = frozen(rest)
    if inner:
        terms.append((constant(scalars, scalars.one), (replace(problem, poly=inner),)))
    outer = replace(problem, poly=frozen(quotient))
    for place, step in enumerate(problem.steps):
        covariance = problem.cov[index][step.index]
        if covariance:
            weight = density(problem.cov[step.index][step.index], step.threshold, scalars)
            weight = weight * constant(scalars, step.side * covariance)
            cut = face(outer, place, scalars)
            if cut.poly:
                terms.append((weight, (cut,)))
    return Outcome(tuple(terms))


def _variable(problem):
    """The variable of positive degree that the fewest half-spaces feel."""
    size = range(len(problem.names))
    candidates = [i for i in size if any(key[i] for key, _ in problem.poly)]
    return min(candidates, key=lambda i: sum(bool(problem.cov[i][s.index]) for s in problem.steps))


def _lowered(key, index):
    return tuple(power - (i == index) for i, power in enumerate(key))


def density(variance, at, scalars):
    """The density of N(0, variance) at a point."""
    factor, radicals = scalars.root(scalars.one / (2 * scalars.pi * variance))
    return monomial(scalars, factor, radicals, -at * at / (2 * variance))


def face(problem, place, scalars):
    """The problem conditioned on the face of one half-space: one variable less."""
    step = problem.steps[place]
    j, at = step.index, step.threshold
    zero, row, variance = scalars.zero, problem.cov[step.index], problem.cov[step.index][step.index]
    slope = [entry / variance for entry in row]
    keep = [i for i in range(len(problem.names)) if i != j]
    mean = tuple(at if i == j else slope[i] * at for i in range(len(problem.names)))
    cov = tuple(
        tuple(problem.cov[i][k] - slope[i] * row[k] if row[i] and row[k] else problem.cov[i][k] for k in keep)
        for i in keep
    )
    poly: dict = {}
    for key, c in _valued(problem.poly, j, at):
        poly[key] = poly.get(key, zero) + c
    moved = shifted(frozen(poly), tuple(mean[i] for i in keep), zero)
    steps = tuple(
        Side(other.index - (other.index > j), other.side, other.threshold - mean[other.index])
        for n, other in enumerate(problem.steps)
        if n != place
    )
    names = tuple(problem.names[i] for i in keep)
    return replace(problem, names=names, cov=cov, mean=(zero,) * len(keep), poly=moved, steps=steps)


def _valued(poly, index, at):
    """The polynomial with one variable set to a value, and without it."""
    for key, c in poly:
        if not key[index]:
            yield key[:index] + key[index + 1 :], c
        elif at:
            yield key[:index] + key[index + 1 :], c * at ** key[index]


RULE = Rule(
    name="stein",
    order=80,
    statement=r"\mathbb{E}[z_i\,g(z)\mathbf{1}\{w>t\}]=\sum_k\Sigma_{ik}\,\mathbb{E}[\partial_kg\,\mathbf{1}\{w>t\}]"
    r"+\sum_j\operatorname{Cov}(z_i,w_j)\,p_{w_j}(t_j)\,\mathbb{E}[g\,\mathbf{1}\{w_{\neq j}>t_{\neq j}\}\mid w_j=t_j]",
    source="Stein 1981, Ann. Statist. 9, 1135, Lemma 2, with the boundary terms of a half-space",
    apply=apply,
)
