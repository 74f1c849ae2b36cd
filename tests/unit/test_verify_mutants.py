"""Every mechanical mutant is refuted by every check of what it changed; the truth survives the same checks."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from verify.checking import Sampled, checks
from verify.engine import run
from verify.judge import Verdict, judge
from verify.mutants import depth_kills, kills, mutants
from verify.stream import stream
from verify.subject import subject
from verify.wrong_code import code_kills, code_mutants
from verify.wrong_laws import wrong_laws

torch.set_num_threads(1)


@pytest.mark.parametrize("activation", ["relu", "gelu", pytest.param("tanh", marks=pytest.mark.slow)])
def test_every_mutant_is_refuted(activation):
    found = checks()
    outcomes = list(kills(subject(activation, seed=0), found))
    survivors = [
        f"{check}: {mutant.attribute} {mutant.name}"
        for mutant, check, witness in outcomes
        if not witness and mutant.name not in found[check].unseeable
    ]
    assert survivors == []
    changed = {mutant.attribute for mutant, _, _ in outcomes}
    covered = {attribute for check in found.values() for attribute in check.covers} - {"activation"}
    assert changed == covered
    assert len({(mutant.attribute, mutant.name) for mutant, _, _ in outcomes}) > 80


def test_a_mutant_that_equals_the_truth_is_left_out():
    names = {(mutant.attribute, mutant.name) for mutant in mutants(subject("relu"))}
    assert ("covariance_map", "q1 and q2 exchanged") not in names  # the map is symmetric
    assert ("covariance_map", "q1 for q2") in names
    assert ("chi", "chi_parallel in its place") not in names  # equal for a scale-invariant function
    assert ("edge_of_chaos", "q 1 % too large") not in names


def code_is_watched(activation, backends, fewest):
    outcomes = list(code_kills(subject(activation, seed=0), backends))
    assert [(quantity, what) for quantity, what, witness in outcomes if not witness] == []
    assert len(outcomes) >= fewest


def test_every_change_of_emitted_code_is_refuted():
    code_is_watched("relu", ("numpy", "torch"), 50)


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["gelu", "elu", "hardtanh", "x*exp(-x**2)"])
def test_every_change_of_longer_code_is_refuted(activation):
    code_is_watched(activation, ("numpy", "torch"), 50)


def test_code_is_changed_in_every_number_sign_exponent_and_term():
    source = "def f(q):\n    'docs 7.'\n    q, = _arrays(q)\n    t = 2*q**3 - 1\n    return _result(-t, q)\n"
    changed = {what.partition(": ")[2]: text for what, text in code_mutants(source, "f")}
    assert set(changed) == {
        "2: 1 % too large", "2: 1 % too small", "3: 1 % too large", "3: 1 % too small", "1: 1 % too large",
        "1: 1 % too small", "2 * q ** 3 - 1: sign reversed", "2 * q ** 3 - 1: last term dropped",
        "2 * q ** 3 - 1: first term dropped", "q ** 3: exponent 1 too large", "q ** 3: exponent dropped",
        "-t: sign dropped",
    }  # fmt: skip
    assert "t = 2.02 * q ** 3 - 1" in changed["2: 1 % too large"]
    assert "t = 2 * q ** 3 + 1" in changed["2 * q ** 3 - 1: sign reversed"]
    assert "_result(t, q)" in changed["-t: sign dropped"]


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["relu", "tanh", "gelu"])
def test_wrong_numbers_of_order_one_over_width_are_refuted(activation):
    recursion_is_watched(activation, "finite_width", 4)


def recursion_is_watched(activation, name, fewest):
    check = checks()[name]
    outcomes = list(depth_kills(subject(activation, seed=0), check))
    survivors = [f"{m.attribute} {m.name}" for m, witness in outcomes if not witness and m.name not in check.unseeable]
    assert survivors == []
    assert len(outcomes) >= fewest


def test_every_wrong_variance_recursion_is_refuted():
    recursion_is_watched("relu", "depth_variance", 10)


def test_a_drift_ratio_one_per_cent_off_is_refuted():
    found = depth_kills(subject("relu", seed=0), checks()["guessing_bias"])
    first = {mutant.name: witness for mutant, witness in (next(found), next(found))}
    assert first == {"1 % too large": "weight-free networks", "1 % too small": "weight-free networks"}


def test_a_law_of_the_class_fraction_twenty_per_cent_off_is_refuted():
    made, check, points = subject("relu", seed=0), checks()["guessing_law"], {}
    wrong_ones = {name: replace(made, theory=wrong) for name, wrong in wrong_laws(made.theory)}
    for name, wrong in {"truth": made, **wrong_ones}.items():
        (claim,) = check.claims(wrong)
        points[name] = claim.points
    columns = claim.witnesses[0].draw([stream(0, 0, k) for k in range(20)]).values.T.tolist()
    for name, found in points.items():
        verdicts = [
            judge(column, float(p.predicted.mid), float(p.predicted.rad), p.scale, 100).verdict
            for column, p in zip(columns, found, strict=True)
        ]
        assert (Verdict.FAILS in verdicts) == (name != "truth"), name
        assert name != "truth" or set(verdicts) == {Verdict.HOLDS}


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["tanh", "gelu"])
def test_every_wrong_law_of_the_class_fraction_is_refuted(activation):
    recursion_is_watched(activation, "guessing_law", 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["depth_variance", "depth_correlation", "depth_gradient", "guessing_bias"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_every_wrong_recursion_is_refuted(activation, name):
    recursion_is_watched(activation, name, 10)


def test_every_kind_of_wrong_form_is_refuted():
    quick = {name: check for name, check in checks().items() if name != "correlation_map"}
    forms_are_watched("relu", quick, 140, 40)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("activation", ["relu", "gelu", "elu", "hardtanh", "sin"])
def test_every_kind_of_wrong_form_of_longer_formulas_is_refuted(activation):
    forms_are_watched(activation, checks(), 180, 40)


def forms_are_watched(text, found, fewest, kinds):
    outcomes = list(kills(subject(text, seed=0), found, forms=True))
    survivors = [
        f"{check}: {mutant.attribute} {mutant.name}"
        for mutant, check, witness in outcomes
        if not witness and mutant.name not in found[check].unseeable
    ]
    assert survivors == []
    assert len(outcomes) >= fewest
    assert len({mutant.name.partition(",")[0] for mutant, _, _ in outcomes}) >= kinds


ONE_PER_CENT = ("1 % too large", "1 % too small")


def small_errors_are_seen_by_samples(text, budget, attributes):
    """Without enclosures: a report of that budget refutes every map that is 1 % off, and holds the truth."""
    made = subject(text, seed=0)
    watching = {n: c for n, c in checks(made.of).items() if set(attributes) & set(c.covers)}
    found = {name: replace(check, claims=sampled_alone(check)) for name, check in watching.items()}
    assert all(c.verdict is Verdict.HOLDS for c in run(made, found, budget=budget).claims if c.check)
    wrong = [m for m in mutants(made) if m.name in ONE_PER_CENT and m.attribute in attributes]
    assert len(wrong) == 2 * len(attributes)
    for mutant in wrong:
        report = run(replace(made, theory=mutant.theory), found, budget=budget)
        refuted = [c for c in report.claims if c.verdict is Verdict.FAILS]
        assert refuted and {c.attribute for c in refuted} <= {mutant.attribute}, (mutant.attribute, mutant.name)


def sampled_alone(check):
    def claims(made):
        for claim in check.claims(made):
            sampled = tuple(w for w in claim.witnesses if isinstance(w, Sampled))
            if sampled:
                yield replace(claim, witnesses=sampled)

    return claims


def test_one_per_cent_is_seen_by_samples_alone():
    small_errors_are_seen_by_samples("relu", 0, ("variance_map", "chi", "covariance_map"))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("text", ["gelu", "tanh", "dense >> relu >> maxpool(2)", "dense >> relu >> avgpool(2)"])
def test_one_per_cent_is_seen_within_thirty_seconds(text):
    small_errors_are_seen_by_samples(text, 30, ("variance_map", "chi", "covariance_map"))


def test_every_check_has_a_row_in_the_kill_table_or_a_reason():
    page = (Path(__file__).resolve().parents[2] / "docs" / "mutants.md").read_text()
    assert [n for n in checks("") if f"| {n} |" not in page and f"- {n}: " not in page] == []
