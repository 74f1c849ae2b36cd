"""The front door: lazy commands, exit codes, messages without tracebacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import derive
import eoc
from derive.records import EocError, SelfTestFailed

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments, **options):
    return CliRunner().invoke(eoc.cli, list(arguments), **options)


def process(*arguments, code="import eoc; eoc.main()", **options):
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT, **options)


def test_commands_are_found_by_file_name():
    assert {"derive", "gain", "list", "cache"} <= set(eoc.command_modules())
    assert not [name for name in eoc.command_modules() if name.startswith("_")]


def test_help_lists_commands_and_exit_codes():
    result = run("--help")
    assert result.exit_code == 0
    assert "derive" in result.output and "Exit codes" in result.output and "Example: eoc derive gelu" in result.output


@pytest.mark.parametrize("command", [["derive"], ["gain"], ["list"], ["cache"], ["cache", "clear"]])
def test_every_help_has_an_example(command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert f"eoc {command[0]}" in result.output.split("Example")[1]


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert derive.__version__ in result.output


def test_listing_commands_imports_no_command_and_no_sympy():
    loaded = "sorted(m for m in sys.modules if m.startswith('derive.commands') or m == 'sympy')"
    assert process(code=f"import eoc, sys; eoc.command_modules(); print({loaded})").stdout.strip() == "[]"


def test_an_unknown_command_names_the_neighbour():
    result = run("derve", "gelu")
    assert result.exit_code == 2
    assert "eoc derive" in result.output


def test_a_formula_without_a_command_is_told_so():
    result = run("x*tanh(x)")
    assert result.exit_code == 2
    assert "eoc derive 'x*tanh(x)'" in result.output


def test_unknown_options_and_missing_text_are_usage_errors():
    assert run("derive").exit_code == 2
    assert run("derive", "gelu", "--nonsense").exit_code == 2


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (EocError("bad thing", instead="good thing"), 2, "instead: good thing"),
        (SelfTestFailed("forms differ"), 3, "EOC_DEBUG=1"),
        (ZeroDivisionError("division\nby zero"), 3, "ZeroDivisionError: division by zero"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (ModuleNotFoundError("No module named 'torch'", name="torch"), 2, 'pip install "eoc[verify]"'),
        (
            ModuleNotFoundError("No module named 'matplotlib.figure'", name="matplotlib.figure"),
            2,
            'pip install "eoc[report]"',
        ),
        (ModuleNotFoundError("No module named 'surprise'", name="surprise"), 3, "surprise"),
        (FileNotFoundError(2, "No such file or directory", "there.tex"), 2, "there.tex: No such file"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_errors_become_exit_codes(error, code, words, capsys, monkeypatch):
    monkeypatch.delenv("EOC_DEBUG", raising=False)

    def fail():
        raise error

    assert eoc._guarded(fail) == code
    message = capsys.readouterr().err
    assert words in message
    assert "Traceback" not in message
    if code == 3:
        assert message.count("\n") == 1


def test_debug_shows_the_traceback(capsys, monkeypatch):
    monkeypatch.setenv("EOC_DEBUG", "1")
    assert eoc._guarded(lambda: 1 / 0) == 3
    assert "Traceback" in capsys.readouterr().err


def test_what_a_command_returns_is_the_exit_code():
    assert eoc._guarded(lambda: 1) == 1
    assert eoc._guarded(lambda: None) == 0


def test_a_bad_formula_in_a_process_has_no_traceback():
    done = process("derive", "x*tanhh(x)")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr and "tanh" in done.stderr
    assert done.stdout == ""


ATTACKS = [
    '__import__("os").getpid()', "x.__class__", "(lambda: 1)()", "print(1)", 'exec("1")', "9**9**9", "x**(10**8)",
    "9**9**9**9", "(" * 100_000 + "x" + ")" * 100_000, "x+" * 5_000_000 + "x", "tahn(x)", "softmax(x)", "2x", "a*b",
]  # fmt: skip


@pytest.mark.parametrize("command", ["derive", "gain", "verify"])
def test_a_bad_text_is_refused_before_anything_heavy_is_loaded(command):
    code = (
        "import json, sys, time, click.testing, eoc\n"
        "for text in json.load(sys.stdin):\n"
        "    start = time.process_time()\n"
        "    done = click.testing.CliRunner().invoke(eoc.cli, [sys.argv[1], text])\n"
        "    heavy = [name for name in ('sympy', 'torch', 'scipy', 'numpy', 'flint') if name in sys.modules]\n"
        "    assert done.exit_code == 2 and 'error: ' in done.output and not heavy, (text[:30], done.output, heavy)\n"
        "    assert time.process_time() - start < 1 and len(done.output) < 1000, text[:30]\n"
    )
    done = process(command, code=code, input=json.dumps(ATTACKS))
    assert done.returncode == 0, done.stderr


def test_shell_completion_offers_commands():
    done = process(env={**os.environ, "_EOC_COMPLETE": "bash_complete", "COMP_WORDS": "eoc d", "COMP_CWORD": "1"})
    assert "derive" in done.stdout
