"""What a claim says otherwise than the documents, in which words, and what to say of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.core.claim import Support
from groundwire.core.span import Span, union
from groundwire.detectors.lexical_code import Invented
from groundwire.detectors.lexical_places import named_beside
from groundwire.detectors.lexical_records import Mention
from groundwire.detectors.lexical_seen import Seen
from groundwire.detectors.lexical_settings import Told
from groundwire.text import conversion, facts
from groundwire.text.facts import Fact, Status
from groundwire.text.forms import NEGATIONS
from groundwire.text.overlap import Context, Match


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """What the claim says, and what the document says instead."""

    words: tuple[Span, ...]
    where: Match
    reason: str
    exact: bool = False
    denies: bool = False
    support: Support = Support.CONTRADICTED


def conflict_in(seen: Seen, context: Context) -> Conflict | None:
    """A setting of another value, or what tables say otherwise, invented code, a ratio the wrong way round.

    Else a fact that differs; else what a record denies; else a "not" too many, or an opposite.
    """
    if otherwise := [one for one in seen.settings if not one.agrees]:
        return _set_otherwise(seen, otherwise)
    return _tabled(seen) or _told(seen, context)


def _tabled(seen: Seen) -> Conflict | None:
    """Another cell's figure, or figures that go the other way."""
    if seen.cells:
        return Conflict(
            words=union(one.fact.span.shifted(seen.span.start) for one in seen.cells),
            where=seen.cells[0].where,
            reason=_otherwise(seen.cells[0].fact, seen.cells[0].cell),
        )
    if seen.moved is None:
        return None
    words = (seen.moved.words.shifted(seen.span.start),)
    reason = f"{quoted(seen.moved.mine)} here, but {seen.moved.theirs}"
    return Conflict(words=words, where=seen.moved.where, reason=reason)


def _told(seen: Seen, context: Context) -> Conflict | None:
    if seen.invented is not None:
        return _invented(seen, seen.invented)
    if seen.reversed is not None:
        words = (seen.reversed.words.shifted(seen.span.start),)
        reason = _beside(seen.reversed.mine, seen.reversed.theirs)
        return Conflict(words=words, where=seen.reversed.where, reason=reason)
    differing = [
        (fact, checked.nearest, where)
        for fact, checked, where in seen.checked
        if checked.status is Status.DIFFERS and checked.nearest is not None and where is not None
    ]
    if differing:
        fact, nearest, where = differing[0]
        told = named_beside(nearest, where, context, {seen.worded.stems[i] for i in seen.worded.content})
        told = _in_its_unit(fact, nearest, where, context) if told is nearest else told
        stated = any(facts.agree(mine, told) for mine, _, _ in seen.checked)
        return Conflict(
            words=union(f.span.shifted(seen.span.start) for f, _, _ in differing),
            where=where,
            reason=_otherwise(fact, nearest if stated else told),
            exact=True,
        )
    if of_another := _borrowed(seen) or _mentioned(seen):
        return of_another
    return _denied(seen, seen.denied) if seen.denied else _worded_otherwise(seen)


def _invented(seen: Seen, invented: Invented) -> Conflict:
    others = " and ".join(map(quoted, invented.others[:_NAMED]))
    return Conflict(
        words=(invented.words.shifted(seen.span.start),),
        where=invented.where,
        reason=f"{quoted(invented.name)} is not in the documents, which have {others}",
        support=Support.UNSUPPORTED,
    )


_NAMED = 2


def _set_otherwise(seen: Seen, told: Sequence[Told]) -> Conflict:
    first = told[0]
    return Conflict(
        words=union(one.words.shifted(seen.span.start) for one in told),
        where=first.where,
        reason=f"{first.name} is {first.mine} here, {first.theirs} in the document",
    )


def _borrowed(seen: Seen) -> Conflict | None:
    """What is said of the wrong one of siblings, beside what that one has, or else beside whose it is."""
    borrowed = seen.borrowed
    if borrowed is None:
        return None
    words = (borrowed.words.shifted(seen.span.start),)
    if borrowed.fact is not None and borrowed.nearest is not None:
        reason = _otherwise(borrowed.fact, borrowed.nearest)
        return Conflict(words=words, where=borrowed.where, reason=reason)
    said = "this" if borrowed.fact is None else _say(borrowed.fact)
    reason = said_of_another(said, borrowed.whose, borrowed.of)
    return Conflict(words=words, where=borrowed.where, reason=reason, support=Support.UNSUPPORTED)


def said_of_another(said: str, whose: str, of: str) -> str:
    """What to say of what the document says of another than the claim does."""
    return f"{said} is said of {quoted(whose)} in the document, not of {quoted(of)}"


