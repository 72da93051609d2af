"""An answer that says something is not mentioned, beside a sentence that mentions it."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire.text import refusal
from groundwire.text.overlap import Context, Match
from groundwire.text.worded import word


@dataclass(frozen=True, kw_only=True, slots=True)
class Mentioned:
    """What a claim says is not mentioned, and the sentence of a passage that does mention it."""

    what: str
    sentence: str
    where: Match


def mentioned(claim: str, context: Context) -> Mentioned | None:
    """The sentence with every content word of what ``claim`` says is not mentioned; None where none has."""
    what = refusal.unmentioned(claim)
    worded = word(what) if what else None
    stems = {worded.stems[i] for i in worded.content} - _SAID if worded else set()
    if not stems:
        return None
    for place in sorted(set.intersection(*(set(context.places(stem)) for stem in stems))):
        passage, sentence = context.at(place)
        prepared = context.passages[passage]
        if "mention" not in prepared.worded[sentence].stems:
            text = prepared.sentences[sentence].of(prepared.text)
            return Mentioned(what=what, sentence=text, where=Match(passage, sentence, 0.0))
    return None


# The words of refusing itself: they name nothing.
_SAID = frozenset(["anyth", "someth", "document", "passag", "context", "text", "inform"])
