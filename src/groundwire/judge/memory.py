"""The judge's own memory: what it replied before, by the content of what it was asked.

It is never the application's, nor LangChain's process-wide cache. Where entries are kept is in ``stores``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from array import array
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeVar

from groundwire.core.errors import ConfigurationError
from groundwire.core.fork import renew_after_fork
from groundwire.core.plan import Complete, Completed, Embed, Embedded, Reply, Token
from groundwire.judge.stores import InFile, InMemory, Since, Store

T = TypeVar("T")
_log = logging.getLogger(__name__)
_SUM = 8  # bytes of an entry that tell whether the others are as they were
_FORM = 2  # of keys and entries; entries of another form are not found


class MemoryMode(StrEnum):
    """What a memory does: nothing, remember and recall, or recall alone."""

    OFF = "off"
    ON = "on"
    READ_ONLY = "read-only"


class Memory:
    """Remembers replies, so that the same question to the same model is paid for once.

    Bounded to ``size`` entries, the oldest of which go first; kept in this process, or in the SQLite file at
    ``path``, which several processes may share. While one call is out, others that ask the same of the same
    model wait for its reply instead of making one of their own. Never remembered are failures, replies that
    say nothing or were stopped, those that after a second question still can't be read, several samples of
    one prompt, and replies of a model that was given a temperature above 0.
    ``namespace`` tells apart what the models' names and parameters do not: change it when a function that is
    a model changes.
    With a ``store`` of yours, which bounds itself, entries are kept there instead.
    Safe to share between judges, threads and loops. Raises ConfigurationError naming every mistake.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        size: int = 10_000,
        mode: MemoryMode | str = MemoryMode.ON,
        namespace: str = "",
        store: Store | None = None,
    ) -> None:
        problems = []
        if mode not in list(MemoryMode):
            problems.append(f"memory.mode: expected 'off', 'on' or 'read-only', not {mode!r}")
        if type(size) is not int or size < 1:
            problems.append(f"memory.size: expected a whole number from 1 on, not {size!r}")
        if problems:
            raise ConfigurationError(*problems)
        self.mode = MemoryMode(mode)
        self.namespace = namespace
        self._store: Store = InMemory(size) if store is None else store
        if store is None and path is not None and self.mode is not MemoryMode.OFF:
            self._store = InFile(Path(path), size, read_only=self.mode is MemoryMode.READ_ONLY)
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: the calls that were out, and whoever held the lock, are the parent's."""
        self._lock = threading.Lock()
        self._out: dict[str, threading.Event] = {}

    def __len__(self) -> int:
        """How many entries it holds."""
        return len(self._store)

    def afresh(self) -> Memory:
        """One that recalls nothing that was remembered until now, and keeps what it is told in its place."""
        return Memory(mode=self.mode, namespace=self.namespace, store=Since(self._store))

    def recall(
        self,
        model: str,
        request: Complete | Embed,
        ask: Callable[[Complete | Embed], Reply],
        *,
        over: threading.Event | None = None,
        resting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> Reply:
        """The reply to ``request``, remembered or asked for. A remembered reply has used nothing.

        ``model`` identifies a model with its parameters. ``over`` is set here once what was asked for is
        there, and by whoever gives up on it before: then others ask by themselves. They wait for it
        ``resting``.
        """
        if self.mode is MemoryMode.OFF:
            return ask(request)
        turn = _Turn(over or threading.Event(), resting)
        if isinstance(request, Embed):
            return self._vectors(model, request.texts, ask, turn)
        if request.samples != 1 or (request.temperature or 0.0) > 0:
            return ask(request)
        asked_for = (request.system, request.user, repr(request.temperature), str(request.alternatives))
        key = self._key("complete", model, *asked_for)

        def remembered() -> Reply | None:
            return self._read(key, _completed)

        def asked() -> Reply:
            reply = ask(request)
            if isinstance(reply, Completed) and _of_use(reply, request):
                self._put({key: _entry(reply)})
            return reply

        return self._once(key, remembered, asked, turn)

    def _vectors(
        self, model: str, texts: Sequence[str], ask: Callable[[Complete | Embed], Reply], turn: _Turn
    ) -> Reply:
        """Each text's vector by itself: passages come back with other neighbours."""
        keys = {text: self._key("embed", model, text) for text in texts}

        def found() -> dict[str, tuple[float, ...]]:
            values = {text: self._read(key, _vector) for text, key in keys.items()}
            return {text: value for text, value in values.items() if value is not None}

        def remembered() -> Reply | None:
            known = found()
            return Embedded(vectors=tuple(known[text] for text in texts)) if len(known) == len(keys) else None

        def asked() -> Reply:
            known = found()
            wanted = tuple(text for text in keys if text not in known)
            reply = ask(Embed(texts=wanted))
            if not isinstance(reply, Embedded):
                return reply
            fresh = dict(zip(wanted, reply.vectors, strict=True))
            self._put({keys[text]: array("d", vector).tobytes() for text, vector in fresh.items()})
            known |= fresh
            return Embedded(vectors=tuple(known[text] for text in texts), usage=reply.usage)

        return self._once(self._key("embeds", *keys.values()), remembered, asked, turn)

    def _once(
        self, key: str, remembered: Callable[[], Reply | None], asked: Callable[[], Reply], turn: _Turn
    ) -> Reply:
        """The remembered reply, or one that is asked for by one thread at a time."""
        while True:
            with self._lock:
                if (reply := remembered()) is not None:
                    return reply
                out = self._out.get(key)
                if out is None or out.is_set():  # nobody asks, or whoever does has been given up
                    self._out[key] = turn.over
                    break
            with turn.resting():
                out.wait()
        try:
            return asked()
        finally:
            with self._lock:
                if self._out.get(key) is turn.over:
                    del self._out[key]
            turn.over.set()

    def _key(self, *what: str) -> str:
        whole = json.dumps([_FORM, self.namespace, *what])
        return hashlib.sha256(whole.encode()).hexdigest()

    def _read(self, key: str, read: Callable[[bytes], T]) -> T | None:
        """What is remembered under a key; None where that is nothing, or nothing that can be read."""
        try:
            entry = self._store.get(key)
            return None if entry is None else read(_intact(entry))
        except (OSError, ValueError, TypeError) as error:
            _log.warning("the judge's memory can't be read, so the model is asked: %s", error)
            return None

    def _put(self, entries: dict[str, bytes]) -> None:
        if self.mode is MemoryMode.READ_ONLY:
            return
        try:
            self._store.put({key: _sum(entry) + entry for key, entry in entries.items()})
        except OSError as error:
            _log.warning("the judge's memory can't be written: %s", error)


class _Turn(NamedTuple):
    """Who asks, as far as others wait for it: when it is over, and how it waits for others itself."""

    over: threading.Event
    resting: Callable[[], AbstractContextManager[None]]


def _of_use(reply: Completed, request: Complete) -> bool:
    """Whether it says anything, and nothing is left open by it that another reply might settle."""
    if not "".join(reply.whole).strip():
        return False
    return request.settles is None or request.settles(reply)


def _entry(reply: Completed) -> bytes:
    tokens = [[(one.text, one.logprob, one.alternatives) for one in text] for text in reply.tokens]
    return json.dumps([reply.texts, tokens]).encode()


def _sum(entry: bytes) -> bytes:
    return hashlib.sha256(entry).digest()[:_SUM]


def _intact(entry: bytes) -> bytes:
    """What was put there. Raises ValueError where it is not: damaged vectors would still be vectors."""
    kept = entry[_SUM:]
    if entry[:_SUM] != _sum(kept):
        raise ValueError("an entry is damaged")
    return kept


def _vector(entry: bytes) -> tuple[float, ...]:
    return tuple(array("d", entry))


def _completed(entry: bytes) -> Completed:
    texts, tokens = json.loads(entry)
    return Completed(
        texts=tuple(texts),
        tokens=tuple(
            tuple(
                Token(text=text, logprob=logprob, alternatives=tuple((other, p) for other, p in others))
                for text, logprob, others in one
            )
            for one in tokens
        ),
    )
