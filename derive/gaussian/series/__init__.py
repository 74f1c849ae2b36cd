"""The logistic family in the calculus: tanh as a certified finite mixture of error functions."""

from derive.gaussian.series.answer import SeriesAnswer, series_answer
from derive.gaussian.series.mixture import Mixture, mixture

__all__ = ["Mixture", "SeriesAnswer", "mixture", "series_answer"]
