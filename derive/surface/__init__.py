"""The public objects: Activation, Result, Theory, and the functions expect and theory."""
