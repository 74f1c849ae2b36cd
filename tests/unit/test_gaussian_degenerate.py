"""Parameters at which a family turns into another: the closed form there is the limit's, or the refusal says why."""

import re

import pytest

from derive import Activation, Kind, expect
from derive.records import DomainError, EocError

LAWS = ({"q": "3/2"}, {"q1": "3/2", "q2": "1/2", "c": "3/10"})
POSITIVE = dict.fromkeys(("alpha", "b", "s"), (0, None))

AT = [
    # formula, parameters, the formula it turns into
    ("max(t, min(s, x))", {"t": "-1/2", "s": "1/2"}, "max(-1/2, min(1/2, x))"),
    ("max(0, min(t1, x)) - max(0, min(t, x))", {"t": 1, "t1": 1}, "0*x"),
    ("max(a*x, d*x)", {"a": 1, "d": 1}, "x"),
    ("Piecewise((t + a*(x - t), x < t), (t1 + d*(x - t1), x > t1), (x, True))",
     {"t": 0, "t1": 0, "a": "1/5", "d": 1}, "Piecewise((x, x > 0), (x/5, True))"),
    ("sin(w*x + p)", {"w": 0, "p": "1/2"}, "0*x + sin(1/2)"),
    ("exp(-b*x**2)*cos(w*x)", {"b": "1/2", "w": 0}, "exp(-x**2/2)"),
    ("a*relu(x) + d*relu(-x)", {"a": 1, "d": -1}, "x"),
    ("x*Phi(w*x)", {"w": 0}, "x/2"),
    ("a*x + exp(d*x)", {"a": 1, "d": 0}, "x + 1"),
]  # fmt: skip

NEAR = [
    # formula, parameters, the limit, a bound of the distance
    ("x*Phi(b*x)", {"b": "10**8"}, "relu(x)", 1e-7),
    ("erf(b*x)", {"b": "10**8"}, "sign(x)", 1e-7),
    ("Piecewise((x, x > 0), (alpha*(exp(x/alpha) - 1), True))", {"alpha": "10**9"}, "x", 1e-8),
    ("Piecewise((x, x > 0), (alpha*(exp(x/alpha) - 1), True))", {"alpha": "1e-9"}, "relu(x)", 1e-8),
    ("x + sin(s*x)**2/s", {"s": "1e-8"}, "x", 1e-7),
    ("sin(s*x)/s", {"s": "1e-8"}, "x", 1e-15),
    ("max(-s, min(s, x))/s", {"s": "1e-9"}, "sign(x)", 1e-8),
    ("x*sigmoid(b*x)", {"b": "10**8"}, "relu(x)", 1e-7),
    ("softplus(b*x)/b", {"b": "10**8"}, "relu(x)", 1e-7),
]

OUTSIDE = [("x + sin(s*x)**2/s", "s"), ("x*Phi(b*x)", "b"), ("softplus(b*x)/b", "b"), ("exp(-b*x**2)", "b")]


def activation(text: str) -> Activation:
    names = set(re.findall(r"\w+", text))
    return Activation(text, domains={name: ends for name, ends in POSITIVE.items() if name in names})


def asked(text: str, law: dict, parameters: dict, slope: bool):
    f = activation(text).derivative() if slope else activation(text)
    result = expect(f, f) if "c" in law else expect(f**2)
    return result, result.number({**law, **parameters})


ASKED = [(LAWS[0], False)] + [
    pytest.param(*question, marks=pytest.mark.slow) for question in ((LAWS[0], True), (LAWS[1], False), (LAWS[1], True))
]


@pytest.mark.parametrize(("law", "slope"), ASKED)
@pytest.mark.parametrize(("text", "parameters", "limit"), AT)
def test_at_the_value(text, parameters, limit, law, slope):
    """The closed form with symbols, at the degenerate value, is that of the other formula to all digits."""
    result, value = asked(text, law, parameters, slope)
    assert result.kind in (Kind.EXACT, Kind.SPECIAL)
    expected = asked(limit, law, {}, slope)[1]
    assert abs(value.mid - expected.mid) <= value.rad + expected.rad
    assert value.rad < 1e-15


@pytest.mark.parametrize("law", [LAWS[0], pytest.param(LAWS[1], marks=pytest.mark.slow)])
@pytest.mark.parametrize(("text", "parameters", "limit", "distance"), NEAR)
def test_next_to_it(text, parameters, limit, distance, law):
    """Within the distance that the family keeps from its limit, with all digits of its own."""
    value = asked(text, law, parameters, False)[1]
    expected = asked(limit, law, {}, False)[1]
    assert abs(value.mid - expected.mid) < distance
    assert value.rad < 1e-14 * abs(value.mid)


@pytest.mark.parametrize(("text", "name"), OUTSIDE)
def test_outside_the_domain_it_is_refused_with_the_condition(text, name):
    result = expect(activation(text) ** 2)
    with pytest.raises(DomainError, match=rf"{name} = 0 is outside its domain \(0, "):
        result.number({"q": 1, name: 0})


def test_where_a_family_has_no_value_without_a_declared_sign():
    """Softplus with any slope: 0 is no member, and no number is made up for it."""
    with pytest.raises(EocError):
        expect(Activation("softplus(w*x)/w") ** 2).number(q=1, w=0)
