"""The file of a sweep: one tidy Parquet table, with the question, settings, seed and versions in its metadata."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from derive.records import EocError
from derive.sweep import COLUMNS, VERSION, Row, Sweep

TYPES = {"point": "int64", "depth": "int64", "sigma_w": "float64", "sigma_b": "float64", "q": "float64",
         "c": "float64", "value": "float64", "error": "float64"}  # fmt: skip


def write_rows(path: str | Path, sweep: Sweep, rows: list[Row], settings: dict[str, str]) -> None:
    """The whole table, written to a temporary name and renamed; rows by point, so that the order says nothing."""
    import pyarrow
    from pyarrow import parquet

    import derive
    from derive.show.files import write_bytes

    schema = pyarrow.schema([(name, getattr(pyarrow, TYPES.get(name, "string"))()) for name in COLUMNS])
    about = {
        "eoc": derive.__version__, "schema": VERSION, "question": sweep.question, "key": sweep.key, "seed": sweep.seed,
        "sampling": sweep.sampling, "settings": settings,
    }  # fmt: skip
    ordered = sorted(rows, key=lambda row: row["point"])
    columns = [[row.get(name) for row in ordered] for name in COLUMNS]
    arrays = [pyarrow.array(column, kind.type) for column, kind in zip(columns, schema, strict=True)]
    described = schema.with_metadata({"eoc": json.dumps(about, ensure_ascii=False)})
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=described), buffer)
    write_bytes(path, buffer.getvalue())


def read_rows(path: str | Path) -> tuple[dict[str, Any], list[Row]]:
    """(metadata, rows) of a file. Raises EocError for what this did not write."""
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(str(path))
        about = json.loads((table.schema.metadata or {})[b"eoc"])
    except (pyarrow.ArrowInvalid, KeyError, ValueError):
        raise EocError(f"{path} is no file of a sweep", instead="--out FILE of `eoc sweep`") from None
    return about, table.to_pylist()


def resumed(path: str | Path, sweep: Sweep) -> list[Row]:
    """The rows of an earlier run of the same question; [] where there is no file. Raises EocError for another one."""
    if not Path(path).exists():
        return []
    about, rows = read_rows(path)
    if about.get("key") != sweep.key:
        raise EocError(
            f"{path} holds another sweep", why="its question is not that of the file given", instead="another --out"
        )
    return rows


__all__ = ["read_rows", "resumed", "write_rows"]
