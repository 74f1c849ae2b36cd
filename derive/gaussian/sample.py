"""A SymPy expression on NumPy arrays, by walking its tree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import sympy
from sympy import Expr
from sympy.codegen.cfunctions import log1p

from derive.gaussian.special import NormalCdf
from derive.program.operations.sigmoid import Sigmoid
from derive.program.operations.softplus import Softplus
from derive.records import Unsupported

_erf = np.vectorize(math.erf, otypes=[float])
_erfc = np.vectorize(math.erfc, otypes=[float])

_FUNCTIONS: dict[Any, Any] = {
    sympy.exp: np.exp,
    sympy.log: np.log,
    sympy.sin: np.sin,
    sympy.cos: np.cos,
    sympy.tan: np.tan,
    sympy.sinh: np.sinh,
    sympy.cosh: np.cosh,
    sympy.tanh: np.tanh,
    sympy.atan: np.arctan,
    sympy.Abs: np.abs,
    sympy.sign: np.sign,
    sympy.erf: _erf,
    sympy.erfc: _erfc,
    NormalCdf: lambda x: _erfc(-x / math.sqrt(2)) / 2,
    Sigmoid: lambda x: (1 + np.tanh(x / 2)) / 2,
    Softplus: lambda x: np.logaddexp(0, x),
    log1p: np.log1p,
    sympy.asinh: np.arcsinh,
    sympy.sech: lambda x: 1 / np.cosh(x),
    sympy.sinc: lambda x: np.sinc(x / math.pi),
}


def evaluate(expr: Expr, values: dict) -> np.ndarray | float:
    """The expression with arrays for its symbols, in float64."""
    if expr in values:
        return values[expr]
    if expr.is_number:
        return float(expr)
    args = expr.args
    if isinstance(expr, sympy.Piecewise):
        conditions = [evaluate_condition(test, values) for _, test in args]
        shape = np.broadcast(*conditions, *values.values()).shape
        pieces = [np.broadcast_to(evaluate(value, values), shape) for value, _ in args]
        return np.select([np.broadcast_to(c, shape) for c in conditions], pieces)
    if isinstance(expr, sympy.Heaviside):
        return np.heaviside(evaluate(args[0], values), 0.5)
    parts = [evaluate(arg, values) for arg in args]
    if isinstance(expr, sympy.Add):
        return sum(parts[1:], parts[0])
    if isinstance(expr, sympy.Mul):
        return math.prod(parts)
    if isinstance(expr, sympy.Pow):
        return parts[0] ** parts[1]
    if isinstance(expr, sympy.Max | sympy.Min):
        choose = np.maximum if isinstance(expr, sympy.Max) else np.minimum
        total = parts[0]
        for part in parts[1:]:
            total = choose(total, part)
        return total
    if type(expr) in _FUNCTIONS:
        return _FUNCTIONS[type(expr)](parts[0])
    raise Unsupported("a function without a float64 evaluation", where=str(expr))


def evaluate_condition(test, values: dict) -> np.ndarray | bool:
    """A relation, or a combination of relations, on arrays."""
    if test is sympy.true or test is sympy.false:
        return test is sympy.true
    if isinstance(test, sympy.And | sympy.Or | sympy.Not):
        parts = [evaluate_condition(arg, values) for arg in test.args]
        if isinstance(test, sympy.Not):
            return np.logical_not(parts[0])
        combine = np.logical_and if isinstance(test, sympy.And) else np.logical_or
        return combine.reduce(np.broadcast_arrays(*parts))
    left, right = (evaluate(arg, values) for arg in test.args)
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    return {**compare, "==": np.equal, "!=": np.not_equal}[test.rel_op](left, right)


__all__ = ["evaluate"]
