"""Text to tokens: Python spelling plus the Unicode that papers use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from derive.formula.limits import MAX_DIGITS, MAX_EXPONENT, MAX_TEXT
from derive.formula.messages import fail, pointed
from derive.records import FormulaError


@dataclass(frozen=True, slots=True)
class Token:
    """kind: "num" (value: Fraction), "name" (value: str), "op" (value: str) or "end"."""

    kind: str
    value: Fraction | str
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        """Start and end offset in the text."""
        return self.start, self.end


NUMBER = re.compile(r"(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OPERATORS = ("**", "<=", ">=", "==", "!=", "+", "-", "*", "/", "^", "(", ")", ",", "<", ">", "=", "|", "&")
OPERATOR_SIGNS = {
    "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "∗": "*", "÷": "/", "∕": "/",
    "≤": "<=", "≥": ">=", "≠": "!=", "∧": "&", "∨": "|", "√": "√",
}  # fmt: skip
LETTERS = {
    "π": "pi", "Φ": "Phi", "φ": "phi", "ϕ": "phi", "σ": "sigma", "α": "alpha", "β": "beta", "γ": "gamma",
    "δ": "delta", "ε": "epsilon", "ϵ": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "κ": "kappa",
    "λ": "lambda", "μ": "mu", "µ": "mu", "ν": "nu", "ξ": "xi", "ρ": "rho", "τ": "tau", "χ": "chi", "ψ": "psi",
    "ω": "omega", "Ω": "Omega", "Δ": "Delta", "Λ": "Lambda",
}  # fmt: skip
"""A Greek letter is the name spelled out: λ and `lambda` are one parameter."""
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
FRACTIONS = {"½": Fraction(1, 2), "⅓": Fraction(1, 3), "¼": Fraction(1, 4), "¾": Fraction(3, 4), "⅔": Fraction(2, 3)}
NO_PART = {
    '"': "text in quotes is no part of a formula", "'": "text in quotes is no part of a formula",
    ":": "a colon is no part of a formula", "[": "square brackets are no part of a formula: use ( )",
    "]": "square brackets are no part of a formula: use ( )", "{": "braces are no part of a formula: use ( )",
    "}": "braces are no part of a formula: use ( )", "%": "the remainder % is no part of a formula",
    ";": "a formula is one expression", "!": "the factorial is no part of a formula",
    "@": "the matrix product @ is no part of a formula: activations act on one number",
    "\\": "LaTeX is not read: write sqrt(x), not \\sqrt{x}", "\u221e": "infinity is no part of a formula",
}  # fmt: skip


def tokens(text: str) -> list[Token]:
    """The tokens of a formula, ended by one of kind "end"; FormulaError at the first foreign character."""
    if len(text) > MAX_TEXT:
        raise FormulaError(
            f"the formula has {len(text)} characters",
            where=pointed(text, 0, 0).splitlines()[0],
            why=f"a formula has at most {MAX_TEXT} characters",
        )
    found: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _token(text, at, found)
        found.extend(token)
        at = token[-1].end
    return [*found, Token("end", "", len(text), len(text))]


def _token(text: str, at: int, found: list[Token]) -> list[Token]:
    char = text[at]
    if match := NUMBER.match(text, at):
        return [_number(text, match)]
    if match := NAME.match(text, at):
        return [Token("name", match.group(), at, match.end())]
    if char in LETTERS:
        # a following subscript or digit belongs to the name: λ1, α_max
        end = at + 1
        while text[end : end + 1].isascii() and (text[end : end + 1].isalnum() or text[end : end + 1] == "_"):
            end += 1
        return [Token("name", LETTERS[char] + text[at + 1 : end], at, end)]
    if char in FRACTIONS:
        return [Token("num", FRACTIONS[char], at, at + 1)]
    if char in SUPERSCRIPTS:
        return _superscript(text, at)
    if char in OPERATOR_SIGNS:
        return [Token("op", OPERATOR_SIGNS[char], at, at + 1)]
    for spelling in OPERATORS:
        if text.startswith(spelling, at):
            return [Token("op", "**" if spelling == "^" else spelling, at, at + len(spelling))]
    if char == "." and found and found[-1].end == at:
        return [Token("op", ".", at, at + 1)]
    if char == "~":
        return [Token("op", "~", at, at + 1)]
    if char == ":" and any(token.value == "lambda" for token in found):
        start = next(token.start for token in found if token.value == "lambda")
        body = text[at + 1 :].strip()
        instead = f"write {body[:60]}" if body and not text[:start].strip() else "write the expression in x alone"
        fail(
            text,
            (start, at + 1),
            "a Python lambda is not read",
            why="a formula is one expression in x",
            instead=instead,
        )
    return fail(text, (at, at + 1), NO_PART.get(char, f"{char!r} is no part of a formula"))


def _number(text: str, match: re.Match) -> Token:
    start, end = match.span()
    digits = match.group().replace("_", "")
    mantissa, _, exponent = digits.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or (exponent and (len(exponent) > 5 or abs(int(exponent)) > MAX_EXPONENT)):
        fail(
            text,
            (start, end),
            "this number is too long",
            why=f"numbers are kept exact: at most {MAX_DIGITS} digits and powers of ten up to {MAX_EXPONENT}",
        )
    if mantissa.count(".") > 1 or text[end : end + 1] == ".":
        fail(text, (start, end + 1), "this number has two decimal points")
    if text[end : end + 1] in ("j", "J") and not text[end + 1 : end + 2].isalnum():
        fail(text, (start, end + 1), "complex numbers are no part of a formula")
    return Token("num", Fraction(mantissa.rstrip(".") or "0") * Fraction(10) ** int(exponent or 0), start, end)


def _superscript(text: str, at: int) -> list[Token]:
    end = at
    while end < len(text) and text[end] in SUPERSCRIPTS:
        end += 1
    digits = "".join(SUPERSCRIPTS[char] for char in text[at:end])
    if not re.fullmatch(r"-?[0-9]{1,6}", digits):
        fail(text, (at, end), "this exponent is no whole number")
    return [Token("op", "**", at, at), Token("num", Fraction(int(digits)), at, end)]
