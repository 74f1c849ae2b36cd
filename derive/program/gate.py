"""The one gate out of SymPy: expressions in, a program out."""

from __future__ import annotations

from fractions import Fraction

import sympy
from sympy import Add, Expr, Mul, Piecewise, Pow, Symbol
from sympy.core.sorting import default_sort_key

from derive.program.program import HALF, Builder, Program
from derive.program.registry import by_head
from derive.records import Undefined, Unsupported

REFUSED = {
    "DiracDelta": (
        "a Dirac delta has no values",
        "differentiate away from kinks, or ask for the jumps of the derivative separately",
    ),
    "GaussianE": (
        "an unevaluated Gaussian expectation is no elementary function",
        "ask for its number, or for code of a quantity that has a closed form",
    ),
    "ImaginaryUnit": ("programs are real", "combine conjugate terms first"),
    "ComplexInfinity": ("the expression has a pole there", "take the limit first"),
    "NaN": ("the expression is undefined", "take the limit first"),
}


def freeze(outputs: dict[str, Expr], inputs: tuple[Symbol, ...]) -> Program:
    """The program that computes the expressions from the inputs.

    Literals stay exact, shared subexpressions are computed once, and the order of the instructions
    depends on the expressions only. Unsupported names the first head that no operation covers.
    """
    lowering = _Lowering(inputs)
    indices = tuple((name, lowering.lower(sympy.S(expr))) for name, expr in outputs.items())
    return lowering.builder.program(tuple(symbol.name for symbol in inputs), indices)


