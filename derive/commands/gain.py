"""`eoc gain`: which gain is which, and what a deep stack does at it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from derive.commands._ask import Asked
from derive.commands._text import TextCommand, common_options, exact, text_argument, value_options
from derive.records import EocError

EPILOG = """Examples:

\b
  eoc gain gelu
  eoc gain leaky_relu --set a=0.2
  eoc gain "x*sigmoid(1.702*x)" --q 0.5 --json
"""


@click.command("gain", cls=TextCommand, epilog=EPILOG)
@text_argument
@value_options
@click.option("--q", "variance", default="1", metavar="Q", show_default=True, help="Variance of the pre-activations.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def COMMAND(text: str, values: Any, domains: Any, variance: str, as_json: bool, quiet: bool, no_cache: bool) -> None:
    """Root-mean-square, standard-deviation and χ-critical gain of an activation, and what PyTorch says.

    Each gain is a σ_w (with σ_b = 0); with it come the next variance V(q), and the fixed point that the variance q
    is carried to, its stability and its gradient gain χ.
    """
    q = exact(variance, f"--q {variance}")
    if q <= 0:
        raise EocError(f"q = {variance} is no variance", instead="--q 1")
    asked = Asked(text, values, domains, not no_cache)
    document = asked.recall(f"gain:{q}", lambda: _document(asked, q))
    _demand_some(document)
    if as_json:
        import json

        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
        return
    from derive.show import terminal
    from derive.show.gains_text import gains_table, short

    terminal.console().print(short(document) if quiet else gains_table(document))


def _demand_some(document: dict[str, Any]) -> None:
    """Refuse where none of the moments has a number."""
    moments = document["moments"]
    if moments and all(row["value"] is None for row in moments):
        q = document["question"]["q"]
        raise EocError(
            f"{document['activation']['title']} has no gain at q = {q} that can be certified",
            why=moments[0]["text"],
            instead="another variance (--q), or an activation that grows no faster than exp(s*x**2)",
        )


def _document(asked: Asked, q: Fraction) -> dict[str, Any]:
    from derive.show.gains import gain_document

    question = {"text": asked.text, "set": asked.shown_values, "domains": asked.shown_domains}
    title = asked.question.name or asked.question.formula
    return gain_document(asked.theory, question, title, q, _torch(asked))


def _torch(asked: Asked) -> dict[str, Any] | None:
    """What `calculate_gain` says of an activation that it knows by name."""
    import tomllib
    from importlib import resources

    from sympy import Rational

    from derive.catalogue import entry
    from derive.program.symbols import parameter

    found = entry(asked.text.strip())
    table = tomllib.loads(
        resources.files("derive.commands").joinpath("calculate_gain.toml").read_text(encoding="utf-8")
    )
    if found is None or found.name not in table or asked.activation is None:
        return None
    row = table[found.name]
    square = Rational(row["square"])
    if row.get("slope"):
        name = found.parameters[0].name
        free = asked.activation.domains.get(name)
        slope = parameter(name, free) if free is not None else Rational(str(asked.values[name]))
        square = square / (1 + slope**2)
    return {"nonlinearity": row["nonlinearity"], "means": row["means"], "square": square}
