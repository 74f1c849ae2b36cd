"""The HTML report: one file, nothing from the network, every formula as MathML, plots that follow dark mode."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser

import pytest

from derive import theory
from derive.show import html, plots
from derive.show.curves import curves
from derive.show.document import Question, document, proofs

for package in ("matplotlib", "jinja2", "latex2mathml"):
    pytest.importorskip(package, reason="a report needs the extra eoc[report]")


@pytest.fixture(scope="module", params=["elu", "relu", "step"])
def made(request):
    t = theory(request.param)
    return {**document(t, Question("<b>&" + request.param)), "proofs": proofs(t), "curves": curves(t)}


@pytest.fixture(scope="module")
def page(made):
    return html.report(made)


def test_nothing_is_fetched(page):
    assert not re.findall(r'(?:src|href)="(?!#)', page.replace("xlink:href", "href"))
    assert "<script" not in page and "@import" not in page and "url(http" not in page
    hosts = set(re.findall(r"https?://([^/\"\s<]+)", page))
    assert hosts <= {"www.w3.org"}


def test_tags_are_balanced(page):
    class Balance(HTMLParser):
        void = ("meta", "link", "br", "img", "hr", "input")

        def __init__(self):
            super().__init__()
            self.open = []

        def handle_starttag(self, tag, attrs):
            if tag not in self.void:
                self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    parser = Balance()
    parser.feed(page)
    assert parser.open == []


def test_formulas_are_mathml_without_leaks(page, made):
    assert page.count("<math") > len(made["results"])
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    assert not re.findall(r"<m[io][^>]*>\\", text)
    assert "\\frac" not in text and "\\left" not in text


def test_the_question_is_escaped(page):
    assert "<b>&" not in page and "&lt;b&gt;&amp;" in page


def test_the_kind_of_each_formula_and_the_version_are_shown(page, made):
    for result in made["results"]:
        assert f'<span class="kind {result["kind"]}">{result["kind"]}</span>' in page
    assert f"eoc {made['version']}" in page
    assert "prefers-color-scheme: dark" in page


def test_plots_of_what_exists(page, made):
    expected = {"elu": set(), "relu": {"activation", "variance_map", "correlation_map", "edge"}, "step": {"activation"}}
    name = made["question"]["text"].removeprefix("<b>&")
    assert set(made["curves"]) == expected[name]
    assert page.count("<svg") == len(made["curves"])
    assert "var(--blue" in page or not made["curves"]


def test_the_curves_are_the_maps():
    t = theory("relu")
    drawn = curves(t)
    assert drawn["variance_map"]["V"] == pytest.approx(drawn["variance_map"]["q"], rel=1e-6)
    assert drawn["correlation_map"]["C"][0] == pytest.approx(0, abs=1e-6)
    assert drawn["correlation_map"]["C"][-1] == pytest.approx(1, abs=1e-6)
    assert drawn["edge"]["sigma_w"] == pytest.approx([2**0.5] * len(drawn["edge"]["sigma_w"]))


def test_a_jump_is_not_drawn_as_a_slope():
    drawn = curves(theory("step"))["activation"]
    assert any(y != y for y in drawn["phi"])


def test_svg_is_the_same_every_time():
    def draw():
        return plots.svg(plots.curves("title", "$q$", "$V$", [("line", [0, 1], [0, 1])], diagonal=True))

    assert draw() == draw()
    assert "#000000" not in draw()


def test_plot_of_a_result_says_what_is_drawn():
    figure = theory("relu").covariance_map.plot(q1=2)
    axes = figure.axes[0]
    assert "correlation" in axes.get_xlabel()
    assert "q1 = 2" in axes.get_legend().get_texts()[0].get_text()
    assert axes.lines[0].get_ydata()[-1] == pytest.approx(2**0.5 / 2, abs=1e-6)
    slope = theory("relu").chi.plot(over="sigma_w")
    assert slope.axes[0].lines[0].get_ydata()[-1] == pytest.approx(2, abs=1e-6)


def test_write_report(tmp_path):
    theory("relu").report(tmp_path / "relu.html")
    assert [path.name for path in tmp_path.iterdir()] == ["relu.html"]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_shows_it_without_complaint(page, tmp_path):
    (tmp_path / "page.html").write_text(page)
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        done = subprocess.run(
            ["chromium", *flags.split(), "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}",
             "--enable-logging=stderr", "--screenshot=page.png", f"file://{tmp_path}/page.html"],
            cwd=tmp_path, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert (tmp_path / "page.png").stat().st_size > 10_000
    assert "CONSOLE" not in done.stderr
