"""Rows of answers whose unsupported words are marked, and of changes made to them with their marks known.

Every answer, statement and record here comes with a human's marks; which answers these are, and how many rows
of each make a stage, the modules of stages say. The same seed gives the same rows: what is drawn, and in
which order, is part of it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundwire.core.span import Span
from groundwire.local import rows
from groundwire.local.embedded import LENGTH
from groundwire.text import claims as claim_text
from groundwire.text import sentences
from training import corruption
from training.encoder_rows import Label, Labelled, Mark, by_marks, overlap
from training.labelled_sets import Raw, contexts, is_record

TASK_WEIGHTS = {"qa": 0.6, "data2txt": 2.0, "summary": 2.0}
"""There are three times as many answers to questions as of the two other tasks together."""

FLAGGED_WEIGHT = 1.5
CHANGED_WEIGHT, FLIPPED_WEIGHT, COPIED_WEIGHT, COPIED_SUPPORTED_WEIGHT = 0.6, 0.8, 0.5, 0.3


def marks_of(raw: Raw) -> list[Mark]:
    """What annotators marked in an answer, as unsupported or, where they say so, contradicted."""
    return [
        Mark(
            Span(mark["start"], mark["end"]),
            Label.CONTRADICTED if "Conflict" in str(mark["label"]) else Label.UNSUPPORTED,
        )
        for mark in raw["spans"]
    ]


def as_marked(
    raw: Raw, claims: Sequence[Span], weight: float, length: int = rows.LENGTH
) -> Iterator[Labelled]:
    """The rows of an answer as it was marked."""
    builder = rows.Builder(contexts(raw), raw.get("question"), length=length)
    marks = marks_of(raw)
    for row in builder.rows(raw["answer"], claims):
        label, words = by_marks(row, marks)
        yield Labelled(row, label, words, weight * (FLAGGED_WEIGHT if label else 1.0))


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """How long rows of answers are, in tokens: mostly as one says, the others beside less evidence."""

    most: int
    share: float
    others: Sequence[int]

    def drawn(self, rng: random.Random) -> int:
        """The length of one answer's rows."""
        return self.most if rng.random() < self.share else rng.choice(self.others)


LONG = Lengths(most=rows.LENGTH, share=0.6, others=(160, 192, 224))
MOSTLY_LONG = Lengths(most=rows.LENGTH, share=0.7, others=(160, 192, 224))
MOSTLY_AS_READ = Lengths(most=LENGTH, share=0.7, others=(128, 160, rows.LENGTH))


def ragtruth(fitting: Sequence[Raw], rng: random.Random, lengths: Lengths = LONG) -> Iterator[Labelled]:
    """The answers as they are, some beside less evidence; for QA, 70 % of the supported statements."""
    for raw in fitting:
        length = lengths.drawn(rng)
        yield from thinned(raw, TASK_WEIGHTS[raw["task"]], length, 0.7, rng)


def thinned(raw: Raw, weight: float, length: int, share: float, rng: random.Random) -> Iterator[Labelled]:
    """The rows of an answer as it was marked; for QA, a share of the supported statements."""
    for made in as_marked(raw, claim_text.cut(raw["answer"]), weight, length):
        if made.label or raw["task"] != "qa" or rng.random() < share:
            yield made


def unmarked(raw: Raw, claims: Sequence[Span]) -> Iterator[tuple[int, Span]]:
    """The statements that annotators marked nothing of, with their numbers."""
    marks = marks_of(raw)
    return ((i, span) for i, span in enumerate(claims) if not any(mark.touches(span) for mark in marks))


def corrupted(fitting: Sequence[Raw], rng: random.Random) -> Iterator[Labelled]:
    """Corruptions of supported statements, and some in other words: of 80 % of them, for QA of 30 %."""
    donors: dict[str, list[str]] = {task: [] for task in TASK_WEIGHTS}
    for raw in fitting:
        donors[raw["task"]] += [span.of(raw["answer"]) for span in claim_text.cut(raw["answer"])]
    for raw in fitting:
        claims = claim_text.cut(raw["answer"])
        weight = CHANGED_WEIGHT * of_task(raw)
        share = 0.3 if raw["task"] == "qa" else 0.8
        for i, span in unmarked(raw, claims):
            if rng.random() > share:
                continue
            statement = span.of(raw["answer"])
            donor = rng.choice(donors[raw["task"]])
            changed = corruption.corrupt(statement, raw["context"], donor, rng)
            if changed is not None:
                yield from with_change(raw, claims, i, changed, weight)
            same = corruption.harmless(statement, rng)
            if same is not None and rng.random() < 0.5:
                yield from with_change(raw, claims, i, unharmed(same), weight)


def of_task(raw: Raw) -> float:
    """What a change of an answer weighs beside those of other tasks."""
    return min(1.5, TASK_WEIGHTS.get(raw["task"], 1.0) + 0.2)


def unharmed(text: str) -> corruption.Changed:
    """A statement that holds as it is."""
    return corruption.Changed(text=text, wrong=())


def with_change(
    raw: Raw,
    claims: Sequence[Span],
    i: int,
    changed: corruption.Changed,
    weight: float,
    *,
    length: int = rows.LENGTH,
) -> Iterator[Labelled]:
    """The rows of statement ``i`` changed, after the statement before it as it is."""
    old = claims[i]
    answer = raw["answer"][: old.start] + changed.text + raw["answer"][old.end :]
    new = Span(old.start, old.start + len(changed.text))
    marks = [Mark(mark.span.shifted(old.start), mark.label) for mark in changed.wrong]
    before = claims[i - 1 : i] if i else []
    builder = rows.Builder(contexts(raw), raw.get("question"), length=length)
    for row in builder.rows(answer, [*before, new]):
        if row.claim == len(before):
            label, words = by_marks(row, marks)
            yield Labelled(row, label, words, weight)


