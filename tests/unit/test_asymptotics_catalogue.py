"""Expansions of E phi^2, E phi'^2 and d/dq E phi^2 of every activation against certified numbers near both ends."""

from __future__ import annotations

import mpmath
import pytest

from derive import Activation, catalogue, expect
from derive.program.symbols import Q
from derive.records import Unsupported
from derive.surface.expansions import ExpansionResult

NAMES = [name for name in catalogue.names() if len(catalogue.entry(name).variables) == 1]
QUICK = ("hardtanh", "elu", "step", "mish")
NO_POWERS = {
    "symlog": "log(1 + |x|)^2 at infinity",
    "nlrelu": "log(1 + x)^2 at infinity",
    "tanhexp": "exp(x) (1 - tanh(exp(x))^2)",
    "telu": "exp(x) (1 - tanh(exp(x))^2)",
    "sinc": "oscillation over a power",
    "rbf": "oscillation",
}
"""What has no expansion at infinity here, and why."""
UNCERTIFIED = {
    "logcosh": "no enclosure of the expectation at q = 1e4",
    "smish": "the decay of a coefficient's integrand is not proved",
    "phish": "the decay of a coefficient's integrand is not proved",
    "gish": "exp(exp(x)) in the denominator of a coefficient's integrand",
}
"""What cannot be compared at infinity yet."""
ENDS = {0: ("1/1000", "1/10000"), "oo": ("10000", "1000000")}


def usual(name):
    entry = catalogue.entry(name)
    free = Activation(name).parameters
    return Activation(name, **{p.name: p.default for p in entry.parameters if p.name in free})


def value(text):
    over, _, under = text.partition("/")
    return mpmath.mpf(over) / mpmath.mpf(under or 1)


def errors(result, found, points):
    """|number - sum of terms| over q^remainder, and what rounding may leave of it, at each point."""
    for text in points:
        q, total = value(text), mpmath.mpf(0)
        for power, coefficient in found.terms:
            given = {"q": text} if coefficient.has(Q) else {}
            total += found.coefficient(power, **given).mid * q ** (mpmath.mpf(power.p) / power.q)
        number = result.number(q=text, digits=20)
        scale = q ** (mpmath.mpf(found.remainder.p) / found.remainder.q) if found.remainder is not None else 1
        rounding = number.rad + abs(number.mid) * mpmath.mpf("1e-18")
        yield abs(number.mid - total) / scale, rounding / scale


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
def test_remainders_are_of_their_order(name):
    """The error over q^remainder stays bounded as q moves a decade or two towards the end; exact sums have none."""
    phi = usual(name)
    slope = phi.derivative()
    quantities = [expect(phi**2), expect(phi**2).diff("q")]
    if not slope.jumps:
        quantities.append(expect(slope**2))
    for result in quantities:
        for end, points in ENDS.items():
            if end == "oo" and name in UNCERTIFIED:
                continue
            try:
                found = result.series("q", end, 3)
            except Unsupported:
                assert end == "oo"
                assert name in NO_POWERS
                continue
            if not isinstance(found, ExpansionResult):  # exponentially small or large terms: a closed formula
                assert end == "oo"
                continue
            with mpmath.workdps(40):
                (far, _), (near, rounding) = errors(result, found, points)
                if found.remainder is None:
                    assert near <= rounding
                else:
                    logs = 3 if found.expansion.log_remainder else 1.5
                    assert near <= logs * far + rounding
