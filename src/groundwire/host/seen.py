"""Whether a model was told of what was found for it, and what a text says that no model has said.

Texts are compared by their words in small letters, be they written by JSON or Python. What a tool says back
of what it was given is for ``echoes`` to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from groundwire.core.interaction import Passage
from groundwire.text.tokens import Word, texts, words

_SHARE = 1 / 3  # of a passage's words, when it was told in other words, at least
_FEW = 3  # words, and fewer than that must all be there
_RUN = 6  # so many of its words one after the other are a part of it
_LONG = 4  # letters of a word that says something
_UNSPACED = "\u0e00"  # from here on: scripts without spaces, whose words are pairs of characters
_TELLING_WORDS = 3
_PAIRS = 2  # of characters make a word
STATEMENT = 8  # words that nobody says by chance
_SOUGHT = 8  # words of what is sought tell whether it may stand in a text at all
_HEAD = 200  # characters of a text tell whether it may stand in what is sought
_BETWEEN = re.compile(r"(?>(?:\\[nrt]|[\W_])*)")  # two words, as ``words`` has it
_LETTERS = re.compile(r"[a-z]{4,}")
MOST = 100_000  # characters that are looked through: a tenth of a second
EDITED = 0.6  # of an answer's words are those of the model that gave it, also where it was edited
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\([\"'/\\])")  # as JSON writes a text
_ENDS = frozenset("\n\r.!?:;,\"'“”„«»`{}[]()|>*#_=-。！？：；，、「」")


def told_of(passages: Iterable[Passage], told: str, asked: str) -> bool:
    """Whether what a model was ``told`` has a part of one of the passages, or a fair part of its words.

    Those of the question aside. Passages without words of their own can't be missed, and neither can any in
    a very long text.
    """
    if len(told) > MOST:
        return True
    prompt = _Prompt(told, asked)
    missed = False
    for passage in passages:
        shown = prompt.shows(passage)
        if shown:
            return True
        missed = missed or shown is False
    return not missed


def those_told_of(passages: Sequence[Passage], told: str, asked: str) -> list[Passage]:
    """Those of the passages of each of which a model was ``told``, as ``told_of`` has it."""
    if not passages or len(told) > MOST:
        return list(passages)
    prompt = _Prompt(told, asked)  # once: there may be hundreds of passages
    return [passage for passage in passages if prompt.shows(passage) is not False]


class _Prompt:
    """The words of what a model was told, but those of the question."""

    def __init__(self, told: str, asked: str) -> None:
        question, prompt = _folded(asked), _folded(told)
        self._known = _telling(question)
        self._there = _telling(prompt) - self._known
        self._runs = word_runs(prompt) - word_runs(question)

    def shows(self, passage: Passage) -> bool | None:
        """Whether it has a part of a passage, or a fair part of its words; None of one without any."""
        own = _folded(passage.text)
        telling = _telling(own) - self._known
        if not telling:
            return None
        enough = max(_SHARE * len(telling), min(_FEW, len(telling)))
        return len(telling & self._there) >= enough or not self._runs.isdisjoint(word_runs(own))


def has_part(told: str, said: str, asked: str = "") -> bool:
    """Whether so many words of what was ``said`` as nobody says by chance stand one after the other there.

    All of them where they are fewer; and none that stand in the question, too.
    """
    own = _folded(said[:MOST])
    length = min(_RUN, len(own))
    there = word_runs(_folded(told[:MOST]), length) - word_runs(_folded(asked), length)
    return not there.isdisjoint(word_runs(own, length))


def folded(text: str) -> str:
    """The words of a text, of a very long one the first, so that one such text stands in another."""
    return joined(_folded(text[:MOST]))


def beside(text: str, spoken: Iterable[str]) -> str:
    """What a text says beside what models have ``spoken``; empty where that is not the most of it.

    Their words are known again in other punctuation, and as JSON writes them. Few of them may also stand in a
    text that a model never read, as a query does in what was found for it: they are taken out where they are
    all of a line, a sentence or a field.
    """
    rest, is_theirs = _parted(text, spoken)
    return "" if is_theirs else rest


def unspoken(text: str, spoken: Iterable[str]) -> str:
    """``beside``, and where that is the less of the text, it as well."""
    return _parted(text, spoken)[0]


def _parted(text: str, spoken: Iterable[str]) -> tuple[str, bool]:
    """What a text says beside what was spoken, and whether that is the less of it."""
    if (look := look_through(text, spoken)) is None:
        return text, False
    plain, there, folded, sought = look
    whole, telling = joined(folded), _are_telling(folded)
    said: set[int] = set()
    own: set[int] = set()
    for one in sought:
        part = joined(one)
        if part == whole or (telling and whole in part):
            return "", True  # all of what a model said, or a field of it
        if not _are_telling(one):
            continue
        for begin in found_at(part, whole):
            places = range(begin, begin + len(one))
            said.update(places)
            if len(one) >= STATEMENT or _by_itself(plain, there[begin], there[places[-1]]):
                own.update(places)
    if said and 2 * len(said) >= len(there):
        return taken_out(plain, there, said), True
    return (taken_out(plain, there, own) if own else text), False


def is_statement(said: str) -> bool:
    """Whether words are so many that nobody says the same by chance."""
    return weight(_folded(said[:_HEAD])) >= STATEMENT


def share(answer: str, said: str) -> float:
    """Which share of an answer's words stands in what a model said, from 0 to 1."""
    return shares(answer, [said])[0]


