"""Settings of the whole suite."""

from hypothesis import HealthCheck, settings

# How long drawing an example takes depends on what else the machine does: no test is to fail by the clock.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