class _Lowering:
    def __init__(self, inputs: tuple[Symbol, ...]) -> None:
        self.builder = Builder()
        self.inputs = {symbol: self.builder.put("input", value=symbol.name) for symbol in inputs}
        self.done: dict[sympy.Basic, int] = {}
        self.heads = by_head()

    def lower(self, expr: sympy.Basic) -> int:
        """The index of the instruction that computes the expression."""
        if expr not in self.done:
            self.done[expr] = self._lower(expr)
        return self.done[expr]

    def _lower(self, expr: sympy.Basic) -> int:
        if isinstance(expr, Symbol):
            return self._symbol(expr)
        if expr.is_Number or expr.is_NumberSymbol:
            return self._number(expr)
        if isinstance(expr, Add):
            return self._sum(expr)
        if isinstance(expr, Mul):
            return self._product(expr)
        if isinstance(expr, Pow):
            return self._power(expr.base, expr.exp)
        if isinstance(expr, Piecewise):
            return self._piecewise(expr)
        if isinstance(expr, sympy.ITE):
            test, yes, no = expr.args
            return self.lower(sympy.Or(sympy.And(test, yes), sympy.And(sympy.Not(test), no)))
        if isinstance(expr, sympy.Heaviside) and expr.args[1] != sympy.Rational(1, 2):
            x, at_zero = expr.args
            return self.lower(Piecewise((1, x > 0), (0, x < 0), (at_zero, True)))
        operation = self.heads.get(type(expr))
        if operation is None:
            raise _refusal(expr)
        args = expr.args[: operation.arity] if operation.arity > 0 else sorted(expr.args, key=default_sort_key)
        return self._call(operation, [self.lower(arg) for arg in args])

    def _call(self, operation, args: list[int]) -> int:
        return self.builder.put(operation.name, *args)

    def _symbol(self, symbol: Symbol) -> int:
        if symbol in self.inputs:
            return self.inputs[symbol]
        names = ", ".join(str(known) for known in self.inputs) or "none"
        raise Unsupported(
            f"the symbol {symbol} is no argument of this function",
            where=str(symbol),
            why=f"the arguments are: {names}",
            instead=f"give {symbol} a value, or list it among the arguments",
        )

    def _number(self, number) -> int:
        if number is sympy.pi:
            return self.builder.literal("pi")
        if number is sympy.E:
            return self.builder.put("exp", self.builder.literal(1))
        if number is sympy.oo or number is -sympy.oo:
            return self.builder.literal("inf" if number is sympy.oo else "-inf")
        if number.is_Rational:
            return self.builder.literal(Fraction(int(number.p), int(number.q)))
        if number.is_Float:
            sign, man, exp, _ = number._mpf_
            return self.builder.literal(Fraction(-int(man) if sign else int(man)) * Fraction(2) ** int(exp))
        raise _refusal(number)

    def _sum(self, expr: Add) -> int:
        plus: list[int] = []
        minus: list[int] = []
        for term in sorted(expr.args, key=default_sort_key):
            coefficient, rest = term.as_coeff_Mul()
            if coefficient.is_extended_negative:
                minus.append(self.lower(-coefficient * rest))
            else:
                plus.append(self.lower(term))
        return self.builder.signed_sum(tuple(plus), tuple(minus))

    def _product(self, expr: Mul) -> int:
        """Constants first, as one factor; then the rest, as one quotient."""
        coefficient, rest = expr.as_coeff_Mul()
        if coefficient.is_extended_negative and coefficient.is_finite:
            return self.builder.neg(self.lower(-coefficient * rest))
        constants = [arg for arg in expr.args if not arg.free_symbols]
        variables = [arg for arg in expr.args if arg.free_symbols]
        if not variables:
            return self._quotient(constants)
        if len(constants) > 1:
            constants = [Mul(*constants, evaluate=False)]
        constant = self._quotient(constants) if len(constants) == 1 else None
        quotient = self._quotient(variables)
        if constant is None:
            return quotient
        over = self.builder.instructions[quotient]
        if over.operation == "div":
            numerator = over.args[0]
            return self.builder.div(self.builder.mul((constant, numerator)), over.args[1])
        return self.builder.mul((constant, *(over.args if over.operation == "mul" else (quotient,))))

    def _quotient(self, factors: list) -> int:
        above: list[int] = []
        below: list[int] = []
        flat = [part for factor in factors for part in (factor.args if isinstance(factor, Mul) else (factor,))]
        for factor in sorted(flat, key=default_sort_key):
            if isinstance(factor, Pow) and factor.exp.is_Rational and factor.exp.is_negative:
                below.append(self._power(factor.base, -factor.exp))
            else:
                above.append(self.lower(factor))
        numerator = self.builder.mul(tuple(above))
        return self.builder.div(numerator, self.builder.mul(tuple(below))) if below else numerator

    def _power(self, base: Expr, exponent: Expr) -> int:
        builder = self.builder
        if not exponent.is_Rational:
            return builder.put("pow", self.lower(base), self.lower(exponent))
        if exponent.is_negative:
            return builder.div(builder.literal(1), self._power(base, -exponent))
        index, value = self.lower(base), Fraction(int(exponent.p), int(exponent.q))
        whole = value.numerator // value.denominator
        if value == whole:
            return index if whole == 1 else builder.put("pow", index, builder.literal(value))
        if value - whole != HALF:
            return builder.put("pow", index, builder.literal(value))
        root = builder.put("sqrt", index)
        return root if whole == 0 else builder.mul((self._power(base, sympy.Integer(whole)), root))

    def _piecewise(self, expr: Piecewise) -> int:
        *cases, (last, always) = expr.args
        if always is not sympy.true:
            raise Undefined(
                "a piecewise function without a value elsewhere",
                where=str(expr),
                why="its last condition is not True, so that it has no value outside the listed cases",
                instead="end the list with a case for everything else",
            )
        index = self.lower(last)
        for value, test in reversed(cases):
            index = self.builder.put("select", self.lower(test), self.lower(value), index)
        return index


def _refusal(expr: sympy.Basic) -> Unsupported:
    name = type(expr).__name__
    if isinstance(expr, sympy.core.function.AppliedUndef):
        name = str(expr.func)
    why, instead = REFUSED.get(name, ("it is none of the operations of the toolkit", "add an operation file for it"))
    return Unsupported(f"{name} cannot be evaluated", where=str(expr), why=why, instead=instead)
