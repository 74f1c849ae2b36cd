"""Passes from program to program, one file each; `print` the program before and after to see what one does."""

from derive.program.passes.fold import fold
from derive.program.passes.protect import protect
from derive.program.passes.stabilise import stabilise

__all__ = ["fold", "protect", "stabilise"]
