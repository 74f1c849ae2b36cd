"""Expansions of expectations for small and for large variance."""

from derive.gaussian.asymptotics.expansion import Expansion
from derive.gaussian.asymptotics.large import expand_large
from derive.gaussian.asymptotics.small import expand_small

__all__ = ["Expansion", "expand_large", "expand_small"]
