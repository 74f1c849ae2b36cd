"""Every mechanical mutant is refuted by every check of what it changed; the truth survives the same checks."""

import pytest
import torch

from verify.checking import checks
from verify.mutants import depth_kills, kills, mutants
from verify.subject import subject
from verify.wrong_code import code_kills, code_mutants

torch.set_num_threads(1)


@pytest.mark.parametrize("activation", ["relu", "gelu", "tanh"])
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


def recursion_is_watched(activation, name, fewest):
    check = checks()[name]
    outcomes = list(depth_kills(subject(activation, seed=0), check))
    survivors = [f"{m.attribute} {m.name}" for m, witness in outcomes if not witness and m.name not in check.unseeable]
    assert survivors == []
    assert len(outcomes) >= fewest


def test_every_wrong_variance_recursion_is_refuted():
    recursion_is_watched("relu", "depth_variance", 10)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["depth_variance", "depth_correlation", "depth_gradient"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_every_wrong_recursion_is_refuted(activation, name):
    recursion_is_watched(activation, name, 10)
