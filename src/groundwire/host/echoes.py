"""What the text of a tool says beside what it was given: what a model gave to it, the model has said.

How words are compared and found again is told in ``seen``.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from groundwire.host.seen import (
    MOST,
    STATEMENT,
    found_at,
    is_statement,
    is_telling,
    joined,
    look_through,
    taken_out,
    weight,
)
from groundwire.text.tokens import Word, texts

# A field of JSON, or of what Python printed, in which a search says what it was asked for.
_QUERY = re.compile(
    r"""((["'])(?:q|query|search_query)\2\s*:\s*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""", re.DOTALL
)
_MOST_VALUES, _VALUE = 1_000, 20  # of a structure, and characters of a text that count for one
# What a tool says that did nothing but keep what it was given.
_KEPT = re.compile(
    r"added|keep|kept|memor(?:y|ies)|noted?|notes|received|recorded|reflections?|remember(?:ed)?|saved|stored|"
    r"reviewed|thinking|thoughts?|todos?|written"
)
_STATES = frozenset({"received", "reviewed"})  # of these, in which a thing may be found to be
_RECEIVED = re.compile(
    rf"\d+|an?|all|and|are|been|created|current|done|facts?|for|has|have|i|in|info|information|is|it|its|items?|"
    rf"i['’]ll|later|list|messages?|my|new|now|of|ok|okay|plan|preferences?|profile|reports?|result|status|success|successfully|"
    rf"tasks?|text|that|the|this|to|true|updated|user(?:['’]s)?|was|will|with|your?|{_KEPT.pattern}"
)
# The number of a line, where a file is shown with them.
_NUMBER = re.compile(r"\A\s*\d+(?: ?[→|:.)]|\s|$)")
_SEVERAL, _LONG = 2, 40  # lines of a file, and characters of what may be one
_AN_EDIT = 8  # texts in a call that puts one in another's place, at most
_ROOTS = "/", "./", "~/"  # with one of which a path may begin; a date may have a slash in it
# What a tool says of a file beside its path, and with which words that it was written.
_DONE = re.compile(r"(?:creat|edit|overwrit|replac|sav|stor|updat)(?:e?d|ten)|overwrote|wrote|written")
_OF_A_FILE = re.compile(
    r"\d+|all|at|been|bytes|changes|characters|content|contents|edits?|file|from|has|have|in|instances?|into|"
    rf"lines?|made|new|next|occurrences?|of|offset|ok|s|string|successfully|text|the|to|was|with|{_DONE.pattern}"
)
_WORD, _NOTE = re.compile(r"\w+"), 500  # characters of what is no more than a note
# What a search says that found nothing, in a sentence.
_STOP = re.compile(r"[.!?;\n。！？]")
_NONE = re.compile(r"0|couldn|didn|no|none|not|nothing|unable|zero")
_SUCH = re.compile(
    r"articles?|data|documents?|entr(?:y|ies)|find|found|hits?|information|match(?:ed|es)?|pages?|records?|results?"
)
_SOUGHT_IN = re.compile(
    rf"a|about|any|are|available|base|could|database|did|for|good|here|i|in|is|it|knowledge|matching|of|on|query|"
    rf"relevant|search|sorry|t|that|the|there|this|to|was|we|were|with|your|{_NONE.pattern}|{_SUCH.pattern}"
)


def unechoed(text: str, given: Iterable[str]) -> str:
    """What the text of a tool says beside what it was ``given``; empty where that is nothing.

    A query stands in what was found for it, as a name does, and a document may say what was asked for in the
    same words. So only what is long enough for a statement, stands there in full and is half of the text is
    taken out, and the rest stays; and what stands in a field that is named for a query, or beside words that
    say that nothing was found. Nothing is left of a text that is all theirs, or says no more beside them than
    that they were received. Of a few words it has to say that they were kept: a tool may choose among what it
    was given, and a number beside a query is what was found for it. Of a statement it may say that alone.
    """
    given = list(given)
    rest = _beside_lines(text, given)
    if len(rest) <= _NOTE and (
        _is_note_on_file(rest, given, was_shown=rest is not text)
        or (any(map(is_statement, given)) and _is_receipt({*texts(rest.lower())} - _STATES))
    ):
        return ""
    return _without_query(_beside_given(rest, given), given)


def _beside_lines(text: str, given: Sequence[str]) -> str:
    """A text without the lines of what it was given, where they are half of it.

    A file that a model has written may be shown with the numbers of its lines, or with one of them edited.
    A few words stay where no line beside them goes: they may be a name, and what was found for it follows.
    """
    lines = text.splitlines()
    if len(lines) < _SEVERAL:
        return text
    own = {line.strip() for one in given if len(one) >= _LONG for line in one.splitlines()} - {""}
    is_numbered = any(line.strip() not in own and _unnumbered(line) in own for line in lines)
    full = [line for line in lines if (_unnumbered(line) if is_numbered else line.strip())]
    theirs = [not own.isdisjoint((line.strip(), _unnumbered(line))) for line in full]
    beside = [before or after for before, after in zip([False, *theirs], [*theirs[1:], False], strict=False)]
    left = [
        line
        for line, is_own, is_beside in zip(full, theirs, beside, strict=True)
        if not is_own or not (is_beside or is_statement(line))
    ]
    if len(left) == len(full) or 2 * sum(map(len, left)) > len(text):
        return text
    return "\n".join(left)


def _is_note_on_file(text: str, given: Sequence[str], *, was_shown: bool) -> bool:
    """Whether a text says no more of a file than that it was written, or which of its lines were shown."""
    named = {word.strip("'\"`()[],:;").rstrip(".") for word in text.split()}
    paths = {
        word for word in named if word.startswith(_ROOTS) or (word in given and ("/" in word or "." in word))
    }
    words = _WORD.findall(_without(text, paths).lower())
    if not all(map(_OF_A_FILE.fullmatch, words)):
        return False
    if was_shown:
        return "lines" in words or not any(map(str.isdigit, words))
    return bool(given) and bool(paths) and any(map(_DONE.fullmatch, words))


def _without(text: str, paths: Iterable[str]) -> str:
    for path in sorted(paths, key=len, reverse=True):
        text = text.replace(path, " ")
    return text


def _unnumbered(line: str) -> str:
    return _NUMBER.sub("", line, count=1).strip()


def _beside_given(text: str, given: Iterable[str]) -> str:
    if (look := look_through(text, given)) is None:
        return text
    plain, there, folded, sought = look
    whole, long = joined(folded), weight(folded) >= STATEMENT
    own: set[int] = set()
    few: set[int] = set()
    for one in sought:
        part, is_long = joined(one), weight(one) >= STATEMENT
        if long and is_long and whole in part:
            return ""
        for begin in found_at(part, whole):
            (own if is_long else few).update(range(begin, begin + len(one)))
    rest = [word for place, word in enumerate(folded) if place not in own and place not in few]
    if few and _is_receipt(rest):
        return ""
    vain = _in_vain(plain, there, folded, own | few)
    if not own or 2 * len(own) < len(there):
        return taken_out(plain, there, vain) if vain else text
    return "" if _is_received(rest) and not few - own else taken_out(plain, there, own | vain)


def _is_receipt(words: Collection[str]) -> bool:
    """Whether words say that something was kept, and no more."""
    return _is_received(words) and any(map(_KEPT.fullmatch, words)) and not any(map(str.isdigit, words))


def _is_received(words: Iterable[str]) -> bool:
    return all(map(_RECEIVED.fullmatch, words))


def _in_vain(plain: str, there: Sequence[Word], folded: Sequence[str], given: set[int]) -> set[int]:
    """Which of the ``given`` words stand in a sentence that says of them that nothing was found."""
    sentences: list[list[int]] = [[]]
    for place, word in enumerate(there if given else ()):
        gap = plain[there[place - 1].end : word.start] if place else ""
        if _STOP.search(gap) and not given.issuperset((place - 1, place)):
            sentences.append([])
        sentences[-1].append(place)
    vain = (one for one in sentences if _is_nothing([folded[place] for place in one if place not in given]))
    return given.intersection(place for one in vain for place in one)


def _is_nothing(rest: Sequence[str]) -> bool:
    """Whether the words beside it say of what was sought that there is none."""
    kinds = (_NONE, _SUCH)
    return all(map(_SOUGHT_IN.fullmatch, rest)) and all(any(map(kind.fullmatch, rest)) for kind in kinds)


def _without_query(text: str, given: Sequence[str]) -> str:
    """A text without the query that it was given, where a field of it has all of that and no more."""
    if _QUERY.search(text) is None:
        return text
    telling = filter(is_telling, given)
    forms = {
        form for one in telling for form in (json.dumps(one), json.dumps(one, ensure_ascii=False), repr(one))
    }
    return _QUERY.sub(lambda field: f"{field[1]}{field[3][0] * 2}" if field[3] in forms else field[0], text)


def edited(given: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    """What has become of texts that were ``given``, where a call puts one of its ``words`` for another.

    As the tools do that edit a file. Of the latest text that has them, it is the lines around them.
    """
    for old, new in itertools.pairwise(words if len(words) <= _AN_EDIT else ()):
        held = next((one for one in reversed(given) if old and old in one), "")
        if held and held.count(old) * len(new) <= MOST:
            yield _changed(held.splitlines(), held.replace(old, new).splitlines())


def _changed(before: Sequence[str], after: Sequence[str]) -> str:
    """The lines that have changed, and one on either side."""
    begin, end = _alike(before, after), _alike(before[::-1], after[::-1])
    return "\n".join(after[max(0, begin - 1) : len(after) - end + 1])


def _alike(lines: Sequence[str], others: Sequence[str]) -> int:
    """With how many of the same lines two texts begin."""
    pairs = zip(lines, others, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def says_something(told: str) -> bool:
    """Whether a text is not what Python and JSON write for nothing: "None", "null", "[]", "{}"."""
    return any(map(str.isalnum, told)) and told.strip() not in {"None", "null"}


def given_words(value: Any) -> Iterator[str]:
    """The texts in what a tool was given, and its lists and structures as the texts that they make.

    Of what is very long, or made of anything but plain values, the texts alone.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        if _is_plain(value):
            yield str(value)
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from given_words(one)


def _is_plain(value: Any) -> bool:
    """Whether a structure is of plain values and not so many that writing it would take time."""
    left, waiting = _MOST_VALUES, [value]
    while waiting and left > 0:
        one = waiting.pop()
        left -= 1
        if isinstance(one, Mapping):
            waiting.extend(itertools.islice(one.values(), left + 1))
        elif isinstance(one, list | tuple):
            waiting.extend(itertools.islice(one, left + 1))
        elif isinstance(one, str):
            left -= len(one) // _VALUE
        elif not isinstance(one, int | float | None):
            return False
    return not waiting and left > 0
