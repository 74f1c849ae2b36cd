"""Function calls in a formula: operations, the catalogue's activations, and forms the reader writes out."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from derive import catalogue
from derive.formula import nodes
from derive.formula.limits import MAX_NODES
from derive.formula.vocabulary import ALIASES, unknown_function
from derive.program.declared import typed
from derive.records import FormulaError, Node

if TYPE_CHECKING:
    from derive.formula.lexer import Token
    from derive.formula.parser import Parser

Span = tuple[int, int]
COUNTS = ("no argument", "one argument", "two arguments", "three arguments", "four arguments")
PI_SINC = ("np.", "numpy.", "torch.", "jnp.", "jax.numpy.")


def call(parser: Parser, token: Token, prefix: str) -> Node:
    """name(...), whose opening bracket is the next token."""
    name = str(token.value)
    if name in ("Piecewise", "piecewise"):
        return piecewise(parser, token)
    args, keywords, end = arguments(parser)
    span = (token.start, end)
    if name == "sinc" and prefix in PI_SINC and len(args) == 1:
        parser.notes.append(f"{prefix}sinc(x) is read as sin(pi*x)/(pi*x), as that library defines it")
        args = [parser.binary("mul", Node("const", value="pi"), args[0], span)]
    if name not in typed() and name in ALIASES:
        name = ALIASES[name]
    known = typed().get(name)
    entry = catalogue.entry(name)
    if name == "log" and len(args) == 2:
        logs = [operation(parser, "log", (arg,), span) for arg in args]
        return parser.binary("div", logs[0], logs[1], span)
    if known is not None and not keywords and known.arity in (-1, len(args)):
        return operation(parser, name, tuple(args), span)
    if name in FORMS:
        return FORMS[name](parser, name, args, keywords, span)
    if entry is not None and (known is None or keywords or len(args) > 1):
        return inlined(parser, entry, args, keywords, span)
    if known is not None and keywords:
        parser.fail(span, f"{name} takes no keyword", instead=_example(name, known.arity))
    if known is not None:
        return operation(parser, name, tuple(args), span)
    return unknown_function(parser, token)


def arguments(parser: Parser) -> tuple[list[Node], dict[str, Node], int]:
    """Positional and keyword arguments, and the offset behind the closing bracket."""
    opened, bars, parser.bars = parser.take(), parser.bars, 0
    args: list[Node] = []
    keywords: dict[str, Node] = {}
    while not (parser.token.kind == "op" and parser.token.value == ")"):
        key, after = parser.token, parser.tokens[min(parser.at + 1, len(parser.tokens) - 1)]
        if key.kind == "name" and after.kind == "op" and after.value == "=":
            parser.at += 2
            if key.value in keywords:
                parser.fail(key.span, f"{key.value} is given twice")
            keywords[str(key.value)] = parser.expression()
        else:
            if keywords:
                parser.fail(key.span, "a value without a name follows one with a name")
            args.append(parser.expression())
        if not parser.accept(","):
            break
    closed = parser.expect(")", opened)
    parser.bars = bars
    return args, keywords, closed.end


def operation(parser: Parser, name: str, args: tuple[Node, ...] | list[Node], span: Span) -> Node:
    """A node of one operation, with the number of its arguments checked."""
    known = typed()[name]
    if known.arity >= 0 and len(args) != known.arity:
        wanted = COUNTS[known.arity] if known.arity < len(COUNTS) else f"{known.arity} arguments"
        parser.fail(span, f"{name} takes {wanted}, not {len(args)}", instead=_example(name, known.arity))
    if known.arity < 0 and len(args) < 2:
        parser.fail(span, f"{name} takes two arguments or more, not {len(args)}", instead=_example(name, 2))
    return Node(known.name, tuple(args), span=span)


def _example(name: str, arity: int) -> str:
    return f"write {name}({', '.join(('x', '0', '1', '2')[: arity if arity >= 0 else 2])})"


def sqrt(parser: Parser, arg: Node, span: Span) -> Node:
    """√arg."""
    return operation(parser, "sqrt", (arg,), span)


def inlined(parser: Parser, entry: catalogue.Entry, args: list[Node], keywords: dict[str, Node], span: Span) -> Node:
    """The entry's formula with its input and parameters put in; usual values where none is given, which is noted."""
    inputs, known = list(entry.variables), [parameter.name for parameter in entry.parameters]
    if not len(inputs) <= len(args) <= len(inputs) + len(known):
        wanted = COUNTS[len(inputs)] + (f" (and {', '.join(known)})" if known else "")
        parser.fail(
            span, f"{entry.name} takes {wanted}, not {len(args)}", instead=f"write {entry.name}({', '.join(inputs)})"
        )
    values = dict(zip(inputs + known, args, strict=False))
    torch_names = dict(entry.torch.arguments) if entry.torch is not None else {}
    for key, value in keywords.items():
        target = key if key in known else torch_names.get(key, "")
        if target not in known or target in values:
            parser.fail(
                value.span,
                f"{entry.name} has no parameter {key!r}" if target not in known else f"{key} is given twice",
                instead=f"its parameters are {', '.join(known)}" if known else f"write {entry.name}(x)",
            )
        values[target] = value
    for parameter in entry.parameters:
        if parameter.name not in values:
            values[parameter.name] = type(parser)(parameter.default).expression()
            parser.notes.append(f"{entry.name}(x) is read with {parameter.name} = {parameter.default}, its usual value")
    inner = type(parser)(entry.formula, entry.variables)
    tree = inner.expression()
    parser.notes.extend(inner.notes)
    sizes = {name: sum(1 for _ in nodes.walk(value)) for name, value in values.items()}
    if sum(sizes.get(str(node.value), 1) if node.head == "name" else 1 for node in nodes.walk(tree)) > MAX_NODES:
        parser.fail(span, "the formula is too large", why=f"it has at most {MAX_NODES} parts, written out")
    try:
        copy = nodes.replaced(tree, lambda node: values.get(str(node.value)), span)
    except FormulaError as error:
        parser.fail(span, f"{entry.name} cannot take these values: {error.what}", why=error.why)
    return Node(copy.head, copy.args, copy.value, span)


