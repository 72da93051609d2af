"""What an event loop waits for has threads that exist."""

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_goes_on_with_the_loop_of_its_parent():
    """As where a worker is warmed up before the fork, and its tasks run on the loop that is there already."""
    code = """
import asyncio, gc, os
from concurrent.futures import ThreadPoolExecutor
from groundwire.core.aside import aside

loop = asyncio.new_event_loop()
print(loop.run_until_complete(aside(lambda: "parent")), flush=True)
(pool,) = [one for one in gc.get_objects() if isinstance(one, ThreadPoolExecutor)]
assert pool._idle_semaphore.acquire(timeout=20)
pool._idle_semaphore.release()  # its thread waits for more by now
child = os.fork()
if child == 0:
    print(loop.run_until_complete(aside(lambda: "child")), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["parent", "child"]
