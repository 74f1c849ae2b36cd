"""Symbolic-numeric theory of wide random networks."""
