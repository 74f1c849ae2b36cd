"""Reports run again, checkpoints, claims over workers, JUnit-like XML."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import torch

from derive.records import EocError
from verify import claim, verify
from verify.checking import checks
from verify.checkpoint import read_checkpoint, write_checkpoint
from verify.engine import run
from verify.judge import Verdict
from verify.repetition import again
from verify.report.junit import junit
from verify.report.record import plain
from verify.source import subject_of
from verify.spread import spread
from verify.subject import subject
from verify.whole import whole

torch.set_num_threads(1)
TEXTS = ("E(relu(x)**2) = q/2", "E(relu(x)) = sqrt(q)/4", "E(max(u, v)) = 0.564 at c = 0")


@pytest.fixture(scope="module")
def report():
    return claim(*TEXTS, budget=0, seed=3)


def some(*names):
    return {name: check for name, check in checks().items() if name in names}


def test_the_same_seed_gives_the_same_numbers_again(report, tmp_path):
    found = again(report.save(tmp_path / "old.json"))
    assert found.different == () and found.numbers > 10
    assert [c.verdict for c in found.report.claims] == [c.verdict for c in report.claims]
    assert "to the last digit" in found.summary


def test_another_seed_tests_other_points(report, tmp_path):
    found = again(report.save(tmp_path / "old.json"), seed=4)
    assert found.report.seed == 4 and found.different
    assert found.report.claims[0].points != report.claims[0].points
    assert [c.verdict for c in found.report.claims] == [c.verdict for c in report.claims]


def test_bound_parameters_come_back(tmp_path):
    from derive import Activation

    made = subject(Activation("leaky_relu", a="1/3"), seed=1)
    back, found = subject_of(json.loads(json.dumps(plain(made.source))), 1, {})
    assert back.formula.tree == made.formula.tree and "variance_map" in found
    free = subject("leaky_relu", seed=1)
    assert subject_of(free.source, 1, {"a": "2/7"})[0].parameters["a"] * 7 == 2


def test_what_cannot_be_run_again_says_so(report, tmp_path):
    module = run(subject(torch.nn.Tanh(), seed=0), some("mean"), budget=0)
    with pytest.raises(EocError, match="cannot be run again"):
        again(module.save(tmp_path / "module.json"))
    for text in ("{}", "[1]", "no json"):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(EocError):
            again(tmp_path / "bad.json")


def test_xml_has_a_case_for_each_claim(report, tmp_path):
    claims = (*report.claims, replace(report.claims[0], verdict=Verdict.REFUSED, note="\x07 <no check> &"))
    suite = ElementTree.fromstring(junit(replace(report, claims=claims)))[0]
    assert {k: suite.get(k) for k in ("tests", "failures", "errors")} == {"tests": "4", "failures": "1", "errors": "1"}
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases[:3]] == list(TEXTS)
    assert "claimed" in cases[1].find("failure").get("message")
    assert "<no check> &" in cases[3].find("error").get("message")
    assert report.save(tmp_path / "a.xml").read_text().startswith("<?xml")


def test_a_resumed_run_is_the_uninterrupted_one(tmp_path):
    made, found = subject("relu", seed=2), some("mean", "second_moment", "variance_map")
    straight, path = run(made, found, budget=0), str(tmp_path / "state.json")
    calls = []

    def stop(done, total, what):
        calls.append(what)
        if len(calls) == 8:
            raise KeyboardInterrupt

    part = whole(made, found, budget=0, checkpoint=path, progress=stop)
    kept = read_checkpoint(path, made)
    assert part.interrupted and 0 < len(kept) < 4
    rest = []
    done = whole(made, found, budget=0, checkpoint=path, resume=True, progress=lambda d, t, what: rest.append(what))
    assert [c.verdict for c in done.claims] == [c.verdict for c in straight.claims]
    asked = [c.evidence[0].judgements for c in done.claims if c.evidence]
    assert asked == [c.evidence[0].judgements for c in straight.claims if c.evidence]
    assert not any("enclosure: mean" in what for what in rest)  # it is not asked again


def test_checkpoints_of_other_runs_are_refused(tmp_path):
    path = str(tmp_path / "state.json")
    write_checkpoint(path, subject("relu", seed=2), {})
    for other in (subject("relu", seed=3), subject("tanh", seed=2)):
        with pytest.raises(EocError, match="another run"):
            read_checkpoint(path, other)
    with pytest.raises(EocError, match="there already"):
        whole(subject("relu", seed=2), {}, budget=0, checkpoint=path)
    with pytest.raises(EocError, match="nothing to go on from"):
        whole(subject("relu", seed=2), {}, budget=0, resume=True)


def numbers(tested):
    return [(e.witness, e.verdict, [j.estimate for j in e.judgements]) for e in tested.evidence if e.judgements]


def test_workers_find_what_one_process_finds():
    made, found = subject("relu", seed=2), some("mean", "variance_slope")
    options = {"budget": 0.0, "device": "cpu", "resolve": 1e-3, "until": None, "known": {}}
    with ThreadPoolExecutor(1) as pool:
        states, interrupted = spread(made, tuple(found), pool, 1, options, lambda *a: None, lambda s: None)
    together = run(made, found, budget=0, known=states, exactly={})
    alone = run(made, found, budget=0)
    assert not interrupted
    assert [numbers(c) for c in together.claims] == [numbers(c) for c in alone.claims]
    assert sum(len(numbers(c)) for c in alone.claims) == 2


def test_bad_executors_are_refused():
    with pytest.raises(EocError, match="no executor"):
        verify("relu", executor="threads:3", budget=0)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["processes:2", "dask"])
@pytest.mark.filterwarnings("ignore")
def test_a_report_over_workers(where):
    if where == "dask":
        from distributed import LocalCluster

        options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
        with LocalCluster(**options) as cluster:
            address = cluster.scheduler_address.removeprefix("tcp://")
            report = verify("relu", executor=f"dask://{address}", budget=10)
    else:
        report = verify("relu", executor=where, budget=10)
    assert report.passed and all(c.verdict is not Verdict.UNDECIDED for c in report.claims if "minus" not in c.title)
