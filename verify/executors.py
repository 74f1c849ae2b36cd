"""Where work runs: processes of this machine, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from derive.records import EocError


def check_executor(text: str) -> None:
    """Raise EocError for what names no executor."""
    name, _, count = text.partition(":")
    if text.startswith("dask://") and len(text) > len("dask://"):
        return
    if name != "processes" or not count.isdigit() or not 1 <= int(count) <= 1024:
        raise EocError(f"{text!r} is no executor", instead="processes:4 or dask://127.0.0.1:8786")


@contextmanager
def pool_of(text: str) -> Iterator[tuple[Executor, int]]:
    """The executor and how many workers it has; they are told to stop at the end."""
    if text.startswith("dask://"):
        from distributed import Client

        address = text.removeprefix("dask://")
        try:
            client = Client(f"tcp://{address}", timeout=10)
        except (OSError, TimeoutError, ValueError) as error:
            raise EocError(f"no Dask scheduler answers at {address}", why=" ".join(str(error).split())) from None
        with client:
            yield client.get_executor(), max(1, sum(client.nthreads().values()))
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    count = int(text.partition(":")[2])
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    try:
        yield pool, count
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
