"""Phi_2 on a grid, all entries at once, by Mehler's series."""

from __future__ import annotations

from math import ceil, log

import flint
from flint import arb, arb_mat

from derive.records import Unsupported

CRAMER = "1.0865"
"""|He_n(x)| <= 1.0865 sqrt(n!) exp(x^2/4) (Abramowitz & Stegun 1964, 22.14.17)."""
LONGEST = 1200


def normal_cdf(x: arb) -> arb:
    """Phi at a real ball."""
    return (-x / arb(2).sqrt()).erfc() / 2


def phi2_on_grid(first: list[arb], second: list[arb], c: arb, accuracy: float) -> tuple[arb_mat, arb]:
    """(matrix of Phi_2(s_i, t_j; c), bound of the error of its entries).

    Phi_2(s, t; c) = Phi(s) Phi(t) + sum_{n>=1} c^n/n p_{n-1}(s) phi(s) p_{n-1}(t) phi(t), p_n = He_n/sqrt(n!)
    (Mehler 1866, J. reine angew. Math. 66, 161; integrated in c by Plackett's identity). Cramer's inequality bounds
    the tail. Raises Unsupported where |c| is so near 1 that the series is too long.
    """
    size = float(abs(c).upper())
    terms = 1 if size == 0 else ceil(log(accuracy * (1 - size)) / log(size)) if size < 1 else LONGEST + 1
    if terms > LONGEST:
        raise Unsupported(
            "the pair of maxima was not enclosed",
            where=f"c = {c.str(5)}",
            why="its series in c is too long so near to 1",
            instead=f"|c| <= {0.97}, or c = 1 or -1 exactly",
        )
    moved = max((x.rad() for x in (*first, *second)), default=arb(0))
    first, second = [x.mid() for x in first], [x.mid() for x in second]
    left, right = _functions(first, terms), _functions(second, terms)
    power, scaled = arb(1), []
    for n, row in enumerate(left, 1):
        power = power * c
        scaled.append([entry * power / n for entry in row])
    product = arb_mat(scaled).transpose() * arb_mat(right)
    outer = arb_mat([[normal_cdf(s)] for s in first]) * arb_mat([[normal_cdf(t) for t in second]])
    rest = arb(CRAMER) ** 2 / (2 * arb.pi()) * arb(size) ** (terms + 1) / ((terms + 1) * (1 - arb(size)))
    # the nodes are balls: Phi_2 has slopes of at most 1/sqrt(2 pi) in s and in t
    return outer + product, (rest + moved).upper()


def _functions(points: list[arb], terms: int) -> list[list[arb]]:
    """Rows p_n(s) phi(s), n = 0 .. terms - 1; the recurrence loses digits, so it runs with more of them."""
    wanted, reach = flint.ctx.prec, max(float(abs(p).upper()) for p in points)
    spare = int(4 * reach * terms**0.5) + 60
    with flint.ctx.workprec(wanted + spare):
        root = (2 * arb.pi()).rsqrt()
        before, row = [arb(0)] * len(points), [(-p * p / 2).exp() * root for p in points]
        rows = [row]
        for n in range(1, terms):
            down, up = arb(n - 1).sqrt(), arb(n).rsqrt()
            before, row = row, [(p * y - down * x) * up for p, x, y in zip(points, before, row, strict=True)]
            rows.append(row)
    return [[+entry for entry in row] for row in rows]
