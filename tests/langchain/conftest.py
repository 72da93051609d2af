"""Fixtures that all tests of the LangChain room share."""

import pytest

from groundwire.langchain import Capture
from tests.langchain.apps import answer, question, texts


class Heard(Capture):
    """A capture that keeps what it captured."""

    def __init__(self, **options):
        self.captured = []
        super().__init__(self.captured.append, **options)

    def only(self):
        (captured,) = self.captured
        return captured


def said(captured):
    return (
        captured.problem,
        captured.interaction.question,
        [passage.text for passage in captured.interaction.contexts],
        captured.interaction.answer,
    )


def whole(n):
    return (None, question(n), texts(n), answer(n))


def listening(*handlers, **config):
    return {"callbacks": list(handlers), **config}


@pytest.fixture
def heard():
    return Heard()
