"""The embedded reader: requests to rows, rows to probabilities, and these to what was asked.

How a row looks is in ``rows``, how it is read in ``encoder``; what readings mean for a verdict, the detector
knows.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from groundwire.core.plan import Encode, Encoded, Failed, ReadClaim, Reading, ReadWord
from groundwire.core.secrets import brief
from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason
from groundwire.local.encoder import Encoder, Loaded, Probabilities
from groundwire.local.rows import Builder, Kind, Row
from groundwire.local.work import Deadline, Hands

LENGTH = 192
"""Tokens of a row that is read. Beside more, of up to the 256 that it can read, it judges no better."""

MOST_EVIDENCE = 5
_MOST_KNOWN = 1_024


class EmbeddedReader:
    """Reads claims with the embedded encoder. Safe to use from many threads at once.

    All of them together keep at most ``threads`` cores busy.
    """

    def __init__(self, *, threads: int | None = None, loaded: Loaded | None = None) -> None:
        self._loaded = loaded or Loaded()
        self._hands = Hands(threads)

    def use_threads(self, threads: int) -> None:
        """Read on ``threads`` cores from now on. A batch job may want all of them."""
        self._hands = Hands(threads)

    def load(self) -> None:
        """Load the encoder now. Raises EncoderError where it can't be."""
        self._loaded.get()

    def read(self, requests: Sequence[Encode], *, deadline: Deadline | None = None) -> list[Encoded | Failed]:
        """One reply for each request; Failed for those that ``deadline`` cut short, or that broke."""
        task = _Task(requests, self._loaded.get())
        deadline = deadline or Deadline()
        self._hands.work(task.take, task.do, pieces=sum(len(r.claims) for r in requests), deadline=deadline)
        return [task.reply(i) for i in range(len(requests))]


@dataclass
class _Progress:
    """What is known of one request so far."""

    request: Encode
    rows: list[tuple[Row, Probabilities]] = field(default_factory=list)
    expected: int | None = None
    error: Exception | None = None


class _Task:
    """Requests, whose rows are built as they are taken, and read one by one."""

    def __init__(self, requests: Sequence[Encode], encoder: Encoder) -> None:
        self._encoder = encoder
        self._progress = [_Progress(request) for request in requests]
        self._rows = self._all_rows()
        self._lock = threading.Lock()
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], Probabilities] = {}

    def take(self) -> tuple[_Progress, Row] | None:
        """The next row to read; None when there is none."""
        with self._lock:
            return next(self._rows, None)

    def do(self, taken: tuple[_Progress, Row]) -> None:
        """Read one row."""
        progress, row = taken
        try:
            read = self._read(row)
        except Exception as error:  # one request's failure is not the others'
            progress.error = error
        else:
            progress.rows.append((row, read))

    def _read(self, row: Row) -> Probabilities:
        """Read a row, once where an answer says the same again and again."""
        key = (row.ids, row.kinds)
        read = self._known.get(key)
        if read is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            read = self._known[key] = self._encoder.read(row)
        return read

    def _all_rows(self) -> Iterator[tuple[_Progress, Row]]:
        for progress in self._progress:
            try:
                rows = _rows(progress.request)
            except Exception as error:  # as above
                progress.error = error
                continue
            progress.expected = len(rows)
            yield from ((progress, row) for row in rows)

    def reply(self, i: int) -> Encoded | Failed:
        """What became of the request."""
        progress = self._progress[i]
        if progress.error is not None:
            error = progress.error
            detail = f"the embedded encoder failed: {brief(error)}"
            return Failed(reason=AbstentionReason.MODEL_FAILED, detail=detail)
        if progress.expected is None or len(progress.rows) < progress.expected:
            detail = f"time ran out after the encoder had read {len(progress.rows)} rows of this answer"
            return Failed(reason=AbstentionReason.TIMEOUT, detail=detail)
        return Encoded(claims=_claims(len(progress.request.claims), progress.rows))


def _rows(request: Encode) -> list[Row]:
    """The rows of a request, whose passages may come in any order: rows say which of them are neighbours."""
    order = sorted(range(len(request.passages)), key=lambda i: request.passages[i])
    builder = Builder([request.passages[i] for i in order], request.question, length=LENGTH)
    return [
        replace(row, shown=tuple(shown._replace(passage=order[shown.passage]) for shown in row.shown))
        for row in builder.rows(request.answer, request.claims, request.stated)
    ]


def _claims(count: int, read: Sequence[tuple[Row, Probabilities]]) -> tuple[ReadClaim, ...]:
    """The readings of the claims, from those of their rows in any order."""
    parts: list[list[tuple[Row, Probabilities]]] = [[] for _ in range(count)]
    for row, probabilities in read:
        parts[row.claim].append((row, probabilities))
    return tuple(_claim(sorted(of_one, key=_place)) for of_one in parts)


def _place(part: tuple[Row, Probabilities]) -> int:
    row, _ = part
    return row.words[0][1].start if row.words else 0


def _claim(parts: Sequence[tuple[Row, Probabilities]]) -> ReadClaim:
    """A claim's reading. Of several rows, the one that finds it least supported decides."""
    if not parts:
        # Nothing but marks and ornaments: there is nothing in it that could be unsupported.
        return ReadClaim(reading=Reading(supported=1.0, unsupported=0.0, contradicted=0.0))
    deciding = min(parts, key=lambda part: part[1].row[0])
    evidence = dict.fromkeys(place for row, _ in (deciding, *parts) for place in _evidence(row))
    return ReadClaim(
        reading=_reading(deciding[1].row),
        words=tuple(
            ReadWord(span=span, reading=_reading(of_word))
            for row, probabilities in parts
            for (_, span), of_word in zip(row.words, probabilities.words, strict=True)
        ),
        evidence=tuple(evidence)[:MOST_EVIDENCE],
    )


def _evidence(row: Row) -> list[tuple[int, Span]]:
    """What the row shows, that which shares most of the claim's words first."""

    def shared(first: int, last: int) -> int:
        return len({row.ids[i] for i in range(first, last) if row.kinds[i] == Kind.SHARED})

    ranked = sorted(row.shown, key=lambda shown: -shared(shown.first, shown.last))
    return [(shown.passage, shown.span) for shown in ranked]


def _reading(probabilities: NDArray[np.float32]) -> Reading:
    supported, unsupported, contradicted = probabilities.tolist()
    return Reading(supported=supported, unsupported=unsupported, contradicted=contradicted)


READER = EmbeddedReader()
"""The one that a process needs: nothing is loaded before the first request."""
