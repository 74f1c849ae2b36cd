"""Tokens to a tree: precedence climbing with Python's precedences, `^` binding as `**`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from derive.formula import calls, nodes
from derive.formula.lexer import Token, tokens
from derive.formula.limits import MAX_NESTING
from derive.formula.messages import fail
from derive.formula.vocabulary import CONDITION_WORDS, MODULE_PREFIXES, bare_name, known_functions
from derive.records import FormulaError, Node

if TYPE_CHECKING:
    from collections.abc import Sequence

CONDITIONAL, OR, AND, NOT, COMPARE, SUM, PRODUCT, SIGN, POWER = range(9)
BINARY = {
    "or": OR, "|": OR, "and": AND, "&": AND, "<": COMPARE, "<=": COMPARE, ">": COMPARE, ">=": COMPARE,
    "==": COMPARE, "!=": COMPARE, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "**": POWER,
}  # fmt: skip
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow"}


class Parser:
    """One text being read; `notes` collects what was assumed."""

    def __init__(self, text: str, variables: Sequence[str] = ("x",)) -> None:
        self.text, self.variables = text, tuple(variables)
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0
        self.bars = 0
        self.notes: list[str] = []

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    def fail(self, span: tuple[int, int], what: str, **more: str):
        """Raise with a caret."""
        fail(self.text, span, what, **more)

    def take(self) -> Token:
        """The next token, whatever it is."""
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, *values: str) -> Token | None:
        """The next token if it is an operator or word of `values`."""
        token = self.token
        if token.kind in ("op", "name") and token.value in values:
            self.at += 1
            return token
        return None

    def expect(self, value: str, opened: Token) -> Token:
        """The next token, which closes `opened`."""
        if closed := self.accept(value):
            return closed
        if self.token.kind == "end":
            self.fail(opened.span, f"this {opened.value!r} is never closed", instead=f"add the missing {value!r}")
        self.unexpected()
        raise AssertionError

    def unexpected(self) -> None:
        """Raise for the next token, which continues nothing."""
        token, before = self.token, self.tokens[self.at - 1] if self.at else None
        if token.kind == "end":
            self.fail((len(self.text.rstrip()), len(self.text.rstrip()) + 1), "the formula ends too early")
        starts_value = token.kind in ("num", "name") or token.value in ("(", "|", "√")
        if before is not None and starts_value and token.value not in CONDITION_WORDS and _ends_value(before):
            span = (before.start, token.end)
            left, right = self.text[before.start : before.end], self.text[token.start : token.end]
            right = f"{right}…)" if right == "(" else "|…|" if right == "|" else right
            self.fail(
                span,
                "a multiplication sign is missing here",
                why="products are written out, so that 2x, ax and f(x) are never confused",
                instead=f"write {left}*{right}",
            )
        if token.value == "=":
            self.fail(
                token.span,
                "a formula is no equation",
                why="one '=' assigns",
                instead="give the right-hand side alone, or compare with ==",
            )
        if token.value == ".":
            after = self.tokens[self.at + 1]
            instead = f"write {after.value}(…)" if after.value in known_functions() else "write a function of x"
            self.fail(token.span, "attributes and methods are not read", why="formulas are not code", instead=instead)
        if token.value == ")":
            self.fail(token.span, "this ')' closes nothing", instead="remove it or open it with '('")
        self.fail(token.span, f"{token.value!r} cannot stand here")

    def expression(self, level: int = CONDITIONAL) -> Node:
        """An expression whose operators bind at least as tightly as `level`."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.fail(self.token.span, f"nested more than {MAX_NESTING} levels deep")
        left = self.prefix()
        while True:
            left, more = self.infix(left, level)
            if not more:
                self.depth -= 1
                return left

    def infix(self, left: Node, level: int) -> tuple[Node, bool]:
        """`left` continued by one operator, and whether there was one."""
        token = self.token
        if token.value == "if" and token.kind == "name" and level == CONDITIONAL:
            return self.conditional(left), True
        binds = BINARY.get(str(token.value)) if token.kind in ("op", "name") else None
        if binds is None or binds < level or (token.value == "|" and self.bars):
            return left, False
        self.at += 1
        if binds == COMPARE:
            return self.comparison(left, token), True
        right = self.expression(SIGN if binds == POWER else binds + 1)
        span = (left.span[0], right.span[1])
        if binds in (OR, AND):
            head = "or" if binds == OR else "and"
            parts = [part for side in (left, right) for part in (side.args if side.head == head else (side,))]
            return Node(head, tuple(self.test(part) for part in parts), span=span), True
        return self.binary(ARITHMETIC[str(token.value)], left, right, span), True

    def binary(self, head: str, left: Node, right: Node, span: tuple[int, int]) -> Node:
        """A folded arithmetic node; a refusal points at it."""
        try:
            return nodes.binary(head, left, right, span)
        except FormulaError as error:
            self.fail(span, error.what, why=error.why, instead=error.instead)
            raise AssertionError from None

    def conditional(self, value: Node) -> Node:
        """value if test else other."""
        word = self.take()
        test = self.test(self.expression(OR))
        if not self.accept("else"):
            self.fail(
                word.span,
                "this 'if' has no 'else'",
                why="an activation has a value everywhere",
                instead="write 'a if x > 0 else b'",
            )
        other = self.expression(CONDITIONAL)
        return Node("cond", (test, value, other), span=(value.span[0], other.span[1]))

    def comparison(self, left: Node, sign: Token) -> Node:
        """a < b, or a chain a < b < c, which means (a < b) and (b < c)."""
        tests = []
        while True:
            right = self.expression(SUM)
            span = (left.span[0], right.span[1])
            tests.append(Node(nodes.COMPARISONS[str(sign.value)], (left, right), span=span))
            if self.token.kind != "op" or self.token.value not in nodes.COMPARISONS:
                break
            sign, left = self.token, right
            self.at += 1
        if len(tests) == 1:
            return tests[0]
        return Node("and", tuple(tests), span=(tests[0].span[0], tests[-1].span[1]))

    def test(self, node: Node) -> Node:
        """`node` if it is true or false; else a refusal."""
        if node.head not in nodes.TESTS:
            self.fail(node.span, "a condition is expected here", instead="write a comparison such as x > 0")
        return node

    def prefix(self) -> Node:
        """A sign, `not`, or an operand with its powers."""
        token = self.token
        if token.kind == "op" and token.value in ("+", "-"):
            self.at += 1
            arg = self.expression(SIGN)
            span = (token.start, arg.span[1])
            return nodes.neg(arg, span) if token.value == "-" else arg
        if (token.kind == "name" and token.value == "not") or (token.kind == "op" and token.value == "~"):
            self.at += 1
            arg = self.test(self.expression(NOT if token.value == "not" else SIGN))
            return Node("not", (arg,), span=(token.start, arg.span[1]))
        if self.accept("√"):
            arg = self.operand()
            return calls.sqrt(self, arg, (token.start, arg.span[1]))
        return self.operand()

    def operand(self) -> Node:
        """A number, name, call, bracket or |absolute value|."""
        token = self.token
        if token.kind == "num":
            self.at += 1
            return nodes.num(Fraction(token.value), token.span)
        if token.kind == "name":
            return self.named()
        if token.value == "(":
            return self.bracket()
        if token.value == "|":
            return self.absolute()
        self.unexpected()
        raise AssertionError

    def bracket(self) -> Node:
        """( expression )."""
        opened, bars, self.bars = self.take(), self.bars, 0
        inner = self.expression()
        if self.token.value == "," and self.token.kind == "op":
            self.fail(self.token.span, "a comma cannot stand here", why="a formula has one value")
        closed, self.bars = self.expect(")", opened), bars
        return Node(inner.head, inner.args, inner.value, (opened.start, closed.end))

    def absolute(self) -> Node:
        """| expression |."""
        opened = self.take()
        self.bars += 1
        inner = self.expression()
        closed = self.expect("|", opened)
        self.bars -= 1
        return calls.operation(self, "abs", (inner,), (opened.start, closed.end))

    def named(self) -> Node:
        """A name: the variable, a constant, a parameter or a call; numpy's and torch's prefixes are dropped."""
        token, prefix = self.token, ""
        self.at += 1
        while token.value in MODULE_PREFIXES and self.token.value == "." and self.tokens[self.at + 1].kind == "name":
            prefix, token = f"{prefix}{token.value}.", self.tokens[self.at + 1]
            self.at += 2
        if token.value in CONDITION_WORDS:
            self.at -= 1
            self.unexpected()
        if self.token.kind == "op" and self.token.value == "(" and token.value not in self.variables:
            return calls.call(self, token, prefix)
        return bare_name(self, token)


def _ends_value(token: Token) -> bool:
    return token.kind == "num" or token.value == ")" or (token.kind == "name" and token.value not in CONDITION_WORDS)
