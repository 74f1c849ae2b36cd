"""The names a formula may contain, and what to say about the others."""

from __future__ import annotations

import string
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from derive import catalogue
from derive.formula import nodes
from derive.formula.messages import fail
from derive.formula.misspelt import nearest
from derive.program.declared import typed
from derive.program.reserved import RESERVED
from derive.records import Node

if TYPE_CHECKING:
    from derive.formula.lexer import Token
    from derive.formula.parser import Parser

MODULE_PREFIXES = frozenset(
    (
        "np",
        "numpy",
        "torch",
        "F",
        "nn",
        "functional",
        "math",
        "jnp",
        "jax",
        "sp",
        "sympy",
        "scipy",
        "special",
        "tf",
        "mpmath",
    )
)
CONDITION_WORDS = frozenset(("if", "else", "and", "or", "not"))
CONSTANTS = ("pi", "e")
ALIASES = {
    "Abs": "abs", "absolute": "abs", "fabs": "abs", "Max": "max", "maximum": "max", "fmax": "max", "Min": "min",
    "minimum": "min", "fmin": "min", "arctan": "atan", "arcsin": "asin", "arccos": "acos", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "ln": "log", "sgn": "sign", "ncdf": "Phi", "normcdf": "Phi",
    "expit": "sigmoid", "logistic": "sigmoid",
}  # fmt: skip
"""Spellings of other libraries for operations and catalogue names; an operation's own spellings come first."""
FORMS = frozenset(
    ("where", "select", "Piecewise", "piecewise", "clip", "clamp", "pow", "power", "square", "log2", "log10", "exp2",
     "cbrt", "reciprocal", "Heaviside", "heaviside", "step", "sigma")
)  # fmt: skip
"""Functions that the reader writes out itself; `derive.formula.calls` says how."""
GREEK = frozenset(
    ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
     "omicron", "rho", "tau", "upsilon", "chi", "psi", "omega", "Omega", "Lambda")
)  # fmt: skip
COUPLING = {
    "softmax": "logits", "softmin": "logits", "log_softmax": "logits", "logsumexp": "logits",
    "argmax": "units", "argmin": "units", "mean": "units", "sum": "units", "norm": "units", "normalize": "units",
    "layer_norm": "units", "layernorm": "units", "batch_norm": "units", "batchnorm": "units", "rms_norm": "units",
    "rmsnorm": "units", "group_norm": "units", "cumsum": "units", "sort": "units", "maxout": "units",
}  # fmt: skip
"""Functions of several inputs at once, and what those inputs are called."""
LOGISTIC = {"softmax": "sigmoid(x)", "softmin": "sigmoid(-x)", "log_softmax": "-softplus(-x)"}
"""Their first value over two logits, x the first less the second."""
LETTERS = string.ascii_letters
CODE_WORDS = frozenset(
    ("import", "exec", "eval", "print", "open", "compile", "getattr", "setattr", "globals", "locals", "vars", "dir",
     "input", "breakpoint", "help", "exit", "quit", "del", "def", "class", "return", "yield", "async", "await", "with",
     "try", "raise", "while", "for", "global", "assert")
)  # fmt: skip


@cache
def known_functions() -> frozenset[str]:
    """Every name that may be called in a formula."""
    return frozenset((*typed(), *ALIASES, *FORMS, *catalogue.names(), *catalogue.aliases()))


def similar(name: str) -> str:
    """The known function nearest to `name`, or nothing."""
    return nearest(name, known_functions())


def one_letter_away(name: str, target: str) -> bool:
    """Whether one letter inserted, left out or exchanged, or the case alone, makes `name` of `target`."""
    if name == target or abs(len(name) - len(target)) > 1:
        return False
    if name.lower() == target.lower():
        return True
    short, long = sorted((name, target), key=len)
    start = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(name) == len(target):
        pair = short[start : start + 2], long[start : start + 2]
        swapped = pair[0] == pair[1][::-1] and short[start + 2 :] == long[start + 2 :]
        return swapped or (short[start + 1 :] == long[start + 1 :] and name[start] in LETTERS)
    return short[start:] == long[start + 1 :] and long[start] in LETTERS


