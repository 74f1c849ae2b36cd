"""LaTeX pages: complete, compiling without complaint, with every formula on the page."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from derive import theory
from derive.show import latex
from derive.show.document import Question, document, proofs

NEEDS_TEX = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="pdflatex is not installed (Debian: texlive-latex-base lmodern)"
)
FORMULAS = {
    "elu": {},
    "x*tanh(log(1+exp(x)))": {},
    "x if x > θ else slope_1*x": {"theta": (0, 1)},
    "step": {},
    "min(x, 1)*sin(x) + exp(-x**2)*abs(x - 1/2)": {},
}


def made(text):
    t = theory(text, domains=FORMULAS[text]) if FORMULAS[text] else theory(text)
    return {**document(t, Question(text, notes=("50% of φ_1 & #2",))), "proofs": proofs(t)}


LONG = "min(x, 1)*sin(x) + exp(-x**2)*abs(x - 1/2)"
PAGES = [pytest.param(text, marks=pytest.mark.slow) if text == LONG else text for text in FORMULAS]


@pytest.fixture(scope="module", params=PAGES)
def found(request):
    return made(request.param)


def compiled(text, folder, runs=2):
    """The log of pdflatex, which must succeed."""
    (folder / "page.tex").write_text(text)
    for _ in range(runs):
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
            cwd=folder,
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    return (folder / "page.log").read_text(errors="replace")


@NEEDS_TEX
def test_the_page_compiles_alone(found, tmp_path):
    log = compiled(latex.page(found), tmp_path)
    assert "undefined" not in log
    assert "Missing character" not in log
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide", log)]
    assert all(points < 12 for points in wide), f"formulas leave the page by {wide} points"


@NEEDS_TEX
@pytest.mark.parametrize("found", ["elu", "x*tanh(log(1+exp(x)))"], indirect=True)
def test_the_body_compiles_in_a_paper(found, tmp_path):
    (tmp_path / "body.tex").write_text(latex.body(found))
    (tmp_path / "body.bib").write_text(latex.bib(found))
    paper = (
        r"\documentclass{article}\usepackage{amsmath,amssymb}\begin{document}"
        r"\input{body}\bibliographystyle{plain}\bibliography{body}\end{document}"
    )
    log = compiled(paper, tmp_path, runs=1)
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide", log)]
    assert not wide, f"displays leave the column of a paper by {wide} points"
    if shutil.which("bibtex") and "@misc" in latex.bib(found):  # without a source there is nothing to cite
        done = subprocess.run(["bibtex", "page"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        assert "undefined" not in compiled(paper, tmp_path)


@NEEDS_TEX
def test_two_bodies_share_one_bibliography_in_a_paper(tmp_path):
    first, second = made("elu"), made("step")
    known = latex.bib(first)
    both = latex.bib(second, known)
    assert both.startswith(known.rstrip()) and latex.bib(first, both) == both
    keys = re.findall(r"@misc\{(.*),", both)
    assert len(keys) == len(set(keys)) >= 2
    for name, one in (("a", first), ("b", second)):
        (tmp_path / f"{name}.tex").write_text(latex.body(one))
    (tmp_path / "eoc.bib").write_text(both)
    paper = (
        r"\documentclass{article}\usepackage{amsmath,amssymb}\begin{document}\input{a}\input{b}"
        r"\bibliographystyle{plain}\bibliography{eoc}\end{document}"
    )
    compiled(paper, tmp_path, runs=1)
    if shutil.which("bibtex"):
        done = subprocess.run(["bibtex", "page"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and "Repeated entry" not in done.stdout, done.stdout
        assert "undefined" not in compiled(paper, tmp_path)


def test_what_a_page_must_say(found):
    text = latex.page(found)
    for result in found["results"]:
        assert rf"\textsc{{{result['kind'].lower()}}}" in text
    body = text.split(latex.BEGIN)[1].split(latex.END)[0]
    assert r"\section*{Conventions}" in body and r"\section*{Results}" in body
    assert text.startswith(f"% eoc {found['version']}: {found['question']['text']}")
    assert r"\operatorname{acos}" not in text and r"\operatorname{asin}" not in text


def test_no_greek_letter_in_running_text(found):
    """pdflatex stops at one; in the header, which is a comment, it may stand."""
    text = "\n".join(line for line in latex.page(found).splitlines() if not line.startswith("%"))
    assert not re.findall(r"[\u0370-\u03ff]", text)


def test_every_citation_is_in_the_bibliography(found):
    text, bib = latex.page(found), latex.bib(found)
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", text) for key in keys.split(",")}
    assert cited <= set(re.findall(r"\\bibitem\{([^}]*)\}", text))
    assert cited <= set(re.findall(r"@misc\{([^,]*),", bib))


def test_the_macros_of_the_body_are_prefixed_and_defined(found):
    body = latex.body(found)
    used = set(re.findall(r"\\eoc[A-Za-z]+", body))
    assert used == set(re.findall(r"\\providecommand\{(\\eoc[A-Za-z]+)\}", body))
    assert r"\newcommand" not in body and r"\def" not in body


def test_a_theory_gives_its_document():
    text = theory("relu").latex()
    assert r"\begin{document}" in text and r"\section*{Derivations}" in text
