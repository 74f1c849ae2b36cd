"""Emitted text as functions: the only place where text is executed."""

from __future__ import annotations

import hashlib
import linecache
from types import SimpleNamespace


def load(source: str) -> SimpleNamespace:
    """The public functions of a module that `emit` wrote.

    Only give it text from `emit`: its identifiers were checked and its expressions came through the
    gate. The text stays visible to tracebacks and to `inspect.getsource`.
    """
    name = f"<emitted {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict = {"__name__": "emitted"}
    exec(compile(source, name, "exec"), namespace)
    public = {key: value for key, value in namespace.items() if getattr(value, "__module__", "") == "emitted"}
    return SimpleNamespace(**{key: value for key, value in public.items() if not key.startswith("_")})
