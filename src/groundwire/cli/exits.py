"""How commands end, for scripts to go by."""

DONE = ALL_GROUNDED = 0
HALLUCINATED = ALARM = 1
COULD_NOT_RUN = 2
NOT_ALL_JUDGED = 3
INTERRUPTED = 130
