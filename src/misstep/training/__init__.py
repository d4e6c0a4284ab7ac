"""Training policies."""
