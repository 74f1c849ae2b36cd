"""The mean of a wave over half a line on balls: E[exp(i b z) 1{z < h}] = exp(-b**2/2) Phi(h - i b)."""

from __future__ import annotations

from flint import acb, ctx


def wave_cdf(h: acb, b: acb) -> tuple[acb, acb]:
    """(E[cos(b z) 1{z < h}], E[sin(b z) 1{z < h}]) and their analytic continuations; both are entire."""
    size = b.abs_upper()
    bits = 20
    if size.is_finite():
        # exp(-b**2/2) and Phi(h - i b) are of inverse sizes
        bits += min(int((size * size).mid().ceil().unique_fmpz() or 0), 1 << 14) * 2
    with ctx.workprec(ctx.prec + bits):
        i, root = acb(0, 1), acb(2).sqrt()
        scale = (-b * b / 2).exp() / 2
        up, down = (scale * ((sign * i * b - h) / root).erfc() for sign in (1, -1))
        if b.imag.is_zero() and h.imag.is_zero():
            even, odd = acb(up.real), acb(up.imag)
        else:
            even, odd = (up + down) / 2, (up - down) / (2 * i)
    return +even, +odd


__all__ = ["wave_cdf"]
