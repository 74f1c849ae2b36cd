"""The convolution with fresh Gaussian weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

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
    taps_of  "all": every tap has weights of the same variance; "centre": only the middle one has any, orthogonal
             between channels (delta-orthogonal), so that positions do not mix and norms are kept
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
    taps_of: str = "all"
    named_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.taps_of not in ("all", "centre"):
            raise EocError(f"taps_of = {self.taps_of!r} is unknown", instead="all | centre")
        if self.padding not in PADDINGS:
            raise EocError(f"padding = {self.padding!r} is unknown", instead=" | ".join(PADDINGS))

    @property
    def taps(self) -> int:
        """Weights per pair of channels that are not 0."""
        return 1 if self.taps_of == "centre" else size(self.kernel, "kernel") ** size(self.dims, "dims")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the map leaves out."""
        notes = []
        if self.padding == "zeros" and self.taps_of == "all":
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

        second   array (n, n) for one direction or (n, m, n, m) for two: E x_a x_a' of one or of two inputs

        K(a, a') = sigma_b^2 + sigma_w^2/taps sum_b M(s a + b, s a' + b); what zero padding adds is 0.
        """
        axes = second.ndim // 2
        for axis in range(axes):
            second = self._along(second, (axis, axis + axes), turned=False)
        return sigma_b**2 + sigma_w**2 * second

    def position_gradient(self, gradient: Any, sigma_w: float, positions: tuple[int, ...]) -> Any:
        """Covariances of gradients between the positions before the layer, from those after it.

        gradient   array (n, n) or (n, m, n, m), summed over channels: E d_a d_a'
        positions  numbers of positions before the layer

        The same sum the other way: every output's gradient goes to each of its taps.
        """
        axes = gradient.ndim // 2
        for axis in range(axes):
            gradient = self._along(gradient, (axis, axis + axes), turned=True, before=positions[axis])
        return sigma_w**2 * gradient

    def _along(self, array: Any, both: tuple[int, int], turned: bool, before: int = 0) -> Any:
        """One direction of a convolution of moments: the mean over taps of both positions moved together."""
        import numpy as np

        kernel = size(self.kernel, "kernel")
        wide = before if turned else array.shape[both[0]]
        used = [kernel // 2] if self.taps_of == "centre" else range(kernel)
        total: Any = 0
        for tap in used:
            matrix, moved = self._tap(wide, tap), array
            for axis in both:
                moved = np.moveaxis(np.tensordot(matrix.T if turned else matrix, moved, (1, axis)), 0, axis)
            total = total + moved
        return total / len(used)

    def _tap(self, wide: int, tap: int) -> Any:
        """The matrix (positions out, positions in) of one tap: where it looks at from each output."""
        import numpy as np

        kernel, stride = size(self.kernel, "kernel"), size(self.stride, "stride")
        pad = 0 if self.padding == "valid" else kernel // 2
        count = (wide - kernel) // stride + 1 if self.padding == "valid" else -(-wide // stride)
        at = np.arange(max(count, 0)) * stride + tap - pad
        if self.padding == "circular":
            at = at % wide
        elif self.padding == "reflect":
            at = np.abs(at)
            at = np.where(at >= wide, 2 * (wide - 1) - at, at)
        inside = (at >= 0) & (at < wide)
        matrix = np.zeros((len(at), wide))
        matrix[np.arange(len(at))[inside], at[inside]] = 1
        return matrix

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
        if self.taps_of == "centre":
            return self._centre(x.reshape(x.shape[0], groups, -1, positions), w, b, out, finite)
        signal = x.reshape(x.shape[0], groups, -1, positions)
        fan_in = kernel * signal.shape[2]
        weights = finite.normal((kernel, groups, signal.shape[2], out // groups)) * (w / fan_in**0.5)
        total = b * finite.normal((1, groups, out // groups, 1))
        for tap in range(kernel):
            moved = finite.xp.roll(signal, tap, -1)
            total = total + finite.xp.einsum("bgcp,gco->bgop", moved, weights[tap])
        return total.reshape(x.shape[0], -1)

    def _centre(self, signal: Any, w: float, b: float, out: int, finite: Finite) -> Any:
        """Only the middle tap, orthogonal between the channels of a group."""
        groups, inside, each = signal.shape[1], signal.shape[2], out // signal.shape[1]
        total, n, m = b * finite.normal((1, groups, each, 1)), max(inside, each), min(inside, each)
        parts = []
        for g in range(groups):
            q, _ = finite.xp.linalg.qr(finite.normal((n, m)) * 1.0)
            matrix = (q if inside >= each else q.T) * (w * (n / inside) ** 0.5)
            parts.append(finite.xp.einsum("bcp,co->bop", signal[:, g], matrix)[:, None])
        return (finite.xp.concatenate(parts, 1) + total).reshape(signal.shape[0], -1)

    def __repr__(self) -> str:
        usual = {
            "sigma_w": None,
            "sigma_b": None,
            "kernel": 3,
            "stride": 1,
            "groups": 1,
            "padding": "circular",
            "dims": 2,
            "taps_of": "all",
        }
        given = [f"{k}={getattr(self, k)}" for k, v in usual.items() if getattr(self, k) != v]
        return f"conv({', '.join(given)})" if given else "conv"


LAYER = Conv
