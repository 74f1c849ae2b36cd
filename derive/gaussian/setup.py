"""From a question to problems: atoms lifted into the exact scalars, like atoms gathered."""

from __future__ import annotations

from dataclasses import replace

from sympy import Add, Expr, Integer, Mul, Pow, Rational, Symbol, expand, sqrt

from derive.gaussian.atoms import Atom, Polynomial
from derive.gaussian.closed import Closed, monomial
from derive.gaussian.decompose import decompose
from derive.gaussian.node import GaussianE
from derive.gaussian.problem import Cdf, Problem, Side, frozen, plus
from derive.gaussian.scalars import Scalars
from derive.gaussian.summands import split_radicals
from derive.records import DomainError

Terms = list[tuple[Closed, Problem]]


def problems(node: GaussianE) -> tuple[Scalars, Terms]:
    """The scalars of a question, and (constant factor, problem) pairs whose sum it is."""
    zs = tuple(node.variables)
    _validate(node)
    atoms = [_tamed(part) for atom in decompose(node.body, zs) for part in _by_radicals(atom)]
    constants = [c for atom, radicals, noises in atoms for c in (*_constants(atom), *radicals, *noises)]
    scalars = Scalars([*constants, *node.cov, *node.mean])
    return scalars, _gathered([_problem(*parts, node, scalars) for parts in atoms], scalars)


def _validate(node: GaussianE) -> None:
    """Raise DomainError unless the covariance is symmetric and, where it is numeric, positive semi-definite."""
    cov = node.cov
    if cov != cov.T:
        raise DomainError("A covariance matrix is symmetric.", where=str(cov.tolist()), why="Cov(u, v) = Cov(v, u)")
    if not cov.free_symbols and not cov.is_positive_semidefinite:
        raise DomainError(
            "This is no covariance matrix.",
            where=str(cov.tolist()),
            why="a covariance matrix is positive semi-definite: no combination of variables has a negative variance",
            instead="check that each |Cov(u, v)| is at most the product of the standard deviations",
        )


def _by_radicals(atom: Atom) -> list[tuple[Atom, tuple[Expr, ...]]]:
    """The atom as a sum of atoms times sqrt(r1) sqrt(r2) ..., so that coefficients are rational."""
    parts: dict[tuple[Expr, ...], tuple[Polynomial, Polynomial]] = {}
    for place, polynomial in enumerate((atom.poly, atom.imag)):
        for key, coefficient in polynomial.items():
            for summand in Add.make_args(expand(coefficient)):
                rest, radicals = split_radicals(summand)
                target = parts.setdefault(radicals, ({}, {}))[place]
                target[key] = target.get(key, Integer(0)) + rest
    return [(replace(atom, poly=poly, imag=imag), radicals) for radicals, (poly, imag) in parts.items()]


def _tamed(part: tuple[Atom, tuple[Expr, ...]]) -> tuple[Atom, tuple[Expr, ...], list[Expr]]:
    """Phi(sqrt(2) z) is P(xi sqrt(2) < 2 z): radicals leave the slopes and square into the noise."""
    atom, radicals = part
    cdfs, noises = [], []
    for affine in atom.cdfs:
        lead = next(c for key, c in sorted(affine.items(), reverse=True) if any(key))
        noise = Mul(*[p.base for p in Mul.make_args(lead) if isinstance(p, Pow) and abs(p.exp) == Rational(1, 2)])
        root = sqrt(noise) if noise.is_positive else Integer(1)
        cdfs.append({key: root * c for key, c in affine.items()})
        noises.append(root**2)
    return replace(atom, cdfs=tuple(cdfs)), radicals, noises


def _constants(atom: Atom) -> list[Expr]:
    polynomials = (atom.poly, atom.imag, atom.exponent, atom.wave, *atom.cdfs)
    found = [c for polynomial in polynomials for c in polynomial.values()]
    return found + [c for half in atom.halves for c in (*half.direction, half.threshold)]


def _problem(
    atom: Atom, radicals: tuple[Expr, ...], noises: list[Expr], node: GaussianE, scalars: Scalars
) -> tuple[Closed, Problem]:
    lift, size = scalars.lift, len(node.variables)

    def lifted(polynomial: Polynomial) -> dict:
        return {key: lift(c) for key, c in polynomial.items()}

    exponent = lifted(atom.exponent)
    factor = monomial(scalars, scalars.one, exponent=exponent.pop((0,) * size, scalars.zero))
    for radical in radicals:
        factor = factor * monomial(scalars, *scalars.root(lift(radical)))
    steps, spaces = [], []
    for half in atom.halves:
        vector, threshold = tuple(map(lift, half.direction)), lift(half.threshold)
        single = [i for i in range(size) if vector[i]]
        if len(single) == 1 and vector[single[0]] == scalars.one:
            steps.append(Side(single[0], half.side, threshold))
        else:
            spaces.append((vector, half.side, threshold))
    wave, phase = _affine(lifted(atom.wave), size, scalars) if atom.wave else ((), None)
    cdfs = [_cdf(lifted(cdf), lift(noise), size, scalars) for cdf, noise in zip(atom.cdfs, noises, strict=True)]
    problem = Problem(
        names=tuple(Symbol(z.name, real=True) for z in node.variables),
        cov=tuple(tuple(lift(node.cov[i, j]) for j in range(size)) for i in range(size)),
        mean=tuple(map(lift, node.mean)),
        poly=frozen(lifted(atom.poly)),
        imag=frozen(lifted(atom.imag)),
        quad=frozen(exponent),
        wave=wave,
        phase=phase,
        cdfs=tuple(sorted(cdfs, key=lambda cdf: ([not c for c in cdf.vector], str(cdf)))),
        spaces=tuple(sorted(spaces, key=lambda space: ([not c for c in space[0]], str(space)))),
        steps=tuple(sorted(steps, key=lambda step: step.index)),
    )
    return factor, problem


def _cdf(affine: dict, noise, size: int, scalars: Scalars) -> Cdf:
    vector, offset = _affine(affine, size, scalars)
    return Cdf(vector, offset, noise)


def _affine(affine: dict, size: int, scalars: Scalars):
    units = [tuple(int(i == j) for j in range(size)) for i in range(size)]
    return tuple(affine.get(unit, scalars.zero) for unit in units), affine.get((0,) * size, scalars.zero)


def _gathered(terms: Terms, scalars: Scalars) -> Terms:
    """Problems that differ in their polynomials only, added."""
    groups: dict = {}
    for factor, problem in terms:
        key = (frozenset(factor.terms.items()), replace(problem, poly=(), imag=()))
        if key in groups:
            old = groups[key][1]
            poly, imag = plus(old.poly, problem.poly, scalars.zero), plus(old.imag, problem.imag, scalars.zero)
            problem = replace(problem, poly=poly, imag=imag)
        groups[key] = (factor, problem)
    return [(factor, problem) for factor, problem in groups.values() if problem.poly or problem.imag]


__all__ = ["problems"]
