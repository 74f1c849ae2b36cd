"""Two half-spaces of proportional variables become one-sided steps of one variable."""

from dataclasses import replace

from derive.gaussian.closed import Closed, constant
from derive.gaussian.problem import Side
from derive.gaussian.rule import Outcome, Rule
from derive.gaussian.stops import Blocked


def apply(problem, scalars):
    steps = problem.steps
    for i, first in enumerate(steps):
        for j in range(i + 1, len(steps)):
            a, b = first.index, steps[j].index
            variance, cross = problem.cov[a][a], problem.cov[a][b]
            if a == b or variance * problem.cov[b][b] == cross * cross:
                ratio = scalars.one if a == b else cross / variance
                rest = steps[:i] + steps[i + 1 : j] + steps[j + 1 :]
                return _merged(problem, first, _rescaled(steps[j], first.index, ratio, scalars), rest, scalars)
    return None


def _rescaled(step, index, ratio, scalars):
    """The step of w = ratio * z as a step of z."""
    sign = scalars.sign(ratio)
    if sign is None:
        raise Blocked([f"the sign of {scalars.lower(ratio)}"])
    return Side(index, step.side * sign, step.threshold / ratio)


def _merged(problem, first, second, rest, scalars):
    order = scalars.sign(first.threshold - second.threshold)
    if order is None:
        raise Blocked([f"the sign of {scalars.lower(first.threshold - second.threshold)}"])
    one = constant(scalars, scalars.one)
    if first.side == second.side:
        kept = first if order * first.side >= 0 else second
        return Outcome(((one, (replace(problem, steps=(*rest, kept)),)),))
    low, high = (first, second) if first.side == 1 else (second, first)
    if (order if low is first else -order) >= 0:
        return Outcome(((Closed(scalars, {}), ()),))
    above = Side(low.index, 1, high.threshold)
    return Outcome(
        (
            (one, (replace(problem, steps=(*rest, low)),)),
            (constant(scalars, -scalars.one), (replace(problem, steps=(*rest, above)),)),
        )
    )


RULE = Rule(
    name="merge",
    order=60,
    statement=r"\mathbf{1}\{z>s\}\mathbf{1}\{z>t\}=\mathbf{1}\{z>\max(s,t)\},\qquad"
    r"\mathbf{1}\{s<z<t\}=\mathbf{1}\{z>s\}-\mathbf{1}\{z>\max(s,t)\}",
    source="set algebra",
    apply=apply,
)
