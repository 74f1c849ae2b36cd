"""Variances of exactly 0: the limit from above, asked at a variance that disappears beside every other number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import mpmath

from derive.program.evaluate import run_mp
from derive.program.program import Program

VARIANCES = ("q", "q1", "q2")
ABOVE = {
    "numpy": "{0} = {0} + ({0} == 0)*np.finfo({0}.dtype).tiny**0.4",
    "torch": "{0} = {0} + ({0} == 0).to({0}.dtype)*torch.finfo({0}.dtype).tiny**0.4",
    "jax": "{0} = {0} + ({0} == 0)*jnp.finfo({0}.dtype).tiny**0.4",
}
"""A product of two such variances is still a normal number. Backends that are not here take positive variances."""
FAR = mpmath.mpf("0.37")
"""What the other arguments are meanwhile; |c| < 1."""


def above_zero(backend: str, names: Iterable[str]) -> list[str]:
    """A line for each variance among the names, which moves an exact 0 up by next to nothing."""
    return [ABOVE[backend].format(name) for name in names if name in VARIANCES] if backend in ABOVE else []


def stumbles(program: Program, bound: Sequence[tuple[str, Program]], names: Sequence[str]) -> bool:
    """Whether a formula has no value where a variance is 0: (q1 - q2)/(sqrt(q1) + sqrt(q2)) is 0/0 there.

    program   the formula
    bound     what its other names stand for, each a formula of those before it
    """
    present = [name for name in names if name in VARIANCES]
    for zeros in product((0, 1), repeat=len(present)):
        if all(zeros):
            continue
        given = dict.fromkeys(names, FAR) | dict(zip(present, map(mpmath.mpf, zeros), strict=True))
        if present and mpmath.isnan(_value(program, bound, given)):
            return True
    return False


def _value(program: Program, bound: Sequence[tuple[str, Program]], given: Mapping[str, mpmath.mpf]) -> mpmath.mpf:
    values = dict(given)
    for name, inner in (*bound, ("value", program)):
        try:
            values[name] = run_mp(inner, {name: values.get(name, FAR) for name in inner.inputs})["value"]
        except (ZeroDivisionError, ValueError, OverflowError):
            return mpmath.nan
    return values["value"]


__all__ = ["above_zero", "stumbles"]