def shares(answer: str, said: Iterable[str]) -> list[float]:
    """The same of what each of several models said. A long answer may be made of what hundreds have."""
    own = set(_folded(answer))
    return [len(own.intersection(_folded(one))) / max(1, len(own)) for one in said]


def is_made_of(answer: str, said: Sequence[str]) -> bool:
    """Whether an answer is what was ``said``, be it edited, or be more of the application's own beside it."""
    if any(answer.strip() == one.strip() for one in said) or share(answer, "\n".join(said)) >= EDITED:
        return True
    there = set(_folded(answer))
    statements = (set(_folded(one)) for one in said if is_statement(one))
    return any(len(own & there) >= EDITED * len(own) for own in statements)


def is_telling(said: str) -> bool:
    """Whether words are too many to stand in another text by chance: "yes" and "not relevant" are not."""
    return _are_telling(_folded(said[:_HEAD])) or (len(said) > _HEAD and _are_telling(_folded(said)))


def _are_telling(folded: Iterable[str]) -> bool:
    return weight(folded) >= _TELLING_WORDS


def weight(folded: Iterable[str]) -> float:
    """How many words there are, in scripts without spaces as well."""
    return sum(1 / _PAIRS if word >= _UNSPACED else 1 for word in folded)


def look_through(
    text: str, spoken: Iterable[str]
) -> tuple[str, list[Word], list[str], list[list[str]]] | None:
    """A text as it is read, its words as they are and in small letters, and what is to be sought among them.

    None where nothing that was spoken can stand there.
    """
    plain = _unescaped(text)
    sought = _sought(plain, spoken)
    if not sought:
        return None
    there = words(plain)
    return plain, there, [word.text.lower() for word in there], sought


def _sought(plain: str, spoken: Iterable[str]) -> list[list[str]]:
    """The words of those texts that may stand in ``plain``, or it in them.

    To look all of its words up takes a hundred times as long as to see that hardly any text can.
    """
    head = _folded(plain[:_HEAD])[: -1 if len(plain) > _HEAD else None]
    lower = plain.lower()
    sought = []
    for one in dict.fromkeys(spoken):
        if len(one) <= MOST and _may_meet(lower, head, one) and (folded := _folded(one)):
            within = set(head).issubset(folded)
            if within or (_are_telling(folded) and _may_hold(lower, folded)):
                sought.append(folded)
    return sought


def _may_meet(lower: str, head: Iterable[str], one: str) -> bool:
    """What ``_sought`` asks, answered roughly and at once: it may be asked of hundreds of notes."""
    letters = _LETTERS.findall(one[:_HEAD].lower())[:-1]
    if "\\" in one or all(word in lower for word in letters):
        return True
    said = one.lower()
    return all(word in said for word in head)


def _may_hold(lower: str, folded: Sequence[str]) -> bool:
    first = folded[:_SOUGHT]
    if not all(word in lower for word in first):
        return False
    overlapping = max(first) >= _UNSPACED
    return overlapping or _in_a_row(lower, first)


def _in_a_row(lower: str, sought: Sequence[str]) -> bool:
    """Whether words stand one after the other. Not by a pattern of them, which takes longer to be made."""
    begin = lower.find(sought[0])
    while begin >= 0:
        end = begin
        for word in sought:
            if not lower.startswith(word, end):
                break
            end += len(word)
            end = between.end() if (between := _BETWEEN.match(lower, end)) else end
        else:
            return True
        begin = lower.find(sought[0], begin + 1)
    return False


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], text)
    # A character beyond the first 65,536 is written as two.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _folded(text: str) -> list[str]:
    return [word.lower() for word in texts(_unescaped(text))]


def _telling(folded: Iterable[str]) -> set[str]:
    return {word for word in folded if len(word) >= _LONG or word.isdigit() or word >= _UNSPACED}


def word_runs(folded: list[str], length: int = _RUN) -> set[tuple[str, ...]]:
    """All that stands one word after the other, so many words at a time."""
    return {tuple(folded[i : i + length]) for i in range(len(folded) - length + 1)}


def joined(folded: Iterable[str]) -> str:
    """Words as one text, in which others that are joined can be found."""
    return f" {' '.join(folded)} "


def found_at(part: str, whole: str) -> Iterator[int]:
    """After how many words of the ``whole`` a ``part`` of it stands, without overlap; both are joined."""
    at = counted = count = 0
    while (at := whole.find(part, at)) >= 0:
        count += whole.count(" ", counted, at)
        counted = at
        yield count
        at += len(part) - 1


def _by_itself(plain: str, first: Word, last: Word) -> bool:
    """Whether what stands from one word to another begins and ends where a line, sentence or field may."""
    begin, end = first.start - 1, last.end
    while begin >= 0 and plain[begin] in " \t":
        begin -= 1
    while end < len(plain) and plain[end] in " \t":
        end += 1
    return (begin < 0 or plain[begin] in _ENDS) and (end == len(plain) or plain[end] in _ENDS)


def taken_out(plain: str, there: Sequence[Word], own: set[int]) -> str:
    """A text without those of its words that stand at ``own`` places among them."""
    kept, at = [], 0
    for place in sorted(own):
        kept.append(plain[at : there[place].start])
        at = max(at, there[place].end)
    return "".join((*kept, plain[at:]))
