"""Questions of several variables that are questions of fewer: conditions that are sure, differences of logits."""

from __future__ import annotations

from math import lcm

from sympy import (
    Add,
    Dummy,
    Expr,
    ImmutableDenseMatrix,
    Integer,
    Lambda,
    Mul,
    PolynomialError,
    Symbol,
    cancel,
    exp,
)
from sympy.core.relational import Relational

from derive.gaussian.answer import answer
from derive.gaussian.node import GaussianE
from derive.gaussian.polynomials import as_affine
from derive.gaussian.summands import is_atomic
from derive.program.operations.sigmoid import Sigmoid
from derive.records import Kind


def reduced(node: GaussianE) -> Expr:
    """The same expectation over fewer variables, as a product over independent ones where no rule would do that."""
    return factored(fewer(decided(node)))


def factored(node: GaussianE) -> Expr:
    """E f(u) g(v) = E f(u) E g(v) for independent u, v and an integrand beyond the atoms (a logistic gate)."""
    zs = list(node.variables)
    if len(zs) < 2 or not node.body.is_Mul or is_atomic(node.body, node.variables):
        return node
    constant, rest = node.body.as_independent(*zs, as_Add=False)
    groups: list[tuple[set[Symbol], Expr]] = []
    for factor in Mul.make_args(rest):
        mine = {z for z in zs if factor.has(z)}
        mine |= {y for y in zs for z in mine if node.cov[zs.index(y), zs.index(z)] != 0}
        merged, body = mine, factor
        for group in [g for g in groups if g[0] & mine]:
            groups.remove(group)
            merged, body = merged | group[0], body * group[1]
        groups.append((merged, body))
    if len(groups) == 1:
        return node
    parts = []
    for names, body in groups:
        places = [i for i, z in enumerate(zs) if z in names]
        law = node.cov.extract(places, places), node.mean.extract(places, [0])
        parts.append(GaussianE(Lambda(tuple(zs[i] for i in places), body), *law))
    found = [answer(part) for part in parts]
    if not any(a.kind is Kind.DIVERGENT for a in found) and any(a.closed == 0 for a in found):
        return next(part for part, a in zip(parts, found, strict=True) if a.closed == 0)
    return Mul(constant, *parts)


def decided(node: GaussianE) -> GaussianE:
    """The expectation with each condition on a linear form of variance 0 decided: u > v is false where u = v surely."""
    zs, truths = node.variables, {}
    for test in node.body.atoms(Relational):
        affine = as_affine(test.lhs - test.rhs, zs)
        if affine is None:
            continue
        form = ImmutableDenseMatrix([[affine.get(tuple(int(z == y) for y in zs), Integer(0)) for z in zs]])
        if (form * node.cov * form.T)[0, 0].expand() == 0:
            value = (form * node.mean)[0, 0] + affine.get((0,) * len(zs), Integer(0))
            truths[test] = test.func(value, 0)
    return GaussianE(Lambda(zs, node.body.xreplace(truths)), node.cov, node.mean) if truths else node


def fewer(node: GaussianE) -> GaussianE:
    """E f(u_1, ..., u_n) over the differences u_i - u_n, where f stays the same if all its inputs are shifted alike.

    So the softmax over two logits is a function of one Gaussian variable, over three of two.
    """
    zs = node.variables
    if len(zs) < 2 or not set(zs) <= node.body.free_symbols or not _unmoved(node.body, zs):
        return node
    *rest, last = zs
    body = node.body.subs(last, 0)
    body = _by_sigmoid(body) if len(rest) == 1 else body
    rows = [[int(i == j) for j in range(len(rest))] + [-1] for i in range(len(rest))]
    change = ImmutableDenseMatrix(rows)
    return GaussianE(Lambda(tuple(rest), body), change * node.cov * change.T, change * node.mean)


def _unmoved(body: Expr, zs: tuple[Symbol, ...]) -> bool:
    """Whether f(z + t) = f(z): by arguments alone, or as a rational function of exponentials. False where in doubt."""
    shift = Symbol("t_shift", real=True)
    moved = body.subs({z: z + shift for z in zs}, simultaneous=True)
    if not moved.has(shift):
        return True
    algebraic, _ = _in_exponentials((moved, body))
    if any(e.has(shift, *zs) for e in algebraic):
        return False
    try:
        return cancel(algebraic[0] - algebraic[1]) == 0
    except PolynomialError:
        return False


def _in_exponentials(exprs: tuple[Expr, ...]) -> tuple[list[Expr], dict[Expr, Dummy]]:
    """exp(2*u - v/2) as U**4/V, with one name for each exp(u/2); the expressions and {u/2: U, ...}."""
    terms = [term.as_coeff_Mul() for e in exprs for power in e.atoms(exp) for term in Add.make_args(power.exp.expand())]
    if not all(number.is_Rational for number, _ in terms):
        return list(exprs), {}
    unit = lcm(*(int(number.q) for number, _ in terms))
    names = {rest / unit: Dummy(str(rest), positive=True) for _, rest in terms if rest != 1}

    def spelled(power: Expr) -> Expr:
        parts = [term.as_coeff_Mul() for term in Add.make_args(power.exp.expand())]
        return Mul(*(names[rest / unit] ** (number * unit) if rest != 1 else exp(number) for number, rest in parts))

    return [e.replace(lambda part: isinstance(part, exp), spelled) for e in exprs], names


def _by_sigmoid(body: Expr) -> Expr:
    """A rational function of exp(w) as a polynomial of sigmoid(w) where it is one: exp(w)/(exp(w) + 1) overflows."""
    (algebraic,), names = _in_exponentials((body,))
    if len(names) != 1:
        return body
    ((w, name),) = names.items()
    s = Dummy("s")
    if algebraic.has(*w.free_symbols):
        return body
    try:
        found = cancel(algebraic.subs(name, s / (1 - s)))
    except PolynomialError:
        return body
    return found.subs(s, Sigmoid(w)) if found.is_polynomial(s) else body


__all__ = ["decided", "factored", "fewer", "reduced"]
