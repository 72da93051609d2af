"""A claim beside yes-and-no entries of records: "offers takeout" beside ``"TakeOut": false``.

Only where the claim plainly affirms or plainly denies what the entry is about, and nothing else in the
passages speaks of it: reviews beside a record may know better than the record. Of 139 such differences in
real answers (RAGTruth), 117 were marked as errors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.detectors.lexical_words import HEDGES, NEGATIVE
from groundwire.text.flags import Flag
from groundwire.text.forms import NEGATIONS
from groundwire.text.overlap import Context, Match, Worded


@dataclass(frozen=True, kw_only=True, slots=True)
class Denied:
    """The words of a claim that an entry of a record denies, that entry as it is written, and where it is.

    An entry that is not ``known``, as ``null``, bears out neither a yes nor a no.
    """

    words: range
    entry: str
    known: bool
    where: Match


def denied(claim: Worded, text: str, context: Context) -> Denied | None:
    """The first thing that the claim, worded ``text``, says of an entry and the entry denies."""
    flags = context.flags
    for start in range(len(claim.words) if flags else 0):
        for stop in range(min(len(claim.words), start + _LONGEST_NAME), start, -1):
            key = "".join(claim.stems[start:stop]).replace("-", "")
            entries = flags.get(key, [])
            name = range(start, stop)
            said = _affirmed(claim, text, name) if entries else None
            if said is None or not _denied(said, entries) or _told(claim, name, context, entries):
                continue
            flag, where = entries[0]
            entry = " ".join(flag.span.of(context.passages[where.passage].text).split())
            return Denied(words=name, entry=entry, known=flag.value is not None, where=where)
    return None


def _denied(said: bool, entries: Sequence[tuple[Flag, Match]]) -> bool:
    """Whether all entries of a name say one other thing, or all of them nothing."""
    values = {flag.value for flag, _ in entries}
    return len(values) == 1 and said not in values


_LONGEST_NAME = 4
# Where a clause begins that a "not" before it is not about.
_BREAKS = frozenset(["but", "although", "though", "while", "whereas", "yet", "except"])
_COMMA = re.compile(r"[,;()]|\s[-–—]\s")
# What makes a clause neither affirm nor deny.
_OPEN = HEDGES | frozenset(
    [
        "if",
        "whether",
        "unless",
        "unclear",
        "unknown",
        "unspecified",
        "specified",
        "indicate",
        "mention",
        "mentioned",
        "details",
        "information",
    ]
)


def _affirmed(claim: Worded, text: str, name: range) -> bool | None:
    """Whether the claim says that it is so, that it is not, or neither plainly.

    A "not" in the same part of a list denies; one in an earlier part may go on or not.
    """
    if not _OPEN.isdisjoint(claim.folded):
        return None
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
    negations = [i for i in range(clause, stop) if claim.folded[i] in NEGATIONS or claim.stems[i] in NEGATIVE]
    if not negations:
        return True
    here = len(negations) == 1 and negations[0] >= part
    return False if here and negations[0] < name.stop + _AFTER else None


_AFTER = 4


def _told(claim: Worded, name: range, context: Context, entries: Sequence[tuple[Flag, Match]]) -> bool:
    """Whether a passage speaks of the thing itself, outside the entries of its record."""
    places = [set(context.places(claim.stems[i])) for i in name]
    own = {(where.passage, where.sentence) for _, where in entries}
    return any(context.at(place) not in own for place in set.intersection(*places))
