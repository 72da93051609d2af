"""A claim beside the settings that the documents give: "`max_retries` defaults to 3", where they say 5.

Only where it is clear: the documents have that very name, with one value or one that they call the default,
and have the claim's value nowhere of it. Never where the claim recommends a value, or says when it holds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import NamedTuple

from groundwire.core.cached import cached_property
from groundwire.core.span import Span
from groundwire.detectors.lexical_figures import Looked
from groundwire.text import facts, settings
from groundwire.text.fact import Fact, Kind
from groundwire.text.facts import Status
from groundwire.text.overlap import Context, Match
from groundwire.text.remembered import Remembered
from groundwire.text.settings import TRUTHS, Setting


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What a claim says of a setting, in ``words`` of it, and what the documents say.

    ``span`` has the setting's name too.
    """

    words: Span
    span: Span
    agrees: bool
    name: str
    mine: str
    theirs: str
    where: Match


@dataclass(frozen=True, slots=True)
class _Value:
    """A value as it is written, and the exact fact that it is or begins with, if any."""

    text: str
    fact: Fact | None

    @property
    def truth(self) -> bool | None:
        return TRUTHS.get(self.text.lower())

    @property
    def number(self) -> float | None:
        """The number that a program reads there: of "1e-8" and "10_000"."""
        try:
            return float(self.text)
        except ValueError:
            return None

    @property
    def is_open(self) -> bool:
        """Whether it leaves the value open, or is worked out elsewhere: "none", "${WORKERS}"."""
        return self.text.startswith("$") or not self.word or self.word in _NOTHING

    @property
    def word(self) -> str:
        return "".join(filter(str.isalnum, self.text)).lower()


_Settings = Sequence[tuple[Setting, int]]


class Given:
    """The settings that the documents give, worked through once for all claims of an answer."""

    def __init__(self, context: Context, question: str) -> None:
        self.context = context
        self.question = question

    @cached_property
    def asked(self) -> Sequence[tuple[Setting, str]]:
        """What the question says of settings, and their values: they may be the asker's own."""
        told = settings.stated(self.question)
        return [(one, one.said.of(self.question).lower()) for one in told if not one.default]

    @cached_property
    def by_name(self) -> Mapping[str, _Settings]:
        """The settings and the passages that have them, by the last part of their names."""
        found: dict[str, list[tuple[Setting, int]]] = defaultdict(list)
        for number, passage in enumerate(self.context.passages):
            for one in _READ.of(passage.text).given:
                found[one.name[-1]].append((one, number))
        return {name: some[:_LOOKED_AT] for name, some in found.items()}

    @cached_property
    def values(self) -> Mapping[tuple[int, int], str]:
        """By the passage and the place of a value, the name of what may be a setting; "" of what is one."""
        return {
            (number, start): name
            for number, passage in enumerate(self.context.passages)
            for start, name in _READ.of(passage.text).values.items()
        }

    def told(self, text: str, found: Sequence[Fact]) -> tuple[Told, ...]:
        """What the claim ``text``, of the exact facts ``found``, says of these settings."""
        mine = [one for one in settings.stated(text) if not _is_open(text, one)]
        mine = mine or _alluded(text, found)
        held = (_held(text, one, found, self) for one in mine)
        return tuple(one for one in held if one is not None)


def without_told(looked: Sequence[Looked], told: Sequence[Told]) -> tuple[Looked, ...]:
    """The figures, of which those that settings bear out are found, whatever stands around others.

    So are they in the unit that a name ends with: 30000 of "timeout_ms" are 30 seconds.
    """
    borne_out = [one for one in told if one.agrees]
    measured = [fact for one in borne_out for fact in facts.extract(f"{one.name}: {one.theirs}")]

    def found(fact: Fact) -> bool:
        said = any(fact.span.overlaps(one.words) for one in borne_out)
        return said or any(facts.agree(fact, other) for other in measured)

    return tuple(
        (fact, replace(checked, status=Status.FOUND), at)
        if borne_out and checked.status is not Status.FOUND and found(fact)
        else (fact, checked, at)
        for fact, checked, at in looked
    )


SAYING = frozenset(
    """
    default set valu configur option paramet variabl specifi pass most up least between hold mean limit
    maximum minimum exact current
    """.split()  # noqa: SIM905
)
"""Stems of what says that a setting has a value."""


class _Read(NamedTuple):
    """The settings of a passage, and where they and what may be one (``Given.values``) have their values."""

    given: Sequence[Setting]
    values: Mapping[int, str]

    @classmethod
    def of(cls, text: str) -> _Read:
        stated = settings.stated(text)
        given = settings.given(text, stated)
        maybe = {one.said.start: one.name[-1] for one in stated}
        return cls(given, maybe | dict.fromkeys((one.said.start for one in given), ""))


