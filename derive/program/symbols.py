"""The reserved symbols, with their assumptions."""

from __future__ import annotations

from sympy import Symbol

from derive.program.reserved import RESERVED as RESERVED
from derive.records import REAL_LINE, Interval

X = Symbol("x", real=True)
Z = Symbol("z", real=True)
U = Symbol("u", real=True)
V = Symbol("v", real=True)
Q = Symbol("q", positive=True)
Q1 = Symbol("q1", positive=True)
Q2 = Symbol("q2", positive=True)
C = Symbol("c", real=True)
K = Symbol("K", real=True)
DELTA = Symbol("Delta", positive=True)
"""q1*q2 - K**2, carried as one positive symbol."""
SIGMA_W = Symbol("sigma_w", positive=True)
SIGMA_B = Symbol("sigma_b", nonnegative=True)


def parameter(name: str, domain: Interval = REAL_LINE) -> Symbol:
    """The symbol of a parameter: real, with a sign where its domain gives one."""
    if domain.lower > 0 or (domain.lower == 0 and domain.lower_open):
        return Symbol(name, positive=True)
    if domain.upper < 0 or (domain.upper == 0 and domain.upper_open):
        return Symbol(name, negative=True)
    if domain.lower == 0:
        return Symbol(name, nonnegative=True)
    if domain.upper == 0:
        return Symbol(name, nonpositive=True)
    return Symbol(name, real=True)
