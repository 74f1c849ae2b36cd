"""Long formulas on a page: lines broken at additions, long subexpressions named in a `where` list."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sympy import Add, Expr, Symbol

from derive.show.printer import latex

if TYPE_CHECKING:
    from derive.gaussian.node import GaussianE

PAGE_WIDTH = 62.0
"""Letters of mathematics on a line of 345 points at 10 points, the column of the plain article class."""

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[{}&^_]|\s+|.", re.DOTALL)
_BINARY = set("+-=<>") | {r"\sim", r"\geq", r"\leq", r"\cdot", r"\to"}
_SILENT = {r"\right", r"\operatorname", r"\mathbb", r"\mathrm", r"\mathcal", r"\mathbf", r"\text", r"\;", r"\,", r"\!"}
_LETTERS = {
    r"\sqrt": 1.5,
    r"\quad": 2.0,
    r"\left": 0.25,  # the spaces around a bracketed factor
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
    return _width(deque(token for token in _TOKEN.findall(text) if not token.isspace()))


def _width(tokens: deque[str]) -> float:
    total = 0.0
    while tokens:
        token = tokens.popleft()
        if token == r"\frac":
            total += max(_width(_group(tokens)), _width(_group(tokens))) + 0.5
        elif token in ("^", "_"):
            total += 0.7 * _width(_group(tokens))
        elif token == "{":
            tokens.appendleft(token)
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


def _group(tokens: deque[str]) -> deque[str]:
    if not tokens or tokens[0] != "{":
        return deque([tokens.popleft()] if tokens else [])
    tokens.popleft()
    depth, inside = 1, deque[str]()
    while tokens:
        token = tokens.popleft()
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth == 0:
            break
        inside.append(token)
    return inside


def _rows(tokens: deque[str]) -> float:
    """The widest row of an environment that was just opened."""
    _group(tokens)
    rows: list[deque[str]] = [deque()]
    while tokens:
        token = tokens.popleft()
        if token == r"\end":
            _group(tokens)
            break
        if token == r"\begin":
            rows[-1] += ["x"] * round(_rows(tokens))
        elif token == r"\\":
            rows.append(deque())
        else:
            rows[-1].append(token)
    return max(_width(row) for row in rows) + 2


class _Page:
    """One formula being set: the names given so far, and what has been measured."""

    def __init__(self, known: Mapping[Expr, str] | None, earlier: _Page | None = None) -> None:
        self.names: dict[Symbol, Expr] = dict(earlier.names) if earlier else {}
        self.known: dict[Expr, str] = dict(known or {})
        self.known |= {symbol: earlier.known[symbol] for symbol in self.names} if earlier else {}
        self.bound: dict[Symbol, None] = {}
        self._measured: dict[Expr, tuple[str, float]] = {}

    def text(self, expr: Expr) -> str:
        return self._set(expr)[0]

    def width(self, expr: Expr) -> float:
        return self._set(expr)[1]

    def _set(self, expr: Expr) -> tuple[str, float]:
        if expr not in self._measured:
            text = latex(expr, self.known)
            self._measured[expr] = (text, width(text))
        return self._measured[expr]

    def name(self, part: Expr) -> Symbol:
        """The name of a part, a new one where it has none; variables of an integrand are its arguments."""
        found = next((symbol for symbol, expr in self.names.items() if expr == part), None)
        if found is not None:
            return found
        number = len(self.names) + 1
        symbol = Symbol(f"_A{number}")
        free = self._free(part)
        arguments = ", ".join(latex(z) for z in self.bound if z in free)
        self.known[symbol] = rf"\mathsf{{A}}_{{{number}}}" + (f"({arguments})" if arguments else "")
        self.names[symbol] = part
        return symbol

    def _free(self, part: Expr) -> set[Symbol]:
        """The symbols of a part, those inside of names included."""
        own = part.free_symbols
        return own.union(*(self._free(self.names[symbol]) for symbol in own if symbol in self.names))

    def integrand(self, node: GaussianE) -> Expr:
        """The expectation with a name for its integrand."""
        if node.body.is_Atom:
            return node
        self.bound |= dict.fromkeys(node.variables)
        return node.func(node.integrand.func(node.variables, self.name(node.body)), node.cov, node.mean)


def broken(expr: Expr, known: Mapping[Expr, str] | None = None, limit: float = PAGE_WIDTH, left: float = 0.0) -> Lines:
    """An expression as lines that leave room for a left-hand side of width `left` within `limit`."""
    return broken_sides([(expr, known)], limit, left)[0]


def broken_sides(
    sides: Sequence[tuple[Expr, Mapping[Expr, str] | None]], limit: float = PAGE_WIDTH, left: float = 0.0
) -> list[Lines]:
    """The sides of one equation, each with what its formulas call things; a name means the same in all of them.

    The names explained after `where` stand in the column of the left-hand side, and may widen it.
    """
    found = _sides(sides, limit - left)
    named = [rf"\text{{where}}\quad {name}" for lines in found for name, _ in lines.where]
    column = max(map(width, named), default=0.0)
    return found if column <= left else _sides(sides, limit - column)


def _sides(sides: Sequence[tuple[Expr, Mapping[Expr, str] | None]], room: float) -> list[Lines]:
    page: _Page | None = None
    explained: dict[str, tuple[str, ...]] = {}
    found = []
    for expr, known in sides:
        page = _Page(known, page)
        lines = tuple(_lines(expr, page, room))
        while len(explained) < len(page.names):  # definitions may need names of their own
            symbol = list(page.names)[len(explained)]
            explained[page.text(symbol)] = tuple(_lines(page.names[symbol], page, room))
        found.append(Lines(lines, _used(lines, explained)))
    return found


def _used(lines: Iterable[str], explained: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The names in these lines, and in what explains them."""
    used: set[str] = set()
    rows = list(lines)
    while rows:
        row = rows.pop()
        for name in [name for name in explained if name not in used and name in row]:
            used.add(name)
            rows += explained[name]
    return tuple((name, definition) for name, definition in explained.items() if name in used)


