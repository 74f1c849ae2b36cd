"""What importing costs and which room may import which."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "sympy", "scipy", "matplotlib", "jax")


def loaded_after(statement: str) -> set[str]:
    """The heavy packages that a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["derive", "eoc", "derive.records", "verify"])
def test_import_is_light(module):
    assert loaded_after(f"import {module}") == set()


def test_isolation_test_can_fail():
    assert "sympy" in loaded_after("import sympy")
    assert "sympy" in loaded_after("from derive import Activation; Activation")


def test_public_names_are_listed_without_loading_them():
    assert loaded_after("import derive; dir(derive)") == set()


def imported_modules(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno


def test_derive_never_imports_torch_or_verify():
    for path in (ROOT / "derive").rglob("*.py"):
        for name, line in imported_modules(path):
            assert name.split(".")[0] not in ("torch", "verify"), f"{path.relative_to(ROOT)}:{line} imports {name}"


def test_rooms_import_only_those_above():
    script = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout
