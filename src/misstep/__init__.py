"""misstep."""
