"""Claims about one turn of a block: builders shared by the checks of blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verify.blocks.sampling import Observe, layers, networks
from verify.blocks.subject import BlockSubject
from verify.checking import Claim, Exact, Sampled
from verify.layers import answered, claim, drawn, points_of, sigmas

Values = Mapping[str, Any]


def single(subject: BlockSubject, name: str, count: int = 3) -> list[dict[str, Any]]:
    """Drawn points (q, sigma_w, sigma_b)."""
    rng = subject.choices(name)
    return [{"q": drawn(rng, 0.3, 3.0), **sigmas(rng)} for _ in range(count)]


def size(subject: BlockSubject) -> Callable[[Values], float]:
    """The natural size of the output's second moment at a point."""
    second = subject.theory.second_moment

    def natural(v: Values) -> float:
        sizes = [
            abs(float(subject.number(second, **{**v, "q": v[name]}).mid)) for name in ("q", "q1", "q2") if name in v
        ]
        return sizes[0] if len(sizes) == 1 else (sizes[0] * sizes[1]) ** 0.5

    return natural


def stated(
    subject: BlockSubject,
    attribute: str,
    title: str,
    values: Sequence[Values],
    observe: Observe,
    *,
    natural: Callable[[Values], float],
    linear: bool = True,
    gradients: bool = False,
    exact: tuple[Exact, ...] = (),
    abscissa: str = "",
) -> Claim:
    """The claim about a Result at some points, with layers and networks as witnesses."""
    subject.demand_arrays()
    result = getattr(subject.theory, attribute)
    values, note = answered(subject, result, values)
    points = points_of(subject, result, values, natural)
    witnesses: list[Exact | Sampled] = [
        *exact,
        layers(subject, values, observe, linear=linear, gradients=gradients),
        networks(subject, values, observe, gradients=gradients),
    ]
    return claim(result, attribute, title, points, witnesses, abscissa=abscissa, note=note)