_READ = Remembered(_Read.of, most=1_000_000)


def _alluded(text: str, found: Sequence[Fact]) -> list[Setting]:
    """What a claim with one figure says of a setting that it names in brackets or the like."""
    stated = [fact for fact in found if not fact.soft]
    alluded = list(settings.alluded(text)) if stated else []
    if len(alluded) != 1 or any(not facts.agree(a, b) for a, b in pairwise(stated)):
        return []
    ((one, near),) = alluded
    within = [fact for fact in stated if near.start <= fact.span.start and fact.span.end <= near.end]
    return [Setting(one.name, one.span, within[0].span, one.default, coded=True)] if within else []


def _is_open(text: str, mine: Setting) -> bool:
    """Whether a claim recommends or supposes a value, calls it a limit, or says when or where it holds."""
    head = _CLAUSE.split(text[max(0, mine.span.start - _NEAR) : mine.span.start])[-1]
    tail = _CLAUSE.split(text[mine.said.end : mine.said.end + _NEAR])[0]
    if _UNSET.search(head):
        head = ""
    if _A_LIMIT.search(head) or _LIMITS.match(tail):
        return True
    if _QUALIFIED.match(head) or _QUALIFIES.search(_UNLESS.sub("", tail)):
        return True
    return (_PAST if mine.default else _SUPPOSED).search(head) is not None


def _is_shown(text: str, mine: Setting) -> bool:
    """Whether a sentence shows how a value is written, and isn't the setting's entry: "try `depth=4`"."""
    between, head, tail = (
        text[mine.span.end : mine.said.start],
        text[: mine.span.start],
        text[mine.said.end :],
    )
    if mine.default or not _SIGN.fullmatch(between) or (head.endswith("(") and tail.startswith(")")):
        return False
    return any(map(str.isalnum, head)) or len(tail.split()) > _UNIT_OR_SO


def _of_that_name(mine: Setting, given: Given) -> _Settings:
    """The settings of that name, as far as it is told; the defaults, where one is claimed and told."""
    theirs = [
        (one, number)
        for one, number in given.by_name.get(mine.name[-1], ())
        if one.name[-len(mine.name) :] == mine.name
    ]
    defaults = [pair for pair in theirs if pair[0].default]
    return defaults if mine.default and defaults else theirs


def _held(text: str, mine: Setting, found: Sequence[Fact], given: Given) -> Told | None:
    """A claimed value beside those of its setting; None where it isn't clear whether they are the same."""
    theirs, context = _of_that_name(mine, given), given.context
    if not theirs:
        return None
    value = _value(text, mine.said, found)
    values = [_value_in(context, one, number) for one, number in theirs]
    same = [_same(value, other) for other in values]
    agrees = True in same
    clear = all(one is False for one in same) and all(_same(a, b) for a, b in pairwise(values))
    if not agrees and (not clear or _is_shown(text, mine) or _told_elsewhere(value, text, mine, given)):
        return None
    if not mine.default and any(
        one.name == mine.name and said == value.text.lower() for one, said in given.asked
    ):
        return None
    at = same.index(True) if agrees else 0
    one, number = theirs[at]
    return Told(
        words=value.fact.span if value.fact else mine.said,
        span=Span(min(mine.span.start, mine.said.start), max(mine.span.end, mine.said.end)),
        agrees=agrees,
        name=mine.span.of(text),
        mine=value.text,
        theirs=values[at].text,
        where=context.match_at(number, one.said.start),
    )


def _value(text: str, said: Span, found: Sequence[Fact]) -> _Value:
    fact = next((one for one in found if one.span.overlaps(said)), None)
    return _Value((fact.span if fact else said).of(text).strip("\"'"), fact)


def _value_in(context: Context, one: Setting, number: int) -> _Value:
    text = context.passages[number].text
    value = _value(text, one.said, context.facts_of(context.match_at(number, one.said.start)))
    return _Value(value.text, _measured(one.span.of(text), value))


def _measured(name: str, value: _Value) -> Fact | None:
    """The fact that a value is, in the unit that the name ends with if it has none: "wait_ms"."""
    if value.fact is None or value.fact.unit:
        return value.fact
    return next((fact for fact in facts.extract(f"{name}: {value.text}") if fact.unit), value.fact)


def _same(mine: _Value, other: _Value) -> bool | None:
    """Whether two values are one; None where that can't be told."""
    if mine.number is not None and mine.number == other.number:
        return True
    if mine.fact is not None and other.fact is not None:
        return _same_figure(mine.fact, other.fact)
    if mine.word == other.word:
        return True
    if mine.truth is not None and other.truth is not None:
        return mine.truth is other.truth
    return None if mine.fact or other.fact else _same_word(mine, other)


