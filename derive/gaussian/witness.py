"""An evaluation of an expectation that shares nothing with the calculus: the witness of the self-test.

One and two variables: rigorous enclosures. Where there are none (three variables, or two that meet in one
factor): a sample mean with six standard errors.
"""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
from sympy import Rational

from derive.gaussian.enclosure import enclose
from derive.gaussian.node import GaussianE
from derive.gaussian.sample import evaluate
from derive.records import Unsupported

SAMPLES = 1 << 17
STANDARD_ERRORS = 6
UNSEEN = 20
"""An event of probability p is missed by n draws with probability exp(-n p): p < 20/n but for one case in 10^8."""


def witness(node: GaussianE, values: dict[str, Fraction], mean: np.ndarray, cov: np.ndarray, digits: int) -> flint.arb:
    """A ball around E f, with every symbol given a number; `mean` and `cov` are the law there.

    Raises Unsupported where the expectation diverges or cannot be evaluated.
    """
    if mean.size == 1 or (mean.size == 2 and _separates(node)):
        return enclose(node, values, digits)
    return _sample(node, values, mean, cov)


def _separates(node: GaussianE) -> bool:
    first, second = node.variables
    terms = node.body.args if node.body.is_Add else (node.body,)
    factors = [factor for term in terms for factor in (term.args if term.is_Mul else (term,))]
    return not any(factor.has(first) and factor.has(second) for factor in factors)


def _sample(node: GaussianE, values: dict[str, Fraction], mean: np.ndarray, cov: np.ndarray) -> flint.arb:
    """Antithetic pairs from a fixed generator: the same question meets the same sample."""
    parameters = node.body.free_symbols - set(node.variables)
    numbers = {s: Rational(values[s.name].numerator, values[s.name].denominator) for s in parameters}
    body = node.body.subs(numbers)
    draws = np.random.default_rng(20).multivariate_normal(np.zeros(mean.size), cov, size=SAMPLES // 2, method="eigh")
    points = [dict(zip(node.variables, (mean + side * draws).T, strict=True)) for side in (1, -1)]
    means = (evaluate(body, points[0]) + evaluate(body, points[1])) / 2 * np.ones(len(draws))
    error = STANDARD_ERRORS * float(means.std()) / math.sqrt(means.size)
    unseen = UNSEEN / means.size * float(np.abs(means).max())
    if not math.isfinite(error + unseen):
        raise Unsupported("a sample without a finite spread at this point")
    return flint.arb(float(means.mean()), error + unseen + 1e-12)


__all__ = ["witness"]
