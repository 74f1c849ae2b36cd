"""The on-disk cache: atomic, checked, cleared by `eoc cache clear`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import eoc
from derive import cache

QUESTION = {"level": "base", "text": "x*Phi(x)", "set": {}, "domains": {}}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EOC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder):
    return list(folder.glob("*.json"))


def test_round_trip(folder):
    assert cache.load(QUESTION) is None
    cache.store(QUESTION, {"a": [1, "½", None]})
    assert cache.load(QUESTION) == {"a": [1, "½", None]}
    assert len(entries(folder)) == 1
    assert not list(folder.glob(".*"))


def test_other_questions_have_other_keys():
    others = [{**QUESTION, "text": "x"}, {**QUESTION, "set": {"a": "1"}}, {**QUESTION, "level": "proofs"}]
    assert len({cache.key(question) for question in [QUESTION, *others]}) == 4


def test_the_key_depends_on_version_and_files(monkeypatch):
    key = cache.key(QUESTION)
    monkeypatch.setattr(cache, "versions", lambda: {"eoc": "99"})
    other = cache.key(QUESTION)
    monkeypatch.setattr(cache, "_files_digest", lambda: "changed")
    assert len({key, other, cache.key(QUESTION)}) == 3


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"format": "eoc.cache/1"}', "[" * 100_000, "\udcff"])
def test_a_damaged_entry_is_ignored_and_rewritten(folder, damage):
    path = cache.store(QUESTION, {"value": 1})
    path.write_text(damage, errors="surrogateescape")
    assert cache.load(QUESTION) is None
    assert cache.recall(QUESTION, lambda: {"value": 2}, pytest.fail) == {"value": 2}
    assert cache.load(QUESTION) == {"value": 2}


def test_an_altered_answer_is_ignored(folder):
    path = cache.store(QUESTION, {"value": 1})
    entry = json.loads(path.read_text())
    path.write_text(json.dumps({**entry, "answer": {"value": 7}}))
    assert cache.load(QUESTION) is None


def test_recall_computes_once():
    calls = []
    for _ in range(2):
        assert cache.recall(QUESTION, lambda: calls.append(1) or {"n": 1}, pytest.fail) == {"n": 1}
    assert len(calls) == 1


def test_a_folder_that_cannot_be_made_is_reported_not_fatal(folder, monkeypatch):
    folder.parent.joinpath("file").write_text("")
    monkeypatch.setenv("EOC_CACHE_DIR", str(folder.parent / "file"))
    heard = []
    assert cache.recall(QUESTION, lambda: {"n": 1}, heard.append) == {"n": 1}
    assert len(heard) == 1 and isinstance(heard[0], OSError)


def test_clear_removes_entries_only(folder):
    cache.store(QUESTION, {"value": 1})
    (folder / "mine.json").write_text("{}")
    result = CliRunner().invoke(eoc.cli, ["cache", "clear", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.output)["removed"] == 1
    assert [path.name for path in entries(folder)] == ["mine.json"]
    assert "removed 0 entries" in CliRunner().invoke(eoc.cli, ["cache", "clear"]).output


def test_the_default_folder_is_the_platforms(monkeypatch, tmp_path):
    monkeypatch.delenv("EOC_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder().name == "eoc"
