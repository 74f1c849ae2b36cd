"""How far apart two words are, and which known word was meant."""

from __future__ import annotations

from collections.abc import Iterable


def distance(a: str, b: str) -> int:
    """Letters inserted, left out, exchanged or swapped with their neighbour that make `b` of `a`.

    Source: Damerau 1964, Comm. ACM 7(3), 171-176, as restricted to one edit a letter (optimal string alignment).
    """
    rows = [list(range(len(b) + 1))]
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            best = min(rows[-1][j] + 1, row[j - 1] + 1, rows[-1][j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was meant, or nothing: at most one edit in three letters, swapped letters first."""
    lowered = word.lower()
    limit = max(1, len(word) // 3)
    found = []
    for name in known:
        other = name.lower()
        if abs(len(other) - len(lowered)) <= limit and (edits := distance(lowered, other)) <= limit:
            swapped = sorted(other) == sorted(lowered)
            apart = other[:1] != lowered[:1], not lowered.startswith(other)
            found.append((edits, not swapped, *apart, len(name), name))
    return min(found)[-1] if found else ""
