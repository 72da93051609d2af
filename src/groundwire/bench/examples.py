"""A labelled answer: what is judged, what people said of it, and what it must not be told apart from."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.core.detector import Detector
from groundwire.core.errors import InputError
from groundwire.core.interaction import Interaction
from groundwire.core.span import Span, union
from groundwire.tables import TableError
from groundwire.tuned import members

_NAMED = 4  # ids of answers that are alike, of which there may be thousands
_TOLD = 5  # rows that can't be measured, likewise
UNLABELLED = (
    "A label is 1 or hallucinated, 0 or grounded; a column that is not called 'label' has to be named: "
    "--columns label=COLUMN, in Python columns={'label': ...}"
)
"""What to do where no answer has a label."""
_HASH = 5  # bytes: of 100,000 answers and 100,000 others, no two are taken for one in 99 cases of 100


@dataclass(frozen=True, kw_only=True)
class Example:
    """One answer and its label.

    ``label`` is True for an answer known to be hallucinated, False for one known to be grounded, None where
    nobody knows. ``spans`` are the words of the answer that people marked as unsupported: ordered and
    disjoint, empty where none are, None where nobody marked words. ``group`` names the source document:
    answers of one group are never split. ``task`` and ``model`` (which generated the answer) may be empty.
    ``weight`` is how much of what is to come it stands for, 1 on the mean, where some answers were drawn for
    labelling more often than others. Raises InputError for spans that reach past the answer.
    """

    id: str
    interaction: Interaction
    label: bool | None
    spans: tuple[Span, ...] | None = None
    group: str = ""
    task: str = ""
    model: str = ""
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.group:
            object.__setattr__(self, "group", group_of(self.interaction))
        if self.spans is None:
            return
        size = len(self.interaction.answer)
        for span in self.spans:
            if span.end > size:
                raise InputError(f"{self.id}: {span} reaches past an answer of {size} characters")
        object.__setattr__(self, "spans", union(self.spans))


def marked(examples: list[Example]) -> list[Example]:
    """The same examples, without spans where nobody marked words and with none where there are none to mark.

    Where no row at all has a marked word, or one that is not known to be grounded has none, nobody marked
    words there. A grounded one beside rows with marked words has none, whether its cell is an empty list or
    just empty: what a method marks in it is a false mark.
    """
    if not any(one.spans for one in examples):
        return [replace(one, spans=None) for one in examples]
    return [one if one.spans else replace(one, spans=() if one.label is False else None) for one in examples]


def gathered(name: str, attempts: Iterator[Example | str]) -> list[Example]:
    """The examples, where all could be made. Raises TableError with the first problems and their number."""
    examples: list[Example] = []
    problems: list[str] = []
    for attempt in attempts:
        if isinstance(attempt, str):
            problems.append(attempt)
        else:
            examples.append(attempt)
    if problems:
        more = f"; and {len(problems) - _TOLD} more" if len(problems) > _TOLD else ""
        raise TableError(
            f"{name}: {len(problems)} rows can't be measured: {'; '.join(problems[:_TOLD])}{more}. "
            "Mend them or take them out: what is left out silently is not measured"
        )
    return examples


def group_of(interaction: Interaction) -> str:
    """A name for the documents that an answer is about: the same for the same texts, however spaced.

    An answer without documents is told apart by its question.
    """
    texts = [_plain(passage.text) for passage in interaction.contexts if passage.text.strip()]
    return _digest(sorted(texts) or ["", _plain(interaction.question)])


def fingerprint(examples: Iterable[Example], *, labels: bool = True) -> str:
    """16 hexadecimal digits that change with any example or their order.

    Without ``labels`` only what a detector sees counts, and not what people said of it.
    """
    whole = hashlib.sha256()
    for one in examples:
        given = one.interaction
        row: list[object] = [one.id, given.question, [p.text for p in given.contexts], given.answer]
        row.append([[str(turn.role), turn.text] for turn in given.history])
        if labels:
            spans = None if one.spans is None else [(span.start, span.end) for span in one.spans]
            row += [one.label, spans, one.group]
        whole.update(json.dumps(row).encode())
    return whole.hexdigest()[:16]


def contents(examples: Iterable[Example]) -> bytes:
    """Short hashes of what the examples say, one after another: of no use to whoever does not have them."""
    return b"".join(sorted({_hash(one) for one in examples}))


def among(known: bytes, examples: Iterable[Example]) -> int:
    """How many of the examples are among those of these ``contents``, whatever their ids and labels."""
    hashes = {known[at : at + _HASH] for at in range(0, len(known), _HASH)}
    return sum(_hash(one) in hashes for one in examples)


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """What several sets, or one set with itself, have in common.

    ``repeated`` are groups of ids within one set whose question, documents and answer are the same texts;
    ``disagreeing`` those of them with different labels. ``parted`` are the sources that one passage is told
    to be of, where these are several, each with the id of an answer.
    ``leaks`` say, for each pair of sets, how many answers of the second were given a passage that an answer
    of the first was given, too.
    """

    repeated: Mapping[str, Sequence[tuple[str, ...]]]
    disagreeing: Mapping[str, Sequence[tuple[str, ...]]]
    parted: Mapping[str, Sequence[Mapping[str, str]]]
    leaks: Mapping[tuple[str, str], int]

    def __bool__(self) -> bool:
        return any((*self.repeated.values(), *self.parted.values(), self.leaks))

    def lines(self) -> list[str]:
        """The findings in words, one a line; none where there is nothing to tell."""
        told = []
        for name, found in self.repeated.items():
            if found:
                extra = sum(len(ids) - 1 for ids in found)
                told.append(
                    f"{name}: answers that repeat an earlier one: {extra}, such as {_alike(found[0])}"
                )
        told += [
            f"{name}: {shared(found)}: if these are one document, intervals are too narrow. Give its answers "
            "one group"
            for name, found in self.parted.items()
            if found
        ]
        told += [f"{name}: {both_ways(found)}" for name, found in self.disagreeing.items() if found]
        for (first, second), count in self.leaks.items():
            told.append(f"{second}: answers that share a passage with {first}: {count}")
        return told


def overlap(sets: Mapping[str, Sequence[Example]]) -> Overlap:
    """Answers that come up twice, and passages that several sets share. Spacing and case don't tell apart."""
    repeated: dict[str, list[tuple[str, ...]]] = {}
    disagreeing: dict[str, list[tuple[str, ...]]] = {}
    for name, examples in sets.items():
        alike: dict[str, list[Example]] = {}
        for one in examples:
            alike.setdefault(_content(one.interaction), []).append(one)
        several = [group for group in alike.values() if len(group) > 1]
        repeated[name] = [_ids(group) for group in several]
        disagreeing[name] = [
            _ids(group) for group in several if len({one.label for one in group} - {None}) > 1
        ]
    names = list(sets)
    passages = {name: [_passages(one) for one in sets[name]] for name in names}
    leaks = {}
    for at, first in enumerate(names):
        seen = frozenset().union(*passages[first])
        for second in names[at + 1 :]:
            if count := sum(not seen.isdisjoint(mine) for mine in passages[second]):
                leaks[first, second] = count
    parted = {name: _parted(sets[name], passages[name]) for name in names}
    return Overlap(repeated=repeated, disagreeing=disagreeing, parted=parted, leaks=leaks)


