"""Emitted text as functions: the only place where text is executed."""

from __future__ import annotations

import hashlib
import linecache
import sys
from types import ModuleType, SimpleNamespace


def load(source: str) -> SimpleNamespace:
    """The public functions of a module that `emit` wrote; the same text gives the same functions.

    Only give it text from `emit`: its identifiers were checked and its expressions came through the
    gate. The text stays visible to tracebacks and to `inspect.getsource`, and the module is importable
    in this process by its name, a hash of the text: `torch.compile` looks functions up that way.
    """
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    name, file = f"eoc_emitted_{digest}", f"<emitted {digest}>"
    module = sys.modules.get(name)
    if module is None:
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        module = ModuleType(name)
        exec(compile(source, file, "exec"), module.__dict__)
        module = sys.modules.setdefault(name, module)
    public = {key: value for key, value in vars(module).items() if getattr(value, "__module__", "") == name}
    return SimpleNamespace(**{key: value for key, value in public.items() if not key.startswith("_")})
