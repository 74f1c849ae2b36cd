"""Passes from program to program, one file each; `print` the program before and after to see what one does."""

from derive.program.passes.branches import protect
from derive.program.passes.constants import fold
from derive.program.passes.stable import stabilise

__all__ = ["fold", "protect", "stabilise"]
