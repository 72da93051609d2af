"""What the page shows of one answer, as plain values that the template only has to lay out.

Every text here is made ``visible``; escaping for HTML is the template's.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundwire.core.claim import Claim, Support
from groundwire.core.interaction import Interaction, Passage
from groundwire.core.span import Span
from groundwire.core.verdict import Abstention, Outcome, Verdict
from groundwire.report.entries import Entry, passage_name, shown_score
from groundwire.report.segments import Segment, cut, stretches
from groundwire.report.standing import standing
from groundwire.report.visible import clipped, marked, one_line, unsafe_places, visible

LONGEST_TEXT = 100_000  # characters of one answer or passage; past it a page stops being one to read
_LONGEST_METADATA = 500
_MOST_CLAIMS = 200  # of either kind
_MOST_PASSAGES = 30  # quoted passages are shown all the same
_EXCERPT = 180

_Numbered = tuple[int, Claim]


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Words drawn in one way: the claims they belong to, and the kind of mark on them, if any.

    They begin at the character ``at`` of the whole text. ``stands_for`` counts the characters of it that
    are shown by a symbol instead; 0 says that the words are shown as they are.
    """

    text: str
    claims: tuple[int, ...] = ()
    mark: str = ""
    at: int = 0
    stands_for: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Lines:
    """Consecutive lines; ``columns`` asks for a font of equal widths, as tables and code need."""

    pieces: tuple[Piece, ...]
    columns: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimView:
    number: int
    text: str
    style: str
    word: str
    sign: str
    score: str
    reason: str
    sources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PassageView:
    name: str
    score: str
    metadata: tuple[tuple[str, str], ...]
    lines: tuple[Lines, ...]
    left_out: int
    quoted: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """One answer. ``level`` is low, medium, high or none; ``order`` is its place in the table.

    ``telling`` are the claims to look at: flagged ones, those in doubt, and those that nobody could verify.
    """

    order: int
    name: str
    level: str
    label: str
    title: str
    score: str
    percent: float | None
    threshold: float | None
    known: str
    readable: bool
    question: str
    excerpt: tuple[Piece, ...]
    answer: tuple[Lines, ...]
    answer_left_out: int
    reason: str
    telling: tuple[ClaimView, ...]
    supported: tuple[ClaimView, ...]
    claims_left_out: int
    passages: tuple[PassageView, ...]
    passages_left_out: int

    @property
    def folded(self) -> str:
        """What the other claims are called. An answer may be in doubt for none of its claims."""
        return "supported" if self.telling or self.level in ("low", "none") else "not flagged"


def card(entry: Entry, order: int) -> Card:
    """The card of one judged answer."""
    outcome = entry.outcome
    interaction = entry.interaction or Interaction(answer="")
    verdict = outcome if isinstance(outcome, Verdict) else None
    abstention = outcome if isinstance(outcome, Abstention) else None
    answer, left_out = clipped(interaction.answer, LONGEST_TEXT)
    telling, supported = _sorted(outcome)
    passages, hidden = _passages(interaction, outcome)
    return Card(
        order=order,
        name=one_line(entry.shown_name),
        level=str(verdict.level) if verdict else "none",
        label=one_line(verdict.wording.label) if verdict else "NOT JUDGED",
        title=one_line(verdict.wording.title)
        if verdict
        else f"Could not be judged: {abstention and abstention.why}",
        score=shown_score(outcome),
        percent=100 * verdict.score if verdict else None,
        threshold=100 * verdict.threshold if verdict else None,
        known="" if entry.label is None else ("hallucinated" if entry.label else "grounded"),
        readable=entry.interaction is not None,
        question=one_line(interaction.question),
        excerpt=_excerpt(answer, outcome),
        answer=_lines(answer, _answer_marks(outcome)),
        answer_left_out=left_out,
        reason=visible(abstention.detail if abstention else outcome.reason),
        telling=tuple(_claims(interaction, outcome, telling[:_MOST_CLAIMS])),
        supported=tuple(_claims(interaction, outcome, supported[:_MOST_CLAIMS])),
        claims_left_out=sum(max(0, len(claims) - _MOST_CLAIMS) for claims in (telling, supported)),
        passages=passages,
        passages_left_out=hidden,
    )


