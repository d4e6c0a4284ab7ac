"""Text to values and back; every error names file, line and column."""
