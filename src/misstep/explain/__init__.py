"""Why a state is a bug: the decision at fault, bugs that are alike, smaller bugs."""
