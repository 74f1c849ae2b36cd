"""Every number of the tables: to the digits printed, and to 1e-10 against a second method that uses no derivation."""

import json
from pathlib import Path

import pytest

from verify.guessing.numbers import ASKED, given, rounds_to

TABLES = json.loads((Path(__file__).parent / "data" / "guessing_bias.json").read_text())
ROWS = [
    pytest.param(row, marks=pytest.mark.slow if row.get("slow") else (), id=f"{i}-{j}")
    for i, table in enumerate(TABLES)
    for j, row in enumerate(table["rows"])
]


@pytest.mark.parametrize("row", ROWS)
def test_printed_and_computed_twice(row):
    of = ASKED[row["kind"]]
    derived, second = of.derived(**given(row))[0], of.second(**given(row))
    if "corrected" in row:
        assert not rounds_to(derived, row["printed"])
    assert rounds_to(derived, row.get("corrected", row["printed"]))
    assert derived == pytest.approx(second, rel=1e-10, abs=1e-14)


MEASURED = [
    {"kind": "depth", "text": "relu", "layer": 3, "w2": 2, "b2": 0},
    {"kind": "one layer", "text": "sigmoid"},
    {"kind": "share", "k": 3, "gamma": 1, "what": "E max G"},
]


@pytest.mark.slow
@pytest.mark.parametrize("question", MEASURED, ids=lambda q: q["kind"])
def test_networks_agree(question):
    of = ASKED[question["kind"]]
    value, error = of.measured(**given(question))
    assert abs(value - of.derived(**given(question))[0]) < 5 * error


def test_a_wrong_digit_is_seen():
    assert rounds_to(0.46694, ".46694") and not rounds_to(0.46696, ".46694")
    assert rounds_to(7500.7, "7.5e3") and not rounds_to(7700, "7.5e3")
