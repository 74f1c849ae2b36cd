"""Exponentials absorbed by the normal distribution functions beside them."""

from __future__ import annotations

from derive.program.passes.rewriting import rewrite
from derive.program.program import ZERO, Builder, Instruction, Program


def scaled(program: Program) -> Program:
    """The program with exp(e)*Phi(h) and exp(e)*Phi_2(h, k; rho) as one operation each.

    Such products come from tilting: exp(2 q) Phi(-2 sqrt(q)) is of order 1 where exp(2 q) overflows.
    One exponential meets one distribution function, the bivariate ones first.
    """

    def rule(builder: Builder, item: Instruction) -> int | None:
        if item.operation != "mul":
            return None
        factors, changed = list(item.args), False
        for name in ("exp_bivariate_normal_cdf", "normal_cdf"):
            power, cdf = _found(builder, factors, "exp"), _found(builder, factors, name)
            if power is None or cdf is None:
                continue
            exponent, args = builder.instructions[power].args[0], builder.instructions[cdf].args
            if name == "normal_cdf":
                fused = builder.put("exp_normal_cdf", exponent, *args)
            elif builder.is_literal(args[0], ZERO):
                fused = builder.put(name, exponent, *args[1:])
            else:
                continue
            factors.remove(power)
            factors[factors.index(cdf)], changed = fused, True
        return builder.mul(tuple(factors)) if changed else None

    return rewrite(program, rule)


def _found(builder: Builder, factors: list[int], name: str) -> int | None:
    return next((index for index in factors if builder.instructions[index].operation == name), None)
