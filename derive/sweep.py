"""Sweeps: a question at every point of a grid, through any concurrent.futures.Executor, into one tidy Parquet file."""

from __future__ import annotations

import hashlib
import itertools
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from derive.records import EocError

AXES = ("sigma_w", "sigma_b", "q", "c", "depth")
USUAL: dict[str, tuple[Any, ...]] = {"sigma_b": ("0",), "q": ("1",), "c": ("0.5",), "depth": (10,)}
MEASURES = ("theory", "monte-carlo")
SAMPLING = {"width": 256, "networks": 64}
COLUMNS = ("point", "activation", "parameters", *AXES, "measure", "quantity", "value", "error", "kind", "label")
MOST = 1_000_000
SAVE_EVERY = 10.0
"""Seconds between two savings of what is done."""
VERSION = 1


@dataclass(frozen=True)
class Point:
    """One question of a sweep; numbers are decimal text, so that they stay exact."""

    index: int
    activation: str
    parameters: tuple[tuple[str, str], ...]
    sigma_w: str
    sigma_b: str
    q: str
    c: str
    depth: int
    measure: str
    seed: int
    sampling: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Sweep:
    """A grid of points and what to ask at each.

    question  the file's content as read, the same for the same question
    """

    question: dict[str, Any]
    activations: tuple[str, ...]
    axes: dict[str, tuple[Any, ...]]
    parameters: dict[str, tuple[str, ...]]
    measures: tuple[str, ...]
    seed: int = 0
    sampling: dict[str, int] = field(default_factory=lambda: dict(SAMPLING))

    @property
    def key(self) -> str:
        """A hash of the question: `--resume` continues only the same one."""
        return hashlib.sha256(json.dumps(self.question, sort_keys=True).encode()).hexdigest()[:16]

    def points(self) -> Iterator[Point]:
        """Every point, in a fixed order."""
        from derive.catalogue import entry
        from derive.formula import read

        index = 0
        for activation in self.activations:
            found = entry(activation.strip())
            own = {p.name for p in found.parameters} if found else _names(activation, read)
            named = [(name, values) for name, values in self.parameters.items() if name in own]
            for chosen in itertools.product(*(values for _, values in named)):
                parameters = tuple((name, value) for (name, _), value in zip(named, chosen, strict=True))
                for w, b, q, c, depth in itertools.product(*(self.axes[axis] for axis in AXES)):
                    for measure in self.measures:
                        sampling = tuple(sorted(self.sampling.items())) if measure == "monte-carlo" else ()
                        yield Point(index, activation, parameters, w, b, q, c, depth, measure, self.seed, sampling)
                        index += 1


def _names(text: str, read: Callable[..., Any]) -> set[str]:
    return {name for stage in text.split(">>") if "x" in stage for name in read(stage.strip()).parameters}


