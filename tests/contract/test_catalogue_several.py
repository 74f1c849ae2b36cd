"""Every unit of several outputs is a definition and a citation, and is answered output by output."""

import pytest

from derive import Activation, EocError, expect, theory
from derive.catalogue import aliases, names, several, several_outputs
from derive.catalogue.several import parse
from derive.formula import read

UNITS = several_outputs()


def test_crelu_is_there():
    assert "crelu" in {unit.name for unit in UNITS}
    assert several("CReLU") is several("concatenated-relu") is several("crelu")
    assert several("relu") is None


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_is_a_definition_and_a_citation(unit):
    assert len(unit.outputs) >= 2 and unit.title
    for output in unit.outputs:
        assert not Activation(output).parameters and read(output)
    assert unit.source.title and unit.source.authors and 1900 < unit.source.year < 2100
    assert unit.source.url.startswith("http") and isinstance(unit.source.read, bool)
    assert not {unit.name, *unit.aliases} & {*names(), *aliases()}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_each_output_is_asked_for_itself(unit):
    """As a layer it is the outputs side by side: moments are averages over them."""
    with pytest.raises(EocError) as caught:
        Activation(unit.name)
    assert all(output in caught.value.instead for output in unit.outputs)
    t, at = theory(unit.name), {"q": 2, "sigma_w": 1, "sigma_b": 0}
    squares = [expect(Activation(output) ** 2).number(q=2).mid for output in unit.outputs]
    assert abs(t.variance_map.number(at).mid - sum(squares) / len(squares)) < 1e-15


def test_an_entry_holds_no_result():
    with pytest.raises(EocError, match="gain"):
        parse("x", 'title = "x"\noutputs = ["x", "-x"]\ngain = 1\n')


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_says_what_holds_over_an_axis_without_end(name):
    with pytest.raises(EocError, match="tends to 0"):
        Activation(name)
