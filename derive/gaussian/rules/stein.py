"""Integration by parts: lowers the degree; each half-space leaves a term on its face, a wave one of a degree less."""

from dataclasses import replace

from derive.gaussian.closed import constant, monomial
from derive.gaussian.linalg import dot
from derive.gaussian.problem import Side, frozen, plus, shifted, times
from derive.gaussian.rule import Outcome, Rule


def apply(problem, scalars):
    if not problem.steps or not any(sum(key) for key, _ in problem.poly + problem.imag):
        return None
    index = _variable(problem)
    real, imag = (_divided(poly, index, problem.cov[index], scalars) for poly in (problem.poly, problem.imag))
    inner = replace(problem, poly=real[1], imag=imag[1])
    if problem.wave:
        turn, zero = dot(problem.cov[index], problem.wave, scalars.zero), scalars.zero
        inner = replace(
            inner,
            poly=plus(inner.poly, times(-turn, imag[0]), zero),
            imag=plus(inner.imag, times(turn, real[0]), zero),
        )
    terms = []
    if inner.poly or inner.imag:
        terms.append((constant(scalars, scalars.one), (inner,)))
    outer = replace(problem, poly=real[0], imag=imag[0])
    for place, step in enumerate(problem.steps):
        covariance = problem.cov[index][step.index]
        if covariance:
            weight = density(problem.cov[step.index][step.index], step.threshold, scalars)
            weight = weight * constant(scalars, step.side * covariance)
            cut = face(outer, place, scalars)
            if cut.poly or cut.imag:
                terms.append((weight, (cut,)))
    return Outcome(tuple(terms))


def _divided(poly, index, row, scalars):
    """(g, r + sum_k row[k] dg/dz_k) with poly = z_index * g + r."""
    quotient, rest = {}, {}
    for key, c in poly:
        if key[index]:
            quotient[_lowered(key, index)] = c
        else:
            rest[key] = c
    for k, covariance in enumerate(row):
        if covariance:
            for key, c in quotient.items():
                if key[k]:
                    lower = _lowered(key, k)
                    rest[lower] = rest.get(lower, scalars.zero) + covariance * key[k] * c
    return frozen(quotient), frozen(rest)


def _variable(problem):
    """The variable of positive degree that the fewest half-spaces feel."""
    size = range(len(problem.names))
    candidates = [i for i in size if any(key[i] for key, _ in problem.poly + problem.imag)]
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
    poly, imag = (_on_face(part, j, at, tuple(mean[i] for i in keep), zero) for part in (problem.poly, problem.imag))
    steps = tuple(
        Side(other.index - (other.index > j), other.side, other.threshold - mean[other.index])
        for n, other in enumerate(problem.steps)
        if n != place
    )
    names = tuple(problem.names[i] for i in keep)
    wave, phase = problem.wave, problem.phase
    if wave:
        wave, phase = tuple(wave[i] for i in keep), phase + dot(wave, mean, zero)
    cut = replace(problem, names=names, cov=cov, mean=(zero,) * len(keep), poly=poly, imag=imag, steps=steps)
    return replace(cut, wave=wave, phase=phase)


def _on_face(poly, index, at, mean, zero):
    """The polynomial with one variable at its value and the others moved by their means."""
    total: dict = {}
    for key, c in _valued(poly, index, at):
        total[key] = total.get(key, zero) + c
    return shifted(frozen(total), mean, zero)


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
