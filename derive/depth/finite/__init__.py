"""Finite width: what is left of a random network's statistics at order 1/width."""
