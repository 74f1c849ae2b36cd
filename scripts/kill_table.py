"""Writes docs/mutants.md: which wrong theories the checks refute, kind by kind and check by check.

python scripts/kill_table.py [--file docs/mutants.md]

Exits with 1 where a mutant survives that no check lists as unseeable.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import torch

from verify.checking import checks
from verify.mutants import depth_kills, kills
from verify.subject import subject
from verify.wrong_code import code_kills

ROOT = Path(__file__).resolve().parents[1]
ACTIVATIONS, BLOCKS = ("relu", "gelu", "tanh", "elu"), ("dense >> relu >> maxpool(2)", "dense >> relu >> dropout(0.3)")
DEEP = {"depth_variance": "relu", "depth_correlation": "relu", "depth_gradient": "relu", "guessing_bias": "relu",
        "guessing_law": "relu", "finite_width": "tanh"}  # fmt: skip
OWN = ("finite_width", "guessing_law")
"""Checks of depth whose mutants are no maps repeated in every layer."""
SINGLE = ("block_moments", "block_maps", "block_gain")
ELSEWHERE = {
    "block_depth": "its maps have rows under `block_maps` and `block_gain`; wrong recursions are not run",
    "block_points": "asks of blocks what `edge_of_chaos` and `fixed_point` ask; no mutants are run",
    "block_weights": "holds two samplers against each other; their laws are compared in `test_verify_blocks.py`",
    "emitted_function": "the code of relu itself has no number, sign or exponent to change",
    "printed_formula": "its mutants are changed texts, refuted in `test_verify_printed.py`",
    "sampler": "holds two samplers against each other, `test_verify_sampling.py`",
    "weight_laws": "its mutants are wrong second moments of a law, refuted in `test_verify_weights.py`",
}
"""Checks without mutants of a map: where theirs are. A check that has neither a row nor a line here is named."""
HEAD = """# Kill table

Written by `python scripts/kill_table.py`, seed 0. Wrong versions of a theory are made mechanically and held against
every check of what they change ([how](verification.md#mutants)): rigorous witnesses first, then samples, at most 240
batches of them (seconds of a report). A version that has the numbers of the truth is no mutant and is left out. A
survivor fails the build, unless its check lists it as unseeable with the reason.
"""

Outcome = tuple[str, str, str]
"""(kind, check, witness that refuted it or "")."""


def kind_of(name: str) -> str:
    """A mutant's kind: its name without the place."""
    name = re.sub(r", \d+\. place$", "", name)
    return re.sub(r"^term \d+ ", "a term ", name)


def outcomes() -> Iterable[tuple[str, Outcome]]:
    """(subject, outcome) for every mutant."""
    single = {name: check for name, check in checks("block").items() if name in SINGLE}
    for text in ACTIVATIONS:
        for mutant, check, witness in kills(subject(text), checks(), forms=True):
            yield text, (kind_of(mutant.name), check, witness or listed(checks()[check], mutant.name))
    for text in BLOCKS:
        for mutant, check, witness in kills(subject(text), single, forms=True):
            yield text, (kind_of(mutant.name), check, witness or listed(single[check], mutant.name))
    for quantity, change, witness in code_kills(subject("relu")):
        what = change.rpartition(": ")[2]
        check = "emitted_function" if quantity == "activation" else "emitted_maps"
        yield "relu", (f"in code: {what}", check, witness)
    for name, text in DEEP.items():
        deep = checks()[name]
        for mutant, witness in depth_kills(subject(text), deep):
            kind = mutant.name if name in OWN else f"in every layer: {kind_of(mutant.name)}"
            yield text, (kind, name, witness or listed(deep, mutant.name))


def listed(check: object, name: str) -> str:
    """Why a check cannot see a mutant, or "" where it should have."""
    reason = getattr(check, "unseeable", {}).get(name, "")
    return f"unseeable: {reason}" if reason else ""


def page(found: list[tuple[str, Outcome]]) -> str:
    """The page."""
    by_check: dict[str, Counter[str]] = defaultdict(Counter)
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for _, (kind, check, witness) in found:
        state = "survived" if not witness else "unseeable" if witness.startswith("unseeable") else "refuted"
        by_check[check][state] += 1
        by_kind[kind][state] += 1
        if state == "refuted":
            by_check[check][f"by {witness}"] += 1
    subjects = ", ".join(f"`{text}`" for text in (*ACTIVATIONS, *BLOCKS))
    refuted = sum(c["refuted"] for c in by_kind.values())
    lines = [HEAD, f"{len(found)} mutants of {len(by_kind)} kinds, from {subjects}: {refuted} refuted.\n"]
    lines += ["| check | mutants | refuted | unseeable | survived | refuted by |", "|---|---|---|---|---|---|"]
    for check, counts in sorted(by_check.items()):
        by = ", ".join(f"{k.removeprefix('by ')} {v}" for k, v in counts.most_common() if k.startswith("by "))
        total = sum(counts[s] for s in ("refuted", "unseeable", "survived"))
        lines.append(
            f"| {check} | {total} | {counts['refuted']} | {counts['unseeable']} | {counts['survived']} | {by} |"
        )
    lines += without_a_row(set(by_check))
    lines += ["", "| kind of mistake | mutants | refuted |", "|---|---|---|"]
    for kind, counts in sorted(by_kind.items()):
        lines.append(f"| {kind} | {sum(counts.values())} | {counts['refuted']} |")
    return "\n".join(lines) + "\n"


def without_a_row(measured: set[str]) -> list[str]:
    """Lines about the checks that the table lacks."""
    missing = [name for name in checks("") if name not in measured]
    unknown = [name for name in missing if name not in ELSEWHERE]
    if unknown:
        print(f"without a row or a reason: {', '.join(unknown)}", file=sys.stderr)
    return ["", "Checks without a row:", "", *(f"- {name}: {ELSEWHERE[name]}" for name in missing if name in ELSEWHERE)]


def main() -> int:
    """Make the mutants, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", default=str(ROOT / "docs" / "mutants.md"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = []
    for text, outcome in outcomes():
        found.append((text, outcome))
        if not outcome[2]:
            print(f"survived: {text}, {outcome[1]}: {outcome[0]}", file=sys.stderr)
    Path(options.file).write_text(page(found), encoding="utf-8")
    return int(any(not witness for _, (_, _, witness) in found))


if __name__ == "__main__":
    sys.exit(main())
