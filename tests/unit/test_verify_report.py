"""End to end on GELU: verdicts, the JSON schema, the page, the table, the command."""

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from io import StringIO

import pytest
import torch
from click.testing import CliRunner
from rich.console import Console

from derive.records import EocError
from verify import verify
from verify.checking import checks
from verify.engine import run
from verify.judge import Verdict
from verify.report.record import SCHEMA
from verify.subject import subject

torch.set_num_threads(1)

TOP = {
    "schema", "passed", "counts", "family_error", "subject", "formula", "latex", "parameters", "domains", "seed",
    "device", "dtype", "budget", "seconds", "comparisons", "versions", "interrupted", "claims",
    "resolve", "until", "source",
}  # fmt: skip
CLAIM = {
    "check", "attribute", "title", "latex", "kind", "abscissa", "verdict", "note", "points", "evidence",
}  # fmt: skip


@pytest.fixture(scope="module")
def report():
    return verify("gelu", device="cpu", budget=10**6, resolve=0.5, seed=0)  # the pilot of every witness


def broken(report, verdict):
    claim = report.claims[0]
    judgements = tuple(replace(j, verdict=verdict, deviation=0.01) for j in claim.evidence[0].judgements)
    evidence = replace(claim.evidence[0], verdict=verdict, judgements=judgements)
    return replace(report, claims=(replace(claim, verdict=verdict, evidence=(evidence,)), *report.claims[1:]))


def test_gelu_passes_with_every_map_resolved(report):
    assert report.passed, report
    networks = {c.check for c in report.claims if "depth" in c.title or "networks" in c.title} | {"guessing_law"}
    single = [c for c in report.claims if c.check not in networks]
    assert len(single) >= 20 and all(c.verdict is Verdict.HOLDS for c in single)
    sampled = [min(e.resolution for e in c.evidence if e.batches) for c in single if any(e.batches for e in c.evidence)]
    assert max(sampled) < 2e-3
    assert {"enclosure", "sampling", "networks", "numpy float64", "torch float32", "torch gradient"} <= {
        e.witness for c in report.claims for e in c.evidence
    }


def test_the_same_seed_repeats_the_points_and_another_does_not(report):
    some = {name: check for name, check in checks().items() if name in ("mean", "second_moment")}
    again, other = (run(subject("gelu", seed=seed), some, budget=10**6, resolve=0.5) for seed in (0, 1))
    for claim in again.claims[:2]:
        same = next(c for c in report.claims if c.title == claim.title)
        assert claim.points == same.points
        assert claim.evidence[1].judgements[0].estimate == same.evidence[1].judgements[0].estimate
    assert other.claims[0].points != again.claims[0].points


def test_json_has_the_documented_fields(report, tmp_path):
    record = json.loads(report.save(tmp_path / "gelu.json").read_text())
    assert set(record) == TOP and record["schema"] == SCHEMA and record["passed"] is True
    assert all(set(claim) == CLAIM for claim in record["claims"])
    point, evidence = record["claims"][0]["points"][0], record["claims"][0]["evidence"][0]
    assert set(point) == {"values", "predicted", "radius", "scale", "digits"}
    assert set(evidence) == {"witness", "verdict", "judgements", "batches", "draws", "seconds", "note"}
    assert set(evidence["judgements"][0]) == {
        "verdict", "estimate", "standard_error", "deviation", "resolution", "note",
    }  # fmt: skip
    assert record["counts"]["HOLDS"] == sum(c["verdict"] == "HOLDS" for c in record["claims"])


def test_the_page_stands_alone(report, tmp_path):
    page = report.save(tmp_path / "gelu.html").read_text()
    assert "<script" not in page and not re.search(r'(?:src|href)="(?!#)', page) and "url(http" not in page
    assert page.count("<svg") >= 4 and page.count("<math") > 10
    for formula in re.findall(r"<math.*?</math>", page, flags=re.DOTALL):
        assert not re.search(r"<m[ion][^>]*>\s*(\\|&amp;)", formula)
    assert "prefers-color-scheme: dark" in page and "Latin Modern Math" in page
    assert "Nothing refuted" in page


def test_a_refuted_report_says_where_and_by_how_much(report, tmp_path):
    wrong = broken(report, Verdict.FAILS)
    assert not wrong.passed and "claimed" in wrong.claims[0].counterexample()
    assert "1 claims refuted" in wrong.save(tmp_path / "wrong.html").read_text()
    console = Console(width=200, record=True, file=StringIO())
    console.print(wrong.table)
    text = console.export_text()
    assert "✗ FAILS" in text and "off by 1 %" in text and "seed 0" in text


def test_unknown_formats_are_refused(report, tmp_path):
    with pytest.raises(EocError, match="report format"):
        report.save(tmp_path / "gelu.pdf")


@pytest.mark.parametrize(
    "change,strict,code",
    [(None, False, 0), (Verdict.FAILS, False, 1), (Verdict.REFUSED, False, 1), (Verdict.UNDECIDED, False, 0),
     (Verdict.UNDECIDED, True, 1), ("interrupted", False, 130)],
)  # fmt: skip
def test_exit_codes(report, monkeypatch, change, strict, code):
    import verify as package
    from verify.commands.verify import COMMAND

    clean = replace(report, claims=tuple(c for c in report.claims if c.verdict is Verdict.HOLDS))
    shown = replace(clean, interrupted=True) if change == "interrupted" else broken(clean, change) if change else clean
    monkeypatch.setattr(package, "verify", lambda *args, **options: shown)
    result = CliRunner().invoke(COMMAND, ["gelu", *(["--strict"] if strict else [])], standalone_mode=False)
    assert result.exception is None and result.return_value == code


def test_json_on_standard_output_is_alone_there(report, monkeypatch):
    import verify as package
    from verify.commands.verify import COMMAND

    monkeypatch.setattr(package, "verify", lambda *args, **options: report)
    result = CliRunner().invoke(COMMAND, ["gelu", "--json", "-"], standalone_mode=False)
    assert json.loads(result.stdout)["schema"] == SCHEMA


def test_parameters_are_drawn_from_their_domains_or_given():
    first, second, same = (subject("leaky_relu", seed=s).parameters["a"] for s in (0, 1, 0))
    assert first == same != second and 0 < first < 1
    assert subject("leaky_relu", parameters={"a": "1/3"}).parameters["a"].denominator == 3
    with pytest.raises(EocError, match="no parameter b"):
        subject("leaky_relu", parameters={"b": 1})
    with pytest.raises(EocError, match="outside"):
        subject("leaky_relu", parameters={"a": -3})


def test_a_module_is_verified_by_running_it():
    from derive import Activation

    calls = []

    class Traced(torch.nn.Module):
        def forward(self, x):
            if not torch.compiler.is_exporting():
                calls.append(x.dtype)
            return torch.tanh(x) * x

    made = subject(Activation(Traced()))
    assert made.phi(torch.ones(2, dtype=torch.float64)).dtype == torch.float64 and calls


def test_blocks_of_more_than_one_layer_are_subjects_of_their_own():
    assert subject("dense >> relu >> dense >> tanh").of == "block" and subject("dense >> relu").of == "activation"


PROBE = """<script>addEventListener("load", () => {
  const all = name => [...document.querySelectorAll(name)], lines = all("summary");
  const sized = e => e.getBoundingClientRect();
  const reached = lines.filter(e => { e.focus(); return document.activeElement === e && e.tabIndex === 0 }).length;
  lines.forEach(e => { if (!e.parentElement.open) e.click() });
  const found = {lines: lines.length, reached, open: all("details").filter(e => e.open).length,
    math: all("math").length, flat: all("math").filter(e => sized(e).width < 2 || sized(e).height < 5).length,
    plots: all("figure svg").filter(e => sized(e).width > 150 && sized(e).height > 100).length,
    requests: performance.getEntriesByType("resource").length,
    wide: document.documentElement.scrollWidth - innerWidth, paper: getComputedStyle(document.body).backgroundColor};
  document.title = "FOUND" + JSON.stringify(found) + "FOUND";
})</script>"""
"""What a browser sees; put into a copy of the page, which itself has no scripts."""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_shows_the_report(report, tmp_path):
    page = report.save(tmp_path / "gelu.html").read_text()
    (tmp_path / "probe.html").write_text(page.replace("</body>", PROBE + "</body>"))
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    seen = []
    for scheme in (1, 0):
        done = subprocess.run(
            ["chromium", *flags.split(), "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
             f"--user-data-dir={tmp_path}/profile{scheme}", f"--blink-settings=preferredColorScheme={scheme}",
             "--window-size=1000,900", "--dump-dom", f"file://{tmp_path}/probe.html"],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert "CONSOLE" not in done.stderr
        seen.append(json.loads(html.unescape(done.stdout.split("FOUND")[1])))
    light, dark = seen
    assert light["lines"] == len(report.claims) == light["reached"] == light["open"]  # by the keyboard too
    assert light["math"] > 20 and light["flat"] == 0 and light["plots"] == 5
    assert light["requests"] == 0 and light["wide"] <= 0
    assert (light["paper"], dark["paper"]) == ("rgb(255, 255, 255)", "rgb(22, 23, 26)")


def test_one_noisy_layer_does_not_flatten_the_picture():
    from verify.report.plots import _limits

    curve = [0.2, 0.3, 0.4, 0.45, 0.5]
    calm = [(v - 0.01, v + 0.01) for v in curve]
    low, high = _limits(curve, calm)
    assert low < 0.19 and 0.51 < high < 0.53
    low, high = _limits(curve, [*calm[:-1], (-40.0, 60.0)])
    assert -0.3 < low < 0.19 and 0.51 < high < 1.0
    flat = _limits([1.0, 1.0], [(1.0, 1.0), (1.0, 1.0)])
    assert flat[0] < 1 < flat[1]
