"""mpmath: real numbers of any precision, one at a time; the reference the other backends are measured against."""

from __future__ import annotations

from derive.emit.backend import Backend
from derive.emit.layout import indented, signature
from derive.emit.text import Body

PREAMBLE = '''
def _reals(*values):
    """The arguments as mpmath numbers, at the precision in force (mp.dps)."""
    return tuple(mp.mpf(value) for value in values)


def _rational(numerator, denominator):
    """A rational number at the precision in force."""
    return mp.mpf(numerator)/denominator
'''


def function(body: Body) -> str:
    """One function of real numbers; text is not differentiated, so partial derivatives are left out."""
    names = ", ".join((*body.arguments, *body.parameters))
    head = signature(body, "mp.mpf", "mp.mpf", "mp.mpf")
    comma = "," if len(body.arguments) + len(body.parameters) == 1 else ""
    lines = [f"{names}{comma} = _reals({names})", *body.lines, f"return mp.mpf({body.value})"]
    return indented(head, body.doc, lines)


BACKEND = Backend(
    name="mpmath",
    imports=("from mpmath import mp",),
    preamble=PREAMBLE,
    function=function,
    shapes="Real numbers in, a real number out, at the precision in force (mp.dps).",
    infinity="mp.inf",
    pi="mp.pi",
    exact=True,
    rational="_rational({0}, {1})",
    reserved=frozenset(("mp",)),
)
