"""An orthant at the origin in an odd number of dimensions: smaller ones."""

from dataclasses import replace
from itertools import combinations

from derive.gaussian.closed import constant
from derive.gaussian.orthants import orthant
from derive.gaussian.rule import Outcome, Rule

LARGEST = 9
"""Larger ones would be more than 500 smaller ones."""


def apply(problem, scalars):
    size = len(problem.steps)
    if size % 2 == 0 or size > LARGEST:
        return None
    found = orthant(problem, scalars, size)
    if found is None or any(found.thresholds):
        return None
    terms = []
    for count in range(size):
        weight = scalars.one * (-1) ** count / 2 ** (size - count)
        for kept in combinations(problem.steps, count):
            terms.append((constant(scalars, weight), (replace(problem, steps=kept),)))
    return Outcome(tuple(terms))


RULE = Rule(
    name="orthant_odd",
    order=150,
    statement=r"n\text{ odd}:\quad 0=\mathbb{E}\prod_{i\le n}\operatorname{sgn}w_i\;\Rightarrow\;"
    r"\mathbb{P}(w>0)=\sum_{A\subsetneq\{1..n\}}\frac{(-1)^{|A|}}{2^{n-|A|}}\,\mathbb{P}(w_A>0)",
    source="expansion of the product of 2*1{w > 0} - 1; David 1953, Biometrika 40, 458",
    apply=apply,
)
