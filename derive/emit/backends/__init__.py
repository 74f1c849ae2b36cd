"""One file a backend; each defines BACKEND."""
