"""Rules: the registry, the measure, the derivation tree, and that a wrong rule is caught."""

from dataclasses import replace

import pytest
from sympy import Heaviside, Lambda, Max, Rational, Symbol, exp, eye, ones, sin, sinc, symbols, tanh

from derive.gaussian import rules as registry
from derive.gaussian.answer import answer, derivation
from derive.gaussian.engine import derive_closed
from derive.gaussian.node import GaussianE, pair, single
from derive.gaussian.rule import Outcome
from derive.gaussian.rules import rules
from derive.gaussian.special import NormalCdf
from derive.program.symbols import X
from derive.records import Kind, SelfTestFailed

GELU = X * NormalCdf(X)
A = Symbol("a", real=True)


def test_every_file_is_a_rule_with_its_statement_and_source():
    names = [rule.name for rule in rules()]
    assert len(set(names)) == len(names) >= 12
    for rule in rules():
        assert rule.statement and rule.source
        assert __import__(f"derive.gaussian.rules.{rule.name}")


def steps(step):
    return [step] + [inner for child in step.children for inner in steps(child)]


def test_the_derivation_is_a_tree_of_steps():
    tree = steps(derivation(pair(GELU, GELU)))
    assert [step.rule for step in tree] == ["auxiliary", "stein", "orthant_2", "stein", "stein"]
    assert derivation(pair(Max(X, 0) + X, X)).rule == "linearity"
    for step in tree:
        assert step.source and isinstance(step.before, GaussianE)
        nodes = [child.before for child in step.children]
        assert set(nodes) == step.after.atoms(GaussianE)
    assert answer(pair(GELU, GELU)).step is derivation(pair(GELU, GELU))


def test_the_tree_and_the_fast_path_agree():
    question = pair(Max(X, 0), sin(A * X) * Heaviside(X))
    with pytest.raises(Exception, match="No rule"):
        derive_closed(question)
    question = pair(Max(X, 0), exp(A * X))
    assert derive_closed(question, trace=True).closed.expr() == derive_closed(question).closed.expr()


U, V, W, T = symbols("u v w t", real=True)
QUESTIONS = [
    single(tanh(X)),
    single(1 / (1 + X**2)),
    single(sinc(X)),
    single(GELU**3),
    single(NormalCdf(X) ** 5),
    single(X * sin(X) * Heaviside(X - 1)),
    GaussianE(Lambda((U, V, W, T), Heaviside(U - V) * Heaviside(U - W) * Heaviside(U - T)), eye(4)),
    pair(X + 1, exp(A * X)),
    pair(NormalCdf(X + 1), Max(X - 1, 0)),
    GaussianE(Lambda((U, V), Max(U, 0) * V**2), [[1, 0], [0, 1]], [1, 0]),
    GaussianE(Lambda((U, V), Max(U, 0) * Max(V, 0)), [[1, 1], [1, 1]]),
    GaussianE(Lambda((U, V, W), Max(U, V, W)), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    GaussianE(Lambda((U, V), Heaviside(U - V) * Heaviside(U)), [[2, 2], [2, 2]]),
]
WRONG = [
    ("stein", single(GELU**2 + 1)),
    ("tilt", single(exp(A * X) + 2)),
    ("orthant_2", pair(Max(X, 0), Max(X, 0) + 1)),
    ("moments", single(X**4 + X)),
    ("orthant_4", single(NormalCdf(X) ** 4)),
    ("orthant_odd", single(NormalCdf(X) ** 5)),
    ("wave_half_line", single(sin(A * X) * Heaviside(X - 1))),
    ("orthant_2_shifted", pair(NormalCdf(X + 1), NormalCdf(X))),
]


@pytest.mark.parametrize(("name", "question"), WRONG)
@pytest.mark.parametrize("factor", ["101/100", "-1"])
def test_a_wrong_rule_is_caught(monkeypatch, name, question, factor):
    """A rule off by one per cent, or by a sign, never produces an answer."""
    from fractions import Fraction

    from derive.gaussian.closed import constant

    def spoiled(rule):
        def apply(problem, scalars):
            outcome = rule.apply(problem, scalars)
            if outcome is None:
                return None
            number = Fraction(factor)
            wrong = constant(scalars, scalars.one * number.numerator / number.denominator)
            return Outcome(tuple((wrong * c, parts) for c, parts in outcome.terms), outcome.positive)

        return replace(rule, apply=apply)

    answer(question)
    changed = tuple(spoiled(rule) if rule.name == name else rule for rule in registry.rules())
    monkeypatch.setattr("derive.gaussian.engine.rules", lambda: changed)
    answer.cache_clear()
    with pytest.raises(SelfTestFailed):
        answer(question)
    answer.cache_clear()


def test_odd_functions_need_no_atoms():
    found = answer(single(tanh(X)))
    assert (found.kind, found.closed, found.step.rule) == (Kind.EXACT, 0, "symmetry")
    assert answer(single(tanh(X) + 1)).closed == 1
    assert answer(single(tanh(X) ** 2 + 1)).closed is None


@pytest.mark.parametrize(
    ("text", "mean"),
    [
        ("sigmoid(x)", "1/2"),
        ("3*sigmoid(b*x) - 1", "1/2"),
        ("1/(1 + exp(-b*x))", "1/2"),
        ("exp(2*x)/(1 + exp(2*x))", "1/2"),
        ("1/(1 + exp(-x)) - tanh(x/2)/3", "1/2"),
        ("x**2*sigmoid(-x)", "q/2"),
        ("log(1 + exp(b*x)) - log(1 + exp(-b*x)) + x**2", "q"),
        ("(sigmoid(x) - 1/2)**3 + 2", "2"),
        ("x**3/(1 + x**2) + exp(x)", "exp(q/2)"),
    ],
)
def test_odd_parts_about_the_mean_leave(text, mean):
    """The logistic function is 1/2 plus an odd one: its mean is 1/2 at every variance and steepness."""
    from derive.formula import read, to_sympy

    found = answer(single(to_sympy(read(text, {}))))
    assert found.kind is Kind.EXACT and found.step is not None
    assert str(found.closed) == mean


def test_each_output_of_a_softmax_has_mean_one_over_n():
    """Alike logits: the outputs add up to 1; logits of different variances are left open."""
    total = exp(U) + exp(V) + exp(W) + exp(T)
    alike = 2 * eye(4) + ones(4, 4) / 3
    assert answer(GaussianE(Lambda((U, V, W, T), exp(T) / total), alike)).closed == Rational(1, 4)
    differences = exp(V) / (exp(U) + exp(V) + 1)
    assert answer(GaussianE(Lambda((U, V), differences), [[2, 1], [1, 2]])).closed == Rational(1, 3)
    assert answer(GaussianE(Lambda((U, V), differences), [[2, 1], [1, 3]])).closed is None


def test_symmetry_is_about_the_mean_of_the_law():
    m = Symbol("m", real=True)
    shifted = GaussianE(Lambda((U, V), tanh(U - V - m) ** 3 + U), eye(2), [m, 0])
    assert answer(shifted).closed == m
    assert answer(GaussianE(Lambda(U, tanh(U)), eye(1), [1])).closed is None
    assert answer(single(tanh(X - 1))).closed is None


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_every_rule_acts_in_some_derivation(rule):
    """The rules that no question here needs would be dead text."""
    used = {step.rule for question in QUESTIONS for step in steps(derivation(question))}
    assert rule.name in used