def _mentioned(seen: Seen) -> Conflict | None:
    if seen.mentioned is None:
        return None
    said, there = seen.mentioned.what, seen.mentioned.sentence
    reason = f"{quoted(said)} is mentioned in the document: {quoted(there)}"
    return Conflict(words=(seen.span,), where=seen.mentioned.where, reason=reason)


def _in_its_unit(fact: Fact, nearest: Fact, where: Match, context: Context) -> Fact:
    """The one figure of the sentence in the unit of ``fact``: of 12 months and 16 weeks, the weeks."""
    there = context.passages[where.passage].facts[where.sentence]
    alike = [one for one in there if facts.comparable(fact, one) and _unit(one) == _unit(fact)]
    return alike[0] if len(alike) == 1 else nearest


def _worded_otherwise(seen: Seen) -> Conflict | None:
    """A difference in words from the sentence that the claim says over again."""
    if seen.negation_differs:
        here = bool(seen.worded.negated)
        denied = quoted(seen.negation_differs.mine)
        reason = f"denied here, but not in the document: {denied}"
        if not here:
            reason = f"denied in the document, but not here: {denied}"
        words = _negation_words(seen)
        return Conflict(words=words, where=seen.negation_differs.where, reason=reason, denies=True)
    if seen.opposite:
        word = seen.worded.words[seen.opposite.at].span.shifted(seen.span.start)
        reason = _beside(seen.opposite.mine, seen.opposite.theirs)
        return Conflict(words=(word,), where=seen.opposite.where, reason=reason)
    if seen.replaced:
        run, theirs = seen.replaced
        span = seen.place(run)
        mine = " ".join(seen.worded.words[i].text for i in run)
        return Conflict(words=(span,), where=seen.matches[0], reason=_beside(mine, theirs))
    return None


def _denied(seen: Seen, denied: Mention) -> Conflict:
    words = " ".join(seen.worded.words[i].text for i in denied.words)
    if denied.value is not None:
        return Conflict(
            words=(seen.place(denied.words),), where=denied.where, reason=_beside(words, denied.entry)
        )
    return Conflict(
        words=(seen.place(denied.words),),
        where=denied.where,
        reason=f"{quoted(words)} is left open in the document: {quoted(denied.entry)}",
        support=Support.UNSUPPORTED,
    )


def _beside(mine: str, theirs: str) -> str:
    return f"{quoted(mine)} here, {quoted(theirs)} in the document"


def _otherwise(fact: Fact, nearest: Fact) -> str:
    if facts.agree(fact, nearest):
        return f"{_say(fact)} is said of other days: {quoted(nearest.before + nearest.text + nearest.after)}"
    return f"{_say(fact)} here, {_say(nearest)} in the document{_converted(nearest, fact)}"


def _say(fact: Fact) -> str:
    said = " ".join(whole(fact.source, fact.span).of(fact.source).split())
    return said[:-1] if _STOP.search(said) else said


def whole(text: str, span: Span) -> Span:
    """A figure with letters written onto it ("4x", "412.6p"), and the bracket or "+" that opens it."""
    inner = span.of(text)
    opened = inner[:1].isdigit() and ")" in inner and "(" not in inner and text.endswith("(", 0, span.start)
    opened |= inner[:1].isdigit() and text.endswith("+", 0, span.start)
    onto = _ONTO.match(text, span.end) if inner[-1:].isdigit() else None
    return Span(span.start - opened, onto.end() if onto else span.end)


_STOP = re.compile(r"\d\.\Z")
_ONTO = re.compile(r"[A-Za-z]{1,2}\b")


def _converted(nearest: Fact, fact: Fact) -> str:
    """What the document's figure is in the unit of the claim's: ": that is 3.1 miles"."""
    number = conversion.restated(nearest, fact)
    unit = _unit(fact)
    return f": that is {number} {unit}" if number and unit != _say(fact) else ""


def _unit(fact: Fact) -> str:
    """The unit as it is written: "weeks"; the whole where no digits stand before it."""
    return _NUMBER.sub("", _say(fact))


_NUMBER = re.compile(r"\A[-−]?[\d.,]+[ -]?")


def _negation_words(seen: Seen) -> tuple[Span, ...]:
    at = seen.negation_differs.at if seen.negation_differs else 0
    words = seen.worded.words
    negations = [i for i, folded in enumerate(seen.worded.folded) if folded in NEGATIONS]
    first = max((i for i in negations if i < at), default=at)
    return (Span(words[first].start, words[at].end).shifted(seen.span.start),)


def quoted(text: str) -> str:
    """Words as a reason shows them: in quotation marks, on one line, and cut where they are many."""
    shown = " ".join(text.split())
    return f"“{shown}”" if len(shown) <= _SHOWN else f"“{shown[: _SHOWN - 1].rstrip()}…”"


_SHOWN = 80
