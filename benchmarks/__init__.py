"""Measurements side by side with Fast Downward: `make bench`."""
