"""The variance of the pre-activations along depth, q^{l+1} = V(q^l)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.checking import Check, Claim, Point
from verify.depth import DEPTH, LARGEST, operating_values, richardson
from verify.layers import drawn, scale_of
from verify.subject import Subject


def claims(subject: Subject) -> Iterator[Claim]:
    """The variance at layers 2 to 6 from one drawn input, in random networks extrapolated to infinite width."""
    result = subject.theory.variance_map
    values = operating_values(subject, "depth_variance")
    q = drawn(subject.choices("depth_variance q"), 0.4, 2.5)
    points, current = [], q
    for layer in range(2, DEPTH + 1):
        predicted = subject.number(result, q=current, **values)
        size = float(predicted.mid)
        if not size < LARGEST:
            break
        points.append(Point((("layer", layer), ("q1", q), *values.items()), predicted, scale_of(size, size)))
        current = Fraction(size)
    if not points:
        return
    gram, depth = [[float(q)]], len(points) + 1
    largest = max(float(q), *(float(p.predicted.mid) for p in points))
    networks = richardson(subject, gram, values, lambda kernels: kernels[:, :, 0, 0], largest=largest, depth=depth)
    yield Claim(
        "variance_map", "variance along depth", r"q^{l+1} = V(q^l)", str(result.kind), tuple(points), (networks,),
        abscissa="layer",
    )  # fmt: skip


CHECK = Check("depth_variance", (), claims, order=100, rests_on=("variance_map",))