def bare_name(parser: Parser, token: Token) -> Node:
    """The variable, a constant or a parameter."""
    name = str(token.value)
    if name in parser.variables:
        return nodes.name(name, token.span)
    if name in CONSTANTS:
        return Node("const", value=name, span=token.span)
    if name == "lambda" and parser.token.kind == "name" and parser.token.value not in CONDITION_WORDS:
        parser.fail(token.span, "a Python lambda is not read", why="a formula is one expression in x")
    if name in ("True", "False", "None"):
        parser.fail(token.span, f"{name} cannot stand here", instead="write a number, or a condition such as x > 0")
    check_parameter(parser.text, name, token.span)
    if name in CODE_WORDS or name.startswith("__"):
        parser.fail(token.span, f"{name!r} is no part of a formula", why="formulas are read, never executed")
    if parser.token.value == "(" and parser.token.kind == "op":
        parser.unexpected()
    if name in known_functions():
        parser.fail(token.span, f"{name} is a function and needs its argument", instead=f"write {name}(x)")
    if suggestion := _misspelt(name):
        parser.fail(token.span, f"{name!r} is one letter away from a known name", instead=suggestion)
    return nodes.name(name, token.span)


def check_parameter(text: str, name: str, span: tuple[int, int]) -> None:
    """Refuse the reserved names by name."""
    if name in RESERVED:
        fail(
            text,
            span,
            f"{name!r} cannot be a parameter",
            why=f"{', '.join(RESERVED)} are reserved for the theory's own quantities",
            instead=f"rename it, for instance {name}0" if name != "x" else "",
        )


def _misspelt(name: str) -> str:
    if name in GREEK:
        return ""
    if name == "X":
        return "did you mean x?"
    if name == "E":
        return "did you mean e (Euler's number)? else use another letter"
    if len(name) == 2 and "x" in name and all(ch in LETTERS for ch in name):
        return "did you mean x?" if name.lower() == "xx" else f"write {name[0]}*{name[1]} if a product is meant"
    if len(name) == 2 and "e" in name and all(ch in LETTERS for ch in name):
        return f"did you mean e? write {name[0]}*{name[1]} if a product is meant"
    if len(name) > 1 and one_letter_away(name, "pi"):
        return "did you mean pi?"
    if len(name) < 2:
        return ""
    away = sorted(known for known in known_functions() - {"pow", "power"} if one_letter_away(name, known))
    if not away:
        return ""
    best = similar(name) if similar(name) in away else away[0]
    if name == f"{best}x":
        return f"did you mean {best}(x)?"
    return f"did you mean {best}(…)? else use a name further from it"


def unknown_function(parser: Parser, token: Token) -> NoReturn:
    """Refuse a call of a name that is no known function."""
    name = str(token.value)
    if name in CODE_WORDS or name.startswith("__"):
        fail(parser.text, token.span, f"{name!r} is no part of a formula", why="formulas are read, never executed")
    if parser.token.kind == "op" and parser.token.value == "=":
        fail(
            parser.text,
            parser.token.span,
            "a formula is no equation",
            why=f"{name}(…) = … defines a function",
            instead="give the right-hand side alone",
        )
    if name == "DiracDelta":
        fail(parser.text, token.span, "DiracDelta is no function of x", why="an activation has a value at every x")
    if name in COUPLING:
        _coupling(parser, token, name)
    best = similar(name)
    is_product = len(name) == 1 or name in GREEK or name in CONSTANTS
    instead = f"did you mean {best}?" if best and len(name) > 1 else ""
    if is_product:
        instead = f"write {name}*(…) if a product is meant"
    fail(
        parser.text,
        token.span,
        f"{name!r} is not a known function",
        why="functions are read from a fixed list",
        instead=instead,
    )


def _coupling(parser: Parser, token: Token, name: str) -> NoReturn:
    """Refuse a function of several inputs, with its form over two where it has one."""
    two = f"over two logits it is {LOGISTIC[name]}, x their difference" if name in LOGISTIC else ""
    fail(
        parser.text,
        token.span,
        f"{name} acts on several inputs",
        why=f"an activation is a function of one number; {name} couples the {COUPLING[name]} of a layer",
        instead=two or "write what one unit does, as a function of x",
    )
