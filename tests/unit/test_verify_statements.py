"""Formulas of others: the grammar, verdicts, counter-examples, the file, the command."""

from fractions import Fraction

import pytest
import torch
from click.testing import CliRunner

from derive.records import EocError, FormulaError
from verify import claim
from verify.judge import Verdict
from verify.statements import read_file, read_statement

torch.set_num_threads(1)
RIGHT = [
    "E(relu(x)**2) = q/2",
    "E(relu(u)*relu(v)) = sqrt(q1*q2)*(sqrt(1 - c**2) + c*(pi - acos(c)))/(2*pi)",
    "E(erf(u)*erf(v)) = 2/pi*asin(2*K/sqrt((1 + 2*q1)*(1 + 2*q2)))",
    "gain(prelu) = sqrt(2/(1 + a**2))",
    "V(erf) = sigma_w**2*2/pi*asin(2*q/(1 + 2*q)) + sigma_b**2",
    "Var(relu(x)) = q/2*(1 - 1/pi)",
    "critical_gain(relu) = sqrt(2)",
    "chi(tanh) = 0.4644",
    "E(exp(-x**2)) = 0.5773503 at q = 1",
]
WRONG = ["gain(prelu) = sqrt(2/(1 - a**2))", "gain(selu) = 0.75", "E(relu(x)**2) = 0.505*q", "E(relu(u)*relu(v)) = K/2"]


def test_right_statements_hold_and_wrong_ones_fail_with_a_counterexample():
    report = claim(*RIGHT, *WRONG, budget=0)
    verdicts = [c.verdict for c in report.claims]
    assert verdicts == [Verdict.HOLDS] * len(RIGHT) + [Verdict.FAILS] * len(WRONG) and not report.passed
    assert "enclosure" in report.claims[len(RIGHT)].counterexample()
    assert "claimed 0.75, enclosure 1 (off by 33.3 %)" in report.claims[len(RIGHT) + 1].counterexample()


def test_sampling_alone_refutes_where_there_is_no_enclosure():
    wrong, right = claim("E(max(u, v)) = 0.57 at c = 0", "E(max(u, v)) = 0.56 at c = 0", budget=2, resolve="1%").claims
    assert (wrong.verdict, right.verdict) == (Verdict.FAILS, Verdict.HOLDS)  # 1/sqrt(pi) = 0.5642
    assert wrong.evidence[0].verdict is Verdict.UNDECIDED and "product" in wrong.evidence[0].note


def test_a_printed_number_is_meant_to_half_a_unit_of_its_last_digit():
    assert read_statement("gain(selu) = 0.75").tolerance == Fraction(1, 200)
    assert read_statement("gain(selu) = 1.50e1").tolerance == Fraction(1, 20)
    assert read_statement("gain(selu) = 3/4").tolerance == 0 == read_statement("E(x**2) = q").tolerance
    held, refuted = claim("std_gain(gelu) = 1.7009", "std_gain(gelu) = 1.7015", budget=0).claims
    assert held.verdict is Verdict.HOLDS and refuted.verdict is Verdict.FAILS


@pytest.mark.parametrize(
    "text", ["relu", "E(relu(x)) == q", "__import__('os') = 1", "F(relu) = 1", "E(relu(x)**2) = q = q", "E(y) = 1"]
)
def test_what_is_no_statement_is_refused(text):
    with pytest.raises(FormulaError):
        read_statement(text)


def test_values_are_checked():
    with pytest.raises(EocError, match="has no r"):
        read_statement("E(x**2) = q", at={"r": 1})
    with pytest.raises(EocError, match="outside"):
        read_statement("E(u*v) = K at c = 2")


def test_a_file_of_statements(tmp_path):
    path = tmp_path / "claims.toml"
    path.write_text('[[claim]]\ntext = "E(relu(x)**2) = 0.5"\nat = {q = 1}\nsource = "He et al. 2015"\n')
    assert read_file(str(path)) == ("E(relu(x)**2) = 0.5 at q = 1",)
    path.write_text("[[claim]]\nformula = 1\n")
    with pytest.raises(EocError, match="holds no statements"):
        read_file(str(path))
    path.write_bytes(b'[[claim]]\ntext = "\xff"\n')
    with pytest.raises(EocError, match="cannot be read"):
        read_file(str(path))


@pytest.mark.parametrize("text, code", [("E(relu(x)**2) = q/2", 0), ("E(relu(x)**2) = q/3", 1)])
def test_the_command_exits_with_1_where_a_statement_is_refuted(text, code):
    from verify.commands.verify import COMMAND

    result = CliRunner().invoke(COMMAND, ["--claim", text, "--budget", "0s", "-q"], standalone_mode=False)
    assert result.exception is None and result.return_value == code