ATTRIBUTES = {
    "OutdoorSeating": r"outdoor (?:seating|dining|area)|outside seating|patio",
    "WiFi": r"(?:free )?wi-?fi(?: access)?|internet access",
    "RestaurantsTakeOut": r"take-?\s?out(?: services?| options?)?|carry-?out",
    "RestaurantsReservations": r"reservations?",
    "RestaurantsGoodForGroups": r"(?:large |big )?groups?",
    "garage": r"(?:parking )?garages?(?: parking)?",
    "street": r"street parking",
    "valet": r"valet(?: parking)?",
    "validated": r"validated parking",
    "lot": r"(?:private |parking )lots?(?: parking)?",
    "casual": r"casual",
    "classy": r"classy",
    "trendy": r"trendy",
    "romantic": r"romantic",
    "hipster": r"hipster",
    "touristy": r"touristy",
    "intimate": r"intimate",
    "divey": r"divey",
    "upscale": r"upscale",
}
"""Keys of Data2txt's restaurant records, and how answers put them."""

FLIPS = {"true": "false", "false": "true", '"no"': '"free"', '"free"': '"no"'}
_LONGEST_FLIPPED_MARK = 90


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A statement's words about an attribute of a record: offsets into both, and the attribute's value."""

    words: Span
    value: Span
    old: str


def flipped_records(fitting: Sequence[Raw], rng: random.Random) -> Iterator[Labelled]:
    """Statements beside the record with another value: right ones become wrong, wrong ones right."""
    for raw in fitting:
        if raw["task"] != "data2txt":
            continue
        claims = claim_text.cut(raw["answer"])
        weight = FLIPPED_WEIGHT * of_task(raw)
        for i, span in enumerate(claims):
            statement = span.of(raw["answer"])
            for mention in mentions(statement, raw["context"], rng):
                flipped = flip(raw, span, mention, rng)
                if flipped is not None:
                    value, wrong = flipped
                    changed = corruption.Changed(text=statement, wrong=wrong)
                    record = beside(raw, mention, value)
                    yield from with_change(record, claims, i, changed, weight)


def mentions(statement: str, record: str, rng: random.Random) -> Iterator[Mention]:
    """Attributes that the statement names once, and the record's reviews don't; of these 60 %."""
    reviews = record.partition("review_info")[2]
    for key, names in ATTRIBUTES.items():
        said = list(re.finditer(rf"\b(?:{names})\b", statement, re.IGNORECASE))
        value = re.search(rf'"{key}": ("[^"]*"|true|false|null)', record)
        if len(said) != 1 or value is None or rng.random() > 0.6:
            continue
        if not re.search(names, reviews, re.IGNORECASE):
            yield Mention(words=Span(*said[0].span()), value=Span(*value.span(1)), old=value[1])


def flip(raw: Raw, claim: Span, mention: Mention, rng: random.Random) -> tuple[str, tuple[Mark, ...]] | None:
    """Another value for the record, and what is wrong with the statement beside it."""
    words = mention.words.shifted(claim.start)
    spans = [mark.span for mark in marks_of(raw)]
    marked = [span for span in spans if overlap(span, words)]
    if any(overlap(span, claim) for span in spans if span not in marked):
        return None
    if marked:
        sure = mention.old in FLIPS and len(marked[0]) <= _LONGEST_FLIPPED_MARK
        return (FLIPS[mention.old], ()) if sure else None
    new = FLIPS.get(mention.old, "false") if rng.random() < 0.65 else "null"
    if mention.old == "null":
        return None
    label = Label.UNSUPPORTED if new == "null" else Label.CONTRADICTED
    return new, (Mark(mention.words, label),)


def beside(raw: Raw, mention: Mention, value: str) -> Raw:
    """The same answer to a record with another value."""
    record = raw["context"]
    record = record[: mention.value.start] + value + record[mention.value.end :]
    return {**raw, "context": record, "contexts": None}


def copied(raws: Sequence[Raw], rng: random.Random, share: float) -> Iterator[Labelled]:
    """Sentences of contexts as statements about them, as they are or in other words, and corrupted."""
    donors = [
        span.of(raw["context"])
        for raw in raws[::7]
        for span in sentences.split(raw["context"])
        if _is_statement(span.of(raw["context"]))
    ]
    seen: set[str] = set()
    for raw in raws:
        context = raw["context"]
        if context in seen or is_record(context):
            continue
        seen.add(context)
        for span in sentences.split(context):
            sentence = span.of(context)
            if not _is_statement(sentence) or "\n" in sentence or rng.random() > share:
                continue
            as_answer = {**raw, "answer": sentence, "question": None}
            claims = [Span(0, len(sentence))]
            changed = corruption.corrupt(sentence, context, rng.choice(donors), rng)
            if changed is not None:
                weight = COPIED_WEIGHT * of_task(raw)
                yield from with_change(as_answer, claims, 0, changed, weight)
            same = corruption.harmless(sentence, rng) or sentence
            weight = COPIED_SUPPORTED_WEIGHT * of_task(raw)
            yield from with_change(as_answer, claims, 0, unharmed(same), weight)


def _is_statement(sentence: str) -> bool:
    """No heading, and no table run together."""
    return 40 < len(sentence) < 240
