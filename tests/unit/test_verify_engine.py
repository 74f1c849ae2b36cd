"""The engine: budget, repeatability, refused and unanswered quantities, interruption, heavy tails."""

import time
from types import SimpleNamespace

import mpmath
import pytest
import torch

from derive.records import Enclosure, EocError, Formula, Node
from verify.checking import Check, Claim, Exact, Point, Sampled
from verify.engine import run
from verify.judge import Verdict, compare
from verify.sampling import Draw, line_means
from verify.subject import Subject
from verify.work import PILOT

torch.set_num_threads(1)


def subject(seed=0):
    theory = SimpleNamespace(
        block="relu", results={"second_moment": None}, maps=SimpleNamespace(jumps=()),
    )  # fmt: skip
    formula = Formula("max(x, 0)", Node("name", value="x"))
    return _Plain(theory, formula, {}, torch.relu, torch.relu, seed, torch.float64)


class _Plain(Subject):
    """A subject whose report shows no formula."""

    def report(self, *given):
        from unittest import mock

        with mock.patch("verify.subject._formula_latex", return_value=""):
            return super().report(*given)


def point(value, scale=0.5):
    return Point((("q", 1),), Enclosure(mpmath.mpf(value), mpmath.mpf(0)), scale)


def square(streams):
    return line_means([lambda x: torch.relu(x) ** 2], [1.0], streams, torch.float64)


def check(value=0.5, draw=square, **more):
    witness = Sampled("sampling", draw)
    return {"second": Check("second", ("second_moment",), lambda s: [_claim(value, witness)], **more)}


def _claim(value, *witnesses):
    return Claim("second_moment", "E relu^2", "", "EXACT", (point(value),), witnesses)


def test_a_true_claim_holds_and_a_wrong_one_fails_with_a_counterexample():
    right, wrong = (run(subject(), check(value), budget=0) for value in (0.5, 0.505))
    assert right.passed and right.claims[0].verdict is Verdict.HOLDS
    assert right.claims[0].evidence[0].batches == PILOT
    assert not wrong.passed
    assert "claimed 0.505" in wrong.claims[0].counterexample() and "off by 1 %" in wrong.claims[0].counterexample()


def test_the_same_seed_repeats_the_same_evidence_and_another_does_not():
    def estimate(seed):
        return run(subject(seed), check(), budget=0).claims[0].evidence[0].judgements[0].estimate

    assert estimate(3) == estimate(3) != estimate(4)


def test_the_budget_only_adds_batches():
    noisy = []

    def draw(streams):
        noisy.append([torch.rand(1, generator=s).item() for s in streams])
        return Draw(torch.tensor(noisy[-1], dtype=torch.float64)[:, None], 1)

    report = run(subject(), check(0.5, draw), budget=0.2, resolve=1e-9)
    assert report.claims[0].evidence[0].batches > PILOT
    first = [row for rows in noisy[:1] for row in rows]
    run(subject(), check(0.5, draw), budget=0)
    assert noisy[-1] == first


def test_sampling_stops_at_the_resolution_asked_for():
    report = run(subject(), check(), budget=60, resolve=1e-2)
    assert report.claims[0].evidence[0].batches == PILOT and report.seconds < 30


def test_what_no_check_covers_is_refused_and_counts_against_the_report():
    report = run(subject(), {"other": Check("other", (), lambda s: [])}, budget=0)
    assert [c.verdict for c in report.claims] == [Verdict.REFUSED] and not report.passed


def test_a_question_without_an_answer_is_undecided_with_the_reason():
    def unanswered(subject):
        raise EocError("no number")

    report = run(subject(), {"second": Check("second", ("second_moment",), unanswered)}, budget=0)
    assert report.claims[0].verdict is Verdict.UNDECIDED and "no number" in report.claims[0].note
    assert report.passed and report.undecided


def test_one_exact_refutation_outweighs_agreeing_samples():
    exact = Exact("enclosure", lambda: [compare(0.5, 0.51, 1e-12, 0.5)])
    checks = {
        "second": Check("second", ("second_moment",), lambda s: [_claim(0.5, exact, Sampled("sampling", square))])
    }
    assert run(subject(), checks, budget=0).claims[0].verdict is Verdict.FAILS


