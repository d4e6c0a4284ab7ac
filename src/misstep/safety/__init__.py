"""Safety testing on JANI models: fuzzing, deciders, bugs, faults, shields."""
