"""Many questions, one JSON object a line: answers in the same order, errors are lines too, through the cache."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from derive import cache
from derive.commands._ask import Asked
from derive.commands._text import exact, read_interval
from derive.records import EocError

MAPS = ("mean", "second_moment", "covariance_map", "variance_map", "correlation_map", "chi", "chi_parallel")
FIELDS = ("id", "of", "ask", "at", "set", "domain", "digits")
SAVE_EVERY = 500
"""New answers between two savings of what is done."""

Stored = dict[str, dict[str, Any]]


def answers(lines: Iterable[str], use_cache: bool, on_trouble: Callable[[OSError], None]) -> Iterator[str]:
    """One line of JSON for each line that is not blank.

    A question: {"of": TEXT, "ask": one of MAPS, "at": {"q": 1, "sigma_w": 1.5, ...}}, and as wished "set"
    (parameters of the activation), "domain", "digits", "id" (anything, handed back). Without "at" the answer is
    the formula. Answers of one text and map are kept together in one entry of the cache.

    Numbers may be JSON numbers or text ("1/3"); they are read as the decimals that stand there.
    """
    book = _Book(use_cache, on_trouble)
    try:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _line(line, number, book)
    finally:
        book.save()


class _Book:
    """The answers known so far, by text and map: those from the cache, and new ones."""

    def __init__(self, use_cache: bool, on_trouble: Callable[[OSError], None]) -> None:
        self.use_cache, self.on_trouble = use_cache, on_trouble
        self.pages: Stored = {}
        self.fresh: Stored = {}
        self.theories: dict[str, Any] = {}
        self.count = 0

    def page(self, name: str) -> dict[str, Any]:
        """The answers of one text and map."""
        if name not in self.pages:
            found = cache.load({"batch": name}) if self.use_cache else None
            self.pages[name] = found if isinstance(found, dict) else {}
        return self.pages[name]

    def add(self, name: str, at: str, answer: dict[str, Any]) -> None:
        """Keep an answer."""
        self.pages[name][at] = answer
        self.fresh.setdefault(name, {})[at] = answer
        self.count += 1
        if self.count % SAVE_EVERY == 0:
            self.save()

    def save(self) -> None:
        """Write the new answers beside what other processes have stored meanwhile."""
        for name, fresh in self.fresh.items() if self.use_cache else ():
            stored = cache.load({"batch": name})
            try:
                cache.store({"batch": name}, {**(stored if isinstance(stored, dict) else {}), **fresh})
            except OSError as error:
                self.on_trouble(error)
        self.fresh = {}


def _line(line: str, number: int, book: _Book) -> str:
    """The answer to one line."""
    question: Any = None
    try:
        question = _read(line)
        _demand_sound(question)
        page = _compact({name: question[name] for name in ("of", "ask", "set", "domain") if name in question})
        at = _compact({name: question[name] for name in ("at", "digits") if name in question})
        known = book.page(page)
        if at not in known:
            book.add(page, at, _answer(question, book.theories))
        found = known[at]
    except EocError as error:
        found = {"error": _error(error)}
    except Exception as error:  # an internal error is reported as one and ends this question only
        found = {"error": {"what": f"internal error: {type(error).__name__}: {' '.join(str(error).split())}"}}
    named = {"id": json.loads(line)["id"]} if isinstance(question, dict) and "id" in question else {}
    return json.dumps({**named, **({"line": number} if "error" in found else {}), **found}, ensure_ascii=False)


def _error(error: EocError) -> dict[str, str]:
    parts = {name: getattr(error, name) for name in ("what", "where", "why", "instead")}
    return {name: text for name, text in parts.items() if text}


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _no_number(text: str) -> Any:
    raise EocError(f"{text} is no number", instead="a decimal, or a fraction as text")


def _read(line: str) -> dict[str, Any]:
    """The question of a line; numbers stay the text they are written in."""
    if any("\udc80" <= sign <= "\udcff" for sign in line):
        text = line.strip()[:120].encode("ascii", "backslashreplace").decode()
        raise EocError("the line is no UTF-8", where=text, instead="JSON in UTF-8")
    try:
        question = json.loads(line, parse_float=str, parse_int=str, parse_constant=_no_number)
    except ValueError as error:
        raise EocError("the line is no JSON", where=line.strip()[:120], why=str(error)) from None
    if not isinstance(question, dict):
        raise EocError("a question is a JSON object", where=line.strip()[:120], instead='{"of": "gelu", "ask": "chi"}')
    return question


def _demand_sound(question: dict[str, Any]) -> None:
    """Refuse what is no question."""
    for name in question:
        if name not in FIELDS:
            raise EocError(f"a question has no field {name!r}", instead=", ".join(FIELDS))
    for name in ("of", "ask"):
        if not isinstance(question.get(name), str):
            raise EocError(
                f"the question does not say {name!r}", instead='{"of": "gelu", "ask": "chi", "at": {"q": 1}}'
            )
    for name in ("at", "set", "domain"):
        entries = question.get(name, {})
        if not isinstance(entries, dict) or not all(isinstance(value, str) for value in entries.values()):
            raise EocError(f"{name!r} is no object of numbers", instead=f'"{name}": {{"a": 0.1}}')
    if question["ask"] not in MAPS:
        raise EocError(f"there is no map {question['ask']!r}", instead=", ".join(MAPS))


def _answer(question: dict[str, Any], theories: dict[str, Any]) -> dict[str, Any]:
    """What is not in the cache."""
    text = _compact([question["of"], question.get("set", {}), question.get("domain", {})])
    if text not in theories:
        theories[text] = _theory(question)
    result = getattr(theories[text], question["ask"])
    if "at" not in question:
        from derive.emit.formula_text import formula_text

        return {"kind": str(result.kind), "formula": formula_text(result.closed)}
    digits = question.get("digits", "16")
    if not (isinstance(digits, str) and digits.isdecimal() and 0 < int(digits) <= 1000):
        raise EocError(f"digits = {digits!r}", instead='"digits": 16')
    given = {name: exact(value, f"{name} = {value}") for name, value in question["at"].items()}
    return {"kind": str(result.kind), **_shown(result.number(given, digits=int(digits)), int(digits))}


def _theory(question: dict[str, Any]) -> Any:
    values = {name: exact(value, f"{name} = {value}") for name, value in question.get("set", {}).items()}
    domains = {name: read_interval(value) for name, value in question.get("domain", {}).items()}
    return Asked(question["of"], values, domains).theory


def _shown(number: Any, digits: int) -> dict[str, str]:
    """The number as text: its certified digits, a midpoint, and a radius that covers the rounding of that text too."""
    import mpmath

    if not mpmath.isfinite(number.mid):
        return {"value": str(number), "mid": str(number), "rad": "0"}
    with mpmath.workdps(digits + 25):
        mid = mpmath.nstr(number.mid, digits + 4)
        rad = (number.rad + abs(number.mid - mpmath.mpf(mid))) * mpmath.mpf("1.01")
        return {"value": str(number), "mid": mid, "rad": mpmath.nstr(rad, 3)}


__all__ = ["FIELDS", "MAPS", "answers"]
