"""Small linear algebra over the exact field of a question."""

from __future__ import annotations

from typing import Any

Matrix = tuple[tuple[Any, ...], ...]


def dot(a, b, zero):
    """The inner product of two vectors."""
    total = zero
    for x, y in zip(a, b, strict=True):
        if x and y:
            total = total + x * y
    return total


def apply(matrix: Matrix, vector, zero) -> tuple:
    """matrix . vector."""
    return tuple(dot(row, vector, zero) for row in matrix)


def multiply(a: Matrix, b: Matrix, zero) -> Matrix:
    """a . b."""
    columns = list(zip(*b, strict=True))
    return tuple(tuple(dot(row, column, zero) for column in columns) for row in a)


def determinant(matrix: Matrix, one):
    """The determinant, by elimination."""
    return _eliminate(matrix, one)[0]


def solve(matrix: Matrix, right: Matrix, one) -> tuple[Any, Matrix | None]:
    """(determinant, matrix^-1 . right); None in place of the solution of a singular system."""
    size = len(matrix)
    det, rows = _eliminate(tuple((*row, *extra) for row, extra in zip(matrix, right, strict=True)), one, size)
    if not det:
        return det, None
    return det, tuple(tuple(row[size:]) for row in rows)


def _eliminate(matrix: Matrix, one, size: int | None = None):
    """Gauss-Jordan elimination: the determinant of the leading square and the reduced rows."""
    rows = [list(row) for row in matrix]
    size = len(rows) if size is None else size
    det = one
    for column in range(size):
        pivot = next((r for r in range(column, size) if rows[r][column]), None)
        if pivot is None:
            return det - det, rows
        if pivot != column:
            rows[column], rows[pivot], det = rows[pivot], rows[column], -det
        lead = rows[column][column]
        det = det * lead
        rows[column] = [entry / lead if entry else entry for entry in rows[column]]
        for r in range(size):
            factor = rows[r][column]
            if r != column and factor:
                rows[r] = [x - factor * y if y else x for x, y in zip(rows[r], rows[column], strict=True)]
    return det, rows


__all__ = ["Matrix", "apply", "determinant", "dot", "multiply", "solve"]
