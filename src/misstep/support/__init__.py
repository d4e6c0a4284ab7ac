"""Small helpers that know nothing of planning."""
