"""How an interaction becomes rows for the encoder: one claim beside the words of the context that bear on it.

A row is ``[start] evidence [end] framing, claim [end]``. Evidence is the context's sentences that share
most with the claim, as many as fit; framing is the end of the question and of the statement before.
Every token has a kind, which tells the encoder what plain word matching found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain
from typing import NamedTuple

from groundwire.core.span import Span
from groundwire.local import pieces
from groundwire.local.pieces import END, START, Token
from groundwire.text import forms, sentences
from groundwire.text.remembered import Remembered


class Kind(IntEnum):
    """What a token is; the encoder has an embedding for each."""

    EVIDENCE = 0
    SHARED = 1  # a word of the evidence that the claim has too
    FRAMING = 2
    PLAIN = 3  # a function word or a mark of the claim
    FOUND = 4  # a word of the claim that the evidence has too
    ELSEWHERE = 5  # one that the context has, but not the evidence shown
    MISSING = 6
    MISSING_FIGURE = 7


LENGTH = 256
"""In tokens: no row is longer."""

_new = tuple.__new__
_LONGEST_CLAIM = 96
_LONGEST_PIECE = 56
_FROM_QUESTION, _FROM_BEFORE = 40, 28


class Word(NamedTuple):
    """A token with the stem by which it is matched: None where there is nothing to match."""

    token: Token
    stem: str | None


def worded(text: str, start: int = 0) -> list[Word]:
    """The tokens of ``text``, which is found at ``start``, and the stems of its content words and figures."""
    read = pieces.read(text, start)
    known = forms.of([token[1] or "" for token in read])
    # A Word is built as the tuple that it is, and read as one: this is done for every word of every passage.
    return [
        _new(Word, (token, stem if content and token[1] is not None else None))
        for token, (_, stem, content) in zip(read, known, strict=True)
    ]


class Shown(NamedTuple):
    """A stretch of evidence in a row: its place in the context, and the tokens it fills."""

    passage: int
    span: Span
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Row:
    """What the encoder reads, and what its figures are about.

    ``words`` are the claim's words with their first token's place in the row; offsets are the answer's.
    """

    claim: int
    ids: tuple[int, ...]
    kinds: tuple[int, ...]
    words: tuple[tuple[int, Span], ...]
    shown: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence of a passage, or part of a long one.

    Its words are ``first`` up to, not including, ``last`` of its ``sentence``. They are read again where they
    are shown, which few pieces are: kept for all, they would take twenty times what the text does.
    """

    span: Span
    sentence: Span
    first: int
    last: int
    size: int
    stems: frozenset[str]

    def words(self, text: str) -> Sequence[Word]:
        """Its words in ``text``, the passage that it is of."""
        return worded(self.sentence.of(text), self.sentence.start)[self.first : self.last]


@dataclass(frozen=True)
class Passage:
    """A passage in pieces."""

    text: str
    pieces: tuple[Piece, ...]


def passage(text: str) -> Passage:
    """A passage in pieces; the same text is worked through once while it is remembered."""
    return _PASSAGES.of(text)


def _cut(text: str) -> Iterable[Piece]:
    for sentence in sentences.split(text):
        first = 0
        for part in _parts(worded(sentence.of(text), sentence.start), _LONGEST_PIECE):
            last = first + len(part)
            span = Span(part[0].token.start, part[-1].token.end)
            stems = frozenset([stem for _, stem in part if stem is not None])
            yield Piece(span, sentence, first, last, _size(part), stems)
            first = last


_PASSAGES = Remembered(lambda text: Passage(text, tuple(_cut(text))), most=1_000_000)


def _parts(words: Sequence[Word], longest: int) -> Iterable[Sequence[Word]]:
    """Parts of at most ``longest`` tokens, about equally long."""
    size = _size(words)
    if size <= longest:
        if words:
            yield words
        return
    room = math.ceil(size / math.ceil(size / longest))
    start, filled = 0, 0
    for i, word in enumerate(words):
        if filled and filled + len(word.token.ids) > room:
            yield words[start:i]
            start, filled = i, 0
        filled += len(word.token.ids)
    yield words[start:]


def _size(words: Iterable[Word]) -> int:
    return sum([len(token[0]) for token, _ in words])


