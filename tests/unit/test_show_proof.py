"""Derivations as data, text and LaTeX; files; stages."""

from __future__ import annotations

import pytest
from sympy import Symbol

from derive import theory
from derive.records import EocError, Step
from derive.show import proof
from derive.show.document import document, proofs
from derive.show.files import write
from derive.show.stages import STAGES, stage

A, B, C = Symbol("a"), Symbol("b"), Symbol("c")
TREE = Step(
    "tilt", A + B, 2 * A, "q < 1/2", "Author 1999, Journal 1, 2",
    (Step("linearity", A, B, source="completing the square"), Step("same", B, B, children=(Step("stein", B, C),))),
)  # fmt: skip


def test_numbers_and_order():
    found = proof.tree(TREE)
    assert [(number, step["rule"]) for number, step in proof.numbered([found])] == [
        ("1", "tilt"),
        ("1.1", "linearity"),
        ("1.2", "stein"),  # the step that changes nothing gives way to its children
    ]
    assert proof.sources([found]) == ["Author 1999, Journal 1, 2", "completing the square"]


def test_plain_text():
    text = proof.plain_text([proof.tree(TREE)])
    assert text.splitlines()[:5] == [
        "1 tilt",
        "    a + b",
        "  = 2·a",
        "    provided q < 1/2",
        "    source: Author 1999, Journal 1, 2",
    ]
    assert "  1.2 stein" in text


def test_latex_text_cites_papers_and_says_words():
    text = proof.latex_text([proof.tree(TREE)])
    assert r"\cite{eoc:author1999}" in text
    assert "(completing the square)" in text
    assert r"provided q $<$ 1/2" in text
    assert text.count(r"\begin{align*}") == text.count(r"\end{align*}") == 3


def test_a_derivation_names_the_activation_in_the_question_only():
    t = theory("gelu")
    entry = next(item for item in proofs(t) if item["id"] == "second_moment")
    first = entry["steps"][0]
    assert "φ(x)²" in first["before"]["unicode"]
    assert "φ" not in first["after"]["unicode"]


def test_each_derivation_is_told_once():
    found = proofs(theory("relu"))
    texts = [str(step) for entry in found for step in entry["steps"]]
    assert len(set(texts)) == len(texts)
    assert [entry["id"] for entry in found][:2] == ["mean", "second_moment"]


def test_result_proof_is_latex():
    assert r"\begin{align*}" in theory("relu").second_moment.proof()


def test_the_document_is_json():
    import json

    made = document(theory("leaky_relu"))
    assert json.loads(json.dumps(made)) == made


def test_a_slope_takes_its_shorter_form():
    t = theory("gelu")
    made = document(t)
    slope = next(result for result in made["results"] if result["id"] == "chi_parallel")
    assert slope["closed"]
    from derive.program.symbols import Q

    second = t.second_moment.closed
    assert slope["operations"] == t.chi_parallel.closed.count_ops() < second.diff(Q).count_ops() / 2


@pytest.mark.parametrize("name", STAGES)
def test_stages_speak(name):
    from derive import Activation

    phi = Activation("relu")
    assert stage(name, theory(phi), phi).strip()


def test_a_block_has_no_tree():
    with pytest.raises(EocError, match="tree"):
        stage("tree", theory("dense >> relu"), None)


def test_files_are_written_whole(tmp_path):
    path = write(tmp_path / "a.txt", "one")
    assert path.read_text() == "one"
    write(path, "two")
    assert path.read_text() == "two"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]
    with pytest.raises(UnicodeEncodeError):
        write(path, "\ud800")
    assert path.read_text() == "two"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]
    with pytest.raises(OSError, match="nowhere"):
        write(tmp_path / "nowhere" / "a.txt", "x")


def test_a_name_means_the_same_on_both_sides_of_a_step():
    """Every name in an equation is explained once, next to the column it needs."""
    from sympy import exp, sin

    from derive.gaussian.node import single
    from derive.program.symbols import X
    from derive.records import Step
    from derive.show.proof import equation, tree

    long = [sin((k + 1) * X) * exp(-k * X**2) * (X**3 + k * X + 1) for k in range(1, 4)]
    step = tree(Step("stein", single(sum(long) * sin(X)), single(sum(long) ** 2), "", "", ()))
    named = {name: lines for side in ("before", "after") for name, lines in step[side]["where"]}
    assert step["before"]["where"] and step["after"]["where"]
    text = equation("", step["before"], step["after"])
    assert all(text.count(rf"{name} ={{}}&") == 1 for name in named)
    for side in ("before", "after"):
        assert all(named[name] == lines for name, lines in step[side]["where"])
