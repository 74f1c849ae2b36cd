"""C99: functions of doubles, compiled with nothing but the mathematics library; elementary functions, erf and erfc."""

from __future__ import annotations

import re
import textwrap

from derive.emit.backend import Backend
from derive.emit.text import Body
from derive.records import Unsupported

_KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"
)
_LIBRARY = "y0 y1 yn j0 j1 jn gamma signgam div abs exp log sqrt sin cos tan erf erfc pow fabs fmax fmin main"


def function(body: Body) -> str:
    """One function: `double name(double x, double a)`, the parameters after the arguments in their order."""
    names = (*body.arguments, *body.parameters)
    words = ", ".join(f"double {name}" for name in names)
    lines = [f"{'' if line.split(' = ')[0] in names else 'const double '}{_assigned(line)};" for line in body.lines]
    unused = [f"(void){name};" for name in names if not re.search(rf"\b{name}\b", " ".join((*lines, body.value)))]
    doc = body.doc.replace("*/", "* /").replace("/*", "/ *")
    comment = "/*\n" + textwrap.indent(doc, " ", lambda line: True).replace(" \n", "\n") + "\n */\n" if doc else ""
    text = [*unused, *lines, f"return {body.value};"]
    return f"{comment}double {body.name}({words})\n{{\n" + "\n".join(f"    {line}" for line in text) + "\n}"


def _assigned(line: str) -> str:
    if "\n" in line:
        raise Unsupported("a statement of several lines in C")
    return line


BACKEND = Backend(
    name="c",
    imports=("#include <math.h>",),
    preamble="",
    function=function,
    shapes="Doubles in, a double out.",
    infinity="INFINITY",
    pi="3.141592653589793",
    comment=("/*", "*/"),
    power="pow({0}, {1})",
    scalars=True,
    reserved=frozenset(f"{_KEYWORDS} {_LIBRARY}".split()),
    only=("EXACT",),
)
