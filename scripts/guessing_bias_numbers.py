"""Writes docs/guessing-bias-numbers.md: published numbers of guessing bias beside ours, a second method, and networks.

python scripts/guessing_bias_numbers.py [--file docs/guessing-bias-numbers.md]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from verify.guessing.numbers import ASKED, given

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT / "tests" / "literature" / "data" / "guessing_bias.json"
HEAD = """# Numbers of guessing bias, three times

Written by `python scripts/guessing_bias_numbers.py`. "Printed" is what papers and earlier computations give; "derived"
comes from this toolkit's derivations, with the kind of that answer; "second method" is how far plain quadrature or a
closed recursion in 60 digits is from it, relatively; "networks" is a measurement on random networks with its standard
error and its distance in standard errors. For depths these are eight networks of width 1000, whose finite width shows
from layer 10 on; rows with the same layer use the same draws.

γ = σ_μ²/σ_y² is the drift ratio, c = γ/(1+γ), σ_w² and σ_b² are variances; see [the page on guessing
bias](guessing-bias.md).
"""


def what(question: dict) -> str:
    """A row's first column."""
    names = {"w2": "σ_w²", "b2": "σ_b²", "layer": "layer", "k": "k", "gamma": "γ", "start": "γ before", "a": "a"}
    asked = given(question)
    words = ["sigma_w^2 of neutrality"] if question["kind"] == "neutral" else []
    words += [str(asked.pop(key)) for key in ("text", "pool", "what") if asked.get(key)]
    words += [f"{names.get(key, key)} = {value:.6g}" for key, value in asked.items() if not isinstance(value, str)]
    words += [f"{names.get(key, key)} = {value}" for key, value in asked.items() if isinstance(value, str)]
    return ", ".join(words)


def row(question: dict) -> str:
    """A line of a table."""
    asked, of = given(question), ASKED[question["kind"]]
    (derived, kind), second = of.derived(**asked), of.second(**asked)
    apart = abs(derived - second) / (abs(second) if derived else 1)
    networks = ""
    if question.get("measure") and of.measured is not None:
        value, error = of.measured(**asked)
        away = f", {abs(value - derived) / error:.1f} s.e." if error else ""
        networks = f"{value:.5g} ± {error:.1g}{away}"
    printed = question["printed"] + (f" (read {question['corrected']})" if "corrected" in question else "")
    return f"| {what(question)} | {printed} | {derived:.13g} | {kind} | {apart:.0e} | {networks} |"


def main() -> None:
    """Compute every table and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=ROOT / "docs" / "guessing-bias-numbers.md")
    file = parser.parse_args().file
    parts = [HEAD]
    for table in json.loads(PUBLISHED.read_text()):
        print(table["title"], flush=True)
        head = "| | printed | derived | kind | second method | networks |\n|---|---|---|---|---|---|\n"
        parts.append(f"## {table['title']}\n\n{table['source']}\n\n{head}" + "\n".join(map(row, table["rows"])) + "\n")
    file.write_text("\n".join(parts))
    print(file)


if __name__ == "__main__":
    main()
