"""A limit of processor time for enclosures and expansions: a question ends with an answer or where it stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from derive.records import Unsupported

SECONDS = 30.0
_END: ContextVar[float] = ContextVar("end of the time for an enclosure", default=float("inf"))


class OutOfTime(Unsupported):
    """The time for an enclosure has run out."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """At most so many seconds of this thread's processor time inside, fewer where an outer limit ends earlier.

    Processor time: a busy machine changes how long an answer takes, not what it is.
    """
    token = _END.set(min(_END.get(), time.thread_time() + seconds))
    try:
        yield
    finally:
        _END.reset(token)


def expired() -> bool:
    """Whether the limit has passed."""
    return time.thread_time() > _END.get()


def check(where: str, what: str = "the enclosure") -> None:
    """Raise OutOfTime, with the place, where the limit has passed."""
    if expired():
        raise OutOfTime(
            f"{what} took too long",
            where=where,
            why="it has a limit of processor time, and the function or the law needs more",
            instead="ask for fewer digits or smaller variances",
        )


__all__ = ["SECONDS", "OutOfTime", "check", "expired", "limited"]
