"""expect: Gaussian expectations of functions of one, two or more variables."""

from __future__ import annotations

from typing import Any

from sympy import Expr, ImmutableDenseMatrix, Lambda, Rational, Symbol, exp, pi, sqrt

from derive.catalogue import entry
from derive.formula import read, to_sympy
from derive.formula.reader import read_constant
from derive.gaussian.node import GaussianE, pair, single
from derive.program.symbols import DELTA, Q1, Q2, K, Q, X
from derive.records import EocError, Formula, Interval
from derive.surface.activations import Activation
from derive.surface.coupled import is_gated
from derive.surface.dirac import demand
from derive.surface.exact import exact
from derive.surface.reductions import reduced
from derive.surface.results import RESERVED, Result


def expect(*functions: Any, of: str = "", mean: Any = None, cov: Any = None, distributional: bool = False) -> Result:
    """The Gaussian expectation of a product of functions, one Gaussian variable each.

    expect(f)             E f(x), x ~ N(0, q): a Result in q
    expect(f, g)          E f(u) g(v), (u, v) centred with variances q1, q2 and correlation c
    expect(f, mean=m, cov=[[s]])               x ~ N(m, s)
    expect(f, g, h, mean=[...], cov=[[...]])   any law, validated for symmetry and positive semi-definiteness
    expect("geglu")                            a gated unit of two independent inputs of variance q
    expect("max(u, v, w)", of="u v w", mean=[0, 0, 0], cov=[[...]])   a function of several variables
    distributional=True   adds Dirac parts of derivatives of functions with jumps; raises Undefined where two
                          Dirac parts meet

    Kind: that of the derived Result. Raises EocError for a law that is none.
    """
    if of:
        return _several(functions, of, mean, cov)
    if len(functions) == 1 and isinstance(functions[0], str) and is_gated(functions[0]) and mean is cov is None:
        return _several(functions, "x y", None, [[Q, 0], [0, Q]])
    acts = [f if isinstance(f, Activation) else Activation(f) for f in functions]
    if not acts:
        raise EocError("expect needs a function", instead='expect("x*tanh(x)")')
    domains = tuple(sorted({k: v for a in acts for k, v in a.domains.items()}.items()))
    if mean is not None or cov is not None:
        law_mean, law_cov = _law(mean, cov, len(acts))
        variables = tuple(Symbol(f"z{i + 1}", real=True) for i in range(len(acts))) if len(acts) > 1 else (X,)
        body: Expr = Rational(1)
        for act, z in zip(acts, variables, strict=True):
            body = body * act.expr.subs(X, z)
        return _general(GaussianE(Lambda(variables, body), law_cov, law_mean), domains)
    if len(acts) == 1:
        template = single(acts[0].expr) + (_single_diracs(acts[0]) if distributional else 0)
        return Result(template, ("q",), domains, "expectation", r"\mathbb{E}\,f")
    if len(acts) == 2:
        template = pair(acts[0].expr, acts[1].expr) + (_pair_diracs(*acts) if distributional else 0)
        return Result(template, ("q1", "q2", "c"), domains, "pair expectation", r"\mathbb{E}\,f(u)g(v)")
    raise EocError(f"{len(acts)} functions need a law", instead="expect(f, g, h, cov=[[...], [...], [...]])")


def _density(at: Expr, q: Expr) -> Expr:
    return exp(-(at**2) / (2 * q)) / sqrt(2 * pi * q)


def _single_diracs(f: Activation) -> Expr:
    return sum((d.weight * _density(d.at, Q) for d in demand(f)), Rational(0))


def _pair_diracs(f: Activation, g: Activation) -> Expr:
    """Each Dirac part against the other function on its conditional law, each pair by the joint density."""
    total: Expr = Rational(0)
    for one, other, q_one in ((f, g, Q1), (g, f, Q2)):
        for d in demand(one):
            law = GaussianE(Lambda((X,), other.expr), [[DELTA / q_one]], [d.at * K / q_one])
            total += d.weight * _density(d.at, q_one) * law
    for a in demand(f):
        for b in demand(g):
            quadratic = (Q2 * a.at**2 - 2 * K * a.at * b.at + Q1 * b.at**2) / (2 * DELTA)
            total += a.weight * b.weight * exp(-quadratic) / (2 * pi * sqrt(DELTA))
    return total