def _answer_marks(outcome: Outcome) -> list[tuple[Span, tuple[int, str]]]:
    marks: list[tuple[Span, tuple[int, str]]] = []
    for number, claim in enumerate(outcome.claims):
        unverified = claim.support is Support.UNVERIFIED
        marks.append((claim.span, (number, "unverified" if unverified else "")))
        marks.extend((word, (number, str(claim.support))) for word in claim.words)
    return marks


def _lines(text: str, marks: Sequence[tuple[Span, tuple[int, str]]]) -> tuple[Lines, ...]:
    kinds = stretches(text)
    ends = [stretch.span.end for stretch in kinds]
    pieces: list[list[Piece]] = [[] for _ in kinds]
    for segment in cut(text, marks, at=[*ends, *unsafe_places(text)]):
        pieces[bisect.bisect_left(ends, segment.span.end)].append(_piece(segment))
    return tuple(
        Lines(pieces=tuple(own), columns=stretch.columns) for own, stretch in zip(pieces, kinds, strict=True)
    )


def _piece(segment: Segment[tuple[int, str]]) -> Piece:
    claims = dict.fromkeys(number for number, _ in segment.marks)
    kinds = [kind for _, kind in segment.marks if kind]
    shown = visible(segment.text)
    return Piece(
        text=shown,
        claims=tuple(claims),
        mark=kinds[-1] if kinds else "",
        at=segment.span.start,
        stands_for=0 if shown == segment.text else len(segment.span),
    )


def _excerpt(answer: str, outcome: Outcome) -> tuple[Piece, ...]:
    """The part of the answer around its first unsupported words, in one line."""
    spans = outcome.spans
    start = max(0, spans[0].start - _EXCERPT // 3) if spans and spans[0].start < len(answer) else 0
    if start:
        start = answer.find(" ", start, spans[0].start) + 1 or start
    end = min(len(answer), start + _EXCERPT)
    pieces = [
        Piece(text=visible(segment.text).replace("\n", " "), mark="unsupported" if segment.marks else "")
        for segment in cut(answer, [(span, True) for span in spans], within=Span(start, end))
    ]
    before = [Piece(text="… ")] if start else []
    after = [Piece(text=" …")] if end < len(answer) else []
    return (*before, *pieces, *after)


def _sorted(outcome: Outcome) -> tuple[list[_Numbered], list[_Numbered]]:
    """The claims to look at and the supported ones, each with its number."""
    telling: list[_Numbered] = []
    supported: list[_Numbered] = []
    for number, claim in enumerate(outcome.claims):
        (supported if standing(claim, outcome).fine else telling).append((number, claim))
    return telling, supported


def _claims(interaction: Interaction, outcome: Outcome, claims: Sequence[_Numbered]) -> Iterator[ClaimView]:
    for number, claim in claims:
        sources = (passage_name(interaction, evidence.passage) for evidence in claim.evidence)
        stands = standing(claim, outcome)
        yield ClaimView(
            number=number,
            text=one_line(claim.shown),
            style=stands.style,
            word=stands.word,
            sign=stands.sign,
            score="" if claim.score is None else f"{claim.score:.2f}",
            reason=one_line(claim.reason),
            sources=tuple(one_line(source) for source in dict.fromkeys(sources)),
        )


def _passages(interaction: Interaction, outcome: Outcome) -> tuple[tuple[PassageView, ...], int]:
    quotes: dict[int, list[tuple[Span, tuple[int, str]]]] = {}
    for number, claim in enumerate(outcome.claims):
        kind = "against" if claim.support.flagged else "for"
        for evidence in claim.evidence:
            quotes.setdefault(evidence.passage, []).append((evidence.span, (number, kind)))
    shown = [i for i in range(len(interaction.contexts)) if i < _MOST_PASSAGES or i in quotes]
    views = tuple(_passage(interaction, i, quotes.get(i, [])) for i in shown)
    return views, len(interaction.contexts) - len(shown)


def _passage(
    interaction: Interaction, index: int, quotes: Sequence[tuple[Span, tuple[int, str]]]
) -> PassageView:
    passage: Passage = interaction.contexts[index]
    text, left_out = clipped(passage.text, LONGEST_TEXT)
    return PassageView(
        name=one_line(passage_name(interaction, index)),
        score="" if passage.score is None else f"{passage.score:.4g}",
        metadata=tuple(
            (one_line(str(k)), marked(one_line(str(v)), _LONGEST_METADATA))
            for k, v in passage.metadata.items()
        ),
        lines=_lines(text, quotes),
        left_out=left_out,
        quoted=bool(quotes),
    )