class Builder:
    """Makes the rows of one interaction. Nothing here depends on the order of the passages."""

    def __init__(self, passages: Sequence[str], question: str | None, *, length: int = LENGTH) -> None:
        self.length = length
        self.passages = [passage(text) for text in passages]
        self.pieces = [(p, piece) for p, known in enumerate(self.passages) for piece in known.pieces]
        self.total = sum(piece.size + 1 for _, piece in self.pieces)
        self._postings: dict[str, list[int]] = {}
        for i, (_, piece) in enumerate(self.pieces):
            for stem in piece.stems:
                self._postings.setdefault(stem, []).append(i)
        question_words = worded(question or "")
        self._shown: dict[int, Sequence[Word]] = {}
        self._question = _tail(question_words, _FROM_QUESTION)
        self._asked = {w.stem for w in question_words if w.stem is not None}

    def rows(self, answer: str, claims: Sequence[Span], stated: Sequence[Span] = ()) -> list[Row]:
        """The rows of every claim, in order: one, or several where a claim is very long.

        ``stated`` are all statements of the answer, the claims among them, where these are not all.
        """
        made: list[Row] = []
        numbers = {span: i for i, span in enumerate(claims)}
        before: Sequence[Word] = ()
        for span in stated or claims:
            for part in _parts(worded(span.of(answer), span.start), _LONGEST_CLAIM):
                if span in numbers:
                    made.append(self._row(numbers[span], part, before))
                before = part
        return made

    def _row(self, claim: int, words: Sequence[Word], before: Sequence[Word]) -> Row:
        framing = [*self._question, *_tail(before, _FROM_BEFORE)]
        stems = {w.stem for w in words if w.stem is not None}
        room = self.length - 3 - _size(words) - _size(framing)
        chosen = self._chosen(stems, {w.stem for w in before if w.stem is not None}, room)
        ids, kinds, shown = [START], [Kind.EVIDENCE], []
        last = -2
        for i in chosen:
            p, piece = self.pieces[i]
            if i != last + 1 and last >= 0:
                ids.append(END)
                kinds.append(Kind.EVIDENCE)
            first = len(ids)
            for word in self._words(i):
                ids += word.token.ids
                kinds += [Kind.SHARED if word.stem in stems else Kind.EVIDENCE] * len(word.token.ids)
            shown.append(Shown(p, piece.span, first, len(ids)))
            last = i
        ids.append(END)
        kinds.append(Kind.EVIDENCE)
        for word in framing:
            ids += word.token.ids
            kinds += [Kind.FRAMING] * len(word.token.ids)
        in_view = frozenset().union(*(self.pieces[i][1].stems for i in chosen))
        places: list[tuple[int, Span]] = []
        for word in words:
            if word.token.text is not None:
                places.append((len(ids), Span(word.token.start, word.token.end)))
            ids += word.token.ids
            kinds += [self._kind(word, in_view)] * len(word.token.ids)
        ids.append(END)
        kinds.append(Kind.PLAIN)
        return Row(claim, tuple(ids), tuple(kinds), tuple(places), tuple(shown))

    def _words(self, i: int) -> Sequence[Word]:
        """The words of a piece: most claims of an answer are shown the same few."""
        known = self._shown.get(i)
        if known is None:
            p, piece = self.pieces[i]
            known = self._shown[i] = piece.words(self.passages[p].text)
        return known

    def _kind(self, word: Word, in_view: frozenset[str]) -> Kind:
        if word.stem is None:
            return Kind.PLAIN
        if word.stem in in_view:
            return Kind.FOUND
        if word.stem in self._postings:
            return Kind.ELSEWHERE
        return Kind.MISSING_FIGURE if word.stem[0].isdigit() else Kind.MISSING

    def _chosen(self, stems: set[str], before: set[str], room: int) -> list[int]:
        """The pieces to show: those that share most with the claim, passage by passage, in their order."""
        if self.total <= room:
            chosen = list(range(len(self.pieces)))
            scores = self._scores(stems, before) if len(self.passages) > 1 else {}
        else:
            scores = self._scores(stems, before)
            smooth = {
                i: scores.get(i, 0.0) + _BESIDE * (scores.get(i - 1, 0.0) + scores.get(i + 1, 0.0))
                for s in scores
                for i in (s - 1, s, s + 1)
                if 0 <= i < len(self.pieces) and self.pieces[i][0] == self.pieces[s][0]
            }
            ranked = sorted(
                smooth, key=lambda i: (-round(smooth[i], 6), self.pieces[i][1].size, self._text(i))
            )
            chosen = []
            for i in chain(ranked, self._rest(smooth)):
                size = self.pieces[i][1].size + 1
                if size <= room:
                    chosen.append(i)
                    room -= size
                if room < _LEAST:
                    break
        return sorted(chosen, key=self._order(chosen, scores))

    def _rest(self, ranked: dict[int, float]) -> Iterable[int]:
        """Pieces that share nothing, from the top of each passage: only few are ever looked at."""
        few = 0
        for i in sorted(range(min(len(self.pieces), 200)), key=self._text):
            if i not in ranked and few < 40:
                few += 1
                yield i

    def _scores(self, stems: set[str], before: set[str]) -> dict[int, float]:
        scores: dict[int, float] = {}
        heaviest = math.log(len(self.pieces) + 1.5)
        for sought, share in (
            (stems, 1.0),
            (before - stems, _BEFORE),
            (self._asked - stems - before, _ASKED),
        ):
            for stem in sorted(sought):
                places = self._postings.get(stem)
                if places and len(places) <= _TOO_COMMON:
                    weight = share * (heaviest - math.log(len(places) + 0.5))
                    for i in places:
                        scores[i] = scores.get(i, 0.0) + weight
        return scores

    def _order(
        self, chosen: Sequence[int], scores: dict[int, float]
    ) -> Callable[[int], tuple[float, str, int]]:
        best: dict[int, float] = {}
        for i in chosen:
            p = self.pieces[i][0]
            best[p] = max(best.get(p, 0.0), round(scores.get(i, 0.0), 6))
        return lambda i: (-best[self.pieces[i][0]], self.passages[self.pieces[i][0]].text, i)

    def _text(self, i: int) -> str:
        p, piece = self.pieces[i]
        return piece.span.of(self.passages[p].text)


_BEFORE, _ASKED, _BESIDE = 0.3, 0.15, 0.2
# Room for fewer tokens than this is left empty.
_LEAST = 10
_TOO_COMMON = 2_000


def _tail(words: Sequence[Word], longest: int) -> Sequence[Word]:
    size, start = 0, len(words)
    while start and size + len(words[start - 1].token.ids) <= longest:
        start -= 1
        size += len(words[start].token.ids)
    return words[start:]
