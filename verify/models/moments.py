"""Moments of an activation as fast functions of arrays, compiled from the derived formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from derive.formula.printer import show_text
from derive.formula.reader import finished
from derive.gaussian.node import GaussianE
from derive.records import EocError, Node
from derive.surface.activations import Activation
from derive.surface.questions import expect

Function = Callable[..., Any]


@dataclass(frozen=True)
class Moments:
    """E phi, E phi^2, E phi'^2 and E phi(u) phi(v), each derived on first use; fourth moments as floats.

    A moment that has no code raises EocError, which its user reports.
    """

    activation: Activation
    SURROGATES: ClassVar[float] = 100.0
    """The variance up to which emitted code has a quick surrogate for open pairs."""

    @property
    def name(self) -> str:
        """The formula."""
        return self.activation.formula.text

    @cached_property
    def mean(self) -> Function:
        """E phi(sqrt(q) Z)."""
        return _compiled(expect(self.activation))

    @cached_property
    def second(self) -> Function:
        """E phi^2."""
        return _compiled(expect(self.activation**2))

    @cached_property
    def fourth(self) -> Function:
        """E phi^4 by the trapezoidal rule; it only says how much a finite network fluctuates."""
        return lambda q: _trapezoid(self.phi, q, 4)

    @cached_property
    def slope(self) -> Function:
        """E phi'^2; infinite where phi jumps."""
        derived = self.activation.derivative()
        return (lambda q: np.full_like(q, np.inf)) if derived.jumps else _compiled(expect(derived**2))

    @cached_property
    def slope_fourth(self) -> Function:
        """E phi'^4, as `fourth`."""
        return lambda q: _trapezoid(self.dphi, q, 4)

    @cached_property
    def pair(self) -> Function:
        """E phi(u) phi(v) at (q1, q2, c)."""
        return _compiled(expect(self.activation, self.activation))

    @cached_property
    def quick(self) -> bool:
        """Whether that has a closed form, which costs nothing at any variance."""
        return not expect(self.activation, self.activation).closed.has(GaussianE)

    @cached_property
    def phi(self) -> Function:
        """The activation itself, on arrays."""
        return self.activation.compile("numpy")

    @cached_property
    def dphi(self) -> Function:
        """Its derivative away from kinks."""
        return self.activation.derivative().compile("numpy")

    def parallel(self, q: float) -> float:
        """d E phi^2/dq."""
        step = 1e-4 * q
        high, low = self.second(np.array([q + step, q - step]))
        return float((high - low) / (2 * step))


Z = np.linspace(-12, 12, 24001)
DENSITY = np.exp(-(Z**2) / 2) / np.sqrt(2 * np.pi) * (Z[1] - Z[0])


def _trapezoid(function: Function, q: Any, power: int) -> Any:
    values = [np.sum(np.broadcast_to(function(v**0.5 * Z), Z.shape) ** power * DENSITY) for v in np.ravel(q)]
    return np.array(values).reshape(np.shape(q))


def _compiled(result: Any) -> Function:
    return result.compile("numpy")


@lru_cache(maxsize=256)
def moments_of(text: str) -> Moments:
    """The moments of a formula in x."""
    return Moments(Activation(text))


def text_of(tree: Node) -> str:
    """The formula of a tree in x. Raises EocError for what is no real function."""
    return finished(show_text(tree), tree, ("x",), [], None, "", {}).text


def known(function: Callable[[], Any]) -> float:
    """A number, NaN where it cannot be had."""
    try:
        return float(np.asarray(function()))
    except EocError:
        return float("nan")
