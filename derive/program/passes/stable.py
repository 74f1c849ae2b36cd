"""Stable forms: sums that cancel and quotients that overflow become one operation."""

from __future__ import annotations

from fractions import Fraction

from derive.program.passes.rewriting import rewrite
from derive.program.program import ONE, TWO, ZERO, Builder, Instruction, Program


def stabilise(program: Program) -> Program:
    """The program with

    log(1 + exp a) -> softplus a, log(1 + a) -> log1p a, exp a - 1 -> expm1 a,
    log(k cosh a) -> |a| + softplus(-2|a|) + log(k/2) for a positive number k,
    exp a - exp b -> one operation of a, b and a - b, 1/(1 + exp(-a)), exp a/(1 + exp a) -> sigmoid a,
    1 +- erf a, 2 - erfc a -> erfc, 1 - erfc a -> erf a, 1 - Phi a -> Phi(-a), 1 - sigmoid a -> sigmoid(-a),
    1 - cos a -> 2 sin(a/2)**2, 1 - tanh(a)**2 -> sech(a)**2,
    f*step(a) and f*(indicator) -> a selection (0 times infinity is not zero),

    all of them also with a common factor. Equal to the program as real functions.
    """
    return rewrite(program, _rule)


def _rule(builder: Builder, item: Instruction) -> int | None:
    if item.operation in ("add", "sub", "neg"):
        return _sum(builder, item)
    if item.operation == "log":
        return _log(builder, item.args[0])
    if item.operation == "div":
        return _quotient(builder, *item.args)
    if item.operation == "mul":
        return _selection(builder, item)
    return None


def signed_terms(builder: Builder, index: int, sign: int) -> list[tuple[int, int]]:
    """A sum as (sign, term) pairs."""
    item = builder.instructions[index]
    if item.operation == "add":
        return [pair for arg in item.args for pair in signed_terms(builder, arg, sign)]
    if item.operation == "sub":
        return signed_terms(builder, item.args[0], sign) + signed_terms(builder, item.args[1], -sign)
    if item.operation == "neg":
        return signed_terms(builder, item.args[0], -sign)
    if item.operation == "literal" and isinstance(item.value, Fraction) and item.value < 0:
        return [(-sign, builder.literal(-item.value))]
    return [(sign, index)]


def _sum(builder: Builder, item: Instruction) -> int | None:
    whole = builder.put(item.operation, *item.args)
    terms = signed_terms(builder, whole, 1)
    changed = False
    while (merged := _merge_once(builder, terms)) is not None:
        terms, changed = merged, True
    if not changed:
        return None
    plus = tuple(term for sign, term in terms if sign > 0)
    return builder.signed_sum(plus, tuple(term for sign, term in terms if sign < 0))


