"""Initial guessing bias: what a random network prefers before training, from the maps of a block."""