def piecewise(parser: Parser, token: Token) -> Node:
    """Piecewise((value, test), ..., (value, True)) as nested conditionals."""
    opened, bars, parser.bars = parser.take(), parser.bars, 0
    values: list[Node] = []
    tests: list[Node] = []
    default = False
    while not default:
        start = parser.token
        if not parser.accept("("):
            parser.fail(start.span, "a pair (value, condition) is expected here", instead=PAIRS)
        values.append(parser.expression())
        if not parser.accept(","):
            parser.fail(parser.token.span, "a pair (value, condition) is expected here", instead=PAIRS)
        default = parser.accept("True") is not None
        if not default:
            tests.append(parser.test(parser.expression()))
        parser.expect(")", start)
        if not parser.accept(","):
            break
    closed = parser.expect(")", opened)
    parser.bars = bars
    span = (token.start, closed.end)
    if not default and not (len(tests) == 2 and nodes.negated(tests[0]) == tests[1]):
        parser.fail(span, "this Piecewise has no default", why="an activation has a value everywhere", instead=PAIRS)
    tree = values[-1]
    for value, test in reversed(list(zip(values[:-1], tests, strict=False))):
        tree = Node("cond", (test, value, tree), span=span)
    return tree


PAIRS = "write Piecewise((x, x > 0), (0, True)), the last condition True"


def _positional(
    parser: Parser, name: str, args: list[Node], keywords: dict[str, Node], span: Span, count: int
) -> list[Node]:
    if keywords:
        parser.fail(span, f"{name} takes no keyword")
    if len(args) != count:
        parser.fail(span, f"{name} takes {COUNTS[count]}, not {len(args)}")
    return args


def _where(parser, name, args, keywords, span):
    test, first, second = _positional(parser, name, args, keywords, span, 3)
    return Node("cond", (parser.test(test), first, second), span=span)


def _clip(parser, name, args, keywords, span):
    bounds = dict(zip(("x", "min", "max"), args, strict=False))
    for key, value in keywords.items():
        bounds[key.removeprefix("a_")] = value
    if len(args) > 3 or "x" not in bounds or len(bounds) < 2 or set(bounds) - {"x", "min", "max"}:
        parser.fail(span, f"{name} takes a value and two bounds", instead=f"write {name}(x, -1, 1)")
    value = bounds["x"]
    if "min" in bounds:
        value = operation(parser, "max", (value, bounds["min"]), span)
    if "max" in bounds:
        value = operation(parser, "min", (value, bounds["max"]), span)
    return value


def _power(parser, name, args, keywords, span):
    return parser.binary("pow", *_positional(parser, name, args, keywords, span, 2), span)


def _one(make):
    def form(parser, name, args, keywords, span):
        (arg,) = _positional(parser, name, args, keywords, span, 1)
        return make(parser, arg, span)

    return form


def _log_base(base: int):
    def make(parser, arg, span):
        base_log = operation(parser, "log", (nodes.num(base),), span)
        return parser.binary("div", operation(parser, "log", (arg,), span), base_log, span)

    return _one(make)


def _heaviside(parser, name, args, keywords, span):
    if len(args) == 2:
        parser.notes.append(f"the second argument of {name}, its value at the jump, has no effect on expectations")
        args = args[:1]
    (arg,) = _positional(parser, name, args, keywords, span, 1)
    if "step" in typed():
        return operation(parser, "step", (arg,), span)
    return Node("gt", (arg, nodes.num(0)), span=span)


def _cbrt(parser, arg, span):
    root = parser.binary("pow", operation(parser, "abs", (arg,), span), nodes.num(Fraction(1, 3)), span)
    return parser.binary("mul", operation(parser, "sign", (arg,), span), root, span)


FORMS = {
    "where": _where,
    "select": _where,
    "clip": _clip,
    "clamp": _clip,
    "pow": _power,
    "power": _power,
    "square": _one(lambda parser, arg, span: parser.binary("pow", arg, nodes.num(2), span)),
    "reciprocal": _one(lambda parser, arg, span: parser.binary("div", nodes.num(1), arg, span)),
    "exp2": _one(lambda parser, arg, span: parser.binary("pow", nodes.num(2), arg, span)),
    "log2": _log_base(2),
    "log10": _log_base(10),
    "cbrt": _one(_cbrt),
    "Heaviside": _heaviside,
    "heaviside": _heaviside,
    "step": _heaviside,
    "sigma": _one(lambda parser, arg, span: operation(parser, "sigmoid", (arg,), span)),
}
