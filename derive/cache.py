"""An on-disk cache of JSON: nothing that is read is unpickled or evaluated."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from derive.show.files import write

FORMAT = "eoc.cache/1"
ENGINES = ("eoc", "sympy", "mpmath", "python-flint", "numpy")
"""Packages whose version may change a result or its text."""


def folder() -> Path:
    """EOC_CACHE_DIR if it is set, else the user's cache folder of this platform."""
    if chosen := os.environ.get("EOC_CACHE_DIR"):
        return Path(chosen)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("eoc", appauthor=False))


@cache
def versions() -> Mapping[str, str]:
    """The versions of eoc and of what it computes with, as this process first met them."""
    found = {}
    for package in ENGINES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return MappingProxyType(found)


def key(question: dict[str, Any]) -> str:
    """A digest of the question, the versions, and the sizes and times of this package's files."""
    content = {"format": FORMAT, "versions": dict(versions()), "files": _files_digest(), "question": question}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def load(question: dict[str, Any]) -> Any:
    """The stored answer, or None where there is none or the entry cannot be read."""
    name = key(question)
    try:
        entry = json.loads((folder() / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    sound = isinstance(entry, dict) and entry.get("format") == FORMAT and entry.get("key") == name
    return entry.get("answer") if sound and entry.get("check") == _check(entry.get("answer")) else None


def store(question: dict[str, Any], answer: Any) -> Path:
    """Write an answer (JSON values only). Raises OSError where the folder cannot be written."""
    name = key(question)
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    entry = {"format": FORMAT, "key": name, "question": question, "check": _check(answer), "answer": answer}
    return write(place / f"{name}.json", json.dumps(entry, sort_keys=True))


def recall(question: dict[str, Any], compute: Callable[[], Any], on_trouble: Callable[[OSError], None]) -> Any:
    """The stored answer, else the computed one, which is stored; `on_trouble` hears why it could not be."""
    answer = load(question)
    if answer is None:
        answer = compute()
        try:
            store(question, answer)
        except OSError as error:
            on_trouble(error)
    return answer


def clear() -> int:
    """Remove every entry (files named as entries only); returns how many there were."""
    count = 0
    place = folder()
    for path in sorted(place.glob("*.json")) if place.is_dir() else ():
        if len(path.stem) == 64 and set(path.stem) <= set("0123456789abcdef"):
            path.unlink(missing_ok=True)
            count += 1
    return count


def _check(answer: Any) -> str:
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()


@cache
def _files_digest() -> str:
    """Of the files as this process first met them: what it has loaded does not change with them."""
    here = Path(__file__).resolve().parent
    rows = [f"{name} {size} {time}" for name, size, time in sorted(_files(str(here), ""))]
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _files(place: str, prefix: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _files(entry.path, f"{prefix}{entry.name}/")
            elif not entry.name.startswith("."):
                status = entry.stat()
                yield prefix + entry.name, status.st_size, status.st_mtime_ns