def test_heavy_tails_and_large_corrections_are_undecided():
    def heavy(streams):
        return line_means([lambda x: torch.exp(0.45 * x * x)], [1.0], streams, torch.float64)

    def corrected(streams):
        draw = square(streams)
        return Draw(draw.values, 1, correction=0.1 * draw.values)

    for draw, reason in ((heavy, "heavy tail"), (corrected, "too large to extrapolate")):
        evidence = run(subject(), check(3.0, draw), budget=0).claims[0].evidence[0]
        assert evidence.verdict is Verdict.UNDECIDED and reason in evidence.note


def test_an_interrupt_keeps_what_was_done():
    calls = []

    def draw(streams):
        calls.append(len(streams))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return square(streams)

    report = run(subject(), check(0.5, draw), budget=60, resolve=1e-9)
    assert report.interrupted and report.claims[0].verdict is Verdict.HOLDS
    assert report.claims[0].evidence[0].batches == sum(calls[:2]) > PILOT


@pytest.mark.parametrize("text,value", [("30s", 30), ("2min", 120), (5, 5), ("500ms", 0.5), ("1.5h", 5400)])
def test_budgets(text, value):
    from verify import seconds

    assert seconds(text) == value


def test_bad_budgets_devices_and_accuracies_are_refused():
    from verify import chosen_device, fraction, seconds

    assert fraction("0.1%") == pytest.approx(1e-3) and fraction(0.02) == 0.02
    for bad in (lambda: seconds("soon"), lambda: fraction("2"), lambda: chosen_device("tpu")):
        with pytest.raises(EocError):
            bad()


def test_importing_verify_loads_no_torch():
    import subprocess
    import sys

    code = "import sys, verify; verify.verify; assert not {'torch', 'sympy', 'scipy', 'matplotlib'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def slow_claims(count, asked, pause=0.02):
    """Claims with a slow sampled witness, a slow code witness and slow networks each."""

    def sampled(name):
        def draw(streams):
            time.sleep(pause)
            asked.append(name)
            return square(streams)

        return draw

    def decide():
        time.sleep(pause)
        asked.append("code")
        return [compare(0.5, 0.5, 1e-12, 0.5)]

    witnesses = (
        Sampled("sampling", sampled("sampling")),
        Exact("code", decide),
        Sampled("networks", sampled("n"), True),
    )
    return {"second": Check("second", ("second_moment",), lambda s: [_claim(0.5, *witnesses)] * count)}


def test_every_claim_gets_its_first_evidence_without_any_budget():
    asked = []
    report = run(subject(), slow_claims(5, asked), budget=0)
    assert asked == ["sampling"] * 5 and all(c.verdict is Verdict.HOLDS for c in report.claims)
    notes = [e.note for e in report.claims[0].evidence]
    assert notes[0] == "" and set(notes[1:]) == {"the budget ended before its turn"}


def test_networks_are_first_evidence_where_nothing_else_is():
    checks = {**check(), "depth": Check("depth", (), lambda s: [networks_alone()])}
    assert [c.verdict for c in run(subject(), checks, budget=0).claims] == [Verdict.HOLDS, Verdict.HOLDS]


def networks_alone():
    return _claim(0.5, Sampled("weight-free networks", square, costly=True))


def test_an_undecided_witness_hands_the_claim_to_the_next():
    exact = Exact("enclosure", lambda: [compare(float("nan"), 0.5, 1e-12, 0.5)])
    checks = {
        "second": Check("second", ("second_moment",), lambda s: [_claim(0.5, exact, Sampled("sampling", square))])
    }
    assert run(subject(), checks, budget=0).claims[0].verdict is Verdict.HOLDS


def test_the_budget_counts_everything_after_the_first_evidence():
    asked = []
    report = run(subject(), slow_claims(4, asked, 0.05), budget=0.3, resolve=1e-12)
    assert 4 <= len(asked) < 12
    assert report.seconds < 0.3 + 4 * 0.05 + 0.5


def test_what_an_interrupt_left_out_says_so():
    def stop(streams):
        raise KeyboardInterrupt

    report = run(subject(), check(0.5, stop), budget=60)
    assert report.interrupted and report.claims[0].evidence[0].note == "interrupted before its turn"
