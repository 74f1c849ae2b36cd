"""Random networks with sampled weights; one file a kind of network."""
