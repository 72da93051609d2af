"""A claim beside yes-and-no entries of records: "offers takeout" beside ``"TakeOut": false``.

Only where the claim plainly affirms or plainly denies what the entry is about, and nothing else in the
passages speaks of it: reviews beside a record may know better than the record. Of 241 such differences in
real answers (RAGTruth), 201 were marked as errors, and of 1,089 such agreements 13.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from groundwire.detectors.lexical_words import HEDGES, NEGATIVE
from groundwire.text.flags import Flag
from groundwire.text.forms import NEGATIONS
from groundwire.text.overlap import Context, Match
from groundwire.text.worded import Worded


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """Words of a claim that name entries of records, all of which say ``value``.

    ``entry`` is the first of them as it is written. One whose ``value`` is None, as ``null``, bears out
    neither a yes nor a no. ``said`` is whether the claim affirms it, None where it neither affirms nor denies
    it plainly. ``whole`` says that the claim names what the entry is about too: a "lot" and parking. ``told``
    says that a passage speaks of the thing elsewhere.
    """

    words: range
    said: bool | None
    value: bool | None
    whole: bool
    told: bool
    entry: str
    where: Match

    @property
    def agrees(self) -> bool:
        """Whether the claim says what the entry does."""
        return self.said is not None and self.said == self.value

    @property
    def differs(self) -> bool:
        """Whether the claim plainly says what the entry doesn't, and nothing else may bear it out."""
        return self.whole and not self.told and self.said is not None and self.said != self.value


def mentions(claim: Worded, text: str, context: Context) -> list[Mention]:
    """Every entry that the claim, worded ``text``, names, by the longest of its names."""
    found: list[Mention] = []
    for run in _named(claim, context.flags):
        key = _joined(claim, run)
        entries = context.flags[key]
        if len({flag.value for flag, _ in entries}) > 1:
            continue
        flag, where = entries[0]
        found.append(
            Mention(
                words=run,
                said=_affirmed(claim, text, run, context.flags),
                value=flag.value,
                whole=key == flag.key or _is_about(claim, flag.kind),
                told=_told(claim, run, context, entries),
                entry=" ".join(flag.span.of(context.passages[where.passage].text).split()),
                where=where,
            )
        )
    return found


def _named(claim: Worded, flags: Collection[str]) -> Iterator[range]:
    """The words of the claim that are names of ``flags``; the longest name that begins with a word."""
    start = 0
    while flags and start < len(claim.words):
        stops = range(min(len(claim.words), start + _LONGEST_NAME), start, -1)
        stop = next((stop for stop in stops if _joined(claim, range(start, stop)) in flags), None)
        if stop is not None:
            yield range(start, stop)
        start = stop or start + 1


def _joined(claim: Worded, run: range) -> str:
    return "".join(claim.stems[run.start : run.stop]).replace("-", "")


def _is_about(claim: Worded, kind: str) -> bool:
    """Whether the claim speaks of a ``kind`` of thing: "park" in the street, of a record of parking."""
    known = (kind[:_ALIKE], *_OTHER_WORDS.get(kind, ()))
    return bool(kind) and any(stem.startswith(known) for stem in claim.stems)


_ALIKE = 4
# What answers call what records call an ambience.
_OTHER_WORDS = {"ambienc": ("atmosph", "vibe", "decor")}


def figures(found: Sequence[Mention]) -> tuple[float, float, float, float]:
    """How many entries a claim names that bear it out, that differ, that know nothing; and names vaguely."""
    return (
        float(sum(one.agrees for one in found)),
        float(sum(one.differs and one.value is not None for one in found)),
        float(sum(one.differs and one.value is None for one in found)),
        float(sum(one.said is None for one in found)),
    )


_LONGEST_NAME = 4
# Where a clause begins that a "not" before it is not about.
_BREAKS = frozenset(["but", "although", "though", "while", "whereas", "yet", "except", "with", "without"])
_COMMA = re.compile(r"[,;()]|\s[-–—]\s")
# What makes a clause neither affirm nor deny.
_OPEN = HEDGES | frozenset(
    """
    if whether unless unclear unknown unspecified specified indicate mention mentioned details information
    """.split()  # noqa: SIM905
)


def _affirmed(claim: Worded, text: str, name: range, flags: Collection[str]) -> bool | None:
    """Whether the claim says that it is so, that it is not, or neither plainly.

    A "not" in the same part of a list denies; one in an earlier part may go on or not. One after the list
    that it is about, "garage and street parking are not available", denies each part of it.
    """
    if not _OPEN.isdisjoint(claim.folded):
        return None
    if _denied_together(claim, name, flags):
        return False
    words = claim.words
    clause = part = 0
    stop = len(words)
    for i in range(1, len(words)):
        begins = claim.folded[i] in _BREAKS
        parts = begins or claim.folded[i] == "and" or _COMMA.search(text[words[i - 1].end : words[i].start])
        if i <= name.start:
            clause = i if begins else clause
            part = i if parts else part
        elif i >= name.stop and parts:
            stop = i
            break
    negations = [i for i in range(clause, stop) if _negates(claim, i)]
    if not negations:
        return True
    here = len(negations) == 1 and negations[0] >= part
    return False if here and negations[0] < name.stop + _AFTER else None


_AFTER = 4


def _negates(claim: Worded, i: int) -> bool:
    """Whether a word denies, as "not", "lacks" and what "is disabled" do."""
    if claim.folded[i] in NEGATIONS or claim.stems[i] in NEGATIVE:
        return True
    return i > 0 and claim.folded[i] in _OFF and claim.folded[i - 1] in _STANDS


_OFF = frozenset(["disabled", "off", "deactivated", "inactive"])
STATES = _OFF | {"enabled", "on", "activated", "active"}
"""What a claim says in place of an entry's yes or no."""

_STANDS = frozenset(["is", "are", "was", "were", "be", "been", "currently", "switched", "turned", "default"])


def _denied_together(claim: Worded, name: range, flags: Collection[str]) -> bool:
    """Whether the name stands in a list of entries' names, and of nothing else, that "are not" at its end."""

    def listed(i: int) -> bool:
        stem = claim.stems[i].replace("-", "")
        return claim.folded[i] in _LISTING or any(stem in key for key in flags)

    starts = [i + 1 for i in range(name.start) if claim.folded[i] in _BREAKS]
    if not all(map(listed, range(max(starts, default=0), name.start))):
        return False
    end = next((i for i in range(name.stop, len(claim.folded)) if not listed(i)), len(claim.folded))
    ends = claim.folded[end : end + 2]
    return ends[:1] in (("isn't",), ("aren't",)) or ends in (("is", "not"), ("are", "not"))


_LISTING = frozenset(["the", "a", "an", "its", "and", "or", "both"])


def _told(claim: Worded, name: range, context: Context, entries: Sequence[tuple[Flag, Match]]) -> bool:
    """Whether a passage speaks of the thing itself, outside the entries of its record."""
    places = [set(context.places(claim.stems[i])) for i in name]
    own = {(where.passage, where.sentence) for _, where in entries}
    return any(context.at(place) not in own for place in set.intersection(*places))
