"""Calibration: true claims are not refuted, and their p-values are uniform. One report a seed at one second."""

import math

import pytest
import torch
from scipy.stats import kstest, t

from verify.checking import checks
from verify.engine import run
from verify.judge import Verdict
from verify.subject import subject

torch.set_num_threads(1)
SEEDS = range(20)
ACTIVATIONS = (
    "relu", "gelu", "tanh", "elu", "sin", "leaky_relu", "x*tanh(log(1+exp(x)))", "silu", "softplus", "selu", "celu",
    "sigmoid", "hardtanh", "relu6", "hardsigmoid", "hardswish", "erf(x)", "atan(x)", "cos(x)", "exp(-x**2)",
)  # fmt: skip


@pytest.mark.calibration
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_no_true_claim_is_refuted_and_p_values_are_uniform(activation):
    found = {name: check for name, check in checks().items() if not name.startswith("emitted")}
    values = []
    for seed in SEEDS:
        report = run(subject(activation, seed=seed), found, budget=1.0)
        assert report.passed, [c.counterexample() for c in report.claims if c.verdict is Verdict.FAILS]
        values += [p for claim in report.claims for evidence in claim.evidence for p in p_value(claim, evidence)]
    assert len(values) > 80  # a rectifier has few claims with noise at one second
    assert kstest(values, "uniform").pvalue > 1e-4


def p_value(claim, evidence):
    """The two-sided p-value of a witness's first point (its points share random numbers); none without noise."""
    if evidence.batches == 0 or not evidence.judgements:
        return
    first, point = evidence.judgements[0], claim.points[0]
    if math.isfinite(first.standard_error) and first.standard_error > 1e-10 * point.scale:
        score = abs(first.estimate - point.predicted) / first.standard_error
        yield 2 * float(t.sf(score, evidence.batches - 1))
