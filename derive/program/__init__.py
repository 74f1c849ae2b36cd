"""Operations, the gate out of SymPy, and evaluation."""

from derive.program.registry import by_head, by_spelling, operations

__all__ = ["by_head", "by_spelling", "operations"]
