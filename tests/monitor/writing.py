"""Processes that keep outcomes and say which are committed, each killed at a random moment."""

import os
import random
import signal
import sys
import time

from groundwire.monitor import Monitor
from tests.monitor.told import interaction, verdict


def write(url, begun):
    """Keep outcomes, and say the id of each once it is acknowledged, until the end."""
    store = Monitor(url, drift=None)
    for number in range(1_000_000):
        key = store.keep(interaction(number), verdict(), durable=True)
        os.write(1, f"{key}\n".encode())  # at once, so that no kill cuts a line
        if not number:
            os.write(begun, b".")


def main(url, kills):
    Monitor(url).close()
    chance = random.Random(7)
    for _ in range(kills):
        begun, told = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                write(url, told)
            finally:
                os._exit(1)
        os.read(begun, 1)
        time.sleep(chance.uniform(0, 0.15))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


main(sys.argv[1], int(sys.argv[2]))
