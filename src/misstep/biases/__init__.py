"""Fuzzing biases as parts; the values are computed natively."""
