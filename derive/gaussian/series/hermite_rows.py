"""How long a Hermite series of a pair expectation is up to a variance, and how well it can be compressed: floats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]

REACH = 12.5
TAIL = 5e-15
MOST_TERMS = 16000
BLOCK = 256
STEPS = (0.36, 0.26, 0.19, 0.14, 0.1)
FINEST = 0.05
CORRELATIONS = (1.0, 0.98, 0.9, 0.75, 0.5, 0.2, 0.05)


@dataclass(frozen=True)
class Measured:
    """The step of the trapezoidal rule; for even and odd degrees (terms, degree in c, rank over the variances)."""

    step: float
    parts: tuple[tuple[int, int, int], tuple[int, int, int]]


def measure(f: Function, g: Function, top: float) -> Measured | None:
    """The numbers of E f(u) g(v) = sum_k a_k(q1) b_k(q2) c^k for variances up to `top`.

    a_k(q) = E f(sqrt(q) z) h_k(z) with normalised Hermite polynomials (Mehler 1866). Measured at 60 variances from
    1e-12 top to top: the tail sqrt(sum a_k^2 sum b_k^2) over the left-out degrees (Parseval), the tail of the
    Chebyshev series in c, the effect of the rank at seven correlations, each below 5e-15 of sqrt(E f^2 E g^2), and the
    coefficients against a rule with a finer step and a wider reach.
    None where they do not decay fast enough, or the rule does not converge.
    """
    return _measure(f, g, top, 1) or _measure(f, g, top, 4)


def _measure(f: Function, g: Function, top: float, refined: int) -> Measured | None:
    sample = top * 10.0 ** -np.concatenate([np.linspace(0, 2, 24), np.linspace(2.1, 12, 36)])
    scale = refined * max(1.0, top) ** 0.5
    fine = FINEST / scale
    same = f is g
    with np.errstate(all="ignore"):
        first = _coefficients(f, sample, fine, REACH + 1.5, None)
        second = first if same else _coefficients(g, sample, fine, REACH + 1.5, None)
        if first is None or second is None:
            return None
        order = min(len(first), len(second))
        lengths = tuple(_length(first[:order], second[:order], parity) for parity in (0, 1))
        longest = max(2 * n + p for p, n in enumerate(lengths))
        step = _step((f,) if same else (f, g), (first, second), sample, longest, scale)
    if step is None:
        return None
    parts = []
    for parity, terms in enumerate(lengths):
        a, b = (rows[parity::2][:terms] for rows in (first, second))
        rank = _rank(a, b, parity) if terms else 0
        parts.append((terms, _degree(a, b, parity), rank))
    return Measured(step, (parts[0], parts[1]))


def moment_step(f: Function, top: float) -> float | None:
    """The step of the trapezoidal rule for E f(sqrt(q) z), q up to `top`, to 1e-15 of E |f|; None where none does."""
    return _moment_step(f, top, 1) or _moment_step(f, top, 4)


def _moment_step(f: Function, top: float, refined: int) -> float | None:
    sample = top * 10.0 ** -np.linspace(0, 12, 60)
    scale = refined * max(1.0, top) ** 0.5
    with np.errstate(all="ignore"):
        (want, size), *found = (
            _moments(f, sample, h / scale, reach)
            for h, reach in ((FINEST, REACH + 1.5), *((step, REACH) for step in STEPS))
        )
    for step, (value, _) in zip(STEPS, found, strict=True):
        if (np.abs(value - want) <= 2e-15 * size).all():
            return 0.8 * step / scale
    return None


def _rule(step: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of both signs and the roots of the weights."""
    half = step * (np.arange(int(reach / step)) + 0.5)
    z = np.concatenate([-half[::-1], half])
    return z, np.exp(-z * z / 4) * np.sqrt(step) / (2 * np.pi) ** 0.25


