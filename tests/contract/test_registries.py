"""A folder is a registry: every file defines its entry, has a test and is in the docs; no list is kept by hand."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Registry:
    """A folder whose files (those without a leading underscore) each define one entry under the same name."""

    package: str
    entry: str
    tests: str  # which test files speak of its entries
    helpers: tuple[str, ...] = ()  # files that are no entries: nothing that a user can name
    walk: str = ""  # a call in the tests that runs over all entries, so that a new file is tested by being there

    @property
    def files(self):
        names = sorted(path.stem for path in (ROOT / self.package.replace(".", "/")).glob("*.py"))
        return [name for name in names if not name.startswith("_") and name not in self.helpers]


LAYER_HELPERS = (
    "absent",
    "attention",
    "block",
    "elementwise",
    "finite",
    "nested",
    "parametrisations",
    "positions",
    "scale",
    "spelling",
    "stage",
    "unit",
    "weights",
)

REGISTRIES = (
    Registry("derive.program.operations", "OPERATION", "test_program_*.py", walk="operations()"),
    Registry("derive.gaussian.rules", "RULE", "test_gaussian_*.py", walk="rules()"),
    Registry("derive.layers", "LAYER", "test_layers_*.py", helpers=LAYER_HELPERS, walk="set(layers())"),
    Registry("derive.emit.backends", "BACKEND", "test_emit_*.py", walk="backends()"),
    Registry("derive.commands", "COMMAND", "test_commands_*.py"),
    Registry("verify.commands", "COMMAND", "test_verify_*.py"),
    Registry("verify.checks", "CHECK", "test_verify_*.py", walk="checks()"),
    Registry("verify.weights", "LAW", "test_verify_weights.py", walk="laws()"),
)
ENTRIES = [(registry, name) for registry in REGISTRIES for name in registry.files]
IDS = [f"{registry.package}.{name}" for registry, name in ENTRIES]


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.package)
def test_the_folder_is_a_registry(registry):
    assert registry.files


@pytest.mark.parametrize(("registry", "name"), ENTRIES, ids=IDS)
def test_every_file_defines_its_entry(registry, name):
    module = importlib.import_module(f"{registry.package}.{name}")
    assert hasattr(module, registry.entry), f"{module.__name__} defines no {registry.entry}"
    assert inspect.getdoc(module), "says what it is"


@cache
def text_of(pattern: str) -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / "tests").rglob(pattern)))


@pytest.mark.parametrize(("registry", "name"), ENTRIES, ids=IDS)
def test_every_entry_has_a_test(registry, name):
    tests = text_of(registry.tests)
    spoken_of = re.search(rf"\b{name}\b", tests, re.IGNORECASE)
    walked = registry.walk and registry.walk in tests
    assert spoken_of or walked, f"no test in {registry.tests} mentions {name}"


@cache
def docs() -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))


@pytest.mark.parametrize(("registry", "name"), ENTRIES, ids=IDS)
def test_every_entry_is_in_the_docs(registry, name):
    shown = name.strip("_")
    assert re.search(rf"\b{shown}\b", docs()), f"docs/ does not mention {name}; run scripts/reference"


def test_the_page_of_entries_is_current():
    done = subprocess.run([sys.executable, "scripts/reference.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, "run scripts/reference.py" + done.stderr


def packages():
    for root in ("derive", "verify"):
        package = importlib.import_module(root)
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{root}."):
            if found.ispkg:
                yield importlib.import_module(found.name)


def test_no_module_bears_the_name_of_a_public_name():
    """The first import of such a module would replace the function in its package by the module."""
    for package in (importlib.import_module(room) for room in ("derive", "verify")):
        modules = {found.name for found in pkgutil.iter_modules(package.__path__)}
        public = {name for name in package.__all__ if not name.startswith("__")}
        assert public
        assert not modules & public


@pytest.mark.parametrize("package", list(packages()), ids=lambda package: package.__name__)
def test_importing_a_module_replaces_no_function(package):
    functions = {name: value for name, value in vars(package).items() if inspect.isfunction(value)}
    for found in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{found.name}")
    assert {name: getattr(package, name) for name in functions} == functions
