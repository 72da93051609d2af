"""Fixtures that all tests of the LangChain room share."""

import pytest

from groundwire.langchain import Capture


class Heard(Capture):
    """A capture that keeps what it captured."""

    def __init__(self, **options):
        self.captured = []
        super().__init__(self.captured.append, **options)

    def only(self):
        (captured,) = self.captured
        return captured


@pytest.fixture
def heard():
    return Heard()
