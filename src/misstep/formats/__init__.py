"""Text to values and back, with errors that say where."""
