"""A program as lines of Python-like text: values used once are written where they are used."""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from sympy import Expr, Symbol

from derive.emit.angles import angles
from derive.emit.backend import Backend
from derive.emit.edges import edges
from derive.emit.function import SINE, Bindings
from derive.emit.grouped import grouped
from derive.emit.magnitudes import in_range
from derive.emit.opposed import opposed
from derive.emit.roots import in_roots
from derive.emit.saturated import saturated
from derive.emit.scaled import scaled
from derive.emit.zero import above_zero, stumbles
from derive.program.gate import freeze
from derive.program.passes import fold, protect, stabilise
from derive.program.passes.rewriting import rewrite
from derive.program.program import Builder, Instruction, Program
from derive.program.registry import operations
from derive.records import Unsupported

ATOM, POWER, PRODUCT, SUM, TEST = 10, 8, 6, 5, 4
LONGEST = 88


@dataclass(frozen=True)
class Body:
    """A function ready to be printed.

    name, doc, arguments, parameters   as in EmittedFunction, made safe to print
    lines     assignments in order
    value     the text of the result
    partials  (place among arguments + parameters, the function that computes it)
    large     of a pair: arguments may be Gram matrices, to be taken in blocks
    guard     lines that move variances of exactly 0 up, where the formula or a partial derivative stumbles over them
    inline    the value is all there is, and is written where it is used
    """

    name: str
    doc: str
    arguments: tuple[str, ...]
    parameters: tuple[str, ...]
    lines: tuple[str, ...]
    value: str
    partials: tuple[tuple[int, Body], ...] = ()
    large: bool = False
    guard: tuple[str, ...] = ()
    inline: bool = False


def prepare(expr: Expr, names: tuple[str, ...], exact: bool = False) -> Program:
    """The expression through the gate and the passes, ready for a printer; exact: constants are not folded."""
    if {"K", "Delta"} <= set(names):
        expr = in_roots(edges(expr)) if SINE.name in names else edges(expr)
    return plain(expr, names, exact)


def plain(expr: Expr, names: tuple[str, ...], exact: bool = False) -> Program:
    """The same for an expression that is written as it stands."""
    by_name = {symbol.name: symbol for symbol in expr.free_symbols}
    inputs = tuple(by_name.get(name, Symbol(name, real=True)) for name in names)
    program = opposed(stabilise(freeze({"value": expr if exact else in_range(saturated(expr))}, inputs)))
    program = _powers(scaled(angles(program)))
    return protect(grouped(program if exact else fold(program)))


def _inputs(program: Program) -> set[str]:
    return {str(item.value) for item in program.instructions if item.operation == "input"}


def _powers(program: Program) -> Program:
    """Powers 3 to 8 as products: a general power costs a logarithm and an exponential."""

    def rule(builder: Builder, item: Instruction) -> int | None:
        if item.operation != "pow":
            return None
        exponent = builder.instructions[item.args[1]].value
        if builder.is_literal(item.args[1]) and isinstance(exponent, Fraction) and exponent in range(3, 9):
            square = builder.put("pow", item.args[0], builder.literal(2))
            pairs, odd = divmod(int(exponent), 2)
            return builder.mul((square,) * pairs + (item.args[0],) * odd)
        return None

    return rewrite(program, rule)


def safe_names(names: Iterable[str], reserved: frozenset[str]) -> dict[str, str]:
    """Each name (they differ) as an identifier that shadows nothing: an underscore is added where it must be."""
    safe: dict[str, str] = {}
    for name in names:
        if not name.isidentifier():
            raise Unsupported(
                f"{name!r} cannot be a name in code",
                where=name,
                why="arguments of emitted functions are identifiers",
                instead="rename the parameter",
            )
        text = name
        while keyword.iskeyword(text) or text in reserved or text in safe.values():
            text += "_"
        safe[name] = text
    return safe


def written(
    expr: Expr, names: tuple[str, ...], bindings: Bindings, backend: Backend, safe: dict[str, str]
) -> tuple[tuple[str, ...], str, set[str], tuple[str, ...]]:
    """The lines, the result's text, the operations used and the guard, for an expression in names and bindings."""
    every = tuple(dict.fromkeys((*names, *(name for name, _ in bindings))))
    program = prepare(expr, every, backend.exact)
    needed = _inputs(program)
    bound: list[tuple[str, Program]] = []
    for place in reversed(range(len(bindings))):
        name, value = bindings[place]
        if name in needed:
            known = tuple(dict.fromkeys((*names, *(before for before, _ in bindings[:place]))))
            bound.append((name, plain(value, known, backend.exact)))
            needed |= _inputs(bound[-1][1])
    lines: list[str] = []
    used: set[str] = set()
    for name, inner in reversed(bound):
        made = _Writer(inner, backend, safe, f"{safe[name].lower()}_", names[0])
        lines += [*made.lines, f"{safe[name]} = {made.result}"]
        used |= made.used
    writer = _Writer(program, backend, safe, "t", names[0])
    guard = tuple(above_zero(backend.name, names)) if stumbles(program, bound[::-1], names) else ()
    return (*lines, *writer.lines), writer.result, used | writer.used, guard


