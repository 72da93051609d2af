"""What a passage, or each of its sections, is about: the names in its heading or its opening words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from groundwire.core.span import Span
from groundwire.text.remembered import Remembered
from groundwire.text.tokens import STOP_WORDS
from groundwire.text.units import LABELS


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a passage, what stands at its head, and the names in that: none where it has no head.

    ``titled`` says that the head is set off as one, and is no beginning of a sentence; ``words`` are its
    words, and ``lowered`` those that the section writes with a small letter.
    """

    span: Span
    head: str
    titled: bool
    names: frozenset[str]
    words: tuple[str, ...]
    lowered: frozenset[str]

    def title_beside(self, other: Section) -> str:
        """What tells its head from another's: "Canopy plan" of "Mobile > Canopy plan > Price"."""
        there = _WAY.split(other.head)
        return next((part for part in reversed(_WAY.split(self.head)) if part not in there), self.head).strip(
            " *_"
        )

    def is_built_like(self, other: Section) -> bool:
        """Whether both heads begin with one word, or share a good part: "Sydby depot", "Nordhaven depot"."""
        shared = set(self.words) & set(other.words)
        shorter = min(len(set(self.words)), len(set(other.words)))
        return bool(shared) and (self.words[0] == other.words[0] or len(shared) > shorter / 3)

    @property
    def is_name(self) -> bool:
        """Whether its head is nothing but a name: "Posada del Molino", and not "Lost or stolen cards"."""
        words = self.head.split()
        return self.titled and len(words) <= _NAME and all(w[0].isupper() for w in words if len(w) > _SMALL)


def sections(text: str) -> tuple[Section, ...]:
    """The sections of a passage, in order: those under its headings of one level, or else the whole."""
    return _SECTIONS.of(text)


def named(text: str) -> frozenset[str]:
    """What is written like a name in a text: capitalised, with digits, or a number with what is before it."""
    return frozenset(token for token, names in _tokens(text) if names)


def mentioned(text: str) -> frozenset[str]:
    """All that may be a name in a text, however it is written."""
    return frozenset(token for token, _ in _tokens(text))


def _sections(text: str) -> tuple[Section, ...]:
    starts = _headings(text)
    if not starts or text[: starts[0]].strip():
        starts = [0, *starts]
    return tuple(_section(text, Span(a, b)) for a, b in pairwise([*starts, len(text)]) if a < b)


def _section(text: str, span: Span) -> Section:
    head, titled = _head(span.of(text))
    names = (
        {*named(head), *(f"the {number}" for number in _NUMBERED.findall(head))}
        - _CALENDAR
        - STOP_WORDS
        - _ALL
    )
    words = tuple(word for word in map(str.casefold, _WORD.findall(head)) if word not in STOP_WORDS)
    lowered = frozenset(map(str.casefold, _LOWER.findall(span.of(text))))
    return Section(span, head, titled, frozenset(names), words, lowered)


def _headings(text: str) -> list[int]:
    """Where the headings of the first level begin that has several."""
    found = [(len(heading["marks"]), heading.start()) for heading in _HEADING.finditer(text)]
    for level in sorted({level for level, _ in found}):
        at = [start for other, start in found if other == level]
        if len(at) > 1:
            return at
    return []


def _head(text: str) -> tuple[str, bool]:
    """The heading, title or name that a text begins with, and whether it is set off from the rest."""
    said = text.strip()
    if entry := _ENTRY.search(said[:_FAR]):
        return entry["value"], True
    first, _, rest = said.partition("\n")
    first = first.strip()
    if first.startswith("#") or (rest.strip() and len(first.split()) <= _TITLE and first[-1:] not in _ENDS):
        return first.strip("#*_ "), True
    if bold := _BOLD.match(said):
        return bold["head"], True
    fragment = _FRAGMENT.match(said)
    if fragment and len(fragment[0].split()) <= _SHORT and not _VERB.search(fragment[0]):
        return fragment[0], False
    name = _LEADING.match(said)
    return (name[0] if name else ""), False


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Each word, and each number with the word before it; and whether it is written like a name."""
    last = ""
    capital = False
    for match in _TOKEN.finditer(text):
        token = _POSSESSIVE.sub("", match[0])
        if token.isdigit() and not _YEAR.fullmatch(token):
            yield f"{last} {token}", last == "the" or (capital and last not in LABELS)
        else:
            like_a_name = token[0].isupper() or (not token.isalpha() and "'" not in token)
            yield token.casefold(), like_a_name and len(token) > 1
        last, capital = token.casefold(), token[0].isupper()


_TOKEN = re.compile(r"[^\W_](?:[\w.&’'-]*[^\W_])?")
_WORD = re.compile(r"[^\W\d_]{3,}")
_LOWER = re.compile(r"(?<![^\W_])[a-zà-öø-ÿ][^\W\d_]++")
_NUMBERED = re.compile(r"(?<![^\W_])[^\W\d_a-z]\w*+ (\d{1,3})(?![\w.,:°%/-])")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_YEAR = re.compile(r"(?:19|20)\d\d")
_HEADING = re.compile(r"^(?P<marks>#{1,6})[ \t]+\S", re.MULTILINE)
_ENTRY = re.compile(r"(?:\A|[\n{,])[ \t\"'{-]*(?:name|title)\"?: *\"?(?P<value>[^\n\"]{2,80})", re.IGNORECASE)
_BOLD = re.compile(r"\*\*(?P<head>[^*\n]{2,80})\*\*")
_FRAGMENT = re.compile(r"[^\n.:|(;]{2,100}(?=[.:|(;](?:\s|\w))")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|can|could|may|will|would|do|does|did|must|should|if|when|"
    r"you|we|i|he|she|it|they|[a-z]{2,}ed)\b",
)
_WAY = re.compile(r" [>/|›»] |: ")
_LEADING = re.compile(r"(?:The )?(?:[^\W\d_a-z][\w&’'-]*+ ?){1,6}")
# What many a text begins with: no name of its subject.
_CALENDAR = frozenset(
    """
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday
    """.split()  # noqa: SIM905
)
# What is said of all of a kind has no name of its own.
_ALL = frozenset(["all", "every", "each", "both", "any", "general", "common", "other"])
_ENDS = (".", "!", "?", ",", ";", "|")
_FAR, _TITLE, _SHORT, _NAME, _SMALL = 200, 16, 9, 5, 3


# In characters of passages.
_SECTIONS = Remembered(_sections, most=1_000_000)
