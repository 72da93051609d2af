"""Settings of the whole suite."""

import signal

from hypothesis import HealthCheck, settings

# How long drawing an example takes depends on what else the machine does: no test is to fail by the clock.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# A shell has what it runs in the background ignore Ctrl-C, and processes that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
