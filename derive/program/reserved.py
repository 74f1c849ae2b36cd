"""Names that the theory keeps for its own quantities."""

from __future__ import annotations

RESERVED = ("q", "q1", "q2", "c", "K", "sigma_w", "sigma_b", "x", "z", "u", "v", "Delta")
