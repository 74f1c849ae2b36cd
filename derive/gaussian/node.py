"""The inert Gaussian expectation: a SymPy node that every formula of the toolkit is built on."""

from __future__ import annotations

from sympy import Expr, ImmutableDenseMatrix, Lambda, Mul, Poly, Rational, Symbol, sympify, zeros

from derive.program.symbols import Q1, Q2, C, K, Q, U, V, X


class GaussianE(Expr):
    """E f(z) for z ~ N(mean, cov), unevaluated.

    args = (Lambda((z1, ..., zn), f), cov, mean): cov an n x n and mean an n x 1 immutable matrix.
    A pair law is written [[q1, K], [K, q2]]; K = c*sqrt(q1*q2) is substituted for the reader.

    Derivatives with respect to a covariance entry need no derivative of f:
    d/ds E f = 1/2 E[f (y' S y - tr(Sigma^-1 S))], y = Sigma^-1 (z - mean), S = dSigma/ds
    (differentiate the density; the coefficients of the weight stand outside the nodes; Price 1958 is the case of
    smooth f after integration by parts).
    """

    is_commutative = True
    is_extended_real = True

    def __new__(cls, integrand: Lambda, cov, mean=None) -> GaussianE:
        cov = ImmutableDenseMatrix(cov)
        mean = ImmutableDenseMatrix(mean if mean is not None else zeros(cov.rows, 1))
        return Expr.__new__(cls, integrand, cov, mean)

    integrand = property(lambda self: self.args[0])
    cov = property(lambda self: self.args[1])
    mean = property(lambda self: self.args[2])
    variables = property(lambda self: self.args[0].variables)
    body = property(lambda self: self.args[0].expr)

    def _eval_derivative(self, symbol: Symbol) -> Expr:
        body, z = self.body, ImmutableDenseMatrix(self.variables)
        total = sympify(0)
        d_cov, d_mean = self.cov.diff(symbol), self.mean.diff(symbol)
        if not (d_cov.is_zero_matrix and d_mean.is_zero_matrix):
            y = self.cov.inv() * (z - self.mean)
            weight = (y.T * d_cov * y)[0] / 2 - (self.cov.inv() * d_cov).trace() / 2 + (y.T * d_mean)[0]
            for powers, factor in Poly(weight, *self.variables).terms():
                monomial = Mul(*(v**n for v, n in zip(self.variables, powers, strict=True)))
                total += factor * GaussianE(Lambda(self.variables, body * monomial), self.cov, self.mean)
        if body.has(symbol):
            total += GaussianE(Lambda(self.variables, body.diff(symbol)), self.cov, self.mean)
        return total

    def _latex(self, printer) -> str:
        body, names = printer._print(self.body), [printer._print(z) for z in self.variables]
        cov, mean = self.cov, self.mean
        law = f"{names[0]} \\sim \\mathcal{{N}}({printer._print(mean[0])}, {printer._print(cov[0, 0])})"
        if len(names) > 1:
            law = f"({', '.join(names)}) \\sim \\mathcal{{N}}({printer._print(mean)}, {printer._print(cov)})"
        return rf"\mathbb{{E}}_{{{law}}}\left[{body}\right]"


def single(body: Expr, q: Expr = Q) -> GaussianE:
    """E f(x), x ~ N(0, q), for a SymPy expression f in the symbol x."""
    return GaussianE(Lambda((X,), body), [[q]])


def pair(first: Expr, second: Expr, q1: Expr = Q1, q2: Expr = Q2, k: Expr = K) -> GaussianE:
    """E f(u) g(v) for expressions f, g in the symbol x and Cov(u, v) = [[q1, k], [k, q2]]."""
    return GaussianE(Lambda((U, V), first.subs(X, U) * second.subs(X, V)), [[q1, k], [k, q2]])


def with_correlation(expr: Expr) -> Expr:
    """The same expression with K written as c*sqrt(q1*q2)."""
    return expr.subs(K, C * (Q1 * Q2) ** Rational(1, 2))


__all__ = ["GaussianE", "pair", "single", "with_correlation"]
