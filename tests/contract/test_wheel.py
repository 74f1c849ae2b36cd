"""The wheel that users get, not the checkout: everything is inside, and it works from there alone."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("derive", "verify")
NEVER_SHIPPED = ("__pycache__", ".pyc")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built without network, from the tracked and untracked files that git does not ignore."""
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", out, ROOT)
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel alone in a folder; its dependencies come from this environment."""
    target = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target, wheel)
    return target


def in_wheel(installed, *command):
    """Run a command with the wheel first on the path and the checkout nowhere on it."""
    code = (
        "import sys\n"
        f"sys.path = [{str(installed)!r}] + [p for p in sys.path if p and p != {str(ROOT)!r}]\n"
        "sys.meta_path = [finder for finder in sys.meta_path if 'editable' not in type(finder).__name__.lower()]\n"
        "sys.argv = sys.argv[1:]\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return run(sys.executable, "-c", code + command[0], *command[1:], cwd=installed, env=environment)


def test_every_file_is_in_the_wheel(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    here = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and not any(part in str(path) for part in NEVER_SHIPPED)
    } | {"eoc.py"}
    assert here <= inside, sorted(here - inside)
    assert {"derive/py.typed", "verify/py.typed"} <= inside
    assert any(name.startswith("derive/catalogue/") and name.endswith(".toml") for name in inside)
    assert (
        not {name.split("/")[0] for name in inside}
        - {*PACKAGES, "eoc.py"}
        - {name.split("/")[0] for name in inside if ".dist-info" in name}
    )


def test_the_wheel_works_alone(installed):
    out = in_wheel(
        installed,
        "import derive\nprint(derive.__file__)\n"
        "from derive import Activation, expect\nprint(float(expect(Activation('relu')**2).number(q=1)))\n",
    )
    where, value = out.split()
    assert where.startswith(str(installed)), where
    assert float(value) == 0.5


def test_the_command_line_works_from_the_wheel(installed):
    out = in_wheel(installed, "import eoc\nprint(eoc.__file__)\nsys.exit(eoc.main())", "eoc", "--version")
    assert out.split()[0].startswith(str(installed))
    from importlib.metadata import version

    assert version("eoc") in out


def test_the_wheel_lists_its_catalogue(installed):
    out = in_wheel(installed, "import eoc\nsys.exit(eoc.main())", "eoc", "list")
    assert "gelu" in out
    assert "mish" in out


def test_metadata(wheel):
    name = next(name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("METADATA"))
    text = zipfile.ZipFile(wheel).read(name).decode()
    needed = [line for line in text.splitlines() if line.startswith("Requires-Dist:")]
    base = [line.split()[1].split(">")[0].split("<")[0] for line in needed if "extra ==" not in line]
    assert not {"torch", "jax", "scipy", "matplotlib"} & set(base), "derive works without them"
    for bounded in ("sympy", "mpmath"):
        (line,) = [line for line in needed if line.startswith(f"Requires-Dist: {bounded}")]
        assert "<" in line, line
        assert ">" in line, line
    for extra in ("report", "verify", "jax", "dask", "all", "dev"):
        assert f"Provides-Extra: {extra}" in text
