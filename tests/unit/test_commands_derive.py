"""`eoc derive` from the shell: outputs, who owns standard output, files, the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import derive
import eoc

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """One cache for the module, so that each question is derived once."""
    place = tmp_path_factory.mktemp("cache")
    before = os.environ.get("EOC_CACHE_DIR")
    os.environ["EOC_CACHE_DIR"] = str(place)
    yield place
    if before is None:
        del os.environ["EOC_CACHE_DIR"]
    else:
        os.environ["EOC_CACHE_DIR"] = before


def run(*arguments, **options):
    return CliRunner().invoke(eoc.cli, ["derive", *map(str, arguments)], **options)


def document(*arguments):
    result = run(*arguments, "--json", "-")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def by_id(found, name):
    return next(result for result in found["results"] if result["id"] == name)


def test_the_summary_shows_facts_kinds_formulas_and_values():
    result = run("relu")
    assert result.exit_code == 0, result.output
    text = result.stdout
    for part in ("ReLU", "breakpoints: 0", "scale-invariant", "EXACT", "q·σ_w²/2 + σ_b²", "1.414213562373095"):
        assert part in text, part
    assert "Traceback" not in result.stderr


def test_the_document_has_every_field_of_its_schema():
    found = document("relu")
    assert found["schema"] == "eoc.derive/1"
    assert found["version"] == derive.__version__
    assert found["question"] == {"text": "relu", "set": {}, "domains": {}}
    names = [result["id"] for result in found["results"]]
    assert names == [
        "mean",
        "second_moment",
        "derivative_second_moment",
        "covariance_map",
        "variance_map",
        "correlation_map",
        "chi",
        "chi_parallel",
    ]
    schema = (ROOT / "docs" / "json-schema.md").read_text()
    for field in (*found, *found["activation"], *by_id(found, "chi"), *found["values"][0]):
        assert f"`{field}`" in schema, field


def test_symbolic_slope():
    found = document("Piecewise((x, x>0), (a*x, True))", "--domain", "a=0:1")
    assert found["activation"]["parameters"] == [{"name": "a", "domain": "(0, 1)"}]
    assert by_id(found, "second_moment")["kind"] == "EXACT"
    assert "a" in by_id(found, "chi")["parameters"]
    assert found["values"] == []


def test_setting_a_parameter_gives_numbers():
    found = document("Piecewise((x, x>0), (a*x, True))", "--set", "a=1/5")
    second = next(row for row in found["values"] if row["title"] == "mean square")
    assert second["value"] == pytest.approx(0.52, abs=1e-15)


def test_a_formula_that_begins_with_a_minus():
    assert by_id(document("-x*exp(-x**2)"), "second_moment")["kind"] == "EXACT"


def test_standard_input():
    result = run("-", "--json", "-", input="x if x > 0 else 0*x\n")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["question"]["text"] == "x if x > 0 else 0*x"
    assert run("-", input="  \n").exit_code == 2


def test_a_block():
    assert by_id(document("dense >> relu"), "variance_map")["text"] == by_id(document("relu"), "variance_map")["text"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["x*tanhh(x)"],
        ["relu", "--set", "a"],
        ["relu", "--set", "a=1"],
        ["relu", "--set", "a=one"],
        ["a*x", "--set", "a=1", "--set", "a=2"],
        ["a*x", "--domain", "a=1:0"],
        ["a*x", "--domain", "a=0"],
        ["relu", "--code", "fortran"],
        ["relu", "--show", "everything"],
        ["relu", "--code", "numpy", "--code", "torch"],
        ["log(x)"],
    ],
)
def test_bad_input_is_code_2_with_a_message(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.strip() and "Traceback" not in result.stderr


def test_json_owns_standard_output(tmp_path):
    result = run("relu", "--json", "-", "--latex", tmp_path / "relu.tex", "--code", "numpy", "--proof")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["latex"] == (tmp_path / "relu.tex").read_text()
    assert "def variance_map" in found["code"]["numpy"]
    assert found["proofs"][0]["steps"]


def test_code_alone_prints_the_module_and_the_summary_goes_to_stderr():
    result = run("relu", "--code", "numpy")
    assert result.exit_code == 0, result.output
    compile(result.stdout, "relu.py", "exec")
    assert result.stdout.startswith(f"# eoc {derive.__version__}: relu\n")
    assert "scale-invariant" in result.stderr
    assert run("relu", "--code", "numpy", "-q").stderr == ""


def test_emitted_module_runs(tmp_path):
    path = tmp_path / "module.py"
    result = run("relu", "--code", f"numpy={path}", "-q")
    assert result.exit_code == 0, result.output
    values = "module.variance_map(2.0, sigma_w=3.0, sigma_b=1.0), module.phi(-1.0)"
    code = f"import module, sys; print({values}, 'derive' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split() == ["10.0", "0.0", "False"], done.stderr


def test_files_are_whole_and_named_in_errors(tmp_path):
    result = run("relu", "--latex", tmp_path / "missing" / "relu.tex")
    assert result.exit_code == 2
    assert "missing" in result.stderr
    assert run("relu", "--latex", tmp_path / "relu.tex", "--latex-body", tmp_path / "body.tex").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["body.tex", "eoc.bib", "relu.tex"]


def test_proof_prints_rules():
    result = run("relu", "--proof", "-q")
    assert result.exit_code == 0, result.output
    assert "linearity" in result.stdout and "= " in result.stdout


@pytest.mark.parametrize(
    ("stage", "word"),
    [("tree", "max"), ("normal-form", "1[x > 0]"), ("steps", "second moment"), ("program", "sigma_w")],
)
def test_stages(stage, word):
    result = run("relu", "--show", stage)
    assert result.exit_code == 0, result.output
    assert word in result.stdout


CACHED = """
import sys, eoc
try:
    eoc.main(["derive", "relu"])
finally:
    loaded = [m for m in ("sympy", "flint", "numpy", "matplotlib", "torch") if m in sys.modules]
    print(",".join(loaded), file=sys.stderr)
"""


def test_a_cached_answer_needs_no_sympy():
    assert run("relu").exit_code == 0
    done = subprocess.run([sys.executable, "-c", CACHED], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0
    assert done.stdout == run("relu").stdout
    assert done.stderr.strip() == ""


@pytest.mark.parametrize("package", ["jinja2", "latex2mathml", "matplotlib"])
def test_a_report_without_its_packages_names_the_extra(package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    result = run("relu", "--report", tmp_path / "relu.html")
    assert result.exit_code == 2
    assert 'pip install "eoc[report]"' in result.stderr
    assert result.stdout == "" and not list(tmp_path.iterdir())


def test_no_cache_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("EOC_CACHE_DIR", str(tmp_path / "none"))
    assert run("relu", "--no-cache").exit_code == 0
    assert not (tmp_path / "none").exists()


def test_no_color(monkeypatch):
    environment = {**os.environ, "NO_COLOR": "1", "FORCE_COLOR": "", "TERM": "xterm-256color"}
    done = subprocess.run(
        [sys.executable, "-m", "eoc", "derive", "relu"], capture_output=True, text=True, cwd=ROOT, env=environment
    )
    assert "\x1b[" not in done.stdout
