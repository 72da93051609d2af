"""What stands here for Celery, of which the tests have no more than the signal that a worker ends."""

import os
import sys
import types


class Signal:
    def __init__(self):
        self.receivers = []

    def connect(self, receiver, *, weak):
        self.receivers.append(receiver)


SIGNALS = sys.modules["celery.signals"] = types.SimpleNamespace(worker_process_shutdown=Signal())


def worker_ends():
    """What Celery says in a worker process, just before it ends it with ``os._exit``."""
    for receiver in SIGNALS.worker_process_shutdown.receivers:
        receiver(signal=SIGNALS.worker_process_shutdown, sender="worker", pid=os.getpid(), exitcode=0)