def _merge_once(builder: Builder, terms: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    """The terms with one cancelling pair replaced, or None."""
    for i, (sign, term) in enumerate(terms):
        for name, rest, argument in _factored(builder, term):
            for j, (other_sign, other) in enumerate(terms):
                if j == i:
                    continue
                found = _pair(builder, name, rest, argument, other, other_sign == sign)
                if found is None and name == "exp" and other_sign != sign:
                    found = _two_exponentials(builder, rest, argument, other)
                if found is not None:
                    flip, value = found
                    kept = [pair for k, pair in enumerate(terms) if k not in (i, j)]
                    return [*kept, (other_sign * flip, value)]
    return None


def _factored(builder: Builder, term: int) -> list[tuple[str, tuple[int, ...], int]]:
    """The ways to write a term as rest*f(argument), f one of the functions that meet a constant."""
    item = builder.instructions[term]
    factors = item.args if item.operation == "mul" else (term,)
    ways = []
    for place, factor in enumerate(factors):
        inner = builder.instructions[factor]
        if inner.operation in ("exp", "erf", "erfc", "normal_cdf", "sigmoid", "cos"):
            ways.append((inner.operation, factors[:place] + factors[place + 1 :], inner.args[0]))
        base, power = _as_power(builder, factor)
        if power == 2 and builder.instructions[base].operation == "tanh":
            ways.append(("tanh**2", factors[:place] + factors[place + 1 :], builder.instructions[base].args[0]))
    return ways


def _pair(builder: Builder, name: str, rest: tuple[int, ...], a: int, other: int, same: bool):
    """other +- rest*f(a) as (sign relative to other, one term), or None."""
    once = _same_product(builder, rest, other)
    if once and name == "erf":
        return 1, builder.mul((*rest, builder.put("erfc", builder.neg(a) if same else a)))
    if same:
        return None
    if once:
        if name == "exp":
            return -1, builder.mul((*rest, builder.put("expm1", a)))
        if name in ("normal_cdf", "sigmoid"):
            return 1, builder.mul((*rest, builder.put(name, builder.neg(a))))
        if name == "erfc":
            return 1, builder.mul((*rest, builder.put("erf", a)))
        if name == "tanh**2":
            secant = builder.put("sech", a)
            return 1, builder.mul((*rest, secant, secant))
        if name == "cos":
            half = builder.mul((builder.literal(Fraction(1, 2)), a))
            sine = builder.put("sin", half)
            return 1, builder.mul((builder.literal(2), *rest, sine, sine))
    if name == "erfc" and _same_product(builder, (builder.literal(TWO), *rest), other):
        return 1, builder.mul((*rest, builder.put("erfc", builder.neg(a))))
    return None


def _two_exponentials(builder: Builder, rest: tuple[int, ...], a: int, other: int):
    """other - rest*exp(a) with other = rest*exp(b), as one term."""
    for name, other_rest, b in _factored(builder, other):
        if name == "exp" and normal_product(builder, rest) == normal_product(builder, other_rest):
            difference = _less(builder, b, a)
            if difference is None:  # nothing in common: their difference may be infinity less infinity
                continue
            return 1, builder.mul((*rest, builder.put("exp_difference", b, a, difference)))
    return None


def _less(builder: Builder, b: int, a: int) -> int | None:
    """b - a where they share a term, or are a common factor times sums that do; else None."""
    apart = signed_terms(builder, b, 1) + signed_terms(builder, a, -1)
    terms = _cancelled(apart)
    if len(terms) < len(apart):
        plus, minus = (tuple(term for sign, term in terms if sign == wanted) for wanted in (1, -1))
        return builder.signed_sum(plus, minus)
    for rest, inner in _sums_in(builder, b):
        for other_rest, other in _sums_in(builder, a):
            if normal_product(builder, rest) == normal_product(builder, other_rest):
                found = _less(builder, inner, other)
                if found is not None:
                    return builder.mul((*rest, found))
    return None


def _sums_in(builder: Builder, index: int) -> list[tuple[tuple[int, ...], int]]:
    """The ways to write a product as other factors times a sum."""
    item = builder.instructions[index]
    if item.operation == "neg":
        return [((builder.literal(Fraction(-1)), *rest), inner) for rest, inner in _sums_in(builder, item.args[0])]
    factors = item.args if item.operation == "mul" else ()
    sums = [i for i, factor in enumerate(factors) if builder.instructions[factor].operation in ("add", "sub")]
    return [(factors[:i] + factors[i + 1 :], factors[i]) for i in sums]


def _cancelled(terms: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The terms of a sum without those that appear with both signs."""
    kept: list[tuple[int, int]] = []
    for sign, term in terms:
        if (-sign, term) in kept:
            kept.remove((-sign, term))
        else:
            kept.append((sign, term))
    return kept


def _same_product(builder: Builder, factors: tuple[int, ...], other: int) -> bool:
    return normal_product(builder, factors) == normal_product(builder, _factors(builder, other))


def _factors(builder: Builder, index: int) -> tuple[int, ...]:
    item = builder.instructions[index]
    return item.args if item.operation == "mul" else (index,)


def normal_product(builder: Builder, factors: tuple[int, ...]) -> tuple[Fraction, tuple[int, ...]]:
    """A product as its rational coefficient and its sorted other factors."""
    coefficient, others = ONE, []
    for factor in factors:
        item = builder.instructions[factor]
        if item.operation == "literal" and isinstance(item.value, Fraction):
            coefficient *= item.value
        else:
            others.append(factor)
    return coefficient, tuple(sorted(others))


def _one_plus(builder: Builder, index: int) -> int | None:
    """t where the instruction is 1 + t, else None."""
    item = builder.instructions[index]
    if item.operation == "sub" and builder.is_literal(item.args[0], ONE):
        return builder.neg(item.args[1])
    if item.operation != "add":
        return None
    ones = [arg for arg in item.args if builder.is_literal(arg, ONE)]
    if len(ones) != 1:
        return None
    return builder.add(tuple(arg for arg in item.args if arg != ones[0]))


def _logistic_argument(builder: Builder, index: int) -> int | None:
    """a where the instruction is 1 + exp(a), else None."""
    rest = _one_plus(builder, index)
    if rest is None or builder.instructions[rest].operation != "exp":
        return None
    return builder.instructions[rest].args[0]


def _log(builder: Builder, argument: int) -> int | None:
    exponent = _logistic_argument(builder, argument)
    if exponent is not None:
        return builder.put("softplus", exponent)
    coefficient, factors = normal_product(builder, _factors(builder, argument))
    if len(factors) == 1 and builder.instructions[factors[0]].operation == "cosh" and coefficient > 0:
        size = builder.put("abs", builder.instructions[factors[0]].args[0])
        more = builder.put("softplus", builder.mul((builder.literal(Fraction(-2)), size)))
        return builder.add((size, more, builder.put("log", builder.literal(coefficient / 2))))
    rest = _one_plus(builder, argument)
    return None if rest is None else builder.put("log1p", rest)


def _quotient(builder: Builder, numerator: int, denominator: int) -> int | None:
    """n/(1 + exp a)**k, with the exponentials of the numerator that belong to it, as logistic functions."""
    below = builder.instructions[denominator]
    factors = list(below.args if below.operation == "mul" else (denominator,))
    above = builder.instructions[numerator]
    numerators = list(above.args if above.operation == "mul" else (numerator,))
    kept, changed = [], False
    for factor in factors:
        base, power = _as_power(builder, factor)
        a = _logistic_argument(builder, base)
        if a is None:
            kept.append(factor)
            continue
        changed, minus = True, builder.neg(a)
        for _ in range(power):
            hit = next((n for n in numerators if _is_exp_of(builder, n, a)), None)
            if hit is not None:
                numerators.remove(hit)
            numerators.append(builder.put("sigmoid", minus if hit is None else a))
    if not changed:
        return None
    top = builder.mul(tuple(numerators))
    return builder.div(top, builder.mul(tuple(kept))) if kept else top


def _as_power(builder: Builder, index: int) -> tuple[int, int]:
    item = builder.instructions[index]
    if item.operation == "pow" and builder.is_literal(item.args[1]):
        value = builder.instructions[item.args[1]].value
        if isinstance(value, Fraction) and value.denominator == 1 and 1 <= value <= 8:
            return item.args[0], int(value)
    return index, 1


def _is_exp_of(builder: Builder, index: int, argument: int) -> bool:
    item = builder.instructions[index]
    return item.operation == "exp" and item.args[0] == argument


def _selection(builder: Builder, item: Instruction) -> int | None:
    """A product with a step or an indicator as a selection: what is switched off may be infinite."""
    for place, factor in enumerate(item.args):
        inner = builder.instructions[factor]
        rest = builder.mul(item.args[:place] + item.args[place + 1 :])
        zero = builder.literal(0)
        if inner.operation == "select":
            test, yes, no = inner.args
            if builder.is_literal(no, ZERO):
                return builder.put("select", test, builder.mul((yes, rest)), zero)
            if builder.is_literal(yes, ZERO):
                return builder.put("select", test, zero, builder.mul((no, rest)))
        if inner.operation == "step" and not builder.is_literal(rest):
            a = inner.args[0]
            at_zero = zero if a in item.args else builder.mul((builder.literal(Fraction(1, 2)), rest))
            below = builder.put("select", builder.put("lt", a, zero), zero, at_zero) if at_zero != zero else zero
            return builder.put("select", builder.put("gt", a, zero), rest, below)
    return None
