"""`eoc eval --batch`: order, errors as lines, exact numbers, what is kept, and how fast it is read."""

import json
import subprocess
import sys
import time

import pytest

from derive.commands import _batch as batch
from derive.records import EocError

LINES = [
    {"of": "x*Phi(x)", "ask": "mean", "at": {"q": 1}, "id": 7},
    "{not json",
    {"of": "relu", "ask": "second_moment", "at": {"q": "1/3"}, "digits": 30, "id": {"row": [1]}},
    {"of": "relu", "ask": "slope", "id": "x"},
    {"of": "relu", "ask": "covariance_map", "at": {"q1": 1, "q2": 1, "c": 1.5}},
    {"of": "leaky_relu", "ask": "chi", "set": {"a": 0.1}, "domain": {}},
    {"of": "relu", "ask": "chi", "at": {"q": 1}},
    {"of": "step(x)", "ask": "chi", "at": {"q": 1, "sigma_w": 1}},
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EOC_CACHE_DIR", str(tmp_path))


def run(lines, use_cache=True):
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return [json.loads(answer) for answer in batch.answers(texts, use_cache, pytest.fail)]


def test_answers_in_order_and_errors_as_lines():
    found = run(LINES)
    assert len(found) == len(LINES)
    assert found[0]["id"] == 7 and found[0]["kind"] == "EXACT"
    assert float(found[0]["mid"]) == pytest.approx(0.282094791773878143, rel=1e-15)  # 1/sqrt(4 pi)
    assert found[1]["line"] == 2 and "JSON" in found[1]["error"]["what"]
    assert found[2]["id"] == {"row": [1]} and found[2]["mid"].startswith("0.1666666666666666666666666666")
    assert abs(float(found[2]["rad"])) < 1e-30
    assert found[3]["id"] == "x" and "second_moment" in found[3]["error"]["instead"]
    assert "correlation" in found[4]["error"]["what"] and found[4]["line"] == 5
    assert found[5]["formula"] == "101*sigma_w**2/200"
    assert "sigma_w" in found[6]["error"]["what"]
    assert found[7]["mid"] == "inf" and found[7]["kind"] == "DIVERGENT"


def test_what_is_kept_is_read_and_not_derived(monkeypatch):
    first = run(LINES[:1])
    monkeypatch.setattr(batch, "_answer", lambda *_: pytest.fail("derived again"))
    assert run(LINES[:1]) == first
    errors = run([{"of": "relu", "ask": "chi", "nonsense": 1}, "[]", '{"of": "relu", "ask": "chi", "at": {"q": NaN}}'])
    assert all("error" in answer for answer in errors)


def test_processes_add_to_what_others_have_stored():
    one, two = (batch._Book(True, pytest.fail) for _ in range(2))
    for book, at in ((one, "a"), (two, "b")):
        book.page("relu")
        book.add("relu", at, {"value": at})
        book.save()
    assert set(batch._Book(True, pytest.fail).page("relu")) == {"a", "b"}


def test_an_internal_error_ends_one_question_only(monkeypatch):
    def broken(question, theories):
        if question["id"] == "1":
            raise ZeroDivisionError("no number")
        raise EocError("refused")

    monkeypatch.setattr(batch, "_answer", broken)
    found = run([{"of": "relu", "ask": "chi", "id": i} for i in range(3)])
    assert ["internal" in answer["error"]["what"] for answer in found] == [False, True, False]


def test_ten_thousand_a_second_from_the_cache():
    """CPU time of this process, so that neighbours do not count."""
    points = [{"of": "relu", "ask": "mean", "at": {"q": 1 + i % 50}, "id": i} for i in range(10000)]
    assert [answer["id"] for answer in run(points)] == list(range(10000))
    texts = [json.dumps(point) for point in points]
    start = time.process_time()
    assert sum(1 for _ in batch.answers(texts, True, pytest.fail)) == 10000
    assert time.process_time() - start < 1


def test_the_command_loads_no_sympy_where_all_is_kept():
    script = (
        "import sys, io; from click.testing import CliRunner; from derive.commands.eval import COMMAND\n"
        'text = \'{"of": "relu", "ask": "mean", "at": {"q": 4}}\\n\'\n'
        "for _ in range(2): print(CliRunner().invoke(COMMAND, ['--batch', '-'], input=text).output)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    check = script.replace("range(2)", "range(1)") + "sys.exit('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["mid"].startswith("0.797884560802865")


def test_bytes_that_are_no_utf8_spoil_their_own_line(tmp_path):
    from click.testing import CliRunner

    from derive.commands.eval import COMMAND

    path = tmp_path / "b.jsonl"
    good = b'{"of": "relu", "ask": "second_moment", "at": {"q": 1}}\n'
    path.write_bytes(good + b"\xff\xfe\n" + good)
    result = CliRunner().invoke(COMMAND, ["--batch", str(path)], standalone_mode=False)
    found = [json.loads(line) for line in result.output.splitlines()]
    assert result.exception is None and result.return_value == 2
    assert found[0]["value"] == found[2]["value"]
    assert found[1] == {
        "line": 2,
        "error": {"what": "the line is no UTF-8", "where": "\\udcff\\udcfe", "instead": "JSON in UTF-8"},
    }
