"""The functions of printed formulas in mpmath, by their definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def function(name: str, mp: Any) -> Callable[..., Any]:
    """The function of a name, in numbers of the context `mp`."""
    if name == "Phi":
        return lambda x: mp.erfc(-x / mp.sqrt(2)) / 2
    if name in _DEFINED:
        return lambda *x: _DEFINED[name](mp, *x)
    if name == "Phi2":
        return lambda h, k, r: bivariate(h, k, r, mp)
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
