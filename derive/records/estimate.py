"""A sample mean with its standard error, where no proof reaches."""

from __future__ import annotations

from dataclasses import dataclass

from derive.records.kind import Kind


@dataclass(frozen=True, slots=True)
class Estimate:
    """An ESTIMATE: the mean of random samples and the standard error of that mean.

    mean, error  floats
    samples      how many were drawn
    """

    mean: float
    error: float
    samples: int

    @property
    def kind(self) -> Kind:
        """ESTIMATE: nothing is proved."""
        return Kind.ESTIMATE

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        return f"{self.mean:.8g} +- {self.error:.2g} (ESTIMATE from {self.samples} samples)"
