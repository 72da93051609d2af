"""How the detectors that ship were fitted, from the data to the weights."""
