"""Mechanical wrong versions of a closed form: one number, exponent, sign, name or function of it changed at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Change = Callable[[Any], Any]
"""A subexpression to its wrong version, or None where the kind does not apply."""


def wrong_forms(closed: Any, most: int = 2) -> Iterator[tuple[str, Any]]:
    """(kind, wrong form) for every kind of mistake, at `most` places of the form each, the outermost first.

    closed   a SymPy expression without expectations in it
    """
    from sympy import preorder_traversal

    places = list(dict.fromkeys(preorder_traversal(closed)))
    for kind, change in kinds().items():
        found = 0
        for place in places:
            new = change(place)
            if new is None or new == place:
                continue
            wrong = closed.xreplace({place: new})
            if wrong != closed:
                found += 1
                yield f"{kind}, {found}. place", wrong
            if found == most:
                break


def kinds() -> dict[str, Change]:
    """Every kind of mistake, by its name."""
    return {**_numbers(), **_functions(), **_names()}


def _numbers() -> dict[str, Change]:
    from sympy import Add, Mul, Pow, Rational, pi

    def power(change: Change) -> Change:
        return lambda e: Pow(e.base, change(e.exp)) if isinstance(e, Pow) and e.exp.is_Rational else None

    def number(factor: Any) -> Change:
        """Numbers that multiply; those in exponents are kinds of their own."""

        def changed(e: Any) -> Any:
            if isinstance(e, Mul) and e.args[0].is_Rational and e.args[0] != -1:
                return Mul(e.args[0] * factor, *e.args[1:])
            return None

        return changed

    def constant(e: Any) -> Any:
        """A number that is added."""
        if isinstance(e, Add) and e.args[0].is_Rational:
            return Add(e.args[0] * Rational(101, 100), *e.args[1:])
        return None

    return {
        "coefficient 1 % too large": number(Rational(101, 100)),
        "coefficient 1 % too small": number(Rational(99, 100)),
        "coefficient inverted": lambda e: (
            Mul(1 / e.args[0], *e.args[1:]) if isinstance(e, Mul) and e.args[0].is_Rational else None
        ),
        "added number 1 % too large": constant,
        "pi 1 % too large": lambda e: Rational(101, 100) * pi if e is pi else None,
        "pi halved": lambda e: pi / 2 if e is pi else None,
        "exponent 1 too large": power(lambda n: n + 1),
        "exponent of wrong sign": power(lambda n: -n),
        "root forgotten": lambda e: e.base if isinstance(e, Pow) and e.exp == Rational(1, 2) else None,
        "square forgotten": lambda e: e.base if isinstance(e, Pow) and e.exp == 2 else None,
        "one term of a bracket dropped": lambda e: Add(*e.args[1:]) if isinstance(e, Add) else None,
        "one sign of a bracket reversed": lambda e: Add(*e.args[:-1], -e.args[-1]) if isinstance(e, Add) else None,
        "one factor dropped": lambda e: Mul(*e.args[:-1]) if isinstance(e, Mul) and len(e.args) > 2 else None,
    }


def _functions() -> dict[str, Change]:
    from sympy import acos, asin, atan2, cos, cosh, erf, erfc, exp, sin, sinh

    def named(name: str) -> Callable[[Any], bool]:
        return lambda e: type(e).__name__.lower() == name

    def is_phi(e: Any) -> bool:
        return getattr(type(e), "latex_name", "") == r"\Phi"

    def is_phi2(e: Any) -> bool:
        return getattr(type(e), "latex_name", "") == r"\Phi_2"

    swap = {asin: acos, acos: asin, sin: cos, cos: sin, sinh: cosh, cosh: sinh, erf: erfc, erfc: erf}
    return {
        "its counterpart (arccos for arcsin, ...)": lambda e: swap[e.func](*e.args) if e.func in swap else None,
        "wrong branch (arguments of atan2 exchanged)": lambda e: (
            atan2(e.args[1], e.args[0]) if isinstance(e, atan2) else None
        ),
        "wrong branch (sign under atan2)": lambda e: atan2(e.args[0], -e.args[1]) if isinstance(e, atan2) else None,
        "other tail (Phi(-x) for Phi(x))": lambda e: e.func(-e.args[0]) if is_phi(e) else None,
        "other orthant": lambda e: e.func(-e.args[0], *e.args[1:]) if is_phi2(e) else None,
        "correlation of wrong sign in an orthant": lambda e: e.func(*e.args[:2], -e.args[2]) if is_phi2(e) else None,
        "rate of an exponential of wrong sign": lambda e: exp(-e.args[0]) if isinstance(e, exp) else None,
        "rate of an exponential halved": lambda e: exp(e.args[0] / 2) if isinstance(e, exp) else None,
        "wrong side of a step": lambda e: 1 - e if named("heaviside")(e) else None,
    }


def _names() -> dict[str, Change]:
    def one(name: str, new: Callable[[dict[str, Any]], Any]) -> Change:
        """In one bracket or power alone: everywhere at once is a change of arguments."""

        def changed(e: Any) -> Any:
            if e.is_Symbol or not e.args:
                return None
            known = {s.name: s for s in e.free_symbols}
            if name not in known or (len(e.args) > 2 and not e.is_Mul):
                return None
            other = new(known)
            return None if other is None else e.xreplace({known[name]: other})

        return changed

    return {
        "q1 for q2 in one place": one("q2", lambda s: s.get("q1")),
        "K of wrong sign in one place": one("K", lambda s: -s["K"]),
        "K dropped in one place": one("K", lambda s: 0 * s["K"]),
        "Delta without K^2 in one place": one("Delta", lambda s: s["q1"] * s["q2"] if {"q1", "q2"} <= set(s) else None),
        "sigma_b for sigma_w": one("sigma_w", lambda s: s.get("sigma_b")),
        "q twice as large in one place": one("q", lambda s: 2 * s["q"]),
    }
