"""Evidence for blocks: their layers act on wide arrays, with the user's own function for each activation."""
