"""Formula text, SymPy expressions and torch modules to trees, and trees to SymPy and to text."""

from derive.formula.build import to_sympy
from derive.formula.composition import compose
from derive.formula.intervals import exact, interval
from derive.formula.module import read_module
from derive.formula.printer import show_text
from derive.formula.reader import read
from derive.formula.unbuild import from_sympy

__all__ = ["compose", "exact", "from_sympy", "interval", "read", "read_module", "show_text", "to_sympy"]
