"""Answers as a retriever leaves them: beside passages of other sources, of which those that bear are read."""

from __future__ import annotations

import random
from collections.abc import Sequence

from groundwire.detectors.bearing import bearing
from groundwire.text import claims as claim_text
from groundwire.text import overlap, tokens
from training.labelled_sets import Raw, contexts, is_record

BESIDE = ((5, False), (20, False), (5, True), (20, True))
"""How many passages of other sources stand beside an answer's own, and whether those are most like it."""


class Passages:
    """The passages of all answers, to put beside others; not records, which differ too plainly."""

    def __init__(self, raws: Sequence[Raw]) -> None:
        texts = {text for raw in raws for text in contexts(raw) if not is_record(text)}
        self._words = {text: frozenset(tokens.texts(text.lower())) for text in sorted(texts)}

    def beside(self, raw: Raw, more: int, *, alike: bool) -> Raw:
        """The answer with ``more`` passages behind its own: any, or those that share most with its own."""
        own = contexts(raw)
        left = [text for text in self._words if text not in own]
        if alike:
            words = frozenset(tokens.texts(" ".join(own).lower()))
            left.sort(key=lambda text: -len(words & self._words[text]) / len(self._words[text]) ** 0.5)
            others = left[:more]
        else:
            others = random.Random(raw["id"]).sample(left, min(more, len(left)))
        return {**raw, "contexts": [*own, *others]}

    def retrieved(self, raw: Raw, rng: random.Random) -> Raw:
        """The answer beside as many others as ``rng`` draws, of which those are left that detectors read."""
        more, alike = rng.choice(BESIDE)
        return as_opened(self.beside(raw, more, alike=alike))


def as_opened(raw: Raw) -> Raw:
    """The answer beside those of its passages that the detectors look through."""
    passages = contexts(raw)
    stated = [span.of(raw["answer"]) for span in claim_text.cut(raw["answer"])]
    kept = bearing([*stated, raw.get("question") or ""], overlap.Context(passages).passages)
    return {**raw, "contexts": [text for i, text in enumerate(passages) if i in kept]}
