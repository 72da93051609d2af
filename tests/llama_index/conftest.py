"""Fixtures that all tests of the LlamaIndex room share."""

import pytest

pytest.importorskip("llama_index.core", reason="needs groundwire[llama-index]")

from llama_index.core import Settings
from llama_index.core.embeddings import MockEmbedding
from llama_index_instrumentation import get_dispatcher

from groundwire.llama_index import Capture
from tests.llama_index.apps import Oracle


class Heard(Capture):
    """A capture that keeps what it captured."""

    def __init__(self, **options):
        self.captured = []
        super().__init__(self.captured.append, **options)

    def only(self):
        (captured,) = self.captured
        return captured


@pytest.fixture(autouse=True)
def dispatcher():
    """The root dispatcher, with the handlers it had put back in the end."""
    root = get_dispatcher()
    spans, events = list(root.span_handlers), list(root.event_handlers)
    yield root
    root.span_handlers, root.event_handlers = spans, events


@pytest.fixture(autouse=True)
def settings():
    """Models that are there offline, wherever LlamaIndex falls back on its own."""
    Settings.llm, Settings.embed_model = Oracle(), MockEmbedding(embed_dim=4)
    yield Settings
    Settings._llm = Settings._embed_model = Settings._callback_manager = None


@pytest.fixture
def heard(dispatcher):
    capture = Heard()
    dispatcher.span_handlers.insert(0, capture.span_handler)
    return capture
