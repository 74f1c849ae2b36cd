"""Every entry of the catalogue is a definition and a citation that the reader can take."""

import re
import tomllib
from importlib import resources

import mpmath
import pytest

from derive import catalogue
from derive.catalogue.entry import parse
from derive.formula import exact, interval, nodes, read, show_text, to_sympy
from derive.formula.checks import number
from derive.program.symbols import RESERVED
from derive.records import EocError

NAMES = catalogue.names()
FIELDS = {"title", "formula", "variables", "aliases", "family", "parameters", "torch", "jax", "note", "source"}
TABLES = {
    "parameters": {"default", "domain"},
    "torch": {"module", "function", "arguments", "fixed", "difference"},
    "source": {"title", "authors", "year", "url", "source_read"},
}


def raw(name):
    return tomllib.loads((resources.files("derive.catalogue") / f"{name}.toml").read_text(encoding="utf-8"))


def value(tree, at, mp=mpmath.mp):
    if tree.head == "name":
        return mp.mpf(at[tree.value].numerator) / at[tree.value].denominator
    return number(tree, [value(arg, at, mp) for arg in tree.args], mp)


def usual(entry):
    return {parameter.name: exact(parameter.default) for parameter in entry.parameters}


def test_there_are_many():
    assert len(NAMES) >= 70


def test_names_and_aliases_are_unique():
    spellings = [*NAMES, *(alias for name in NAMES for alias in catalogue.entry(name).aliases)]
    assert len(spellings) == len({spelling.lower() for spelling in spellings})


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_holds_a_definition_and_a_citation_only(name):
    data = raw(name)
    assert set(data) <= FIELDS
    for table in data.get("parameters", {}).values():
        assert set(table) == TABLES["parameters"]
    assert set(data.get("torch", {})) <= TABLES["torch"]
    assert set(data["source"]) == TABLES["source"]
    source = catalogue.entry(name).source
    assert source.title and source.authors and 1900 < source.year < 2100
    assert source.url.startswith("http") or (source.url == "" and not source.read)
    assert isinstance(source.read, bool)
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
    assert data["family"]


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_is_read_with_its_parameters_on_their_domains(name):
    entry = catalogue.entry(name)
    formula = read(name)
    assert formula.parameters == tuple(sorted(parameter.name for parameter in entry.parameters))
    assert not set(formula.parameters) & set(RESERVED)
    for parameter in entry.parameters:
        assert formula.domain(parameter.name) == interval(parameter.domain)
        assert exact(parameter.default) in formula.domain(parameter.name)
    for alias in entry.aliases:
        assert read(alias).tree == formula.tree
    assert read(show_text(formula.tree), variables=entry.variables).tree == formula.tree


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_is_real_and_finite_and_equals_its_sympy_form(name):
    entry = catalogue.entry(name)
    formula = read(name)
    expr = to_sympy(formula)
    symbols = {symbol.name: symbol for symbol in expr.free_symbols}
    for point in ("-4.25", "-0.75", "-1/3", "0", "0.5", "1.75", "6.5"):
        at = {**usual(entry), "x": exact(point), "y": exact("-0.7")}
        with mpmath.workdps(30):
            ours = value(formula.tree, at)
            assert mpmath.isfinite(ours) and mpmath.im(ours) == 0
            place = {symbols[key]: mpmath.mpf(v.numerator) / v.denominator for key, v in at.items() if key in symbols}
            theirs = mpmath.mpf(str(expr.subs(place).evalf(30)))
            assert abs(ours - theirs) <= mpmath.mpf(10) ** -20 * (1 + abs(ours))


@pytest.mark.parametrize("name", [name for name in NAMES if len(catalogue.entry(name).variables) == 1])
def test_an_entry_is_a_function_in_formula_text(name):
    entry = catalogue.entry(name)
    called = read(f"{name}(2*x + 1)")
    whole = read(name)
    for point in ("-1.25", "0.4"):
        at = {**usual(entry), "x": exact(point)}
        inner = {**at, "x": 2 * at["x"] + 1}
        with mpmath.workdps(25):
            assert mpmath.almosteq(value(called.tree, at), value(whole.tree, inner), 1e-22, 1e-22)
    assert not nodes.names(called.tree) - {"x"}


def test_a_result_is_no_field():
    text = (resources.files("derive.catalogue") / "relu.toml").read_text(encoding="utf-8")
    with pytest.raises(EocError, match="second_moment"):
        parse("relu", "second_moment = 0.5\n" + text)


def test_an_incomplete_entry_is_named():
    with pytest.raises(EocError, match="nothing"):
        parse("nothing", 'title = "Nothing"')
