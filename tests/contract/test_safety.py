"""Laws that are read off the source text: nothing is executed, nothing is looked up, nothing is swallowed."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from pathlib import Path

import mpmath
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "derive").rglob("*.py"), *(ROOT / "verify").rglob("*.py"), ROOT / "eoc.py"])
TEXTS = sorted(
    path
    for room in ("derive", "verify")
    for path in (ROOT / room).rglob("*")
    if path.suffix in (".py", ".toml", ".html", ".tex", ".json", ".txt", ".c")
)
EXECUTES = {"eval", "exec", "compile", "__import__"}
READS_TEXT_AS_CODE = {"parse_expr", "sympify", "S", "lambdify", "parse_latex"}
MAY_EXECUTE = {"derive/emit/loading.py": {"exec", "compile"}}


def name_of(function: ast.expr) -> str:
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def is_literal_or_expression(call: ast.Call) -> bool:
    """sympify of a number, and of what is already an expression or a number held in a name, reads no text."""
    return bool(call.args) and not isinstance(call.args[0], ast.JoinedStr) and not is_text(call.args[0])


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def offences(source: str, allowed: set[str]):
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        builtin = isinstance(node.func, ast.Name)
        if name in EXECUTES and builtin and name not in allowed:
            yield f"line {node.lineno}: {name}()"
        if name in ("parse_expr", "lambdify", "parse_latex"):
            yield f"line {node.lineno}: {name}()"
        if name in ("sympify", "S") and not is_literal_or_expression(node):
            yield f"line {node.lineno}: {name}() of text"
        if name == "sympify" and not strict(node) and not isinstance(node.args[0], ast.Constant):
            yield f"line {node.lineno}: sympify() without strict=True executes text"


def strict(call: ast.Call) -> bool:
    return any(k.arg == "strict" and getattr(k.value, "value", None) is True for k in call.keywords)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_executed(path):
    assert not list(offences(path.read_text(), MAY_EXECUTE.get(str(path.relative_to(ROOT)), set())))


@pytest.mark.parametrize(
    "text", ["eval('1')", "exec(a)", "sympify(a)", "sympify('x')", "sp.parse_expr(a)", "S(f'{a}')"]
)
def test_offences_are_seen(text):
    assert list(offences(text, set()))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_failure_is_swallowed(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ExceptHandler):
            silent = all(isinstance(statement, ast.Pass) for statement in node.body)
            broad = node.type is None or name_of(node.type) in ("Exception", "BaseException")
            assert not (silent and broad), f"line {node.lineno}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_state(path):
    """No `global`, and no precision that is set and left; a context of one's own may be set."""
    source = path.read_text()
    own = set(re.findall(r"(\w+) = (?:\w+\.)*(?:MPContext|clone)\(\)", source))
    for node in ast.walk(ast.parse(source)):
        assert not isinstance(node, ast.Global), f"line {node.lineno}: global"
        if isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                set_and_left = isinstance(target, ast.Attribute) and target.attr in ("dps", "prec")
                owner = ast.unparse(target.value) if set_and_left else ""
                shared = owner.split(".")[-1] in ("mp", "ctx", "mpmath") and owner not in own
                assert not shared, f"line {node.lineno}: {owner}.{target.attr}"


def significant_digits(text: str) -> str:
    """The first nine significant digits of a number with at least ten, unless they are a short decimal or fraction."""
    digits = re.sub(r"[^0-9]", "", text.split("e")[0]).lstrip("0")
    if len(digits) < 10 or re.search(r"(\d)\1{4}", digits[:12]) or re.search(r"(\d{1,3})\1{2}", digits[:12]):
        return ""
    return digits[:9]


def reference_digits() -> set[str]:
    texts = [json.loads(path.read_text()) for path in (ROOT / "tests" / "literature" / "data").glob("*.json")]
    found: set[str] = set()
    while texts:
        value = texts.pop()
        if isinstance(value, dict):
            texts.extend(part for key, part in value.items() if key != "formula")
        elif isinstance(value, list):
            texts.extend(value)
        elif isinstance(value, str):
            found.add(significant_digits(value))
    return found - elementary_digits() - {""}


def elementary_digits() -> set[str]:
    """Digits of square roots, pi, e and their simple products: anybody's numbers."""
    with mpmath.workdps(20):
        roots = [mpmath.sqrt(n) for n in range(2, 21)]
        base = [*roots, mpmath.pi, 1 / mpmath.pi, 2 / mpmath.pi, mpmath.e, mpmath.sqrt(mpmath.pi), mpmath.log(2)]
        base += [mpmath.sqrt(2 / mpmath.pi), 1 / mpmath.sqrt(2 * mpmath.pi), *(1 / r for r in roots)]
        scaled = [value * 2**k for value in base for k in range(-3, 4)]
        return {mpmath.nstr(value, 15, strip_zeros=False).replace(".", "").lstrip("0")[:9] for value in scaled}


def test_no_reference_value_is_an_input():
    reference = reference_digits()
    assert len(reference) > 500
    for path in TEXTS:
        for number in re.findall(r"\d[\d_]*\.?[\d_]*", path.read_text()):
            digits = re.sub(r"[^0-9]", "", number).lstrip("0")[:9]
            assert digits not in reference, f"{path.relative_to(ROOT)} contains {number}"


def test_the_digits_are_seen():
    assert significant_digits("0.39429449039784096") == "394294490"
    assert "394294490" in reference_digits()  # E tanh^2 at q = 1
    assert significant_digits("0.25000000000000000") == ""


def tracked_files():
    done = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT)
    names = done.stdout.split("\n") if done.returncode == 0 else []
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def test_the_repository_refers_to_nothing_outside():
    """No path of a machine, and none above the repository."""
    outside = re.compile(r"\.\./" + "shared|(?<![\\w.])/" + "work/|/" + "home/\\w")
    for path in tracked_files():
        if path.suffix not in (".png", ".svg", ".pdf"):
            hit = outside.search(path.read_text())
            assert hit is None, f"{path.relative_to(ROOT)}: {hit}"
