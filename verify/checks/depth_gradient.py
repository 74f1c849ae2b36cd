"""Growth of the input-output Jacobian along depth: each layer multiplies |J v|^2 by chi(q^l)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import mpmath

from derive.records import Enclosure
from verify.checking import Check, Claim, Point
from verify.depth import DEPTH, LARGEST, operating_values, richardson
from verify.layers import drawn, scale_of
from verify.subject import Subject


def claims(subject: Subject) -> Iterator[Claim]:
    """|J v|^2/|v|^2 at layers 2 to 6 for a direction v, in random networks with tangents."""
    if subject.jumps:
        return
    theory = subject.theory
    values = operating_values(subject, "depth_gradient")
    q = drawn(subject.choices("depth_gradient q"), 0.4, 2.5)
    points, current, product, largest = [], q, mpmath.mpf(1), float(q)
    for layer in range(2, DEPTH + 1):
        gain = subject.number(theory.chi, q=current, **values)
        product = product * gain.mid
        predicted = Enclosure(product, abs(product) * layer * mpmath.mpf("1e-14"))
        size = float(product)
        variance = float(subject.number(theory.variance_map, q=current, **values).mid)
        if not max(size, variance) < LARGEST:
            break
        points.append(Point((("layer", layer), ("q1", q), *values.items()), predicted, scale_of(size, size)))
        current, largest = Fraction(variance), max(largest, variance)
    gram = [[float(q), 0.0], [0.0, 1.0]]
    if not points:
        return
    depth = len(points) + 1
    networks = richardson(
        subject, gram, values, lambda kernels: kernels[:, :, 1, 1], largest=largest, depth=depth, tangent=True
    )
    yield Claim(
        "chi", "gradient growth along depth", r"\|J^l v\|^2 = \prod_{k<l} \chi(q^k)\, \|v\|^2",
        str(theory.chi.kind), tuple(points), (networks,), abscissa="layer",
    )  # fmt: skip


CHECK = Check("depth_gradient", (), claims, order=120, rests_on=("chi",))
