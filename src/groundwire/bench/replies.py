"""What a model replied, kept in a file: asked once, told again as often as you like, without the model too.

Unlike a judge's memory it forgets nothing, keeps samples, and tells what a reply once used, so that what is
replayed shows the calls, tokens and money of the real run. Its seconds are those of the replay.
"""

from __future__ import annotations

import copy
import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from groundwire.core.errors import ConfigurationError
from groundwire.core.plan import (
    Backend,
    Completed,
    Embedded,
    Failed,
    Grounded,
    Reply,
    Request,
    Token,
)
from groundwire.core.verdict import AbstentionReason, Usage
from groundwire.judge.prices import Price

_FORM = 1
_MINE = b'{"groundwire": "replies"'


class Replies:
    """A judge that replies from a file, and asks ``judge``, if there is one, for what the file lacks.

    Every reply of ``judge`` but a failure is added to the file at once; without one, what the file lacks is a
    failure that says so. One file holds the replies of one model with one set of parameters. Safe to share
    between threads. Raises ConfigurationError for a file of another model, or one that holds something else.
    """

    def __init__(self, path: str | Path, judge: Backend | None = None) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._known: dict[str, Reply] = {}
        self._ask(judge)
        if self._path.is_file():
            self._read()
        elif judge is None:
            raise ConfigurationError(f"no replies to give: there is no file {str(path)!r}, and no model")

    def beside(self, judge: Backend | None) -> Replies:
        """The same replies for another judge of the same model: what either is told, the other knows.

        Raises ConfigurationError for a judge of another model.
        """
        other = copy.copy(self)
        if judge is not None:
            other._ask(judge)  # noqa: SLF001 - a copy of this very class
            other._require(_maker(self))  # noqa: SLF001 - as above
        return other

    def _ask(self, judge: Backend | None) -> None:
        self._judge = judge
        self.model: str | None = getattr(judge, "model", None)
        self.max_concurrency: int = getattr(judge, "max_concurrency", 8)
        self.completes: bool = getattr(judge, "completes", True)
        self.embeds: bool = getattr(judge, "embeds", True)
        self.priced: Mapping[str, Price] = getattr(judge, "priced", {})
        self.named: Mapping[str, str] = getattr(judge, "named", {})
        if (models := getattr(judge, "models", None)) is not None:  # without a judge, the file alone knows
            self.models: frozenset[str] = models
        self.parameters: str = getattr(judge, "parameters", "")
        self.embedding_model: str = getattr(judge, "embedding_model", "")

    @property
    def count(self) -> int:
        """How many replies are known. Not its length: a judge that knows none yet is still a judge."""
        return len(self._known)

    def perform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        """One reply for each request: the known ones, and the judge's, which are kept."""
        missing = self._missing(requests)
        fresh = self._judge.perform(missing, timeout=timeout) if missing and self._judge is not None else ()
        return self._told(requests, missing, fresh)

    async def aperform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        """``perform`` for callers on an event loop."""
        missing = self._missing(requests)
        fresh = (
            await self._judge.aperform(missing, timeout=timeout)
            if missing and self._judge is not None
            else ()
        )
        return self._told(requests, missing, fresh)

    def _missing(self, requests: Sequence[Request]) -> list[Request]:
        """What is not known, each once."""
        return list({key: r for r in requests if (key := _key(r)) not in self._known}.values())

    def _told(
        self, requests: Sequence[Request], missing: Sequence[Request], fresh: Sequence[Reply]
    ) -> list[Reply]:
        asked = {_key(request): reply for request, reply in zip(missing, fresh, strict=False)}
        with self._lock:
            for request, reply in zip(missing, fresh, strict=False):
                key = _key(request)
                if isinstance(reply, Completed | Embedded | Grounded) and key not in self._known:
                    self._known[key] = reply
                    self._append({"key": key, "asked": _asked(request), **_entry(reply)})
        lacking = Failed(
            reason=AbstentionReason.MODEL_FAILED,
            detail=f"no reply to this was recorded in {self._path.name}, and no model is asked",
        )
        return [self._known.get(key) or asked.get(key, lacking) for key in map(_key, requests)]

    def _append(self, value: Mapping[str, Any]) -> None:
        fresh = not self._path.exists() or not self._path.stat().st_size
        with self._path.open("ab") as file:
            if fresh:
                file.write(_line({"groundwire": "replies", "form": _FORM, **_maker(self)}))
            file.write(_line(value))

    def _read(self) -> None:
        whole = self._path.read_bytes()
        if not whole[: len(_MINE)].startswith(_MINE[: len(whole)]):
            raise ConfigurationError(f"{self._path} holds no replies of a model: name another file")
        if cut := len(whole) - (whole.rfind(b"\n") + 1):  # the process died while it wrote
            whole = whole[:-cut]
            if self._judge is not None:
                with self._path.open("ab") as file:
                    file.truncate(len(whole))
        try:
            first, *rows = map(json.loads, whole.splitlines()) if whole else [{}]
            self._known = {row["key"]: _reply(row) for row in rows}
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(f"{self._path} holds no replies of a model: {error}") from error
        if self._judge is not None and whole:
            self._require(first)
        self.model = first.get("model", self.model)
        self.named = self.named or first.get("further models", {})
        self.parameters = self.parameters or first.get("parameters", "")
        self.embedding_model = self.embedding_model or first.get("embedding model", "")

    def _require(self, made_by: Mapping[str, Any]) -> None:
        """Raises ConfigurationError where what is known was said by another model than would be asked."""
        if made_by.get("model") != self.model:
            raise ConfigurationError(
                f"{self._path} holds the replies of {made_by.get('model')!r}, not of {self.model!r}: "
                "name another file"
            )
        if made_by.get("parameters", self.parameters) != self.parameters:
            raise ConfigurationError(
                f"{self._path} holds the replies of {self.model!r} with other parameters: name another file"
            )
        further = made_by.get("further models") or {}
        for name in sorted(further.keys() & self.named.keys()):
            if further[name] != self.named[name]:
                raise ConfigurationError(
                    f"{self._path} holds the replies of {further[name]!r} for {name!r}, not of "
                    f"{self.named[name]!r}: name another file"
                )
        embeds = made_by.get("embedding model")
        if embeds and self.embedding_model and embeds != self.embedding_model:
            raise ConfigurationError(
                f"{self._path} holds the vectors of another embedding model: name another file"
            )


