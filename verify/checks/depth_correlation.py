"""The correlation of two inputs along depth, c^{l+1} = C(q1^l, q2^l, c^l)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.checking import Check, Claim, Point
from verify.depth import DEPTH, LARGEST, operating_values, richardson
from verify.layers import drawn
from verify.subject import Subject


def claims(subject: Subject) -> Iterator[Claim]:
    """The correlation at layers 2 to 6 of two drawn inputs, in random networks extrapolated to infinite width."""
    theory = subject.theory
    values = operating_values(subject, "depth_correlation")
    rng = subject.choices("depth_correlation inputs")
    q1, q2, c = drawn(rng, 0.4, 2.5), drawn(rng, 0.4, 2.5), Fraction(round(100 * rng.uniform(-0.6, 0.8)), 100)
    points, state, largest = [], (q1, q2, c), float(max(q1, q2))
    for layer in range(2, DEPTH + 1):
        first, second, correlation = state
        predicted = subject.number(theory.correlation_map, q1=first, q2=second, c=correlation, **values)
        where = (("layer", layer), ("q1", q1), ("q2", q2), ("c", c), *values.items())
        points.append(Point(where, predicted, 1.0))
        variances = [float(subject.number(theory.variance_map, q=v, **values).mid) for v in (first, second)]
        if not max(variances) < LARGEST:
            break
        largest = max(largest, *variances)
        state = (Fraction(variances[0]), Fraction(variances[1]), _inside(float(predicted.mid)))
    cross = float(c) * float(q1 * q2) ** 0.5
    gram = [[float(q1), cross], [cross, float(q2)]]
    networks = richardson(subject, gram, values, correlations, largest=largest, depth=len(points) + 1)
    yield Claim(
        "correlation_map", "correlation along depth", r"c^{l+1} = C(q_1^l, q_2^l, c^l)",
        str(theory.correlation_map.kind), tuple(points), (networks,), abscissa="layer",
    )  # fmt: skip


def correlations(kernels):
    """K_12/sqrt(K_11 K_22) of every network and layer."""
    return kernels[:, :, 0, 1] / (kernels[:, :, 0, 0] * kernels[:, :, 1, 1]).sqrt()


def _inside(c: float) -> Fraction:
    return Fraction(max(-1.0, min(1.0, c)))


UNSEEABLE = {
    "q1 for q2": "a correlation hardly depends on the ratio of the variances; the check of the map sees it",
    "c: limits exchanged": "two different inputs have no layer at c = -1 or 1",
    **{f"term {k} 1 % off": "a hundredth of one term of many may be less than networks resolve" for k in (1, 2, 3, 4)},
}

CHECK = Check(
    "depth_correlation", (), claims, order=110, rests_on=("correlation_map",), unseeable=UNSEEABLE
)  # an error of the variance recursion hardly shows in correlations: depth_variance is there for it
