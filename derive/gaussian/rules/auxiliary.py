"""Normal cdfs and half-spaces of combinations become one more variable each."""

from dataclasses import replace

from sympy import Symbol

from derive.gaussian.closed import constant
from derive.gaussian.linalg import apply as matvec
from derive.gaussian.linalg import dot
from derive.gaussian.problem import Side
from derive.gaussian.rule import Outcome, Rule


def apply(problem, scalars):
    if not (problem.cdfs or problem.spaces):
        return None
    zero = scalars.zero
    vectors = [(cdf.vector, cdf.noise, 1, -cdf.offset) for cdf in problem.cdfs]
    vectors += [(vector, zero, side, t) for vector, side, t in problem.spaces]
    names, cov, steps = list(problem.names), [list(row) for row in problem.cov], list(problem.steps)
    size = len(names)
    crosses = [matvec(problem.cov, vector, zero) for vector, _, _, _ in vectors]
    for number, (vector, noise, side, threshold) in enumerate(vectors):
        cross = crosses[number]
        inner = [dot(vector, other, zero) for other in crosses[:number]]
        for row, entry in zip(cov, (*cross, *inner), strict=True):
            row.append(entry)
        cov.append([*cross, *inner, dot(vector, cross, zero) + noise])
        names.append(Symbol(f"w{len(names) - size + 1}", real=True))
        steps.append(Side(size + number, side, threshold))
    pad = (0,) * len(vectors)
    extended = replace(
        problem,
        names=tuple(names),
        cov=tuple(map(tuple, cov)),
        mean=problem.mean + (zero,) * len(vectors),
        poly=tuple((key + pad, c) for key, c in problem.poly),
        imag=tuple((key + pad, c) for key, c in problem.imag),
        wave=problem.wave + (zero,) * len(vectors) if problem.wave else (),
        cdfs=(),
        spaces=(),
        steps=tuple(steps),
    )
    return Outcome(((constant(scalars, scalars.one), (extended,)),))


RULE = Rule(
    name="auxiliary",
    order=40,
    statement=r"\mathbb{E}[\Phi(a^\top z+b)\,g(z)]=\mathbb{E}[\mathbf{1}\{w>-b\}\,g(z)],\quad w=a^\top z-\xi,"
    r"\;\xi\sim\mathcal{N}(0,1)\text{ independent of }z",
    source="definition of the normal distribution function",
    apply=apply,
)