def _moments(f: Function, q: np.ndarray, step: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    z, root = _rule(step, reach)
    values = f(np.sqrt(q)[:, None] * z)
    return values @ (root * root), np.abs(values) @ (root * root)


def _coefficients(f: Function, q: np.ndarray, step: float, reach: float, terms: int | None) -> np.ndarray | None:
    """a_k over sqrt(E f^2), a row a degree and a column a variance; until they have decayed, or `terms` of them."""
    z, root = _rule(step, reach)
    values = (f(np.sqrt(q)[:, None] * z) * root).T
    size = np.sqrt((values * values).sum(0))
    if not np.isfinite(size).all() or (size == 0).any():
        return None
    values = values / size
    below, here, found, k = np.zeros_like(z), root, [], 0
    while k < (terms or MOST_TERMS):
        block = np.empty((BLOCK, z.size))
        for i in range(BLOCK):
            block[i] = here
            below, here = here, (z * here - np.sqrt(k) * below) / np.sqrt(k + 1)
            k += 1
        found.append(block @ values)
        if terms is None and (found[-1] ** 2).sum(0).max() < 1e-17:
            break
    else:
        if terms is None:
            return None
    return np.concatenate(found)[:terms]


def _length(a: np.ndarray, b: np.ndarray, parity: int) -> int:
    """How many degrees of a parity leave less than the tail allowed."""
    tails = [np.cumsum((rows[parity::2] ** 2)[::-1], axis=0)[::-1].max(1) for rows in (a, b)]
    enough = np.sqrt(tails[0] * tails[1]) <= TAIL
    return int(np.argmax(enough)) if enough.any() else len(enough)


def _step(
    functions: tuple[Function, ...], wanted: tuple[np.ndarray, ...], sample: np.ndarray, terms: int, scale: float
) -> float | None:
    """The largest step, with a fifth to spare, whose coefficients agree with those of the finest."""
    some = np.concatenate([sample[:3], sample[20:24], sample[-2:]])
    places = [0, 1, 2, 20, 21, 22, 23, -2, -1]
    for step in STEPS:
        good = True
        for f, rows in zip(functions, wanted, strict=False):
            found = _coefficients(f, some, step / scale, REACH, terms)
            error = np.inf if found is None else np.sqrt(((found - rows[: len(found), places]) ** 2).sum(0)).max()
            good = good and error <= max(5e-15, 3e-16 * terms**0.5)
        if good:
            return 0.8 * step / scale
    return None


def _degree(a: np.ndarray, b: np.ndarray, parity: int) -> int:
    """Chebyshev terms in c of a parity that leave less than the tail allowed."""
    if not len(a):
        return 0
    product = np.abs(a * b).max(1)
    k = parity + 2 * np.arange(len(a))
    ratio = k[1:] / (k[1:] + 1.0) if parity else (k[1:] - 1.0) / k[1:]
    weight = np.cumprod(np.concatenate([[1.0], ratio]))
    sizes: list[float] = []
    for m in range(parity, parity + 2 * len(a), 2):
        sizes.append(float(product @ weight))
        if sizes[-1] < 1e-18:
            break
        weight = weight * np.maximum(k - m, 0) / (k + m + 2.0) * (1 if m else 2)
    tails = np.cumsum(sizes[::-1])[::-1]
    return int(np.argmax(tails <= TAIL)) if tails[-1] <= TAIL else len(sizes)


def _rank(a: np.ndarray, b: np.ndarray, parity: int) -> int:
    """How many directions, one more than the least, hold the vectors of coefficients as far as the sums need them."""
    bases = [np.linalg.svd(rows, full_matrices=False) for rows in (a, b)]
    spaces, most = (
        [base[0] for base in bases],
        max(int((base[1] > 1e-15 * max(base[1][0], 1.0)).sum()) for base in bases),
    )
    powers = np.array(CORRELATIONS)[:, None] ** (parity + 2 * np.arange(len(a)))
    wanted = [(a.T * row) @ b for row in powers]

    def enough(rank: int) -> bool:
        held = [space[:, :rank] @ (space[:, :rank].T @ rows) for space, rows in zip(spaces, (a, b), strict=True)]
        return all(
            np.abs((held[0].T * row) @ held[1] - want).max() <= TAIL for row, want in zip(powers, wanted, strict=True)
        )

    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return min(len(a), high + 1)


__all__ = ["Measured", "measure", "moment_step"]
