"""`eoc sweep`: theory and random networks over a grid, on many processes or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from derive.records import EocError

EPILOG = """Examples:

\b
  eoc sweep grid.toml --out grid.parquet
  eoc sweep grid.toml --out grid.parquet --executor processes:8 --resume
  eoc sweep grid.toml --out grid.parquet --executor dask://127.0.0.1:8786
"""


@click.command("sweep", epilog=EPILOG)
@click.argument("file", metavar="FILE.toml")
@click.option("--out", required=True, metavar="FILE", help="The Parquet file of the results.")
@click.option(
    "--executor", default="processes:2", show_default=True, metavar="processes:N|dask://ADDRESS", help="Where to run."
)
@click.option("--resume", is_flag=True, help="Keep the points of an earlier run of the same question.")
@click.option("-q", "quiet", is_flag=True, help="No progress bar.")
def COMMAND(file: str, out: str, executor: str, resume: bool, quiet: bool) -> None:
    """Ask theory and random networks at every point of a grid; one tidy Parquet file of the answers.

    FILE.toml names activations, values of sigma_w, sigma_b, q, c, depth and of parameters, and what to measure.
    Ctrl-C keeps what is done (exit code 130); --resume goes on from there.
    """
    from derive.sweep import MOST, read_sweep, run
    from derive.sweep_file import resumed, write_rows
    from verify.executors import check_executor, pool_of
    from verify.sweeps import evaluate

    check_executor(executor)
    sweep = read_sweep(file)
    _check_out(out, resume)
    rows = resumed(out, sweep) if resume else []
    done = {row["point"] for row in rows}
    points = list(sweep.points())
    if len(points) > MOST:
        raise EocError(f"the sweep has {len(points)} points", why=f"at most {MOST}", instead="a coarser grid")
    waiting = [point for point in points if point.index not in done]
    settings = {"executor": executor}

    def keep(fresh: list[dict[str, Any]]) -> None:
        rows.extend(fresh)
        write_rows(out, sweep, rows, settings)

    with _progress(len(points), len(points) - len(waiting), quiet) as advance, pool_of(executor) as (pool, _):
        finished = run(waiting, evaluate, pool, keep, advance)
    answered = len({row["point"] for row in rows})
    if not finished:
        click.echo(f"{answered} of {len(points)} points are in {out}; --resume goes on", err=True)
        raise KeyboardInterrupt
    if not quiet:
        click.echo(f"{answered} points, {len(rows)} rows in {out}")


def _check_out(out: str, resume: bool) -> None:
    if not out.endswith(".parquet"):
        raise EocError(f"{out} is no name of a Parquet file", instead=f"--out {Path(out).stem or 'sweep'}.parquet")
    if Path(out).exists() and not resume:
        raise EocError(f"{out} is there already", instead="--resume to go on with it, or another --out")
    if not Path(out).resolve().parent.is_dir():
        raise EocError(f"the folder of {out} does not exist")


@contextmanager
def _progress(total: int, done: int, quiet: bool) -> Iterator[Any]:
    """A function to call for each point that is done; it moves a bar where there is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda: None
        return
    columns = (TextColumn("points"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("points", total=total, completed=done)
        yield lambda: bar.advance(task)
