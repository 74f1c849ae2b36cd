"""Numbers from users, made exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from derive.formula.intervals import exact as decimal
from derive.records import DomainError, Enclosure, EocError


def exact(value: Any, name: str) -> Fraction:
    """An int, float, Fraction, decimal text, or SymPy rational as the rational of its shortest decimal.

    0.1 is one tenth, not the binary double. Raises EocError naming the argument.
    """
    if isinstance(value, (bool, Enclosure)):
        raise EocError(f"{name} = {value!r} is no exact number", instead=f"{name}={float(value)!r}")
    try:
        return decimal(float(value) if hasattr(value, "dtype") else value)
    except (EocError, ValueError, TypeError, ZeroDivisionError):
        raise EocError(
            f"{name} = {value!r} is no finite number", instead=f"{name}=0.5, {name}='1/3' or Fraction(1, 3)"
        ) from None


def deviation(value: Any, name: str) -> Fraction:
    """A standard deviation as an exact rational; DomainError where it is negative."""
    number = exact(value, name)
    if number < 0:
        raise DomainError(
            f"{name} = {value} is negative", why=f"{name} is a standard deviation", instead=f"{name}={-number}"
        )
    return number
