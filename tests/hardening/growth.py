"""How the time of a call grows with its input: an exponent, robust against a busy machine."""

import gc
import time

_LEAST = 0.003  # seconds below which nothing is measured
_TRIES = 4


def took(call, *arguments, most=None):
    """Seconds of this thread, the best of a few tries; fewer where one alone takes long.

    Without the garbage collector, which goes through all that other tests have left.
    """
    best = None
    gc.disable()
    try:
        for _ in range(_TRIES):
            started = time.thread_time()
            call(*arguments)
            spent = time.thread_time() - started
            best = spent if best is None else min(best, spent)
            if most is not None and best > most:
                break
    finally:
        gc.enable()
    return best


def growth(call, make, sizes):
    """How many times longer the larger of two inputs took, in units of how much larger it is.

    1 is linear, and so is whatever is too quick to be measured; quadratic is the ratio of the sizes.
    """
    small, large = sizes
    less = took(call, make(small), most=0.5)
    if less > 2.0:
        return float("inf")
    more = took(call, make(large), most=1.0)
    return 1.0 if more < _LEAST else more / max(less, _LEAST / 8) / (large / small)
