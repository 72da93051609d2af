"""A property that is worked out once, whatever other threads and processes do."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from groundwire.core.cached import cached_property


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_reads_what_a_thread_of_its_parent_was_reading():
    """As where a server forks its workers while an answer is judged in the background."""
    code = """
import os, threading
from groundwire.core.cached import cached_property

entered, gate = threading.Event(), threading.Event()

class Text:
    def __init__(self, waits):
        self.waits = waits

    @cached_property
    def words(self):
        if self.waits:
            entered.set()
            gate.wait(20)
        return "words"

reading = threading.Thread(target=lambda: Text(True).words)
reading.start()
entered.wait(20)
child = os.fork()
if child == 0:
    os._exit(0 if Text(False).words == "words" else 1)
assert os.waitpid(child, 0)[1] == 0
gate.set()
reading.join()
"""
    subprocess.run([sys.executable, "-c", code], timeout=30, check=True)


def test_two_threads_that_work_it_out_at_once_are_given_the_same():
    """What is looked up by its identity, as facts are, must not be there twice."""
    both = threading.Barrier(2)

    class Text:
        @cached_property
        def words(self) -> list[str]:
            both.wait(20)
            return ["a"]

    text = Text()
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: text.words, range(2))
    assert one is other is text.words


def test_a_class_has_the_property_itself():
    """As documentation tools and mocks look it up."""

    class Text:
        @cached_property
        def words(self) -> list[str]:
            """The words."""
            return []

    assert Text.words.__doc__ == "The words."
