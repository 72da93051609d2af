"""Where statements stand in the answer that they were taken from, and which sentences none was taken from.

A quotation is found word for word. A statement in other words is found by the words that it shares; one that
shares too few stands nowhere, and is said to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from groundwire.core.cached import cached_property
from groundwire.core.span import Span, union
from groundwire.detectors.shown import Shown
from groundwire.text.claims import cut
from groundwire.text.worded import Worded, word

# The share of a statement's content words that a sentence must have for the statement to be found there.
_LEAST_SHARED = 0.5
# The share of a sentence's content words that claims must hold for it not to be left out.
_LEAST_HELD = 0.5
# How much longer than the words of a quotation in parts the stretch that holds them all may be.
_STRETCH = 2.0


class Places:
    """The sentences of one answer, and where statements stand in them."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.sentences = tuple(cut(answer))
        self._shown = Shown(answer)

    def quoted(self, words: str) -> Span | None:
        """The place of words that were copied from the answer.

        Of a quotation in parts that are far from one another, the longest part.
        """
        found = self._shown.find(words) if words.strip() else []
        if not found:
            return None
        whole = Span(min(s.start for s in found), max(s.end for s in found))
        if len(whole) <= _STRETCH * sum(map(len, union(found))):
            return whole
        return max(found, key=lambda span: (len(span), -span.start))

    def stated(self, statement: str) -> Span | None:
        """The words of the answer that make a statement; None where no sentence has half of its words."""
        wanted = _content(word(statement))
        best: tuple[float, Span] | None = None
        for span, worded in zip(self.sentences, self._worded, strict=True):
            shared = len(wanted & _content(worded)) / max(1, len(wanted))
            if shared >= _LEAST_SHARED and (best is None or shared > best[0]):
                best = shared, _window(span, worded, wanted)
        return best[1] if best else None

    def left_out(self, spans: Iterable[Span]) -> list[Span]:
        """The sentences of which these spans hold less than half of the content words.

        What is said twice counts once: a quotation is found in one place.
        """
        held = union(spans)
        left = [
            sentence
            for sentence, worded in zip(self.sentences, self._worded, strict=True)
            if _held(sentence, worded, held) < _LEAST_HELD
        ]
        told = {sentence.of(self.answer) for sentence in set(self.sentences).difference(left)}
        return [sentence for sentence in left if sentence.of(self.answer) not in told]

    @cached_property
    def _worded(self) -> list[Worded]:
        return [word(span.of(self.answer)) for span in self.sentences]


def _content(worded: Worded) -> set[str]:
    return {worded.stems[i] for i in worded.content}


def _window(sentence: Span, worded: Worded, wanted: set[str]) -> Span:
    """The stretch of a sentence with the most shared words less others, from the first shared to the last."""
    content = set(worded.content)
    best, total, start, at = 0, 0, 0, (0, len(worded.words) - 1)
    for i, stem in enumerate(worded.stems):
        if i not in content:
            continue
        if total <= 0:
            total, start = 0, i
        total += 1 if stem in wanted else -1
        if total >= best:  # of two that are alike the later one: statements repeat what they begin with
            best, at = total, (start, i)
    words = worded.words[at[0]].start, worded.words[at[1]].end
    return Span(*words).shifted(sentence.start)


def _held(sentence: Span, worded: Worded, held: Sequence[Span]) -> float:
    indices = worded.content or range(len(worded.words))
    places = [worded.words[i].span.shifted(sentence.start) for i in indices]
    inside = sum(any(s.start <= place.start and place.end <= s.end for s in held) for place in places)
    return inside / max(1, len(places))
