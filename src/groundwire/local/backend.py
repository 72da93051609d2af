"""The local backend: encoders read on this machine, and whoever is behind it performs everything else.

The one place where a request finds its encoder. It imports none before one is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundwire.core.aside import aside
from groundwire.core.errors import GroundwireError
from groundwire.core.plan import Backend, Encode, Encoded, EncoderSetup, Failed, Reply, Request
from groundwire.core.secrets import brief
from groundwire.core.verdict import AbstentionReason
from groundwire.local.reader import Reader
from groundwire.local.work import Deadline, begun

if TYPE_CHECKING:  # it brings numpy, which `import groundwire` does without
    from groundwire.local.embedded import EmbeddedReader


class LocalBackend:
    """Performs Encode requests here and hands the others to ``inner``, both at the same time.

    A request that can't be read is Failed. Raises EncoderError, before anything is asked of ``inner``, where
    an encoder can't be used at all.
    """

    def __init__(self, inner: Backend) -> None:
        self.inner = inner

    def perform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        """One reply for each request, in order. ``timeout`` is for all of them together."""
        batch = _Batch(requests, timeout)
        if not batch.encodes:
            return self.inner.perform(requests, timeout=timeout)
        batch.load()
        if not batch.others:
            return batch.merged(batch.read(), ())
        aside = _Aside(batch)
        try:
            replies = self.inner.perform(batch.others, timeout=batch.deadline.left())
        except BaseException:
            batch.deadline.drop()
            raise
        return batch.merged(aside.result(), replies)

    async def aperform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        """``perform`` for callers on an event loop, which is never held."""
        batch = _Batch(requests, timeout)
        if not batch.encodes:
            return await self.inner.aperform(requests, timeout=timeout)
        try:
            await aside(batch.load)
            return batch.merged(*await asyncio.gather(aside(batch.read), self._others(batch)))
        except BaseException:  # whoever waited has been cancelled, or has an error: nobody needs the rest
            batch.deadline.drop()
            raise

    async def _others(self, batch: _Batch) -> Sequence[Reply]:
        if not batch.others:
            return ()
        return await self.inner.aperform(batch.others, timeout=batch.deadline.left())


class _Batch:
    """One batch of requests, sorted by who performs them."""

    def __init__(self, requests: Sequence[Request], timeout: float | None) -> None:
        self.deadline = Deadline(timeout)
        self.encodes = [request for request in requests if isinstance(request, Encode)]
        self.others = [request for request in requests if not isinstance(request, Encode)]
        self._requests = requests

    def load(self) -> None:
        """Load every encoder that is asked for. Raises EncoderError where one can't be used."""
        for request in self.encodes:
            if request.model:
                optional(request.model, request.setup)
            else:
                embedded().load()

    def read(self) -> list[Encoded | Failed]:
        """One reply for each Encode, in order."""
        here = [request for request in self.encodes if not request.model]
        read = iter(embedded().read(here, deadline=self.deadline) if here else ())
        return [self._elsewhere(request) if request.model else next(read) for request in self.encodes]

    def _elsewhere(self, request: Encode) -> Encoded | Failed:
        if self.deadline.left() == 0:
            detail = f"time ran out before {request.model!r} could read this answer"
            return Failed(reason=AbstentionReason.TIMEOUT, detail=detail)
        try:
            (reply,) = optional(request.model, request.setup).read([request])
        except GroundwireError:
            raise
        except Exception as error:  # one request's failure is not the others'
            detail = f"the encoder {request.model!r} failed: {brief(error)}"
            return Failed(reason=AbstentionReason.MODEL_FAILED, detail=detail)
        return reply

    def merged(self, read: Sequence[Reply], others: Sequence[Reply]) -> list[Reply]:
        """All replies in the order of the requests."""
        of_encodes, of_others = iter(read), iter(others)
        return [next(of_encodes if isinstance(r, Encode) else of_others) for r in self._requests]


class _Aside:
    """A batch read on a thread of its own; or by whoever wants the result, where no thread is to be had."""

    def __init__(self, batch: _Batch) -> None:
        self._batch = batch
        self._read: list[Encoded | Failed] = []
        self._error: BaseException | None = None
        self._thread = begun(self._run)

    def result(self) -> list[Encoded | Failed]:
        if self._thread is None:
            return self._batch.read()
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._read

    def _run(self) -> None:
        try:
            self._read = self._batch.read()
        except BaseException as error:  # raised again for whoever waits; this thread has nobody above it
            self._error = error


def embedded() -> EmbeddedReader:
    """The embedded encoder's reader, one for the whole process."""
    from groundwire.local.embedded import READER  # noqa: PLC0415 - numpy and more, for those who encode

    return READER


def optional(model: str, setup: EncoderSetup) -> Reader:
    """The reader of an optional encoder. Raises MissingExtraError without ``groundwire[encoder]``."""
    from groundwire.local.optional import load  # noqa: PLC0415 - PyTorch, for those who chose one

    return load(model, setup)
