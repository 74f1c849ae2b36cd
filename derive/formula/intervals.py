"""Domains of parameters as users write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from derive.formula import nodes
from derive.formula.parser import Parser
from derive.records import DomainError, FormulaError, Interval

SIGNS = {
    "real": Interval(),
    "positive": Interval(lower=Fraction(0)),
    "negative": Interval(upper=Fraction(0)),
    "nonnegative": Interval(lower=Fraction(0), lower_open=False),
    "nonpositive": Interval(upper=Fraction(0), upper_open=False),
}
INFINITE = {"inf": 1, "+inf": 1, "oo": 1, "∞": 1, "+∞": 1, "-inf": -1, "-oo": -1, "-∞": -1, "−∞": -1, "": 0}
BRACKETED = re.compile(r"\s*([(\[\]])\s*([^,:;]*)[,:;]([^,:;]*?)\s*([)\[\]])\s*")
BARE = re.compile(r"([^,:;()\[\]]*):([^,:;()\[\]]*)")
INSTEAD = 'write (0, 1), "0:1", "[0, 1)" or "(0, inf)"'


def interval(value: object) -> Interval:
    """An interval from a pair (open ends), text such as "0:1", "[0, 1)", "(0, inf)", "positive", or an Interval."""
    if isinstance(value, Interval):
        found = value
    elif isinstance(value, str):
        found = _from_text(value)
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        found = Interval(_end(value[0], -1), _end(value[1], 1))
    else:
        raise DomainError(f"{value!r} is no interval", instead=INSTEAD)
    if not found.lower < found.upper and not (
        found.lower == found.upper and not (found.lower_open or found.upper_open)
    ):
        raise DomainError(f"the interval {found} is empty", instead=INSTEAD)
    return found


def _from_text(text: str) -> Interval:
    if text.strip() in SIGNS:
        return SIGNS[text.strip()]
    if match := BRACKETED.fullmatch(text):
        left, lower, upper, right = match.groups()
        return Interval(_end(lower, -1), _end(upper, 1), lower_open=left != "[", upper_open=right != "]")
    if match := BARE.fullmatch(text.strip()):
        return Interval(_end(match.group(1), -1), _end(match.group(2), 1))
    raise DomainError(f"{text[:80]!r} is no interval", instead=INSTEAD)


def _end(value: object, side: int) -> Fraction | float:
    if value is None:
        return side * float("inf")
    if isinstance(value, str):
        if (sign := INFINITE.get(value.strip())) is not None:
            return (sign or side) * float("inf")
        return exact(value)
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return value
    return exact(value)


def exact(value: object) -> Fraction:
    """A number as an exact rational: text and floats by their decimal digits, integers and fractions as they are."""
    if isinstance(value, bool) or value is None:
        raise DomainError(f"{value!r} is no number")
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    text = value if isinstance(value, str) else repr(float(value))  # type: ignore[arg-type]
    try:
        parser = Parser(text)
        node = parser.expression()
    except FormulaError as error:
        raise DomainError(f"{text[:80]!r} is no number", why=error.what) from error
    if parser.token.kind != "end" or node.head != "num":
        raise DomainError(
            f"{text[:80]!r} is no number", instead="write an integer, a decimal or a fraction such as 1/3"
        )
    return nodes.value(node)


def read_domains(
    domains: Mapping[str, object] | None, parameters: tuple[str, ...], usual: Mapping[str, object]
) -> tuple:
    """(name, Interval) for each parameter: the caller's, else the catalogue's, else the real line."""
    given = dict(domains or {})
    if foreign := sorted(set(given) - set(parameters)):
        raise DomainError(
            f"the formula has no parameter {foreign[0]!r}",
            why=f"its parameters are {', '.join(parameters)}" if parameters else "it has no parameters",
        )
    found = {}
    for name in parameters:
        try:
            found[name] = interval(given.get(name, usual.get(name, Interval())))
        except DomainError as error:
            raise DomainError(f"domain of {name}: {error.what}", why=error.why, instead=error.instead) from error
    return tuple(found.items())
