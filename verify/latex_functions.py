"""The functions of printed formulas in mpmath, by their definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def function(name: str, mp: Any) -> Callable[..., Any]:
    """The function of a name, in numbers of the context `mp`."""
    if name == "Phi":
        return lambda x: mp.erfc(-x / mp.sqrt(2)) / 2
    if name in _DEFINED:
        return lambda *x: _DEFINED[name](mp, *x)
    if name == "Phi2":
        return lambda h, k, r: bivariate(h, k, r, mp)
    if name == "S4":
        return lambda *r: sign_moment(r, mp)
    return getattr(mp, name)  # type: ignore[no-any-return]


_DEFINED: dict[str, Callable[..., Any]] = {
    "erfcx": lambda mp, x: mp.exp(x * x) * mp.erfc(x),
    "softplus": lambda mp, x: mp.log1p(mp.exp(x)),
    "sigmoid": lambda mp, x: 1 / (1 + mp.exp(-x)),
    "dawson": lambda mp, x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    "owens_t": lambda mp, h, a: mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi),
}


def bivariate(h: Any, k: Any, r: Any, mp: Any) -> Any:
    """P(X < h, Y < k) of correlation r: Phi(h) Phi(k) + the integral of the density at (h, k) over correlations.

    Plackett 1954, Biometrika 41, 351; the correlation is sin(t).
    """
    phi = function("Phi", mp)

    def density(t: Any) -> Any:
        c = mp.cos(t) ** 2
        return mp.exp(-(h * h - 2 * h * k * mp.sin(t) + k * k) / (2 * c)) if c else mp.mpf(0)

    return phi(h) * phi(k) + mp.quad(density, [0, mp.asin(r)]) / (2 * mp.pi)


def sign_moment(r: Sequence[Any], mp: Any) -> Any:
    """E[sign(z1 z2 z3 z4)] of standard normal variables with correlations r12, r13, r14, r23, r24, r34.

    Given z1 the other three are Gaussian, so that along r_1j(t) = t r_1j, from independence of z1 (where the mean is
    0) to t = 1, the slope is (4/pi^2) sum_j r_1j asin(rho_kl|1j)/sqrt(1 - t^2 r_1j^2): the mean of two signs given
    that z1 = zj = 0 (Childs 1967, Biometrika 54, 293). rho_kl|1j comes from
    the covariance of (zk, zl) minus its part along (z1, zj).
    """
    place = {(0, 1): 0, (0, 2): 1, (0, 3): 2, (1, 2): 3, (1, 3): 4, (2, 3): 5}

    def rho(i: int, j: int, t: Any) -> Any:
        if i == j:
            return mp.mpf(1)
        value = r[place[min(i, j), max(i, j)]]
        return t * value if min(i, j) == 0 else value

    def given(k: int, m: int, j: int, t: Any) -> Any:
        """Covariance of zk and zm given z1 and zj."""
        a, s = rho(0, j, t), 1 - rho(0, j, t) ** 2
        k1, kj, m1, mj = rho(k, 0, t), rho(k, j, t), rho(m, 0, t), rho(m, j, t)
        return rho(k, m, t) - (k1 * m1 - a * (k1 * mj + kj * m1) + kj * mj) / s

    def slope(t: Any) -> Any:
        total = mp.mpf(0)
        for j in (1, 2, 3):
            k, m = (i for i in (1, 2, 3) if i != j)
            cross, size = given(k, m, j, t), given(k, k, j, t) * given(m, m, j, t)
            angle = mp.atan2(cross, mp.sqrt(max(size - cross**2, mp.mpf(0))))
            total += r[j - 1] * angle / mp.sqrt(1 - (t * r[j - 1]) ** 2)
        return total

    return 4 * mp.quad(slope, [0, 1]) / mp.pi**2
