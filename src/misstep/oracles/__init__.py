"""Oracles, one file each. They claim bounds on h*; the judge decides."""
