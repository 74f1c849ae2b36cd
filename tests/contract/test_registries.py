"""A folder is a registry: every file defines its entry, has a test and is in the docs; no list is kept by hand."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
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

    @property
    def files(self):
        folder = ROOT / self.package.replace(".", "/")
        return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


REGISTRIES = (
    Registry("derive.program.operations", "OPERATION", "test_program_*.py"),
    Registry("derive.gaussian.rules", "RULE", "test_gaussian_*.py"),
    Registry("derive.layers", "LAYER", "test_layers_*.py"),
    Registry("derive.emit.backends", "BACKEND", "test_emit_*.py"),
    Registry("derive.commands", "COMMAND", "test_commands_*.py"),
    Registry("verify.commands", "COMMAND", "test_*.py"),
    Registry("verify.checks", "CHECK", "test_verify_*.py"),
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


def walks(registry: Registry) -> bool:
    """Whether a test runs over the whole registry, so that a new file is tested by being there."""
    loaders = {"derive.program.operations": "operations()", "derive.gaussian.rules": "rules()"}
    loader = loaders.get(registry.package)
    return (
        loader is not None
        and re.search(rf"parametrize\([^\n]*{re.escape(loader)}", text_of(registry.tests)) is not None
    )


@pytest.mark.parametrize(("registry", "name"), ENTRIES, ids=IDS)
def test_every_entry_has_a_test(registry, name):
    spoken_of = re.search(rf"\b{name}\b", text_of(registry.tests), re.IGNORECASE)
    assert spoken_of or walks(registry), f"no test in {registry.tests} mentions {name}"


@cache
def docs() -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))


@pytest.mark.parametrize(("registry", "name"), ENTRIES, ids=IDS)
def test_every_entry_is_in_the_docs(registry, name):
    assert re.search(rf"\b{name}\b", docs()), f"docs/ does not mention {name}; run scripts/reference"


def packages():
    for root in ("derive", "verify"):
        package = importlib.import_module(root)
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{root}."):
            if found.ispkg:
                yield importlib.import_module(found.name)


@pytest.mark.parametrize("package", packages(), ids=lambda package: package.__name__)
def test_no_module_bears_the_name_of_a_public_function(package):
    """The first import of such a module would replace the function in its package by the module."""
    modules = {found.name for found in pkgutil.iter_modules(package.__path__)}
    public = {name for name in dir(package) if callable(getattr(package, name)) and not name.startswith("_")}
    assert not modules & public


def test_no_module_is_called_like_the_public_names():
    import derive

    modules = {found.name for found in pkgutil.iter_modules(derive.__path__)}
    assert not modules & {name for name in derive.__all__ if not name.startswith("_")}
