"""Sizes beyond which a formula is refused before anything is computed with it."""

from __future__ import annotations

MAX_TEXT = 20_000
"""Characters of a formula."""
MAX_NESTING = 100
"""Expressions inside expressions (brackets, function calls, right-hand sides) while reading."""
MAX_DEPTH = 200
"""Levels of a tree (a sum of n terms has n)."""
MAX_NODES = 4_000
"""Nodes of a tree after the catalogue's functions are written out."""
MAX_DIGITS = 1_300
"""Digits of a number as typed."""
MAX_EXPONENT = 400
"""Power of ten of a number as typed."""
MAX_BITS = 4_096
"""Bits of a numerator or denominator after folding."""
MAX_POWER = 1_000
"""A numeric exponent."""
MAX_DEGREE = 80
"""The degree in x and the parameters that exponents lead to: expectations of more take minutes."""
MAX_MAGNITUDE = 1_000
"""Power of ten of a constant subexpression."""
MAX_OPERANDS = 16
"""Operands of max or min, nested ones counted: SymPy compares every pair."""
