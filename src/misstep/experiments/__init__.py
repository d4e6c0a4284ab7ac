"""Whole experiments: the papers' tables and figures, scaling statements."""
