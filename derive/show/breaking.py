"""Long formulas on a page: lines broken at additions, long subexpressions named in a `where` list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Add, Expr, Symbol, count_ops

from derive.show.printer import latex

PAGE_WIDTH = 74.0
"""Letters of mathematics on a line of the page that `latex.page` sets up (16 cm at 11 points)."""

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[{}&^_]|\s+|.", re.DOTALL)
_BINARY = set("+-=<>") | {r"\sim", r"\geq", r"\leq", r"\cdot", r"\to"}
_SILENT = {
    r"\left",
    r"\right",
    r"\operatorname",
    r"\mathbb",
    r"\mathrm",
    r"\mathcal",
    r"\mathbf",
    r"\text",
    r"\;",
    r"\,",
    r"\!",
}
_LETTERS = {
    r"\sqrt": 1.5,
    r"\quad": 2.0,
    r"\min": 3,
    r"\max": 3,
    r"\sin": 3,
    r"\cos": 3,
    r"\tan": 3,
    r"\exp": 3,
    r"\ln": 2,
}


@dataclass(frozen=True)
class Lines:
    """A formula as lines (LaTeX, to be aligned at their beginnings) and the names used in them."""

    lines: tuple[str, ...]
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()


def width(text: str) -> float:
    """The width of LaTeX mathematics in letters: of a fraction its wider half, scripts at 0.7, brackets half."""
    tokens = [token for token in _TOKEN.findall(text) if not token.isspace()]
    return _width(tokens)


def _width(tokens: list[str]) -> float:
    total = 0.0
    while tokens:
        token = tokens.pop(0)
        if token == r"\frac":
            total += max(_width(_group(tokens)), _width(_group(tokens))) + 0.5
        elif token in ("^", "_"):
            total += 0.7 * _width(_group(tokens))
        elif token == "{":
            tokens.insert(0, token)
            total += _width(_group(tokens))
        elif token == r"\begin":
            total += _rows(tokens)
        elif token in _BINARY:
            total += 2.4
        elif token in _SILENT or token in "}&":
            continue
        elif token in "()[]|,.":
            total += 0.7
        elif token.startswith("\\"):
            total += _LETTERS.get(token, len(token) - 1 if token.startswith(r"\arc") or len(token) > 8 else 1.1)
        else:
            total += 1.05
    return total


def _group(tokens: list[str]) -> list[str]:
    if not tokens or tokens[0] != "{":
        return [tokens.pop(0)] if tokens else []
    tokens.pop(0)
    depth, inside = 1, []
    while tokens:
        token = tokens.pop(0)
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth == 0:
            break
        inside.append(token)
    return inside


def _rows(tokens: list[str]) -> float:
    """The widest row of an environment that was just opened."""
    _group(tokens)
    rows: list[list[str]] = [[]]
    while tokens:
        token = tokens.pop(0)
        if token == r"\end":
            _group(tokens)
            break
        if token == r"\begin":
            rows[-1] += ["x"] * round(_rows(tokens))
        elif token == r"\\":
            rows.append([])
        else:
            rows[-1].append(token)
    return max(_width(row) for row in rows) + 2


def broken(expr: Expr, known: Mapping[Expr, str] | None = None, limit: float = PAGE_WIDTH) -> Lines:
    """An expression as lines no wider than `limit`."""
    names: dict[Symbol, Expr] = {}
    known = dict(known or {})
    lines = _lines(expr, names, known, limit)
    where: list[tuple[str, tuple[str, ...]]] = []
    done = 0
    while done < len(names):  # definitions may need names of their own
        symbol = list(names)[done]
        rows = _lines(names[symbol], names, known, limit)
        left = latex(symbol, known)
        where.append((left, tuple(rows)))
        done += 1
    return Lines(tuple(lines), tuple(where))


def _lines(expr: Expr, names: dict[Symbol, Expr], known: dict[Expr, str], limit: float) -> list[str]:
    if width(latex(expr, known)) <= limit:
        return [latex(expr, known)]
    terms = expr.as_ordered_terms() if isinstance(expr, Add) else [expr]
    rows: list[str] = []
    for term in terms:
        text = latex(_narrow(term, names, known, limit - 3), known)
        signed = text if text.lstrip().startswith("-") or not rows else f"+ {text}"
        if rows and width(rows[-1]) + width(signed) <= limit:
            rows[-1] += f" {signed}"
        else:
            rows.append(signed)
    return rows


def _narrow(term: Expr, names: dict[Symbol, Expr], known: dict[Expr, str], limit: float) -> Expr:
    """The term with its widest nameable parts named until it fits; as it is where no part can be named."""
    while width(latex(term, known)) > limit:
        parts = [part for part in _nameable(term) if width(latex(part, known)) > 6]
        if not parts:
            return term
        sums = [part for part in parts if isinstance(part, Add) and width(latex(part, known)) > limit]
        fitting = [part for part in parts if width(latex(part, known)) <= limit]
        # a sum too wide for a line is named whole: its definition breaks at its additions
        part = max(sums or fitting or parts, key=lambda p: (width(latex(p, known)), count_ops(p), str(p)))
        symbol = next((s for s, e in names.items() if e == part), None) or _fresh(term, names, known)
        names[symbol] = part
        term = term.xreplace({part: symbol})
    return term


def _nameable(expr: Expr) -> list[Expr]:
    """Proper subexpressions without bound variables."""
    found: list[Expr] = []
    stack = list(expr.args)
    while stack:
        part = stack.pop()
        if type(part).__name__ == "GaussianE":
            found.append(part)
        elif type(part).__name__ != "Lambda":
            if isinstance(part, Expr) and not part.is_Atom:
                found.append(part)
            stack.extend(part.args)
    return found


def _fresh(term: Expr, names: dict[Symbol, Expr], known: dict[Expr, str]) -> Symbol:
    symbol = Symbol(f"_A{len(names) + 1}")
    known[symbol] = rf"\mathsf{{A}}_{{{len(names) + 1}}}"
    return symbol
