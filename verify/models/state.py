"""The wide-limit law of a value in a model: second moments over inputs and positions, and draws where needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any
from zlib import crc32

import numpy as np

from derive.records import EocError

DRAWS = 4096
"""Channels that are drawn where only a sample answers; their moments carry a relative error of about 2 %."""


@dataclass(frozen=True)
class State:
    """One feature of a value, at every position of every input: features are alike, their law is that of one.

    shape     of the tensor, inputs first
    feature   axis of the features
    second    (P, P) moments E x x' over the P = inputs x positions places, positions in the tensor's order
    mean      (P,)
    gaussian  whether the feature is a centred Gaussian vector
    how       "theory", "sampled" (moments of DRAWS drawn features) or "measured"
    source    generator -> (DRAWS, P) draws of the feature; drawn once, so that what shares a draw stays dependent
    noise     variance from network to network of the second moment, None where it is not known
    fourth    E x^4 over places, for the noise of an average over finitely many features
    """

    shape: tuple[int, ...]
    feature: int
    second: Any
    mean: Any
    gaussian: bool
    how: str = "theory"
    source: Callable[[], Any] | None = field(default=None, compare=False)
    noise: float | None = None
    fourth: float = float("nan")

    @property
    def positions(self) -> tuple[int, ...]:
        """Lengths of the axes that are neither inputs nor features."""
        return tuple(n for axis, n in enumerate(self.shape) if axis not in (0, self.feature))

    @property
    def features(self) -> int:
        """Number of features."""
        return self.shape[self.feature]

    @property
    def places(self) -> int:
        """Inputs times positions."""
        return self.shape[0] * prod(self.positions)

    @cached_property
    def draws(self) -> Any:
        """DRAWS independent features at all places."""
        if self.source is not None:
            return self.source()
        if not self.gaussian:
            raise EocError("of this value only the moments are known", instead="a layer with weights between")
        return normals(self.second)

    @property
    def moment(self) -> float:
        """The second moment, averaged over inputs and positions."""
        return float(np.mean(np.diag(self.second)))

    @property
    def correlation(self) -> float:
        """The cosine between the first two inputs."""
        n, m = self.places // self.shape[0], self.second
        if self.shape[0] < 2:
            return float("nan")
        across = np.trace(m[:n, n : 2 * n])
        size = np.sqrt(np.trace(m[:n, :n]) * np.trace(m[n : 2 * n, n : 2 * n]))
        return float(across / size) if 0 < size < np.inf else float("nan")

    @property
    def spread(self) -> float | None:
        """Relative variance of the measured second moment from network to network, None where it is not known."""
        if self.noise is None or not np.isfinite(self.fourth):
            return None
        return (self.noise + (self.fourth - self.moment**2) / self.features) / self.moment**2


def normals(second: Any) -> Any:
    """DRAWS centred Gaussian vectors of a covariance; the same covariance gives the same draws, another one others."""
    size = len(second)
    generator = np.random.default_rng([size, crc32(np.ascontiguousarray(second).tobytes())])
    scale = max(float(np.mean(np.diag(second))), np.finfo(float).tiny)
    lower = np.linalg.cholesky(second / scale + 1e-9 * np.eye(size))
    return generator.standard_normal((DRAWS, size)) @ lower.T * np.sqrt(scale)


def centred(shape: tuple[int, ...], feature: int, second: Any, noise: float | None, how: str = "theory") -> State:
    """A centred Gaussian feature, as it leaves a layer with weights."""
    fourth = 3 * float(np.mean(np.diag(second))) ** 2
    return State(shape, feature, second, np.zeros(len(second)), True, how, None, noise, fourth)


def sampled(shape: tuple[int, ...], feature: int, source: Callable[[], Any]) -> State:
    """A feature known by draws only."""
    draws = source()
    second, mean = draws.T @ draws / len(draws), draws.mean(0)
    return State(shape, feature, second, mean, False, "sampled", lambda: draws, None, float(np.mean(draws**4)))


def observed(tensor: Any, feature: int, how: str = "measured") -> State:
    """The moments of an actual tensor, which is given: its features are the sample, without fluctuations."""
    values = np.moveaxis(tensor.detach().double().cpu().numpy(), feature, -1)
    flat = values.reshape(-1, values.shape[-1])
    with np.errstate(invalid="ignore"):
        second = flat @ flat.T / flat.shape[1]
    fourth = float(np.mean(np.diag(second))) ** 2
    return State(tuple(tensor.shape), feature, second, flat.mean(1), False, how, lambda: _resampled(flat), 0.0, fourth)


def _resampled(flat: Any) -> Any:
    """Features drawn again and again from the ones there are."""
    chosen = np.random.default_rng(len(flat)).integers(0, flat.shape[1], DRAWS)
    return flat[:, chosen].T


def swapped(state: State, axis: int) -> State:
    """The state with the features along another axis, the old features as positions.

    Right where features are independent given the layer below, as they leave a layer with weights: two different
    features share nothing but their means.
    """
    if axis == state.feature:
        return state
    if len(state.positions) != 1 or axis == 0:
        raise EocError("features and positions change places in a tensor of more than three axes")
    inputs, places, features = state.shape[0], state.positions[0], state.features
    if state.how == "measured" and state.source is not None and state.shape[0] * features > 4096:
        raise EocError("too many features become positions")
    blocks = state.second.reshape(inputs, places, inputs, places)
    means = state.mean.reshape(inputs, places)
    same = np.einsum("apbp->ab", blocks) / places
    other = means @ means.T / places
    eye = np.eye(features)
    second = np.einsum("ab,ij->aibj", same, eye) + np.einsum("ab,ij->aibj", other, 1 - eye)
    size = inputs * features
    mean = np.repeat(means.mean(1), features)
    return replace(state, feature=axis, second=second.reshape(size, size), mean=mean, source=None, noise=None)
