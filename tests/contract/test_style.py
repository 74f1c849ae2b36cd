"""Lint, types and sizes."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "derive").rglob("*.py"), *(ROOT / "verify").rglob("*.py"), ROOT / "eoc.py"])
LONGEST_FILE, LONGEST_FUNCTION = 300, 70


def run(*command):
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff():
    run("ruff", "check", ".")


def test_format():
    run("ruff", "format", "--check", ".")


def test_types():
    run("mypy")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_sizes(path):
    text = path.read_text()
    assert text.count("\n") <= LONGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, f"{node.name} has too many lines"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is(path):
    tree = ast.parse(path.read_text())
    assert not tree.body or ast.get_docstring(tree)
