"""Whether a function only rises or only falls, proved piece by piece from the sign of its derivative."""

from __future__ import annotations

from collections.abc import Mapping

from flint import arb
from sympy import Add, Expr, Mul, cos, expand, oo, sin
from sympy.simplify.fu import TR8

from derive.activation.cells import Cell, sign_of
from derive.activation.certify import certify
from derive.activation.demands import known_sign
from derive.activation.interval import INF, NEG_INF, Range
from derive.activation.jumps import jumps
from derive.activation.ranges import Ranges
from derive.activation.signs import sign_cells
from derive.activation.terms import NormalForm, is_ordered
from derive.program.symbols import X
from derive.records import Unsupported

PARTS = 100
SAMPLES = ("-7", "-2.3", "-1.1", "-0.6", "-0.2", "0.3", "0.8", "1.3", "2.7", "8")


def monotone(form: NormalForm, values: Mapping[str, arb | Range]) -> str | None:
    """ "increasing" if f never falls, "decreasing" if it never rises, None if neither is proved.

    Constants count as increasing. Points (not pieces) are left out, as everywhere.
    """
    if not is_ordered(form):
        return None
    slopes = [Cell(cell.lower, cell.upper, cell.value.diff(X)) for cell in form.cells]
    steps = [sign_of(jump.height) for jump in jumps(form)]
    for name, sign in (("increasing", 1), ("decreasing", -1)):
        if all(step is not None and step * sign >= 0 for step in steps) and all(
            _never_negative(Cell(c.lower, c.upper, sign * c.value), values) for c in slopes
        ):
            return name
    return None


def _never_negative(slope: Cell, values: Mapping[str, arb | Range]) -> bool:
    low, high = _ends(slope, values)
    known = {s.name for s in slope.value.free_symbols - {X}} <= set(values)
    used = {s.name: values[s.name] for s in slope.value.free_symbols - {X} if s.name in values}
    points = [arb(t) for t in SAMPLES if low < arb(t) < high] if known else []
    if any(_at(slope.value, point, used).high < 0 for point in points):
        return False
    forms = list(dict.fromkeys(_forms(slope)))
    if any(known_sign(form, slope.lower, slope.upper, "nonnegative") for form in forms):
        return True
    for form in forms:
        try:
            return all(part.value >= 0 for part in sign_cells(form, slope.lower, slope.upper))
        except Unsupported:
            continue
    for form in reversed(forms) if known else ():
        # smaller intervals of x do not help where a point leaves the sign open because of the parameters
        hopeless = used and any(_at(form, point, used).low < 0 for point in points)
        if not hopeless and certify(form, "nonnegative", low, high, values, PARTS).holds is True:
            return True
    return False


def _forms(cell: Cell):
    """The slope in forms of which one may show its sign: positive factors that its terms share do not matter."""
    slope = cell.value
    yield slope
    yield _without_positive_factors(slope)
    above, below = slope.as_numer_denom()
    if below != 1:
        try:
            signs = {int(part.value) for part in sign_cells(below, cell.lower, cell.upper)}
        except Unsupported:
            signs = set()
        if len(signs) == 1:
            yield expand(signs.pop() * above)
    if slope.has(sin, cos):
        yield TR8(slope)


def _without_positive_factors(slope: Expr) -> Expr:
    """The sum over the lowest power of each positive base in its terms."""
    terms = [term.as_powers_dict() for term in Add.make_args(slope)]
    shared = [base for base in terms[0] if base.has(X) and base.is_positive and all(base in other for other in terms)]
    lowest = {base: [term[base] for term in terms] for base in shared}
    factors = [base ** min(powers) for base, powers in lowest.items() if all(power.is_Rational for power in powers)]
    return expand(Add(*(term / Mul(*factors) for term in Add.make_args(slope)))) if factors else slope


def _ends(cell: Cell, values) -> tuple[arb, arb]:
    numbers = Ranges(arb(0), arb(0), values)
    known = set(values)
    low = cell.lower is not -oo and {s.name for s in cell.lower.free_symbols} <= known
    high = cell.upper is not oo and {s.name for s in cell.upper.free_symbols} <= known
    return numbers(cell.lower).low if low else NEG_INF, numbers(cell.upper).high if high else INF


def _at(slope: Expr, point: arb, values) -> Range:
    return Ranges(point.lower(), point.upper(), values)(slope)
