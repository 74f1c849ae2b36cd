"""Expectations of functions of a maximum over independent units: order statistics instead of orthants."""

from derive.gaussian.maxima.recognise import Largest, crowd, exchangeable, recognise, reduced

__all__ = ["Largest", "crowd", "exchangeable", "recognise", "reduced"]
