"""What every guest room shares: judging off the host's path, and what is done with an outcome.

No framework may be imported here: the rooms themselves know theirs.
"""
