"""How an answer points to its sources: "[1]", "(Document 2, p. 3)", "【4:0†source】", "Source: fees.pdf".

A number points to some passage, and states nothing. A name is a pointer only where a passage goes by it: a
source that was made up is a statement like any other.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence

from groundwire.core.span import Span, union
from groundwire.text.layout import lines

Names = frozenset[str]
"""The words by which a source goes."""


def named(names: Iterable[str]) -> Names:
    """The words of a source's names: of its title, its file, its id."""
    return frozenset(word for name in names for word in _WORD.findall(name.casefold()))


def address(name: str) -> str:
    """A source's name as addresses are compared: the whole of it, in small letters."""
    return name.casefold().rstrip("/")


def find(
    answer: str, sources: Sequence[Names] = (), addresses: Container[str] = frozenset()
) -> tuple[Span, ...]:
    """The characters of ``answer`` that only point to ``sources``, with the blank before them.

    ``addresses`` are those by which sources go.

    * Numbers in brackets ("[1]", "[2, 3]", "[^1]", "[[1]](...)", "【1†source】", "<sup>1</sup>"), and
      superscript ones, but for those of units ("m²").
    * In brackets, what is called a document, source, passage, page or the like and has a number.
    * In brackets, on a line that begins with "Source:", or on those below one: what has no other words than
      one source's names. Names of files, and whole addresses, elsewhere too.
    """
    spans = [Span(*match.span()) for match in _NUMBERED.finditer(answer)] if _MARK.search(answer) else []
    for pattern in (_BRACKETED, _FILE) if any(sources) else ():
        spans += [Span(*m.span()) for m in pattern.finditer(answer) if _goes_by(m["name"], sources)]
    spans += [Span(*m.span()) for m in _ADDRESS.finditer(answer) if address(m.group()) in addresses]
    return union([*spans, *_listed(answer, sources)])


def _listed(answer: str, sources: Sequence[Names]) -> Iterator[Span]:
    """Lines that list sources."""
    below = False
    for line in lines(answer) if _HEAD.search(answer) else ():
        head = _HEAD.match(line.text)
        name = line.text[head.end() :] if head else line.text
        if head or below:
            below = not _OTHER.search(name) if head else not line.text or _points(name, sources)
            if line.text and (below or _points(name, sources)):
                yield Span(line.start, line.start + len(line.text))


def _points(name: str, sources: Sequence[Names]) -> bool:
    return not _said(name) or _goes_by(name, sources)


def _goes_by(name: str, sources: Sequence[Names]) -> bool:
    words = _said(name)
    return bool(words) and any(words <= source for source in sources)


def _said(name: str) -> set[str]:
    """The words of a name but for those that only count: "page 3"."""
    return {
        w for w in _WORD.findall(name.casefold()) if w not in _COUNTING and not _SHORT_NUMBER.fullmatch(w)
    }


_WORD = re.compile(r"[^\W_]+")
_SHORT_NUMBER = re.compile(r"\d{1,3}")
_COUNTING = frozenset(
    """
    see from in the and document documents doc docs source sources file files page pages p pp pg
    provided given retrieved context passage passages
    """.split()  # noqa: SIM905 - a list of twenty words reads best as words
)
_AND = r"(?:\ ?[,;:/&–-]\ ?|\ and\ |\ )"
_NUMBERS = rf"\d{{1,3}}(?:{_AND}\d{{1,3}}){{0,20}}"
_LABEL = (
    r"(?:doc(?:ument)?|source|passage|citation|cite|ref(?:erence)?|context|chunk|snippet|excerpt|page|pp?|pg)s?"
    r"(?:[\ _-]?id)?[\ \u00a0.:\#_=-]{0,3}"
)
_ITEMS = rf"{_LABEL}\d{{1,3}}(?:{_AND}(?:{_LABEL})?\d{{1,3}}){{0,20}}"
_SUPERSCRIPT = "[¹²³⁴⁵⁶⁷⁸⁹⁰]"
_MARK = re.compile(rf"[\[(【<]|{_SUPERSCRIPT}")
"""What every number that points to a source begins with, past blanks."""
_NUMBERED = re.compile(
    rf"""[ \u00a0]{{0,2}}(?:
          \[\[?\^?{_NUMBERS}\]?\](?:\([^()\s]{{1,500}}\))?
        | \[\^[\w-]{{1,20}}\]
        | \[\^?\d{{1,3}},\ (?:pp?|pages?|sec|sections?|ch|lines?)\.?\ ?\d{{1,4}}(?:[-–.]\d{{1,4}})?\]
        | [(\[](?:(?:see|cf\.?|from|in|sources?:|ref(?:erence)?s?:)\ )?(?:the\ )?{_ITEMS}[)\]]
        | 【(?:[^【】†\n]{{0,60}}†[^【】\n]{{0,60}}|{_NUMBERS})】
        | <sup>[\W\d]{{1,20}}</sup>
        | (?:(?<=[^\W\d_]{{4}})|(?<=[.,;:!?)"”\s])){_SUPERSCRIPT}+(?:,{_SUPERSCRIPT}+)*
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_BRACKETED = re.compile(r"[ \u00a0]?[(\[](?P<name>[^()\[\]\n]{3,160})[)\]]")
_FILE = re.compile(
    r"(?<![\w/.-])(?P<name>[\w-]+\.(?:pdf|docx?|txt|md|rst|html?|pptx?|xlsx?|csv|jsonl?|xml|eml))(?![\w/-])",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://[^\s()<>\[\]\"']{3,300}[\w/]", re.IGNORECASE)
# "Sources:", "Source(s) used:", "Relevant passages:"; "Documents:" may name what somebody has to bring.
_SOURCES = (
    r"(?:relevant |cited |used |supporting )?(?:sources?|references?|citations?)(?:\(s\)|(?: used| cited)?\b)"
    r"|(?:relevant|cited|used|supporting) (?:passages?|documents?)\b"
    r"|(?:passages?|documents?) (?:used|cited)\b"
)
_HEAD = re.compile(
    rf"(?m)^(?:\W|{_SUPERSCRIPT}){{0,10}}(?:(?:{_SOURCES})\W{{0,4}}(?::\W{{0,4}}|$)|\[\^\w{{1,8}}\]:\W{{0,4}})"
    rf"|(?m:^){_SUPERSCRIPT}{{1,2}}[:.]?\s(?=\S)",
    re.IGNORECASE,
)
_OTHER = re.compile(r"\w")
