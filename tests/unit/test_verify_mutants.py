"""Every mechanical mutant is refuted by every check of what it changed; the truth survives the same checks."""

import pytest
import torch

from verify.claim import checks
from verify.mutants import kills, mutants
from verify.subject import subject

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