def _maker(replies: Replies) -> dict[str, Any]:
    """Whose replies they are."""
    return {
        "model": replies.model,
        "further models": dict(replies.named),
        "parameters": replies.parameters,
        "embedding model": replies.embedding_model,
    }


def _key(request: Request) -> str:
    whole = json.dumps([type(request).__name__, _asked(request)], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


def _asked(request: Request) -> dict[str, Any]:
    """What tells requests apart, in plain values."""
    told = {one.name for one in fields(request) if one.compare}
    return {name: value for name, value in asdict(request).items() if name in told}


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _entry(reply: Completed | Embedded | Grounded) -> dict[str, Any]:
    return {type(reply).__name__.lower(): asdict(reply)}


def _reply(row: Mapping[str, Any]) -> Reply:
    if "grounded" in row:
        told = row["grounded"]
        return Grounded(**{**told, "usage": Usage(**told["usage"])})
    if "embedded" in row:
        told = row["embedded"]
        return Embedded(vectors=tuple(map(tuple, told["vectors"])), usage=Usage(**told["usage"]))
    told = row["completed"]
    return Completed(
        texts=tuple(told["texts"]),
        usage=Usage(**told["usage"]),
        tokens=tuple(
            tuple(
                Token(
                    text=one["text"],
                    logprob=one["logprob"],
                    alternatives=tuple((text, p) for text, p in one["alternatives"]),
                )
                for one in text
            )
            for text in told["tokens"]
        ),
        stopped=tuple(told.get("stopped", ())),
    )
