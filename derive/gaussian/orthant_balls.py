"""Probabilities of orthants without a closed form, as balls: three shifted half-spaces, six at the origin.

Along R(t), which multiplies the correlations of the first variable by t, dP/dt is a sum over the others of
r_1j phi_2(h_1, h_j; t r_1j) P(the rest | z_1 = h_1, z_j = h_j) (Plackett 1954). At t = 0 the first variable is
independent. For three variables the integrand is elementary. For six at the origin integration by parts leaves
asin(t r_1j) times the derivative of a four-dimensional orthant, which is a sum of arcsines by the same identity.
"""

from __future__ import annotations

from itertools import combinations

import flint
from flint import acb, arb

from derive.program.operations.bivariate_normal_cdf import OPERATION as PHI_2
from derive.program.sign_moment_balls import sign_moment

EVALUATIONS = 200_000
Matrix = list[list[arb]]


def three_shifted(r: Matrix, h: list[arb]) -> arb:
    """P(z_1 < h_1, z_2 < h_2, z_3 < h_3), correlations r; not finite where they are singular."""
    start = PHI_2.ball([acb(h[1]), acb(h[2]), acb(r[1][2])], False).real * _phi(acb(h[0])).real

    def slope(t: acb, analytic: bool) -> acb:
        total = acb(0)
        for j, k in ((1, 2), (2, 1)):
            if r[0][j] == 0:
                continue
            first, second, rest = t * r[0][j], t * r[0][k], r[1][2]
            inside = 1 - first * first
            exponent = (h[0] * h[0] - 2 * first * h[0] * h[j] + h[j] * h[j]) / (2 * inside)
            mean = ((second - first * rest) * h[0] + (rest - first * second) * h[j]) / inside
            spread = (1 - first**2 - second**2 - rest**2 + 2 * first * second * rest) / inside
            height = (h[k] - mean) * spread.rsqrt(analytic=analytic)
            total += r[0][j] * (-exponent).exp() * inside.rsqrt(analytic=analytic) * _phi(height)
        return total

    return start + _integral(slope) / (2 * arb.pi())


def at_origin(r: Matrix) -> arb:
    """P(z > 0) for at most six variables with correlations r; not finite where six of them are singular."""
    n = len(r)
    if n == 6:
        return _six(r)
    if n % 2:  # the mean of an odd number of signs is zero
        total = arb(0)
        for count in range(n):
            for kept in combinations(range(n), count):
                part = at_origin([[r[i][j] for j in kept] for i in kept])
                total += (-1) ** count * part / arb(2) ** (n - count)
        return total
    if n == 0:
        return arb(1)
    angles = sum((r[i][j].asin() for i, j in combinations(range(n), 2)), arb(0))
    if n == 2:
        return arb(1) / 4 + angles / (2 * arb.pi())
    signs = sign_moment([acb(r[i][j]) for i, j in combinations(range(4), 2)], False).real
    return arb(1) / 16 + angles / (8 * arb.pi()) + signs / 16


def _six(r: Matrix) -> arb:
    total, others = at_origin([row[1:] for row in r[1:]]) / 2, {}
    for j in range(1, 6):
        if r[0][j] == 0:
            continue
        rest = others[j] = [k for k in range(1, 6) if k != j]
        end = _given(r, j, rest, acb(1))[0]
        correlations = [[end[m][n].real / (end[m][m] * end[n][n]).real.sqrt() for n in range(4)] for m in range(4)]
        for m in range(4):
            correlations[m][m] = arb(1)
        total += r[0][j].asin() / (2 * arb.pi()) * at_origin(correlations)

    def slope(t: acb, analytic: bool) -> acb:
        if analytic and not all(_inside_cuts(t * r[0][j]) for j in others):
            return acb(arb.nan(), arb.nan())
        parts = ((t * r[0][j]).asin() * _four_slope(*_given(r, j, rest, t), analytic) for j, rest in others.items())
        return sum(parts, acb(0))

    return total - _integral(slope) / (2 * arb.pi())


def _given(r: Matrix, j: int, rest: list[int], t: acb) -> tuple[list[list[acb]], list[list[acb]]]:
    """The covariance of the rest given z_1 = z_j = 0 at t, and its derivative in t."""
    edge, square = r[0][j], t * t
    inside = 1 - square * edge * edge
    cov: list[list[acb]] = [[acb(0)] * len(rest) for _ in rest]
    rate = [list(row) for row in cov]
    for a, m in enumerate(rest):
        for b, n in enumerate(rest):
            steep = r[0][m] * r[0][n] - edge * (r[0][m] * r[j][n] + r[j][m] * r[0][n])
            above = square * steep + r[j][m] * r[j][n]
            cov[a][b] = r[m][n] - above / inside
            rate[a][b] = -2 * t * (steep * inside + above * edge * edge) / (inside * inside)
    return cov, rate


def _four_slope(cov: list[list[acb]], rate: list[list[acb]], analytic: bool) -> acb:
    """d/dt P(z > 0) of four variables: sum over pairs of dr/dt (1/4 + asin(r of the others, given these)/(2 pi))/..."""
    total = acb(0)
    for m, n in combinations(range(4), 2):
        k, l = (i for i in range(4) if i not in (m, n))
        det = cov[m][m] * cov[n][n] - cov[m][n] * cov[m][n]
        pull = cov[m][n] * (rate[m][m] / cov[m][m] + rate[n][n] / cov[n][n]) / 2

        def partial(a: int, b: int) -> acb:
            x, y = (cov[a][m], cov[a][n]), (cov[b][m], cov[b][n])  # noqa: B023
            cross = x[0] * y[0] * cov[n][n] - (x[0] * y[1] + x[1] * y[0]) * cov[m][n] + x[1] * y[1] * cov[m][m]  # noqa: B023
            return cov[a][b] - cross / det  # noqa: B023

        rho = partial(k, l) * (partial(k, k) * partial(l, l)).rsqrt(analytic=analytic)
        if analytic and not _inside_cuts(rho):
            return acb(arb.nan(), arb.nan())
        total += (rate[m][n] - pull) * det.rsqrt(analytic=analytic) * (arb(1) / 4 + rho.asin() / (2 * arb.pi()))
    return total / (2 * arb.pi())


def _inside_cuts(z: acb) -> bool:
    return not z.imag.contains(0) or bool(abs(z.real) < 1)


def _phi(z: acb) -> acb:
    return (-z / arb(2).sqrt()).erfc() / 2


def _integral(slope) -> arb:
    tolerance = arb(2) ** -flint.ctx.prec
    return acb.integral(slope, acb(0), acb(1), abs_tol=tolerance, rel_tol=tolerance, eval_limit=EVALUATIONS).real


__all__ = ["at_origin", "three_shifted"]
