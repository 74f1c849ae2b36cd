"""Checks, one a file: the folder is the registry."""
