"""Guessing bias measured: on a model and data of the user's (`verify.bias`), and over ensembles of random networks."""
