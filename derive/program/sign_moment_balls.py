"""The mean of four signs on real balls."""

from __future__ import annotations

from flint import acb, arb, arb_mat, ctx

from derive.program.balls import NOWHERE, is_real, meets_real_cut

GUARD = 20

PLACES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
"""The pair of variables of each argument."""


def sign_moment(args: list[acb], analytic: bool) -> acb:
    """E[sign(z1 z2 z3 z4)] on real balls of correlations; non-finite on complex balls and where they are none.

    Along a segment of correlation matrices the value changes by at most 2/pi times the changes of the six
    arcsines (its partial derivatives are 4 asin(rho)/(pi**2 sqrt(1 - r**2))). So it is found at one exact
    positive definite matrix near the midpoint, and the balls' radii enter through arcsines.
    """
    if not all(is_real(arg) and arg.is_finite() for arg in args):
        return NOWHERE
    given = [arg.real for arg in args]
    if any(r > 1 or r < -1 for r in given):
        return NOWHERE
    wanted = ctx.prec
    for bits in (2 * wanted + GUARD, 8 * wanted + GUARD):  # singular matrices lose most digits of their minors
        with ctx.workprec(bits):
            found = _inside([r.mid() for r in given], wanted)
            if found is None:
                continue
            point, det = found
            change = sum((_change(r, at) for r, at in zip(given, point, strict=True)), arb(0))
            value = _integrals(point, det, wanted)
        return acb(_clipped(value + arb(0, (2 * change / arb.pi()).upper())))
    return NOWHERE


def _inside(point: list[arb], wanted: int) -> tuple[list[arb], arb] | None:
    """An exact positive definite matrix at or next to the point, and its determinant; None where there is none."""
    for shrink in (arb(0), arb(2) ** (-2 * wanted)):
        moved = [(r * (1 - shrink)).mid() for r in point]
        one, (r12, r13, r14, r23, r24, r34) = arb(1), moved
        rows = [[one, r12, r13, r14], [r12, one, r23, r24], [r13, r23, one, r34], [r14, r24, r34, one]]
        dets = [arb_mat([row[:n] for row in rows[:n]]).det() for n in (2, 3, 4)]
        if all(det > 0 for det in dets):
            return moved, dets[-1]
    return None


def _change(r: arb, at: arb) -> arb:
    """An upper bound of |asin(r) - asin(at)|."""
    low, high = max(r.lower(), arb(-1)), min(r.upper(), arb(1))
    ends = (abs(low.asin() - at.asin()), abs(high.asin() - at.asin()))
    return ends[0].upper().max(ends[1].upper())


def _integrals(point: list[arb], det: arb, wanted: int) -> arb:
    """4/pi**2 times the three integrals along the path on which the first variable becomes independent.

    With t = tanh(s) every minor is a + b/cosh(s)**2 with a, b >= 0: no branch point for |Im s| < pi/4.
    """
    r12, r13, r14, r23, r24, r34 = point
    rest = arb_mat([[1, r23, r24], [r23, 1, r34], [r24, r34, 1]]).det() - det
    last = arb(wanted + GUARD)
    tolerance = arb(2) ** -(wanted + GUARD // 2)
    total, missing = arb(0), arb(0)
    for r1j, r1k, r1l, rjk, rjl, rkl in (
        (r12, r13, r14, r23, r24, r34),
        (r13, r12, r14, r23, r34, r24),
        (r14, r12, r13, r24, r34, r23),
    ):
        if r1j == 0:
            continue
        inside = 1 - r1j * r1j
        end = (rkl - r1k * r1l) * inside - (rjk - r1j * r1k) * (rjl - r1j * r1l)
        steep = rkl * r1j * r1j + r1k * r1l - r1j * (rjk * r1l + rjl * r1k)
        minors = (_minor(r1j, r1k, rjk), _minor(r1j, r1l, rjl))

        def slope(s: acb, analytic: bool, r=r1j, inside=inside, end=end, steep=steep, minors=minors) -> acb:
            fall = s.sech() ** 2
            width = inside + r * r * fall
            whole = [width, det + rest * fall, *(first + second * fall for first, second in minors)]
            if any(not part.real > 0 for part in whole):
                return NOWHERE
            root = (whole[0] * whole[1]).sqrt()
            turn = root + acb(0, 1) * (end + steep * fall)
            if meets_real_cut(turn, below=0):
                return NOWHERE
            angle = (turn.log() - (whole[2].log() + whole[3].log()) / 2) / acb(0, 1)
            return r * fall / width.sqrt() * angle

        total += acb.integral(slope, acb(0), acb(last), rel_tol=tolerance, abs_tol=tolerance).real
        missing += abs(r1j.asin() - (r1j * last.tanh()).asin())
    return 4 * total / arb.pi() ** 2 + arb(0, (2 * missing / arb.pi()).upper())


def _minor(a: arb, b: arb, c: arb) -> tuple[arb, arb]:
    """(d, e): d + e*fall is the determinant of three variables, two of their correlations scaled by t."""
    squares = a * a + b * b - 2 * a * b * c
    return 1 - c * c - squares, squares


def _clipped(value: arb) -> arb:
    """The value as one in [-1, 1]."""
    if abs(value) <= 1 or not value.is_finite():
        return value
    low, high = max(value.lower(), arb(-1)), min(value.upper(), arb(1))
    return low.union(high)
