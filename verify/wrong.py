"""Stand-ins for theories and results: wrong in one place, or remembering what they computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath

from derive.records import Enclosure


class WrongTheory:
    """A theory with one attribute exchanged."""

    def __init__(self, theory: Any, attribute: str, value: Any) -> None:
        self._theory, self._attribute, self._value = theory, attribute, value

    def __getattr__(self, name: str) -> Any:
        return self._value if name == self._attribute else getattr(self._theory, name)

    @property
    def results(self) -> dict[str, Any]:
        """The results, the wrong one among them."""
        found = dict(self._theory.results)
        if self._attribute in found:
            found[self._attribute] = self._value
        return found


class WrongResult:
    """A result whose arguments or value are changed before they are used or returned, in numbers and in code."""

    def __init__(
        self,
        result: Any,
        value: Callable[[Any], Any] = lambda y: y,
        arguments: Callable[[dict[str, Any]], dict[str, Any]] = lambda values: values,
    ) -> None:
        self._result, self._value, self._arguments = result, value, arguments

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)

    def number(self, values: Mapping[str, Any] | None = None, /, *, digits: int = 16, **named: Any) -> Enclosure:
        """The wrong number."""
        true = self._result.number(self._arguments({**(values or {}), **named}), digits=digits)
        with mpmath.workdps(40):
            ends = [self._value(true.mid - true.rad), self._value(true.mid), self._value(true.mid + true.rad)]
            return Enclosure(ends[1], max(abs(e - ends[1]) for e in ends))

    def compile(self, backend: str = "numpy") -> Callable:
        """The wrong code."""
        true, law = self._result.compile(backend), self._result.arguments

        def wrong(*args: Any, **named: Any) -> Any:
            values = self._arguments({**dict(zip(law, args, strict=False)), **named})
            return self._value(true(**values))

        return wrong


class Remembering:
    """A result that computes each of its numbers once."""

    def __init__(self, result: Any) -> None:
        self._result = result
        self._known: dict[Any, Enclosure] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)

    def number(self, values: Mapping[str, Any] | None = None, /, *, digits: int = 16, **named: Any) -> Enclosure:
        """The number."""
        given = {**(values or {}), **named}
        key = (digits, *sorted((name, str(value)) for name, value in given.items()))
        if key not in self._known:
            self._known[key] = self._result.number(given, digits=digits)
        return self._known[key]


class RememberingTheory:
    """A theory whose results compute each number once."""

    def __init__(self, theory: Any) -> None:
        self._theory = theory
        self.results = {name: Remembering(result) for name, result in theory.results.items()}
        self._known: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ("edge_of_chaos", "at"):
            return lambda *args, **named: self._answer(name, args, named)
        return self.results[name] if name in self.results else getattr(self._theory, name)

    def _answer(self, name: str, args: tuple, named: dict[str, Any]) -> Any:
        key = (name, *map(str, args), *sorted((key, str(value)) for key, value in named.items()))
        if key not in self._known:
            self._known[key] = getattr(self._theory, name)(*args, **named)
        return self._known[key]