def read_sweep(path: str | Path) -> Sweep:
    """A sweep from a TOML file. Raises EocError, OSError."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EocError(f"{path} is no TOML file", why=str(error), instead="docs/how-to/sweep.md shows one") from None
    return sweep_of(table)


def sweep_of(table: Mapping[str, Any]) -> Sweep:
    """A sweep from a table of activations, axes, parameters, measures, seed and sampling. Raises EocError."""
    known = {"activations", *AXES, "parameters", "measures", "seed", "monte_carlo"}
    for name in table:
        if name not in known:
            raise EocError(f"a sweep has no entry {name!r}", instead=", ".join(sorted(known)))
    activations = table.get("activations", [])
    if not isinstance(activations, list) or not activations or not all(isinstance(a, str) for a in activations):
        raise EocError("a sweep needs activations", instead='activations = ["tanh", "gelu"]')
    if "sigma_w" not in table:
        raise EocError("a sweep needs values of sigma_w", instead="sigma_w = [1.0, 1.5]")
    axes = {axis: _values(table[axis], axis) if axis in table else USUAL[axis] for axis in AXES}
    axes["depth"] = tuple(_count(value, "depth") for value in axes["depth"])
    parameters = {name: _values(values, name) for name, values in dict(table.get("parameters", {})).items()}
    measures = tuple(table.get("measures", ["theory"]))
    for measure in measures:
        if measure not in MEASURES:
            raise EocError(f"there is no measure {measure!r}", instead=", ".join(MEASURES))
    sampling = {**SAMPLING, **dict(table.get("monte_carlo", {}))}
    for name, value in sampling.items():
        if name not in SAMPLING:
            raise EocError(f"monte_carlo has no entry {name!r}", instead=", ".join(SAMPLING))
        sampling[name] = _count(value, name)
    seed = table.get("seed", 0)
    if not isinstance(seed, int) or seed < 0:
        raise EocError(f"seed = {seed!r}", why="a natural number", instead="seed = 0")
    return Sweep(dict(table), tuple(activations), axes, parameters, measures, seed, sampling)


def _values(given: Any, name: str) -> tuple[str, ...]:
    """A list of numbers, or {from, to, n}, as decimal text."""
    from fractions import Fraction

    if isinstance(given, Mapping):
        try:
            first, last, n = Fraction(str(given["from"])), Fraction(str(given["to"])), int(given["n"])
        except (KeyError, ValueError, TypeError):
            raise EocError(
                f"{name} = {given!r} is no range", instead=f"{name} = {{from = 0.5, to = 3, n = 11}}"
            ) from None
        if n < 2:
            raise EocError(f"{name} has {n} points", instead="n = 11")
        return tuple(str(first + (last - first) * i / (n - 1)) for i in range(n))
    items = given if isinstance(given, list) else [given]
    try:
        return tuple(str(Fraction(str(item))) if not isinstance(item, bool) else _refuse(name, item) for item in items)
    except (ValueError, ZeroDivisionError):
        return _refuse(name, given)


def _refuse(name: str, value: Any) -> Any:
    raise EocError(f"{name} = {value!r} is no number or list of numbers", instead=f"{name} = [1.0, 1.5]")


def _count(value: Any, name: str) -> int:
    number = int(value) if str(value).isdigit() else 0
    if number < 1:
        raise EocError(f"{name} = {value!r}", why="a positive whole number", instead=f"{name} = 10")
    return number


Row = dict[str, Any]
Evaluate = Callable[[Point], list[Row]]


def run(
    points: Sequence[Point],
    evaluate: Evaluate,
    executor: Executor,
    keep: Callable[[list[Row]], None],
    advance: Callable[[], None] = lambda: None,
    ahead: int = 64,
) -> bool:
    """Ask every point through the executor; False where it was interrupted.

    `keep` is given new rows every few seconds and at the end, also on Ctrl-C and where a worker fails; `ahead` points
    wait at a time, so that an interruption leaves little to cancel. A point that cannot be answered is a row with the
    reason as its label.
    """
    waiting: set[Future[list[Row]]] = set()
    done: set[Future[list[Row]]] = set()
    rest, fresh, saved = iter(points), [], monotonic()
    try:
        for point in itertools.islice(rest, ahead):
            waiting.add(executor.submit(evaluate, point))
        while waiting:
            done, waiting = wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED)
            count = len(done)
            while done:
                fresh += next(iter(done)).result()
                done.pop()
                advance()
            for point in itertools.islice(rest, count):
                waiting.add(executor.submit(evaluate, point))
            if fresh and monotonic() - saved > SAVE_EVERY:
                keep(fresh)
                fresh, saved = [], monotonic()
    except BaseException as stopped:
        for future in waiting:
            future.cancel()
        keep([*fresh, *(row for future in done | waiting if _answered(future) for row in future.result())])
        if isinstance(stopped, KeyboardInterrupt):
            return False
        raise
    keep(fresh)
    return True


def _answered(future: Future[list[Row]]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def theory_rows(point: Point) -> list[Row]:
    """The certified operating point, and the variance and correlation at the asked depth."""
    from derive.surface.blocks import theory

    row = base_row(point)
    try:
        t = theory(point.activation)
        given: dict[str, Any] = dict(point.parameters)
        found = t.at(sigma_w=point.sigma_w, sigma_b=point.sigma_b, q0=point.q, **given)
        rows = [{**row, "quantity": "tendency", "kind": "ENCLOSURE", "label": found.tendency}]
        for name in ("q", "chi", "chi_parallel", "c", "xi_q", "xi_c"):
            value = getattr(found, name) if found.attractor is not None else None
            if value is not None:
                numbers = {"value": float(value.mid), "error": float(value.rad)}
                rows.append({**row, "quantity": name, **numbers, "kind": "ENCLOSURE"})
        rows.append({**row, "quantity": "phase", "kind": "ENCLOSURE", "label": found.gradient or ""})
        q, c = float_of(point.q), float_of(point.c)
        from derive.surface.layerwise import depth

        deep = depth(t, [[q, c * q], [c * q, q]], point.depth, point.sigma_w, point.sigma_b, **given)
        for name, number in (("q at depth", deep.q[-1, 0]), ("c at depth", deep.c[-1, 0, 1])):
            rows.append({**row, "quantity": name, "value": float(number), "kind": deep.kind})
        return rows
    except EocError as error:
        return [{**row, "quantity": "refused", "kind": "UNKNOWN", "label": f"{error.what}; {error.why}".strip("; ")}]


def base_row(point: Point) -> Row:
    """The columns that say which point a row is about."""
    numbers = {axis: float_of(getattr(point, axis)) for axis in AXES[:-1]}
    given = json.dumps(dict(point.parameters), sort_keys=True)
    return {
        "point": point.index, "activation": point.activation, "parameters": given, **numbers, "depth": point.depth,
        "measure": point.measure, "value": None, "error": None, "label": None,
    }  # fmt: skip


def float_of(text: str) -> float:
    """The float of decimal or fraction text."""
    from fractions import Fraction

    return float(Fraction(text))


__all__ = ["Point", "Sweep", "read_sweep", "run", "sweep_of", "theory_rows"]
