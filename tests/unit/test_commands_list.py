"""`eoc list` shows the whole catalogue."""

from __future__ import annotations

import json

from click.testing import CliRunner

import eoc
from derive import catalogue


def run(*arguments):
    return CliRunner().invoke(eoc.cli, ["list", *arguments])


def test_json_lists_every_entry():
    result = run("--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["schema"] == "eoc.list/1"
    assert [row["name"] for row in found["activations"]] == list(catalogue.names())
    relu = next(row for row in found["activations"] if row["name"] == "leaky_relu")
    assert relu["torch"] == "nn.LeakyReLU"
    assert relu["parameters"][0]["domain"]
    assert relu["source"]["url"]


def test_the_table_names_every_entry():
    text = run().stdout
    first_words = {line.split()[0] for line in text.splitlines() if line.strip()}
    assert set(catalogue.names()) <= first_words


def test_quiet_prints_names_only():
    assert run("-q").stdout.split() == list(catalogue.names())
