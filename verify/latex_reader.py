"""Reads the formulas that our LaTeX printer prints, by a grammar of exactly those, and evaluates them.

Independent of the printer and of SymPy: text goes to mpmath numbers. What the grammar does not know is refused, so
that no formula is read as something else. An unevaluated expectation is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from derive.records import Unsupported
from verify.latex_functions import function

TOKEN = re.compile(r"\s*(\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[A-Za-z]|[-+^_{}()\[\]|,<>=*/!])")
PLAIN = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "ln": "log", "log": "log", "exp": "exp", "sec": "sec", "csc": "csc", "cot": "cot",
}  # fmt: skip
NAMED = {"erf": "erf", "erfc": "erfc", "atan2": "atan2", "sign": "sign", "asinh": "asinh", "acosh": "acosh",
         "atanh": "atanh", "sech": "sech", "csch": "csch", "coth": "coth", "Si": "si", "Ci": "ci", "Ei": "ei",
         "erfi": "erfi", "erfcx": "erfcx", "softplus": "softplus"}  # fmt: skip
LETTERS = {"T": "owens_t", "F": "dawson", r"\sigma": "sigmoid"}
"""Functions of one letter; as names of parameters they have no brackets behind them."""

Value = Callable[[Mapping[str, Any], Any], Any]
"""A number of mpmath from values of the names and a context."""


def read_latex(text: str, names: Mapping[str, str]) -> Value:
    r"""The formula in a text, as a function of (values, mp).

    text    "\frac{q \sigma_{w}^{2}}{2} + \sigma_{b}^{2}", with or without "V(q) = " before it
    names   LaTeX of each name -> the name, such as {r"\sigma_{w}": "sigma_w"}
    Raises Unsupported for what the grammar does not know.
    """
    body = text.rpartition(" = ")[2]
    reader = _Reader(_tokens(body, names), dict(names))
    value = reader.sum()
    reader.demand_end()
    return value


def _tokens(text: str, names: Mapping[str, str]) -> list[str]:
    """Tokens of a text; the spelling of a name is one token, the longest first."""
    spelled = sorted(names, key=len, reverse=True)
    found, place = [], 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        name = next((n for n in spelled if text.startswith(n, place) and not _runs_on(text, place, n)), None)
        match = None if name else TOKEN.match(text, place)
        if name is None and match is None:
            raise Unsupported(f"the grammar of formulas has no {text[place]!r}", where=text[place : place + 20])
        found.append(name or match[1])  # type: ignore[index]
        place = place + len(name) if name else match.end()  # type: ignore[union-attr]
    return found


def _runs_on(text: str, place: int, name: str) -> bool:
    r"""Whether what looks like a name is the beginning of a macro: \pi in \pitchfork, or of a name with an index."""
    after = text[place + len(name) : place + len(name) + 1]
    return (name.startswith("\\") and name[-1].isalpha() and after.isalpha()) or after == "_"


class _Reader:
    def __init__(self, tokens: Sequence[str], names: Mapping[str, str]) -> None:
        self.tokens, self.names, self.place = list(tokens), names, 0

    def peek(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        found = self.peek()
        if wanted and found not in wanted:
            raise Unsupported(
                f"expected {wanted[0]!r} in a formula and found {found or 'its end'!r}", where=self.near()
            )
        self.place += 1
        return found

    def near(self) -> str:
        return " ".join(self.tokens[max(0, self.place - 4) : self.place + 4])

    def demand_end(self) -> None:
        if self.peek():
            raise Unsupported(f"the formula goes on with {self.peek()!r}", where=self.near())

    def sum(self) -> Value:
        parts = [self.signed()]
        while self.peek() in ("+", "-"):
            parts.append(self.signed())
        return lambda v, mp: mp.fsum(part(v, mp) for part in parts)

    def signed(self) -> Value:
        sign = 1
        while self.peek() in ("+", "-"):
            sign *= -1 if self.take() == "-" else 1
        term = self.product()
        return term if sign == 1 else lambda v, mp: -term(v, mp)

    def product(self) -> Value:
        factors = [self.power()]
        while self.starts_factor():
            if self.peek() == r"\cdot":
                self.take()
            factors.append(self.power())
        return lambda v, mp: mp.fprod(factor(v, mp) for factor in factors)

    def starts_factor(self) -> bool:
        token = self.peek()
        ends = ("", "+", "-", "}", ")", "]", ",", "<", ">", r"\right", "|", "&")
        return token not in ends

    def power(self) -> Value:
        base = self.atom()
        if self.peek() != "^":
            return base
        self.take()
        exponent = self.group()
        return lambda v, mp: mp.power(base(v, mp), exponent(v, mp))

    def group(self) -> Value:
        """{...}, or one token."""
        if self.peek() != "{":
            return self.atom()
        self.take("{")
        inside = self.sum()
        self.take("}")
        return inside

    def atom(self) -> Value:
        token = self.take()
        if token in self.names:
            name = self.names[token]
            return lambda v, mp: v[name]
        if token[:1].isdigit():
            return lambda v, mp: mp.mpf(token)
        if token == r"\pi":
            return lambda v, mp: +mp.pi
        if token == "e":
            return lambda v, mp: +mp.e
        if token == "{":
            self.place -= 1
            return self.group()
        if token == r"\left":
            return self.bracket()
        if token in LETTERS and self.peek() == r"\left":
            return self.call(LETTERS[token])
        if token == "S" and self.peek() == "_":
            return self.signs()
        known = {r"\frac": self.fraction, r"\sqrt": self.root, r"\Phi": self.normal, r"\mathbf": self.indicator,
                 r"\operatorname": self.named}  # fmt: skip
        if token in known:
            return known[token]()
        if token[1:] in PLAIN:
            return self.call(PLAIN[token[1:]])
        raise Unsupported(f"the grammar of formulas has no {token!r}", where=self.near())

    def bracket(self) -> Value:
        opened = self.take("(", "|", "[")
        inside = self.sum()
        self.take(r"\right")
        self.take({"(": ")", "|": "|", "[": "]"}[opened])
        return (lambda v, mp: abs(inside(v, mp))) if opened == "|" else inside

    def fraction(self) -> Value:
        above, below = self.group(), self.group()
        return lambda v, mp: above(v, mp) / below(v, mp)

    def root(self) -> Value:
        if self.peek() == "[":
            self.take()
            order = self.sum()
            self.take("]")
            inside = self.group()
            return lambda v, mp: mp.power(inside(v, mp), 1 / order(v, mp))
        inside = self.group()
        return lambda v, mp: mp.sqrt(inside(v, mp))

    def normal(self) -> Value:
        r"""\Phi(x), \Phi_2(h, k, r)."""
        if self.peek() == "_":
            self.take()
            if self.take() != "2":
                raise Unsupported("the grammar knows orthants of two variables alone", where=self.near())
            return self.call("Phi2")
        return self.call("Phi")

    def signs(self) -> Value:
        r"""S_4(r12, r13, r14, r23, r24, r34)."""
        self.take("_")
        braced = self.peek() == "{"
        if braced:
            self.take()
        self.take("4")
        if braced:
            self.take("}")
        return self.call("S4", count=6)

    def named(self) -> Value:
        self.take("{")
        letters = ""
        while self.peek() not in ("}", ""):
            letters += self.take()
        self.take("}")
        if letters not in NAMED:
            raise Unsupported(f"the grammar of formulas has no {letters!r}", where=self.near())
        return self.call(NAMED[letters])

    def call(self, name: str, count: int = 0) -> Value:
        r"""f{\left(x, y \right)} or f\left(x\right), with an exponent before or behind the brackets.

        count   how many arguments there must be; 0: any number
        """
        power = self.exponent()
        braced = self.peek() == "{"
        if braced:
            self.take()
        self.take(r"\left")
        self.take("(")
        arguments = [self.sum()]
        while self.peek() == ",":
            self.take()
            arguments.append(self.sum())
        self.take(r"\right")
        self.take(")")
        if braced:
            self.take("}")
        if count and len(arguments) != count:
            raise Unsupported(f"{name} takes {count} arguments and has {len(arguments)}", where=self.near())

        def value(v: Mapping[str, Any], mp: Any) -> Any:
            found = function(name, mp)(*(argument(v, mp) for argument in arguments))
            return found if power is None else mp.power(found, power(v, mp))

        return value

    def exponent(self) -> Value | None:
        if self.peek() != "^":
            return None
        self.take()
        return self.group()

    def indicator(self) -> Value:
        r"""\mathbf{1}\left[a < b\right]."""
        for token in ("{", "1", "}", r"\left", "["):
            self.take(token)
        left = self.sum()
        test = self.take("<", ">")
        right = self.sum()
        self.take(r"\right")
        self.take("]")

        def value(v: Mapping[str, Any], mp: Any) -> Any:
            a, b = left(v, mp), right(v, mp)
            return mp.mpf(1) / 2 if a == b else mp.mpf(int(a < b if test == "<" else a > b))

        return value