def shared(parted: Sequence[Mapping[str, str]]) -> str:
    """How many sources share a passage with another, in words."""
    count = len({group for sources in parted for group in sources})
    first, second, *_ = parted[0].values()
    return f"sources that share a passage with another: {count:,}, such as those of {first} and {second}"


def both_ways(disagreeing: Sequence[tuple[str, ...]]) -> str:
    """How many answers are repeated under another label, in words."""
    return (
        f"repeated answers that are labelled both ways: {len(disagreeing)}, such as {_alike(disagreeing[0])}"
    )


def split(
    examples: Sequence[Example], *, held_out: float, seed: str = ""
) -> tuple[list[Example], list[Example]]:
    """The examples to fit on and those to measure on, about ``held_out`` of the groups.

    A group goes as a whole, to a side that depends on its name and ``seed`` alone: more examples move none.
    """
    if not 0 < held_out < 1:
        raise ValueError(f"held_out must be a share between 0 and 1, not {held_out!r}")
    sides: tuple[list[Example], list[Example]] = ([], [])
    for one in examples:
        sides[place(one.group, seed=seed) >= 1 - held_out].append(one)
    return sides


def place(group: str, *, seed: str = "") -> float:
    """Where a group falls in [0, 1), evenly and always at the same place."""
    return int(hashlib.sha256(f"{seed}:{group}".encode()).hexdigest()[:12], 16) / 16**12


def shown_as_examples(detector: Detector, examples: Sequence[Example]) -> list[str]:
    """The ids of those that the detector, or a part of it, is shown as reviewed examples.

    What it says of them is no measure of it, and neither is what it says of others from the same passages.
    """
    shown = [one.interaction for part in members(detector) for one in getattr(part, "examples", ())]
    known = {group_of(one) for one in shown}
    return [one.id for one in examples if known and group_of(one.interaction) in known]


def _parted(examples: Sequence[Example], passages: Sequence[frozenset[str]]) -> list[Mapping[str, str]]:
    sources: dict[str, dict[str, str]] = {}
    for one, mine in zip(examples, passages, strict=True):
        whole = group_of(one.interaction)
        # Who named sources knows of passages that are retrieved for several, but not that all are the same.
        for text in mine | {whole} if one.group == whole else {whole} if mine else ():
            sources.setdefault(text, {}).setdefault(one.group, one.id)
    return [several for several in sources.values() if len(several) > 1]


def _ids(group: Sequence[Example]) -> tuple[str, ...]:
    return tuple(one.id for one in group)


def _alike(ids: Sequence[str]) -> str:
    more = len(ids) - _NAMED
    return " = ".join(ids[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _passages(one: Example) -> frozenset[str]:
    return frozenset(_digest([text]) for p in one.interaction.contexts if (text := _plain(p.text)))


def _content(given: Interaction) -> str:
    texts = [passage.text for passage in given.contexts] + [turn.text for turn in given.history]
    return _digest([*map(_plain, (given.question, given.answer, *texts))])


def _hash(one: Example) -> bytes:
    return bytes.fromhex(_content(one.interaction))[:_HASH]


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold()


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]
