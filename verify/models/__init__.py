"""Real torch models: traced, read as layers, predicted, measured, initialised."""