class _Writer:
    def __init__(self, program: Program, backend: Backend, safe: dict[str, str], prefix: str, like: str) -> None:
        self.program, self.backend, self.safe, self.like = program, backend, safe, safe[like]
        self.prefix, self.count = prefix, 0
        self.lines: list[str] = []
        self.used = {item.operation for item in program.instructions} - {"input", "literal"}
        self.uses = Counter(arg for item in program.instructions for arg in item.args)
        self.texts: list[tuple[str, int]] = []
        for index, item in enumerate(program.instructions):
            text, rank = self._text(item)
            plain = item.operation in ("input", "literal")
            if not plain and (self.uses[index] > 1 or len(text) > LONGEST):
                text, rank = self._named(text), ATOM
            self.texts.append((text, rank))
        self.result = self.texts[dict(program.outputs)["value"]][0]

    def _named(self, text: str) -> str:
        taken = set(self.safe.values())
        self.count += 1
        while f"{self.prefix}{self.count}" in taken:
            self.count += 1
        self.lines.append(f"{self.prefix}{self.count} = {text}")
        return f"{self.prefix}{self.count}"

    def _text(self, item: Instruction) -> tuple[str, int]:
        if item.operation == "input":
            return self.safe[str(item.value)], ATOM
        if item.operation == "literal":
            return self._literal(item.value)
        args = [self.texts[arg] for arg in item.args]
        infix = {"add": " + ", "sub": " - ", "mul": "*", "div": "/"}.get(item.operation)
        if infix is not None:
            return self._infix(item.operation, infix, args)
        if item.operation == "neg":
            return f"-{_wrap(args[0], PRODUCT)}", SUM
        if item.operation == "pow" and self._is_integer(item.args[1]):
            if self.backend.power:
                return self.backend.power.format(args[0][0], args[1][0]), ATOM
            return f"{_wrap(args[0], ATOM)}**{args[1][0]}", POWER
        return self._spelled(item, self._as_arrays(item, args))

    def _infix(self, name: str, sign: str, args: list[tuple[str, int]]) -> tuple[str, int]:
        rank = SUM if name in ("add", "sub") else PRODUCT
        first, *others = args
        right = rank + 1 if name in ("sub", "div") else rank
        if name == "mul":
            # a product or quotient in the middle of a product would be read from the left
            right = rank + 1
        return sign.join([_wrap(first, rank), *(_wrap(arg, right) for arg in others)]), rank

    def _spelled(self, item: Instruction, args: list[tuple[str, int]]) -> tuple[str, int]:
        operation = operations()[item.operation]
        spelling = operation.backends.get(self.backend.name)
        if spelling is None:
            raise Unsupported(
                f"{item.operation} cannot be written for {self.backend.name}",
                where=item.operation,
                why="its operation file has no spelling for this backend",
                instead=f"add one to that file, or use one of: {', '.join(operation.backends) or 'none'}",
            )
        if operation.arity >= 0:
            return _filled(spelling, args)
        result = args[0]
        for arg in args[1:]:
            result = _filled(spelling, [result, arg])
        return result

    def _as_arrays(self, item: Instruction, args: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """Plain numbers as arrays, where the function needs that or would lose the dtype."""
        if self.backend.scalars or self.backend.exact:
            return args
        literal = [self.program.instructions[arg].operation == "literal" for arg in item.args]
        lonely = item.operation == "select" and all(literal[1:])
        if item.operation not in self.backend.tensor_only and not lonely:
            return args
        return [
            (f"_number({text}, {self.like})", ATOM) if plain else (text, rank)
            for (text, rank), plain in zip(args, literal, strict=True)
        ]

    def _literal(self, value) -> tuple[str, int]:
        if isinstance(value, str):
            text = {"inf": self.backend.infinity, "-inf": f"-{self.backend.infinity}", "pi": self.backend.pi}[value]
        elif value.denominator == 1 and abs(value) < 2**53:
            text = f"{value.numerator}.0" if self.backend.scalars else str(value.numerator)
        elif self.backend.exact:
            text = self.backend.rational.format(value.numerator, value.denominator)
        else:
            text = repr(float(value))
        return text, SUM if text.startswith("-") else ATOM

    def _is_integer(self, index: int) -> bool:
        value = self.program.instructions[index].value
        return isinstance(value, Fraction) and value.denominator == 1 and value >= 0


def _wrap(arg: tuple[str, int], rank: int) -> str:
    return arg[0] if arg[1] >= rank else f"({arg[0]})"


def _filled(spelling: str, args: list[tuple[str, int]]) -> tuple[str, int]:
    """The spelling with its arguments; brackets where an argument is not simply an argument of a call."""
    parts, call = [], spelling[0].isalpha() or spelling[0] == "_"
    call = call and spelling.endswith(")") and spelling.count("(") == 1
    for place, arg in enumerate(args):
        field = "{" + str(place) + "}"
        where = spelling.find(field)
        before, after = spelling[where - 1 : where], spelling[where + len(field) :][:1]
        inside = before in ("(", " ") and after in (")", ",") and call
        parts.append(arg[0] if inside else _wrap(arg, ATOM))
    loose = any(sign in spelling for sign in (" ? ", " < ", " > ", "=", " & ", " | ", "~"))
    return spelling.format(*parts), ATOM if call else TEST if loose else SUM
