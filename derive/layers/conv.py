"""The convolution with fresh Gaussian weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from derive.layers.dense import Dense
from derive.layers.finite import Finite
from derive.layers.stage import size
from derive.records import EocError
from derive.records.state import State

PADDINGS = ("circular", "valid", "reflect", "zeros")


@dataclass(frozen=True, repr=False)
class Conv(Dense):
    """h_a = sum_b W_b x_{a+b} + bias, W ~ N(0, sigma_w^2/(taps C_in/groups)), one bias a channel.

    kernel   taps along each of `dims` directions
    stride   positions are kept in steps of it
    groups   channels see C_in/groups channels: the map needs that number to be large
    padding  "circular", "valid", "reflect": every output sees all taps, so that all positions keep one law;
             "zeros": the map is that of the interior, see `border`

    For one position the map of moments is that of a Dense: sigma_w^2 M + sigma_b^2; between positions
    K(a, a') = sigma_b^2 + sigma_w^2/taps sum_b M(a + b, a' + b) (`position_covariance`). Squared gradient norms grow
    by sigma_w^2 whatever stride and groups. Source: Xiao et al. 2018 (arXiv 1806.05393), eq. 2.4 and section 2.2.
    """

    kernel: Any = 3
    stride: Any = 1
    groups: Any = 1
    padding: str = "circular"
    dims: Any = 2

    def __post_init__(self) -> None:
        if self.padding not in PADDINGS:
            raise EocError(f"padding = {self.padding!r} is unknown", instead=" | ".join(PADDINGS))

    @property
    def taps(self) -> int:
        """Weights per pair of channels."""
        return size(self.kernel, "kernel") ** size(self.dims, "dims")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the map leaves out."""
        notes = []
        if self.padding == "zeros":
            edge, corner = self.border(1), self.border(2)
            notes.append(
                f"zero padding: the map is that of the interior; a layer multiplies sigma_w^2 by {edge} on an edge"
                + (f" and {corner} in a corner" if size(self.dims, "dims") > 1 else "")
            )
        if size(self.groups, "groups") > 1:
            notes.append("groups: the map needs many channels a group; a depthwise convolution is not Gaussian")
        return tuple(notes)

    def border(self, sides: int) -> Any:
        """The share of taps that a position next to `sides` borders sees with zero padding and stride 1."""
        from sympy import Rational

        kernel = size(self.kernel, "kernel")
        return Rational(kernel // 2 + 1, kernel) ** sides

    def fans(self, channels_in: int, channels_out: int) -> tuple[int, Any]:
        """(fan-in, fan-out): taps C_in/groups inputs an output, and taps C_out/(groups stride^dims) outputs an input.

        torch's `fan_out` leaves out groups and stride; these are the numbers that keep variances.
        """
        from sympy import Rational

        groups, steps = size(self.groups, "groups"), size(self.stride, "stride") ** size(self.dims, "dims")
        return self.taps * channels_in // groups, Rational(self.taps * channels_out, groups * steps)

    def position_covariance(self, second: Any, sigma_w: float, sigma_b: float) -> Any:
        """The covariance between positions after the layer, from second moments between positions before it.

        second   array (n, n) for one dimension or (n, m, n, m) for two: E x_a x_a' of one or of two inputs
        """
        axes, kernel = second.ndim // 2, size(self.kernel, "kernel")
        if self.padding != "circular" or size(self.stride, "stride") != 1:
            raise EocError(
                "position covariances are built for circular padding and stride 1", instead="padding='circular'"
            )
        for axis in range(axes):
            both, shifts = (axis, axis + axes), range(-(kernel // 2), kernel - kernel // 2)
            second = sum(_rolled(second, -shift, both) for shift in shifts) / kernel
        return sigma_b**2 + sigma_w**2 * second

    def forward(self, state: State) -> State:
        """The state of one position of the pre-activation."""
        return super().forward(state)

    def apply(self, x: Any, finite: Finite) -> Any:
        """A circular convolution along one direction over as many positions as the kernel has taps.

        Channels and positions share the array's second axis, channels first.
        """
        w, b = (finite.number(s) for s in self.symbols)
        kernel, groups = size(self.kernel, "kernel"), size(self.groups, "groups")
        positions, out = 2 * kernel, finite.width // (2 * kernel)
        signal = x.reshape(x.shape[0], groups, -1, positions)
        fan_in = kernel * signal.shape[2]
        weights = finite.normal((kernel, groups, signal.shape[2], out // groups)) * (w / fan_in**0.5)
        total = b * finite.normal((1, groups, out // groups, 1))
        for tap in range(kernel):
            moved = finite.xp.roll(signal, tap, -1)
            total = total + finite.xp.einsum("bgcp,gco->bgop", moved, weights[tap])
        return total.reshape(x.shape[0], -1)

    def __repr__(self) -> str:
        usual = {
            "sigma_w": None,
            "sigma_b": None,
            "kernel": 3,
            "stride": 1,
            "groups": 1,
            "padding": "circular",
            "dims": 2,
        }
        given = [f"{k}={getattr(self, k)}" for k, v in usual.items() if getattr(self, k) != v]
        return f"conv({', '.join(given)})" if given else "conv"


def _rolled(array: Any, shift: int, axes: tuple[int, int]) -> Any:
    import numpy as np

    return np.roll(array, (shift, shift), axes)


LAYER = Conv
