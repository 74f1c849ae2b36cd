"""`eoc eval`: a file of questions, one JSON object a line; one answer a line, in the same order."""

from __future__ import annotations

import sys

import click

from derive.commands._text import TextCommand

EPILOG = """Examples:

\b
  echo '{"of": "gelu", "ask": "chi", "at": {"q": 1, "sigma_w": 1.5}}' | eoc eval --batch -
  eoc eval --batch questions.jsonl > answers.jsonl

\b
Fields of a question:
  of       a formula, a catalogue name or a block
  ask      mean, second_moment, covariance_map, variance_map, correlation_map, chi, chi_parallel
  at       the arguments: {"q": 1}, {"q1": 1, "q2": 2, "c": "1/3"}, sigma_w, sigma_b, parameters; the formula without it
  set, domain, digits   as for eoc derive; 16 digits unless asked
  id       anything; it comes back with the answer
"""


@click.command("eval", cls=TextCommand, epilog=EPILOG)
@click.option("--batch", "path", metavar="FILE.jsonl", required=True, help="The questions; - reads standard input.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the on-disk cache.")
def COMMAND(path: str, no_cache: bool) -> int:
    """Answer many questions: certified numbers, or formulas where no point is given.

    An answer has `kind`, `value` (certified digits), `mid` and `rad`; or `kind` and `formula`; or `error` with what,
    where, why, instead, and the `line` it belongs to. Answers come in the order of the questions, and are kept: asked
    again, ten thousand a second are read. Exit code 2 where a line has an error.
    """
    from derive.commands._batch import answers

    def tell(error: OSError) -> None:
        click.echo(f"note: no cache: {error}", err=True)

    wrong = False
    # bytes that are no UTF-8 stand as escapes, so that only their line is wrong
    with click.open_file(path, encoding="utf-8", errors="surrogateescape") as file:
        for answer in answers(file, not no_cache, tell):
            wrong = wrong or '"error": {' in answer
            sys.stdout.write(answer + "\n")
    sys.stdout.flush()
    return 2 if wrong else 0
