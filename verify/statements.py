"""Statements of others as text: "E(relu(x)**2) = q/2", "gain(prelu) = sqrt(2/(1 + a**2))", "E(tanh(x)**2) = 0.394"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from derive.records import DomainError, EocError, Formula, FormulaError, Interval, Node

LAWS = {"E": "an expression in x, or in u and v", "Var": "an expression in x", "V": "an activation",
        "chi": "an activation", "gain": "an activation", "std_gain": "an activation",
        "critical_gain": "an activation"}  # fmt: skip
"""What may stand on the left, and of what."""
RESERVED = ("q", "q1", "q2", "c", "K", "sigma_w", "sigma_b")
POSITIVE, CORRELATION = Interval(lower=Fraction(0)), Interval(Fraction(-1), Fraction(1), False, False)
DECIMAL = re.compile(r"[-+]?(\d+\.?(\d*)|\.(\d+))(?:[eE]([-+]?\d+))?")


@dataclass(frozen=True)
class Statement:
    """A statement as read.

    law        a key of LAWS
    formula    of what the law is taken, in x or in (u, v)
    right      the other side in q (or q1, q2, c, K), sigma_w, sigma_b and parameters
    tolerance  half a unit of the last printed digit, where the right side is a decimal; else 0
    at         values that the statement fixes
    domains    of the parameters that it leaves free
    """

    text: str
    law: str
    formula: Formula
    variables: tuple[str, ...]
    right: Formula
    tolerance: Fraction
    at: Mapping[str, Fraction]
    domains: Mapping[str, Interval]

    @property
    def names(self) -> frozenset[str]:
        """The names on the right side."""
        return frozenset(names_of(self.right.tree))


def read_statement(
    text: str, at: Mapping[str, Any] | None = None, domains: Mapping[str, Any] | None = None
) -> Statement:
    """The statement in a text: LAW(...) = FORMULA, with "at q = 1, a = 0.25" behind it where it holds only there.

    The laws: E(f(x)), E(f(u)*g(v)), Var(f(x)) for x ~ N(0, q) and (u, v) of variances q1, q2, covariance K = c
    sqrt(q1 q2); V(f) = sigma_w^2 E f^2 + sigma_b^2, chi(f) = sigma_w^2 E f'^2 with sigma_w = 1 and sigma_b = 0
    unless they are named; gain(f) = sqrt(q/E f^2), std_gain(f) = sqrt(q/Var f), critical_gain(f) = 1/sqrt(E f'^2).
    Nothing is executed. Raises FormulaError.
    """
    from derive.formula import read
    from derive.formula.reader import read_constant

    body, given = _at(text)
    left, right = _sides(body)
    law, inside = _law(left)
    variables = ("u", "v") if law == "E" and re.search(r"\b[uv]\b", inside) else ("x",)
    formula = read(inside, variables=variables)
    used = [name for name in RESERVED if re.search(rf"\b{name}\b", right)]
    stated = read(right, variables=tuple(used)) if used else read_constant(right)
    known = {**dict(stated.domains), **dict(formula.domains)}
    values = {**given, **{name: _exact(value, name) for name, value in (at or {}).items()}}
    free = {name: _interval(domains, name, known[name]) for name in known if name not in values}
    _demand_known(values, known, text)
    return Statement(text, law, formula, variables, stated, _tolerance(right), values, free)


def _at(text: str) -> tuple[str, dict[str, Fraction]]:
    body, word, rest = text.partition(" at ")
    pairs = [item.partition("=") for item in rest.split(",")] if word else []
    return body.strip(), {name.strip(): _exact(value.strip(), name.strip()) for name, _, value in pairs}


def _exact(value: Any, name: str) -> Fraction:
    from derive.surface.exact import exact

    return exact(value, name)


def _interval(domains: Mapping[str, Any] | None, name: str, usual: Interval) -> Interval:
    from derive.formula import interval

    given = (domains or {}).get(name)
    return usual if given is None else given if isinstance(given, Interval) else interval(given)


def _sides(text: str) -> tuple[str, str]:
    places = [m.start() for m in re.finditer(r"(?<![<>=!])=(?!=)", text) if _depth(text[: m.start()]) == 0]
    if len(places) != 1:
        raise FormulaError(
            "a statement has one equals sign", where=text, instead='"E(relu(x)**2) = q/2" or "gain(selu) = 0.75"'
        )
    return text[: places[0]].strip(), text[places[0] + 1 :].strip()


def _depth(text: str) -> int:
    return sum((c in "([{") - (c in ")]}") for c in text)


def _law(left: str) -> tuple[str, str]:
    match = re.fullmatch(r"([A-Za-z_]+)\s*[(\[](.*)[)\]]", left, flags=re.DOTALL)
    if match is None or match[1] not in LAWS or any(_depth(match[2][:i]) < 0 for i in range(len(match[2]))):
        options = ", ".join(f"{law}({inside})" for law, inside in LAWS.items())
        raise FormulaError(f"{left!r} is no quantity that can be tested", where=left, instead=options)
    return match[1], match[2].strip()


def _tolerance(right: str) -> Fraction:
    """Half a unit of the last digit of a printed decimal; a formula or an integer is exact."""
    match = DECIMAL.fullmatch(right.strip())
    if match is None or "." not in right:
        return Fraction(0)
    digits = len(match[2] or match[3] or "")
    return Fraction(1, 2) * Fraction(10) ** (int(match[4] or 0) - digits)


def _demand_known(values: Mapping[str, Fraction], known: Mapping[str, Interval], text: str) -> None:
    for name, value in values.items():
        if name not in known and name not in RESERVED:
            raise EocError(f"the statement has no {name}", where=text, instead=", ".join((*known, *RESERVED)))
        domain = known.get(name, CORRELATION if name == "c" else Interval(lower=Fraction(0), lower_open=False))
        if value not in domain:
            raise DomainError(f"{name} = {value} is outside its domain {domain}", where=text)


def names_of(tree: Node) -> set[str]:
    """The names in a tree."""
    own = {str(tree.value)} if tree.head == "name" else set()
    return own.union(*map(names_of, tree.args))


def read_file(path: str) -> tuple[str, ...]:
    """The statements of a TOML file: tables [[claim]] with `text`, `at = {q = 1}` and `source` for the reader."""
    import tomllib

    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file).get("claim", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise EocError(f"{path} cannot be read", why=str(error)) from None
    if not tables or not all(isinstance(t, dict) and isinstance(t.get("text"), str) for t in tables):
        raise EocError(f"{path} holds no statements", instead='[[claim]]\ntext = "E(relu(x)**2) = q/2"')
    return tuple(_with_values(table) for table in tables)


def _with_values(table: Mapping[str, Any]) -> str:
    unknown = sorted(set(table) - {"text", "at", "source"})
    if unknown:
        raise EocError(f"a claim has no field {unknown[0]}", where=str(table["text"]), instead="text, at, source")
    given = ", ".join(f"{name} = {value}" for name, value in table.get("at", {}).items())
    return f"{table['text']} at {given}" if given else str(table["text"])
