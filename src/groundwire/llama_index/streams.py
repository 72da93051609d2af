"""A stream of tokens on its way to its reader, followed to its end: nothing is delayed or read ahead.

A stream that nobody reads is never begun, so nothing is heard of it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Any, Protocol

from llama_index.core.base.response.schema import AsyncStreamingResponse


class End(Protocol):
    """What is done at the end of a stream, and said after it; an empty text says nothing."""

    def complete(self, text: str) -> str: ...

    async def acomplete(self, text: str) -> str: ...

    def give_up(self, text: str, *, failed: bool) -> None:
        """The reader went away, or the stream ``failed``; ``text`` is as far as it got."""


def follow(response: Any, end: End) -> None:
    """Have ``end`` told of what an engine's response streams."""
    kind = _afollowed if isinstance(response, AsyncStreamingResponse) else _followed
    response.response_gen = kind(response.response_gen, end)


def _followed(tokens: Iterator[str], end: End) -> Generator[str, None, None]:
    """The same tokens, and what ``end`` says after them. An error in the stream is the reader's alone."""
    said: list[str] = []
    try:
        for token in tokens:
            if isinstance(token, str):  # a provider's own stream may end with None
                said.append(token)
            yield token
    except BaseException as error:
        try:
            if callable(close := getattr(tokens, "close", None)):
                close()
        finally:  # a model's stream may not let itself be closed
            end.give_up("".join(said), failed=isinstance(error, Exception))
        raise
    if more := end.complete("".join(said)):
        yield more


async def _afollowed(tokens: AsyncIterator[str], end: End) -> AsyncGenerator[str, None]:
    """``_followed`` for asynchronous streams."""
    said: list[str] = []
    try:
        async for token in tokens:
            if isinstance(token, str):
                said.append(token)
            yield token
    except BaseException as error:
        try:
            if callable(close := getattr(tokens, "aclose", None)):
                await close()
        finally:  # as above
            end.give_up("".join(said), failed=isinstance(error, Exception))
        raise
    if more := await end.acomplete("".join(said)):
        yield more


def note_chat(response: Any, said: list[str]) -> None:
    """Have the words of a chat engine's stream, which its writer is about to read, noted in ``said``."""
    if response.chat_stream is not None:
        response.chat_stream = _noted(response.chat_stream, said)
    if response.achat_stream is not None:
        response.achat_stream = _anoted(response.achat_stream, said)


def _noted(chunks: Iterator[Any], said: list[str]) -> Iterator[Any]:
    for chunk in chunks:
        said.append(chunk.delta or "")
        yield chunk


async def _anoted(chunks: AsyncIterator[Any], said: list[str]) -> AsyncIterator[Any]:
    async for chunk in chunks:
        said.append(chunk.delta or "")
        yield chunk
