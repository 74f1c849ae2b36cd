"""Derivations as pages: they compile, state each rule once, and are no longer than a careful person would write."""

import re
import shutil
import subprocess

import pytest

from derive import Activation, expect
from derive.gaussian.rules import rules
from derive.show.proof import told

HEAD = r"\documentclass{article}\usepackage{amsmath,amssymb}\usepackage[margin=2.5cm]{geometry}\begin{document}"
PAGES = {"gelu": 1, "relu": 1, "snake": 1, "elu": 4, "max(-1, min(1, x))": 5}


def pages(body, folder):
    """How many pages pdflatex makes of it; it must find nothing wrong."""
    (folder / "proof.tex").write_text(f"{HEAD}\n{body}\n\\end{{document}}\n")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "proof.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-800:]
    assert "Overfull \\hbox" not in done.stdout
    return int(re.search(r"\((\d+) pages?,", done.stdout).group(1))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize(
    "name", [name if name == "gelu" else pytest.param(name, marks=pytest.mark.slow) for name in PAGES]
)
def test_pair_proofs_fit_their_pages(name, tmp_path):
    assert pages(expect(name, name).proof(), tmp_path) <= PAGES[name]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_a_long_proof_is_folded(tmp_path):
    """E GELU^4 repeats itself: 88 steps, 28 of them different."""
    body = expect(Activation("gelu") ** 4).proof()
    assert "as in 1." in body
    assert pages(body, tmp_path) <= 10


def test_each_rule_is_stated_once():
    body = expect("gelu", "gelu").proof()
    used = [rule for rule in rules() if rule.statement in body]
    assert {rule.name for rule in used} >= {"auxiliary", "stein", "orthant_2"}
    assert all(body.count(rule.statement) == 1 for rule in used)
    assert body.count("The rule: ") == len(used)


def test_repeated_steps_are_told_once():
    def step(before, *children):
        return {"rule": "stein", "before": {"unicode": before}, "after": {"unicode": "1"}, "children": list(children)}

    forest = [step("a", step("b", step("c")), step("d")), step("b", step("c")), step("c")]
    assert [(number, earlier) for number, _, earlier in told(forest)] == [
        ("1", ""),
        ("1.1", ""),
        ("1.1.1", ""),
        ("1.2", ""),
        ("2", "1.1"),
    ]