def _lines(expr: Expr, page: _Page, limit: float) -> list[str]:
    if page.width(expr) <= limit:
        return [page.text(expr)]
    terms = expr.as_ordered_terms() if isinstance(expr, Add) else [expr]
    rows: list[str] = []
    for term in terms:
        text = page.text(narrowed(term, page, limit - 3))
        signed = text if text.lstrip().startswith("-") or not rows else f"+ {text}"
        if rows and width(rows[-1]) + width(signed) <= limit:
            rows[-1] += f" {signed}"
        else:
            rows.append(signed)
    return rows


def narrowed(term: Expr, page: _Page, limit: float) -> Expr:
    """The term with its widest nameable parts named until it fits; as it is where no part can be named."""
    while page.width(term) > limit:
        parts = [part for part in _nameable(term) if page.width(part) > 6]
        if is_expectation(term):
            return page.integrand(term)
        if not parts:
            return term
        sums = [part for part in parts if isinstance(part, Add) and page.width(part) > limit]
        fitting = [part for part in parts if page.width(part) <= limit]
        # a sum too wide for a line is named whole: its definition breaks at its additions
        part = max(sums or fitting or parts, key=lambda p: (page.width(p), page.text(p)))
        term = term.xreplace({part: page.name(part)})
    return term


def is_expectation(expr: object) -> bool:
    """Whether it is an unevaluated expectation."""
    return type(expr).__name__ == "GaussianE"


def _nameable(expr: Expr) -> list[Expr]:
    """Proper subexpressions; of an expectation only the whole, whose variables are its own."""
    found: list[Expr] = []
    stack = [] if is_expectation(expr) else list(expr.args)
    while stack:
        part = stack.pop()
        if is_expectation(part):
            found.append(part)
        elif isinstance(part, Expr) and not part.is_Atom:
            found.append(part)
            stack.extend(part.args)
        else:
            stack.extend(part.args)
    return found
