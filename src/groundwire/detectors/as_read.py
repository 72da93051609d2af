"""An interaction as detectors that compare words read it, and their outcome in the words of the original."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.core.claim import Claim, Evidence
from groundwire.core.interaction import Interaction, Passage, Role
from groundwire.core.span import Span
from groundwire.core.verdict import Outcome, Verdict
from groundwire.text import citations, courtesy, dress, placeholders, premise
from groundwire.text.claims import cut
from groundwire.text.markup import outside_tags
from groundwire.text.plain import Plain
from groundwire.text.said import said
from groundwire.text.tokens import texts


@dataclass(frozen=True, kw_only=True)
class AsRead:
    """``interaction`` without what only dresses its texts, its answer's thinking, placeholders and pointers.

    Pointers are those to sources. Its question begins with what the asker said in earlier turns, for an
    answer goes by that as well. What an assistant said is in none of it: it may be hallucinated.
    ``places`` has the statements of that answer, in order, and where they stand in the original: what
    consists of such things alone states nothing.
    """

    interaction: Interaction
    original: Interaction
    places: Mapping[Span, Span]
    answer: Plain
    passages: tuple[Plain, ...]

    @property
    def claims(self) -> tuple[Span, ...]:
        """The statements of the answer as it is read."""
        return tuple(self.places)

    @classmethod
    def of(cls, interaction: Interaction) -> AsRead:
        """Read an interaction."""
        names = [tuple(_names(passage)) for passage in interaction.contexts]
        addresses = frozenset(citations.address(name) for known in names for name in known)
        spoken = said(interaction.answer)
        pointers = citations.find(spoken, [citations.named(known) for known in names], addresses)
        answer = dress.undressed(spoken, [*pointers, *placeholders.find(spoken)])
        passages = tuple(_once([dress.passage(passage.text) for passage in interaction.contexts]))
        asked = _asked(interaction)
        spans = [(answer.left(span), span) for span in cut(interaction.answer)]
        spans = [pair for pair in spans if not courtesy.is_their_name(pair[0].of(answer.text), asked)]
        spans = [pair for pair in spans if not _asks_again(pair[0].of(answer.text), interaction)] or spans
        return cls(
            interaction=replace(
                interaction,
                question=asked,
                answer=answer.text,
                contexts=tuple(
                    passage if read.text == passage.text else replace(passage, text=read.text)
                    for passage, read in zip(interaction.contexts, passages, strict=True)
                ),
            ),
            original=interaction,
            places={left: span for left, span in spans if any(map(str.isalnum, left.of(answer.text)))},
            answer=answer,
            passages=passages,
        )

    def told(self, outcome: Outcome) -> Outcome:
        """The outcome with its claims as they stand in the original."""
        if not isinstance(outcome, Verdict):
            return outcome
        return replace(outcome, claims=tuple(map(self.claim, outcome.claims)))

    def claim(self, claim: Claim) -> Claim:
        """A claim of ``claims``, judged, as it stands in the original."""
        span = self.places[claim.span]
        return replace(
            claim,
            text=span.of(self.original.answer),
            span=span,
            words=tuple(self.answer.stood(word) for word in claim.words),
            evidence=tuple(self._evidence(one) for one in claim.evidence),
        )

    def _evidence(self, evidence: Evidence) -> Evidence:
        span = self.passages[evidence.passage].stood(evidence.span)
        span = outside_tags(self.original.contexts[evidence.passage].text, span)
        return Evidence.cite(self.original, evidence.passage, span)


def _asks_again(said: str, interaction: Interaction) -> bool:
    """Whether a sentence of an answer only says the question over again: "Q: Is it 75 EUR?"."""
    if not said.rstrip(' *_"”').endswith(("?", "？")):
        return False
    asked = texts((interaction.question or "").casefold())
    label = _QUESTION_LABEL.match(said)
    again = texts(said[label.end() if label else 0 :].casefold())
    return len(asked) > 1 and again == asked


_QUESTION_LABEL = re.compile(
    r"\W*(?:q(?:uestion)?\s*:|you(?:r question(?: was)?| asked| want to know)\W*:)", re.IGNORECASE
)


def _asked(interaction: Interaction) -> str:
    """What the asker said in the last turns, and asks now."""
    earlier = [turn.text for turn in interaction.history if turn.role is Role.USER]
    said = [text for text in earlier[-_TURNS:] if len(text) <= _LONGEST_TURN]
    return "\n".join([*(f"{text}{premise.TURN}" for text in said), interaction.question])


def _once(passages: Sequence[Plain]) -> Iterator[Plain]:
    """Passages, and nothing of one that says an earlier one over again: words don't get rarer by it."""
    seen: set[str] = set()
    for passage in passages:
        text = passage.text.strip()
        yield Plain("") if text in seen else passage
        seen.add(text)


def _names(passage: Passage) -> Iterator[str]:
    """What a passage goes by."""
    yield passage.id or ""
    for key, value in passage.metadata.items():
        words = str(key).casefold().replace("-", "_").split("_")  # a table's columns may go by numbers
        if isinstance(value, str) and _NAMING.intersection(words):
            yield value[:_LONGEST_NAME]


_NAMING = frozenset(
    ["source", "title", "file", "filename", "path", "url", "uri", "link", "name", "id", "document", "doc"]
)
_LONGEST_NAME = 300
_TURNS = 6
_LONGEST_TURN = 600  # characters: in a longer one a prompt's documents may stand
