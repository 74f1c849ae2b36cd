"""A half-space of a variable of variance 0 is decided by a sign; a tie counts one half."""

from dataclasses import replace

from derive.gaussian.closed import Closed, constant
from derive.gaussian.rule import Outcome, Rule
from derive.gaussian.stops import Blocked


def apply(problem, scalars):
    for place, step in enumerate(problem.steps):
        if problem.cov[step.index][step.index]:
            continue
        sign = scalars.sign(-step.side * step.threshold)
        if sign is None:
            raise Blocked([f"the sign of {scalars.lower(step.threshold)}"])
        if sign < 0:
            return Outcome(((Closed(scalars, {}), ()),))
        rest = replace(problem, steps=problem.steps[:place] + problem.steps[place + 1 :])
        weight = scalars.one if sign else scalars.one / 2
        return Outcome(((constant(scalars, weight), (rest,)),))
    return None


RULE = Rule(
    name="sure",
    order=50,
    statement=r"\operatorname{Var}w=0:\quad\mathbf{1}\{w>t\}=\mathbf{1}\{0>t\},\quad\text{and }\tfrac12\text{ for }t=0",
    source="limit of a vanishing variance",
    apply=apply,
)
