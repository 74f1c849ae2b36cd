"""Independent groups of variables factor."""

from dataclasses import replace

from derive.gaussian.closed import constant
from derive.gaussian.problem import Problem, frozen, restrict
from derive.gaussian.rule import Outcome, Rule


def apply(problem, scalars):
    groups = components(problem)
    if len(groups) < 2:
        return None
    waves = [any(problem.wave[i] for i in group) if problem.wave else False for group in groups]
    first = groups[waves.index(False)]
    rest = [i for i in range(len(problem.names)) if i not in first]
    parts: dict = {}
    for name, poly in (("poly", problem.poly), ("imag", problem.imag)):
        for key, c in poly:
            mine = tuple(k if i in first else 0 for i, k in enumerate(key))
            other = tuple(0 if i in first else k for i, k in enumerate(key))
            parts.setdefault(mine, {"poly": {}, "imag": {}})[name][other] = c
    one = constant(scalars, scalars.one)
    terms = []
    for mine, polys in parts.items():
        inner = _cut(replace(problem, poly=((mine, scalars.one),), imag=(), wave=(), phase=None), first)
        outer = _cut(replace(problem, poly=frozen(polys["poly"]), imag=frozen(polys["imag"])), rest)
        terms.append((one, (inner, outer)))
    return Outcome(tuple(terms))


def components(problem: Problem) -> list[list[int]]:
    """The groups of variables that neither the law nor a factor of the integrand couples."""
    size = len(problem.names)
    group = list(range(size))

    def join(members):
        for other in members[1:]:
            old, new = group[other], group[members[0]]
            for i in range(size):
                if group[i] == old:
                    group[i] = new

    for i in range(size):
        join([i, *[j for j in range(size) if j != i and problem.cov[i][j]]])
    for key, _ in problem.quad:
        join([i for i in range(size) if key[i]])
    vectors = [cdf.vector for cdf in problem.cdfs] + [vector for vector, _, _ in problem.spaces] + [problem.wave]
    for vector in vectors:
        join([i for i in range(size) if vector and vector[i]])
    return [[i for i in range(size) if group[i] == label] for label in dict.fromkeys(group)]


def _cut(problem: Problem, keep: list[int]) -> Problem:
    inside = set(keep)

    def touches(vector):
        return any(vector[i] for i in inside)

    return restrict(
        replace(
            problem,
            quad=tuple((key, c) for key, c in problem.quad if touches(key)),
            cdfs=tuple(cdf for cdf in problem.cdfs if touches(cdf.vector)),
            spaces=tuple(space for space in problem.spaces if touches(space[0])),
            steps=tuple(step for step in problem.steps if step.index in inside),
        ),
        keep,
    )


RULE = Rule(
    name="components",
    order=10,
    statement=r"\Sigma=\Sigma_1\oplus\Sigma_2:\quad\mathbb{E}[f(z_1)\,g(z_2)]=\mathbb{E}f(z_1)\,\mathbb{E}g(z_2)",
    source="independence of uncorrelated Gaussian variables",
    apply=apply,
)
