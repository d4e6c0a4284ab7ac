"""Testing objectives: what counts as doing better (Steinmetz et al. 2022, section 3.1)."""
