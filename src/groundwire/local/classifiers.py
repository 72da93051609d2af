"""How foreign classifiers read an answer: word by word, or one claim after the other.

Support is a union. Contexts that are too long are read in windows, and what one window supports is supported.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundwire.core.fork import renew_after_fork
from groundwire.core.plan import Encode, Encoded, ReadClaim, Reading, ReadWord
from groundwire.core.span import Span
from groundwire.local.labels import Meaning
from groundwire.local.network import Network, Row, Weights
from groundwire.local.windows import Window, nearest, windows
from groundwire.text import tokens

QUESTION, PASSAGES = "{question}", "{passages}"
"""What a prompt has in place of the question and of the passages."""

PROMPT = f"{QUESTION}\n\n{PASSAGES}"


@dataclass(frozen=True, slots=True)
class _Read:
    """Characters of the answer beside each window of the passages; ``rows`` has one row for each window."""

    start: int
    windows: tuple[Window, ...]
    rows: tuple[Row, ...]


class _Reader(ABC):
    """What both readers share: rows of all requests are weighed together, then told apart again."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        self._one_at_a_time = threading.Lock()

    def read(self, requests: Sequence[Encode]) -> list[Encoded]:
        # The tokenizer keeps state, and one reading uses every core that it is given.
        with self._one_at_a_time:
            sheets = [self._sheet(request) for request in requests]
            weighed = iter(
                self._network.weigh([row for sheet in sheets for read in sheet for row in read.rows])
            )
        return [
            self._encoded(request, [(read, np.stack([next(weighed) for _ in read.rows])) for read in sheet])
            for request, sheet in zip(requests, sheets, strict=True)
        ]

    @abstractmethod
    def _sheet(self, request: Encode) -> list[_Read]:
        """All that is read for a request."""

    @abstractmethod
    def _encoded(self, request: Encode, weighed: Sequence[tuple[_Read, Weights]]) -> Encoded:
        """What was read. A _Read's weights have a dimension for its windows, and one for a row's lines."""

    def _parts(self, text: str, room: int) -> list[Span]:
        """The text whole, or where it takes more than half of the room, in parts."""
        if self._network.sizes([text])[0] <= room // 2:
            return [Span(0, len(text))]
        parts = windows([text], self._network.sizes, room=room // 2)
        return [Span(part.pieces[0].span.start, part.pieces[-1].span.end) for part in parts]

    def _beside(
        self, request: Encode, seen: Sequence[Window], part: Span, prompt: tuple[str, str] = ("", "")
    ) -> _Read:
        """A part of the answer paired with each window. A window that turns out too long is halved."""
        before, after = prompt
        kept: list[tuple[Window, Row]] = []
        waiting = list(seen)
        while waiting:
            firsts = [before + window.text + after for window in waiting]
            rows = self._network.rows(firsts, part.of(request.answer))
            again: list[Window] = []
            for window, row in zip(waiting, rows, strict=True):
                halves = window.halves(request.passages) if len(row) > self._network.length else ()
                if len(halves) > 1:
                    again += halves
                elif halves:
                    raise ValueError(
                        f"{self._network.length} tokens have no room for a sentence of {len(part)} characters"
                    )
                else:
                    kept.append((window, row))
            waiting = again
        return _Read(part.start, tuple(w for w, _ in kept), tuple(r for _, r in kept))


class PairReader(_Reader):
    """Reads each claim beside each passage, as a pair; gives claims. The question is not read.

    A claim that is too long is read in parts, and is as well supported as its worst part.
    """

    def _sheet(self, request: Encode) -> list[_Read]:
        room = self._network.length - self._network.marks
        parts = [
            part.shifted(claim.start)
            for claim in request.claims
            for part in self._parts(claim.of(request.answer), room)
        ]
        left = room - max(self._network.sizes([part.of(request.answer) for part in parts]), default=0)
        seen = _seen(request, self._network, left, apart=True)
        return [self._beside(request, seen, part) for part in parts]

    def _encoded(self, request: Encode, weighed: Sequence[tuple[_Read, Weights]]) -> Encoded:
        read: list[ReadClaim] = []
        for claim in request.claims:
            own = [(one, weights[:, 0]) for one, weights in weighed if claim.start <= one.start < claim.end]
            one, weights = min(own, key=lambda pair: _union(pair[1])[Meaning.SUPPORTED])
            reading = _union(weights)
            text = claim.of(request.answer)
            window = one.windows[_decisive(weights, reading)]
            read.append(
                ReadClaim(reading=_reading(reading), evidence=tuple(nearest(text, window, request.passages)))
            )
        return Encoded(claims=tuple(read))


class TokenReader(_Reader):
    """Reads the answer beside all passages, token by token; gives words, and claims by their worst word.

    ``prompt`` is the text that the answer follows: QUESTION and PASSAGES stand in it for what they name.
    """

    def __init__(self, network: Network, prompt: str = PROMPT) -> None:
        super().__init__(network)
        self._before, _, self._after = prompt.partition(PASSAGES)

    def _sheet(self, request: Encode) -> list[_Read]:
        room = self._network.length - self._network.marks
        question = self._tail(request.question or "", room // 4)
        before = self._before.replace(QUESTION, question).lstrip()
        after = self._after.replace(QUESTION, question)
        room -= sum(self._network.sizes([before, after]))
        parts = self._parts(request.answer, room)
        left = room - max(self._network.sizes([part.of(request.answer) for part in parts]))
        seen = _seen(request, self._network, left)
        return [self._beside(request, seen, part, (before, after)) for part in parts]

    def _tail(self, question: str, room: int) -> str:
        """The question, or the end of one that would leave no room for anything else."""
        while question and self._network.sizes([question])[0] > room:
            question = question[len(question) // 2 :]
        return question

    def _encoded(self, request: Encode, weighed: Sequence[tuple[_Read, Weights]]) -> Encoded:
        lines = [
            (span.shifted(one.start), weights[:, i], one.windows)
            for one, weights in weighed
            for i, (_, span) in enumerate(one.rows[0].places)
            if len(span)
        ]
        answer = _Lines(lines)
        return Encoded(claims=tuple(self._claim(request, claim, answer) for claim in request.claims))

    def _claim(self, request: Encode, claim: Span, answer: _Lines) -> ReadClaim:
        text = claim.of(request.answer)
        words = [
            (span, answer.worst(over))
            for span in (word.span.shifted(claim.start) for word in tokens.words(text))
            if (over := answer.over(span))
        ]
        if words:
            worst = min((line for _, line in words), key=answer.supported)
        else:
            worst = answer.worst(answer.over(claim))
        weights, seen = answer.weights(worst), answer.windows(worst)
        window = seen[_decisive(weights, _union(weights))]
        return ReadClaim(
            reading=_reading(_union(weights)),
            words=tuple(
                ReadWord(span=span, reading=_reading(_union(answer.weights(line)))) for span, line in words
            ),
            evidence=tuple(nearest(text, window, request.passages)),
        )


class _Lines:
    """The tokens of an answer in order, each with its characters and what each window says of it."""

    def __init__(self, lines: Sequence[tuple[Span, Weights, tuple[Window, ...]]]) -> None:
        self._lines = lines
        self._ends = [span.end for span, _, _ in lines]
        self._supported = [float(_union(weights)[Meaning.SUPPORTED]) for _, weights, _ in lines]

    def over(self, span: Span) -> range:
        """The tokens that have a character in ``span``."""
        first = last = bisect_right(self._ends, span.start)
        while last < len(self._lines) and self._lines[last][0].start < span.end:
            last += 1
        return range(first, last)

    def worst(self, lines: range) -> int:
        if not lines:
            raise ValueError("the tokenizer sees nothing in a claim")
        return min(lines, key=self.supported)

    def supported(self, line: int) -> float:
        return self._supported[line]

    def weights(self, line: int) -> Weights:
        return self._lines[line][1]

    def windows(self, line: int) -> tuple[Window, ...]:
        return self._lines[line][2]


def _seen(request: Encode, network: Network, room: int, *, apart: bool = False) -> list[Window]:
    room -= _SLACK
    seen = windows(request.passages, network.sizes, room=room, overlap=room // _OVERLAP, apart=apart)
    if not seen:
        raise ValueError("there is no passage to read the answer beside")
    return seen


def _union(weights: Weights) -> Weights:
    """What several windows say together: as supported as in the best of them.

    Of what is left, as much is contradicted as the window says that contradicts most.
    """
    supported = weights[:, Meaning.SUPPORTED].max()
    contradicted = min(weights[:, Meaning.CONTRADICTED].max(), 1 - supported)
    return np.array([supported, max(0.0, 1 - supported - contradicted), contradicted])


def _decisive(weights: Weights, union: Weights) -> int:
    """The window that the union is owed to."""
    contradicted = union.argmax() == Meaning.CONTRADICTED
    return int(weights[:, Meaning.CONTRADICTED if contradicted else Meaning.SUPPORTED].argmax())


def _reading(weights: Weights) -> Reading:
    supported, unsupported, contradicted = map(float, weights)
    return Reading(supported=supported, unsupported=unsupported, contradicted=contradicted)


_SLACK = 4  # tokens that texts may take more together than one by one
_OVERLAP = 5  # a window begins with the last fifth of the one before
