"""Several oracles read an answer, each for itself; their claims are merged and put to the vote."""
