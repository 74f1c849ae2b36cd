"""Every example in the documents and docstrings is run, and shows what it gives."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
MODULES = sorted(
    path for room in ("derive", "verify") for path in (ROOT / room).rglob("*.py") if ">>> " in path.read_text()
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def relative(path):
    return str(path.relative_to(ROOT))


def python_parts(text: str) -> str:
    """The ```python blocks with prompts, as one session; a fence ends the expected output."""
    return "\n\n".join(re.findall(r"```(?:python|pycon)\n(>>> .*?)```", text, re.DOTALL))


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_python_sessions(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = python_parts(path.read_text())
    test = doctest.DocTestParser().get_doctest(text, {}, relative(path), str(path), 0)
    output: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=output.append)
    assert not output, "".join(output)


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_docstrings(path):
    module = importlib.import_module(relative(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
    assert doctest.testmod(module, optionflags=FLAGS).failed == 0


def console_sessions(text: str):
    """(command, expected output) of the ```console blocks, in order; only `eoc` commands are run."""
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            if command.startswith("eoc "):
                yield command, expected


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_console_sessions(path, tmp_path):
    """What a reader is told to type prints what the reader is shown."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    for command, expected in console_sessions(path.read_text()):
        arguments = shlex.split(command, comments=True)[1:]
        done = subprocess.run(
            [sys.executable, "-m", "eoc", *arguments], capture_output=True, text=True, cwd=tmp_path, env=environment
        )
        assert done.returncode in (0, 1, 2), done.stderr
        got = done.stdout + done.stderr
        assert doctest.OutputChecker().check_output(expected, got, FLAGS), f"$ {command}\n{got}"


def test_links_lead_somewhere():
    """Relative links of the documents point to files of the repository."""
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text()):
            if not target.startswith(("http://", "https://", "mailto:")):
                assert (path.parent / target).exists(), f"{relative(path)} links to {target}"


def test_the_extraction_sees_examples():
    assert list(console_sessions("```console\n$ eoc list\nrelu\n$ ls\n```")) == [("eoc list", "relu\n")]
    assert ">>> 1" in python_parts("```python\n>>> 1\n1\n```")
