"""Files are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write(path: str | Path, text: str) -> Path:
    """Write text to a temporary file beside `path` and rename it; raises OSError naming `path`."""
    return write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes) -> Path:
    """The same for bytes."""
    path = Path(path)
    if path.exists() and not path.is_file():
        return _into(path, data)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    return path


def _into(path: Path, data: bytes) -> Path:
    """Write into what is no regular file (a device, a pipe), which a rename would replace."""
    with path.open("wb") as stream:
        stream.write(data)
    return path


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
