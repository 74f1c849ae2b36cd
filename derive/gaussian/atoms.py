"""Atoms: polynomial x exp(quadratic) x cos x normal cdfs x half-spaces, and their products.

An atom is Re[(poly + i imag) exp(i wave)] exp(exponent) prod Phi(cdf) prod 1{half}; all its parts are
polynomials in the Gaussian variables with SymPy coefficients (dictionaries from exponents to
coefficients). Sine and cosine enter as real parts, so no complex number ever appears.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sympy import Expr, Integer, cos, expand, sin

from derive.gaussian.halves import Halves, intersect

Polynomial = dict[tuple[int, ...], Expr]


@dataclass(frozen=True)
class Atom:
    """Re[(poly + i imag) exp(i wave)] * exp(exponent) * prod Phi(cdf) * prod 1{half}."""

    poly: Polynomial
    imag: Polynomial = field(default_factory=dict)
    exponent: Polynomial = field(default_factory=dict)
    wave: Polynomial = field(default_factory=dict)
    cdfs: tuple[Polynomial, ...] = ()
    halves: Halves = ()


def multiply(first: Atom, second: Atom) -> list[Atom]:
    """The product of two atoms; empty where their half-spaces do not meet."""
    exponent, cdfs = _add(first.exponent, second.exponent), first.cdfs + second.cdfs
    atoms = []
    for weight, halves in intersect(first.halves + second.halves):
        for poly, imag, wave in _waves(first, second):
            if weight != 1:
                poly, imag = ({key: weight * value for key, value in p.items()} for p in (poly, imag))
            atoms.append(Atom(poly, imag, exponent, wave, cdfs, halves))
    return atoms


def _waves(first: Atom, second: Atom) -> list[tuple[Polynomial, Polynomial, Polynomial]]:
    """Re(a) Re(b) = (Re(ab) + Re(a conj b))/2; with one wave only, the real factor multiplies it."""
    a, b = (first.poly, first.imag), (second.poly, second.imag)
    if not (first.wave and second.wave):
        return [(*_times(a, b), first.wave or second.wave)]
    conjugate = (b[0], {key: -value for key, value in b[1].items()})
    results = []
    for other, side in ((b, 1), (conjugate, -1)):
        wave = _add(first.wave, {key: side * value for key, value in second.wave.items()})
        poly, imag = ({key: value / 2 for key, value in p.items()} for p in _times(a, other))
        if all(sum(key) == 0 for key in wave):
            phase = sum(wave.values(), Integer(0))
            turned = {key: -sin(phase) * value for key, value in imag.items()}
            poly, imag, wave = _add({k: cos(phase) * v for k, v in poly.items()}, turned), {}, {}
        results.append((poly, imag, wave))
    return results


def _times(a, b) -> tuple[Polynomial, Polynomial]:
    minus = {key: -value for key, value in _multiply(a[1], b[1]).items()}
    return _add(_multiply(a[0], b[0]), minus), _add(_multiply(a[0], b[1]), _multiply(a[1], b[0]))


def _multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    product: Polynomial = {}
    for i, x in a.items():
        for j, y in b.items():
            key = tuple(p + q for p, q in zip(i, j, strict=True))
            product[key] = product.get(key, Integer(0)) + x * y
    return product


def _add(a: Polynomial, b: Polynomial) -> Polynomial:
    total = dict(a)
    for key, value in b.items():
        total[key] = total.get(key, Integer(0)) + value
    return {key: value for key, value in ((k, expand(v) if v.args else v) for k, v in total.items()) if value != 0}


def gathered(atoms: list[Atom]) -> list[Atom]:
    """The same sum with like atoms added."""
    groups: dict = {}
    for atom in atoms:
        shape = (_items(atom.exponent), _items(atom.wave), tuple(map(_items, atom.cdfs)), atom.halves)
        if shape in groups:
            old = groups[shape]
            atom = replace(old, poly=_add(old.poly, atom.poly), imag=_add(old.imag, atom.imag))
        groups[shape] = atom
    return [atom for atom in groups.values() if atom.poly or atom.imag]


def _items(polynomial: Polynomial) -> frozenset:
    return frozenset(polynomial.items())


def scale(atom: Atom, factor: Expr) -> Atom:
    """factor * atom."""
    poly, imag = ({key: factor * value for key, value in p.items()} for p in (atom.poly, atom.imag))
    return replace(atom, poly=poly, imag=imag)


__all__ = ["Atom", "Polynomial", "gathered", "multiply", "scale"]