def _same_word(mine: _Value, other: _Value) -> bool | None:
    """Whether two different words may be one value: "warn" and "warning" may."""
    if any(value.truth is not None or value.is_open for value in (mine, other)):
        return None
    return None if mine.word.startswith(other.word) or other.word.startswith(mine.word) else False


def _same_figure(mine: Fact, other: Fact) -> bool | None:
    if facts.agree(mine, other) or facts.agree(other, mine):
        return True
    (value, unit), (theirs, their_unit) = _number(mine), _number(other)
    if value is None or theirs is None:
        return False if mine.kind is other.kind and not (mine.highs or other.highs) else None
    if unit and their_unit:
        return False if unit == their_unit else None
    if unit == their_unit:
        return False
    if value == theirs:
        return True  # in seconds, mostly
    # What has no unit may be in another one: 30 beside "30000 ms".
    low, high = sorted((abs(value), abs(theirs)))
    return None if not low or any(abs(high / low - one) < _SAME for one in _FACTORS) else False


def _number(fact: Fact) -> tuple[float | None, str]:
    if fact.is_bare_year:
        return float(fact.text), ""
    if fact.highs or not fact.values or fact.kind in (Kind.DATE, Kind.TIME, Kind.CODE):
        return None, ""
    return fact.values[0], fact.unit


def _told_elsewhere(value: _Value, text: str, mine: Setting, given: Given) -> bool:
    """Whether the documents have a claim's figure near a setting's name, and not as another one's value."""
    if value.fact is None:
        return False
    wanted = settings.words(mine.span.of(text).rpartition(".")[2])
    context = given.context
    for equal in islice(context.known.equal(value.fact), _LOOKED_AT):
        where = context.place_of(equal)
        if where is None:
            continue
        names = {given.values.get((where.passage, at)) for at in range(equal.span.start, equal.span.end)}
        if names - {None, mine.name[-1]}:
            continue
        passage = context.passages[where.passage]
        near = passage.sentences[max(0, where.sentence - 1) : where.sentence + 2]
        there = settings.words(" ".join(span.of(passage.text) for span in near))
        if all(any(one.startswith(word[:_ALIKE]) for one in there) for word in wanted):
            return True
    return False


_NEAR, _LOOKED_AT, _ALIKE, _SAME = 80, 48, 5, 1e-6
_UNIT_OR_SO = 3  # words
_SIGN = re.compile(r"[\"'”]? ?[:=] ?[\"'“]?")
# Between units of time, shares, and of data by thousands, by 1024 or by both.
_FACTORS = (
    *(7.0, 10.0, 24.0, 60.0, 100.0, 1e3, 3_600.0, 86_400.0, 1e6, 1e9),
    *(1e3**a * 1.024**b for a in range(4) for b in range(1, 5)),
)
_NOTHING = frozenset(["none", "null", "nil", "unset", "empty", "undefined", "auto"])
_CLAUSE = re.compile(r"[.;:!?]\s|\n|, (?:and|but|while) ")
# Without a value given: what is said then is the default.
_UNSET = re.compile(
    r"\b(?:if|when|unless) (?:\w+ )?(?:don't|do not|isn't|is not|aren't|not) |\b(?:unless|without)\b",
    re.IGNORECASE,
)
_UNLESS = re.compile(r"\b(?:by default|(?:unless|if|when) .*)")
_SUPPOSED = re.compile(
    r"""\b(?:if|when|unless|once|with|sets?|setting|us(?:e|ing)|rais(?:e|ing)|increas\w+|lower\w*|reduc\w+
    |chang\w+|should|could|can|might|may|try|pass|passing|for\ (?:example|instance)|e\.g|suppose|say|was|were
    |until|previously|formerly|before|recommend\w*|suggest\w*|let|your|my|our|make|put|add|want|need|must|or|than)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PAST = re.compile(
    r"\b(?:was|were|used to|previously|formerly|before|until|old|older|not|never|suppose)\b", re.IGNORECASE
)
_A_LIMIT = re.compile(r"\b(?:maximum|minimum|highest|lowest|largest|smallest|allowed)\b", re.IGNORECASE)
_LIMITS = re.compile(r"\W*(?:\w+ )?(?:at (?:most|least)|or (?:more|less))\b")
_QUALIFIED = re.compile(
    r"\W*(?:in|on|for|under|during|as of|from|after|since)\b(?! (?:the|this|your|that) "
    r"(?:config\w*|settings?|files?|documents?|documentation|table|defaults?)\b)",
    re.IGNORECASE,
)
_QUALIFIES = re.compile(
    r"\b(?:on|for|under|during|or|to|times|per|in (?!total|all)|than|as of|since|until|before)\b",
    re.IGNORECASE,
)
