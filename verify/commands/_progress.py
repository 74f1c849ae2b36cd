"""What a long command says on stderr while it works: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[int, int, str], None]
EVERY = 10.0
"""Seconds between lines about work that decides nothing."""
VERDICTS = ("HOLDS", "FAILS", "UNDECIDED", "REFUSED")


@contextmanager
def progress_on_stderr(quiet: bool) -> Iterator[Tell | None]:
    """A function to call with (done, total, what), or None for silence.

    On a terminal it moves a bar with the verdicts so far. Elsewhere (a file, a server of continuous integration) it
    writes a line for every claim when it is first decided, and one every ten seconds in between.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if quiet:
        yield None
    elif not console.is_terminal:
        yield _lines()
    else:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=console, transient=True) as bar:
            task, counts = bar.add_task(""), dict.fromkeys(VERDICTS, 0)

            def tell(done: int, total: int, what: str) -> None:
                verdict = what.partition(" ")[0]
                if verdict in counts:
                    counts[verdict] += 1
                so_far = "  ".join(f"{count} {name}" for name, count in counts.items() if count)
                bar.update(task, completed=done, total=max(total, 1), description=f"{so_far}  {what}".strip())

            yield tell


def _lines() -> Tell:
    import click

    started = last = time.monotonic()

    def tell(done: int, total: int, what: str) -> None:
        nonlocal last
        now = time.monotonic()
        if what.partition(" ")[0] in VERDICTS or now - last > EVERY:
            click.echo(f"{now - started:6.1f} s  {done}/{total}  {what}", err=True)
            last = now

    return tell