def _entry(value: Any) -> Expr:
    """An entry of a law: a number, a name, or a formula of names ("s**2", "rho*s*t")."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, str) and value.isidentifier():
        return RESERVED.get(value, Symbol(value, real=True))
    if isinstance(value, str) and any(ch.isalpha() for ch in value.lower().replace("e", "")):
        return to_sympy(read_constant(value))
    number = exact(value, "a covariance or mean entry")
    return Rational(number.numerator, number.denominator)


def _law(mean: Any, cov: Any, n: int) -> tuple[ImmutableDenseMatrix, ImmutableDenseMatrix]:
    if cov is None:
        raise EocError(
            "a law needs its covariance", instead=f"cov={[[1 if i == j else 0 for j in range(n)] for i in range(n)]}"
        )
    rows = cov if isinstance(cov, (list, tuple)) else getattr(cov, "tolist", lambda: [[cov]])()
    if len(rows) != n or any(not isinstance(row, (list, tuple)) or len(row) != n for row in rows):
        raise EocError(f"the covariance is no {n} x {n} matrix", where=str(cov)[:80])
    matrix = ImmutableDenseMatrix([[_entry(v) for v in row] for row in rows])
    given = [0] * n if mean is None else list(mean) if isinstance(mean, (list, tuple)) else [mean]
    if len(given) != n:
        raise EocError(f"the mean has {len(given)} entries for {n} variables", where=str(mean)[:80])
    _demand_covariance(matrix)
    return ImmutableDenseMatrix([[_entry(v)] for v in given]), matrix


def _demand_covariance(matrix: ImmutableDenseMatrix) -> None:
    for i in range(matrix.rows):
        for j in range(i):
            if matrix[i, j] != matrix[j, i]:
                raise EocError(
                    "the covariance is not symmetric",
                    where=f"entries ({i}, {j}) = {matrix[i, j]}, ({j}, {i}) = {matrix[j, i]}",
                )
    if not matrix.free_symbols and matrix.is_positive_semidefinite is False:
        raise EocError(
            "the covariance is not positive semi-definite",
            where=str(matrix.tolist()),
            why="no Gaussian vector has it",
            instead="a correlation between -1 and 1",
        )


def _general(node: GaussianE, domains: tuple[tuple[str, Interval], ...]) -> Result:
    template = reduced(node)
    free = tuple(sorted(s.name for s in template.free_symbols))
    law = tuple(name for name in free if name not in dict(domains))
    return Result(template, law, domains, "expectation", r"\mathbb{E}")


def _several(functions: tuple[Any, ...], of: str, mean: Any, cov: Any) -> Result:
    if len(functions) != 1 or not isinstance(functions[0], str):
        raise EocError("of= goes with one formula text", instead='expect("max(u, v)", of="u v", cov=[[1, 0], [0, 1]])')
    names = tuple(of.replace(",", " ").split())
    formula = _read_unit(functions[0], names)
    law_mean, law_cov = _law(mean, cov, len(names))
    variables = tuple(Symbol(name, real=True) for name in names)
    return _general(GaussianE(Lambda(variables, to_sympy(formula)), law_cov, law_mean), formula.domains)


def _read_unit(text: str, names: tuple[str, ...]) -> Formula:
    """A formula of the named variables; the name of a gated unit ("geglu") takes them in order."""
    found = entry(text)
    if found is None or text.strip() in names:
        return read(text, variables=names)
    if len(found.variables) != len(names):
        raise EocError(
            f"{found.name} is a function of {len(found.variables)}, not of {len(names)} variables",
            instead=f"{found.name}({', '.join(names[: len(found.variables)])})",
        )
    usual = {p.name: p.domain for p in found.parameters}
    called = f"{found.name}({', '.join((*names, *(f'{p}={p}' for p in usual)))})"
    return read(called, variables=names, domains=usual or None, name=found.name)
