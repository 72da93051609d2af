"""Documents, and whatever else stands for them, as the passages that are judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.documents.base import Blob
from langchain_core.messages import BaseMessage

from groundwire.core.interaction import Passage
from groundwire.host.echoes import says_something
from groundwire.langchain import chat, states

CONTEXT_KEYS = (
    "context",
    "contexts",
    "source_documents",
    "documents",
    "docs",
    "retrieved_documents",
    "retrieved_docs",
    "retrieved_context",
    "passages",
    "chunks",
    "sources",
    "search_results",
    "context_str",
    "summaries",
)
SCORE_KEYS = ("relevance_score", "score", "similarity_score", "_score", "similarity", "distance")


def documents(value: Any) -> list[Document]:
    """The documents of a list of them, or of one."""
    if isinstance(value, Document):
        return [value]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if value and all(isinstance(item, Document) for item in value):
            return list(value)
        # Some searches return (document, score) pairs.
        if value and all(
            isinstance(item, tuple) and item and isinstance(item[0], Document) for item in value
        ):
            return [item[0] for item in value]
    return []


def passage(document: Document, score: Any = None) -> Passage:
    """A document as a passage, with its id, its metadata and the retriever's score."""
    metadata = dict(document.metadata)
    if score is None and metadata:
        for key in SCORE_KEYS:
            if key in metadata:
                score = metadata[key]
                break
    return Passage(
        text=document.page_content,
        id=None if document.id is None else str(document.id),
        metadata=metadata,
        score=None if score is None else _number(score),
    )


def passages(value: Any) -> list[Passage]:  # noqa: PLR0911 - as above
    """The passages in documents, texts, (document, score) pairs, dicts with a text, or a state of these."""
    if value is None:
        return []
    if isinstance(value, Passage):
        return [value]
    if isinstance(value, Document):
        return [passage(value)]
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], Document):
        return [passage(*value)]
    if isinstance(value, list | tuple):
        return [found for item in value for found in passages(item)]
    if (said := _text(value)) is not None:
        return [Passage(text=said)] if says_something(said) else []
    if isinstance(value, Mapping):
        for _, held in states.known(value, ("page_content", "text", "content", *CONTEXT_KEYS)):
            if found := passages(held):
                return found
    return []


def _text(value: Any) -> str | None:
    if isinstance(value, Blob):
        return value.data if isinstance(value.data, str) else None
    return chat.told(value) if isinstance(value, BaseMessage) else chat.text(value)


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
