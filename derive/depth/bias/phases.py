"""Phases of guessing bias over (sigma_w, sigma_b): gamma and chi together, and what must be said about them.

Neutrality (gamma < 1), prejudice (1 < gamma < inf), deep prejudice (gamma = inf: ordered where chi < 1, transient at
chi = 1, chaotic where chi > 1), in the limit of depth. Source: Bassi et al. 2026 (arXiv 2505.12096), table 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from derive.depth.bias.floats import LayerMaps, ScaleFree, Tabulated
from derive.depth.bias.pinned import Pinned
from derive.depth.grid import CRITICAL, phase_grid

Array = Any
BIAS = ("neutrality", "prejudice", "deep prejudice", "none")
GRADIENT = ("vanishing", "critical", "exploding", "none")
NAMES = {
    (2, 0): "ordered-deep prejudice",
    (2, 1): "transient-deep prejudice",
    (2, 2): "chaotic-deep prejudice",
    (1, 2): "prejudice",
    (0, 2): "neutrality",
}


@dataclass(frozen=True)
class Note:
    """Something a label does not say: a code for machines and a sentence."""

    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"


NO_BIAS = Note("no-bias", "sigma_b = 0 and E phi = 0: gamma stays 0 for centred data, whatever the labels of chi")
AXIS = Note("bias-free-axis", "sigma_b = 0 and a scale-free block: gamma does not depend on sigma_w and tells no phase")
FADES = Note("signal-fades", "q -> 0: the block becomes linear and c freezes below 1, it does not tend to 1")
DEPTH = Note("finite-depth", "at finite depth the ordered side has the larger gamma; gamma = inf is a limit of depth")
TWO = Note("two-conditions", "chi = 1 and dV/dq = 1 are different conditions of this block: it has no single edge")
CLASSES = Note("two-classes", "gamma = 1 is a threshold (uniform fractions) for two classes only")


@dataclass(frozen=True, eq=False)
class BiasGrid:
    """Arrays over sigma_b (rows) and sigma_w (columns); floats, to about 1e-9 where they are finite.

    q         where the variance settles (0, a number, inf)
    chi       gradient gain there; `slope` dV/dq: the other critical condition
    c, gamma  where the correlation settles from an almost uncorrelated start (1 and inf in deep prejudice)
    approach  C'(1) where c -> 1: below 1 gamma grows like approach^(-l), at 1 like a power of l; NaN elsewhere
    bias, gradient   labels as indices into BIAS and GRADIENT
    """

    sigma_w: Array
    sigma_b: Array
    q: Array
    chi: Array
    slope: Array
    c: Array
    approach: Array
    bias: Array
    gradient: Array

    @property
    def gamma(self) -> Array:
        """c/(1 - c)."""
        with np.errstate(divide="ignore"):
            return np.where(self.c == 1, np.inf, self.c / np.where(self.c == 1, 1, 1 - self.c))

    @property
    def names(self) -> Array:
        """The phase at each node in words."""
        flat = zip(self.bias.ravel(), self.gradient.ravel(), strict=True)
        return np.array([NAMES.get((int(i), int(j)), "none") for i, j in flat]).reshape(self.bias.shape)


def bias_grid(maps: LayerMaps, sigma_w: Array, sigma_b: Array, q0: float = 1.0) -> BiasGrid:
    """The phases over a rectangle, from fixed points (`phase_grid`), or by homogeneity for scale-free blocks."""
    w, b = np.asarray(sigma_w, float), np.asarray(sigma_b, float)
    if isinstance(maps, ScaleFree):
        return _scale_free(maps, w, b, q0)
    if isinstance(maps, Pinned):
        return _pinned(maps, w, b)
    assert isinstance(maps, Tabulated)
    grid = phase_grid(maps.maps, w, b, q0)
    # C is convex on [0, 1] with C(1) = 1: where its slope there is 1 it lies above c, and c -> 1 slowly
    c = np.where((np.abs(grid.chi - 1) < CRITICAL) & (grid.q > 0) & np.isfinite(grid.q), 1.0, grid.c)
    approach = np.where(c == 1, grid.chi, np.nan)
    return BiasGrid(w, b, grid.q, grid.chi, grid.chi_parallel, c, approach, *_labels(c, grid.chi))


def _scale_free(maps: ScaleFree, sigma_w: Array, sigma_b: Array, q0: float) -> BiasGrid:
    w, b = np.meshgrid(sigma_w, sigma_b)
    chi, slope = maps.gains(np.zeros(w.shape), w, b)
    added = maps.bias[0] + maps.bias[1] * b**2
    with np.errstate(divide="ignore", invalid="ignore"):
        settled = np.where(np.abs(slope - 1) < CRITICAL, np.where(added > 0, np.inf, q0), added / (1 - slope))
        q = np.where(slope > 1 + CRITICAL, np.inf, settled)
        # with q finite and biases V(q) = q; else what is added is nothing against q
        approach = np.where((added > 0) & (slope < 1 - CRITICAL), chi, chi / slope)
    c = np.where(approach <= 1 + CRITICAL, 1.0, np.nan)
    return BiasGrid(sigma_w, sigma_b, q, chi, slope, c, np.where(c == 1, approach, np.nan), *_labels(c, chi))


def _pinned(maps: Pinned, sigma_w: Array, sigma_b: Array) -> BiasGrid:
    w, b = np.meshgrid(sigma_w, sigma_b)
    log_q, log_e = maps.step(np.zeros(w.shape), np.zeros(w.shape), w, b)
    chi, slope = maps.gains(log_q, w, b)
    c = 0.0 - np.expm1(log_e)
    return BiasGrid(sigma_w, sigma_b, np.exp(log_q), chi, slope, c, np.full(w.shape, np.nan), *_labels(c, chi))


def _labels(c: Array, chi: Array) -> tuple[Array, Array]:
    gradient = np.select([np.isnan(chi), np.abs(chi - 1) < CRITICAL, chi < 1], [3, 1, 0], 2)
    bias = np.select([np.isnan(c), c == 1, c > 0.5], [3, 2, 1], 0)
    return bias, gradient


@dataclass(frozen=True)
class BiasPoint:
    """The phase at one (sigma_w, sigma_b), as floats, with notes.

    name      "ordered-deep prejudice", "transient-deep prejudice", "chaotic-deep prejudice", "prejudice",
              "neutrality", or "none" where no label holds (see notes)
    chi, slope  both critical conditions: gradient gain and dV/dq
    law       how gamma grows where it does: "exponential" (gamma ~ approach^(-l)), "power" (gamma ~ factor l^exponent)
              or "converges"
    """

    name: str
    q: float
    chi: float
    slope: float
    c: float
    gamma: float
    law: str
    approach: float | None
    exponent: int | None
    factor: float | None
    notes: tuple[Note, ...]

    def note(self, code: str) -> bool:
        """Whether a note of that code is attached."""
        return any(note.code == code for note in self.notes)


def notes_at(maps: LayerMaps, grid: BiasGrid, mean_free: bool, pooled: bool = False) -> tuple[Note, ...]:
    """The caveats of a single point; `pooled`: the block pools units."""
    b, q, chi, slope = float(grid.sigma_b[0]), *(float(a[0, 0]) for a in (grid.q, grid.chi, grid.slope))
    found = []
    scale = isinstance(maps, ScaleFree)
    if b == 0 and mean_free:
        found.append(NO_BIAS)
    elif b == 0 and scale:
        found.append(AXIS)
    if q == 0 and not scale:
        found.append(FADES)
    if grid.bias[0, 0] == 2:
        found.append(DEPTH)
    if (scale or pooled) and np.isfinite(chi) and abs(chi - slope) > 1e-12:
        found.append(TWO)
    return (*found, CLASSES)


__all__ = ["BIAS", "GRADIENT", "NAMES", "BiasGrid", "BiasPoint", "Note", "bias_grid", "notes_at"]
