"""Cuts an answer into the statements that can be checked.

How an answer is laid out in plain text and markdown is read here; where its sentences end is left to
``sentences``, and whether a statement is true to ``detectors``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from groundwire.core.span import Span
from groundwire.text import courtesy, disclaimers, itself, offers, sentences
from groundwire.text.layout import FENCE, HEADING, MARKER, NUMBERED_DAY, RULE, Line, lines
from groundwire.text.said import said


def cut(answer: str) -> list[Span]:
    """The checkable statements of ``answer``: ordered and disjoint, each with a letter or digit in it.

    * A sentence is a claim, in a list item and in a quotation too. Its span leaves out the bullet, number
      or quotation mark of the line, and emphasis around the whole of it.
    * A row of a table is one claim, without its number under a "#"; the header and the line below it are
      none.
    * A fenced code block is one claim, without its fences. A fence marked as text or data (json, text,
      markdown, ...), or around sentences alone, only wraps an answer: what is inside is cut like the rest.
    * Headings, bold titles on a line of their own, and labels of up to three words with a colon ("Key
      facts:") name what follows and claim nothing. An answer that has nothing else is judged by them. A
      longer lead-in ("Refunds are possible in these cases:") is a claim: such lines can be invented too.
    * What a model thought before it answered ("<think>...</think>"), the names and marks of a JSON object
      that it answered in, HTML's tags and a label before the whole ("Answer:") are no part of the answer.
    * Markers of sources ("[1]", "(Passage 2)"), courtesies ("Sure!", "Have a nice day!") and who signs below
      them, questions back to the asker ("Which one do you mean?"), offers of more words ("I can draft the
      e-mail if you like."), what only speaks of the answer ("Here is what I found:"), disclaimers ("This is
      no legal advice.") and marks without a letter or digit claim nothing. "Sure!" and a disclaimer are
      judged where they are the whole answer: it may affirm or decline.
    """
    given, answer = answer, said(answer)
    page = _Page(answer)
    spoken = [_unannounced(answer, _unmarked(answer, span)) for span in sentences.split(page.masked())]
    claims = _unsigned(answer, _statements(answer, [*page.whole, *spoken]))
    claims = [claim for claim in claims if not _states_nothing(claim.of(answer))]
    stated = [claim for claim in claims if not _may_be_all(claim.of(answer))]
    claims = stated or sorted(claims + _statements(answer, page.titles))
    return claims if given == answer else [_with_its_tags(claim, given, answer) for claim in claims]


def _with_its_tags(claim: Span, given: str, answer: str) -> Span:
    """A claim that begins or ends within a tag that was replaced, with the whole of it."""
    start, end = claim.start, claim.end
    while start and given[start] not in ("<", answer[start]) and given[start - 1] != answer[start - 1]:
        start -= 1
    while end < len(given) and given[end - 1] not in (">", answer[end - 1]) and given[end] != answer[end]:
        end += 1
    return Span(start, end)


def holds_code(answer: str) -> bool:
    """Whether some of ``answer`` is a fenced block of code."""
    return FENCE.search(answer) is not None and _Page(said(answer)).holds_code


def _states_nothing(sentence: str) -> bool:
    return (
        courtesy.is_polite(sentence)
        or courtesy.is_asking(sentence)
        or itself.is_of_itself(sentence)
        or offers.is_offer(sentence)
    )


def _may_be_all(sentence: str) -> bool:
    """Whether a sentence claims nothing beside others, but affirms or declines where it stands alone."""
    return courtesy.is_opening(sentence) or disclaimers.is_disclaimer(sentence)


def _unsigned(answer: str, claims: list[Span]) -> list[Span]:
    """Without who signs: the lines of names below "Best regards,"."""
    left: list[Span] = []
    signed, before = 0, 0
    for claim in claims:
        words, between = claim.of(answer), answer[max(0, before - 1) : claim.start]
        may_sign = bool(left) and signed < _SIGNED and "\n" in between and (signed or "," in between)
        if may_sign and _NAME.fullmatch(words) and courtesy.is_regards(left[-1].of(answer)):
            signed += 1
        else:
            left.append(claim)
            signed = 0
        before = claim.end
    return left


class _Page:
    """An answer read line by line: what is a claim as a whole, what is a title, and what is only markup.

    Markup is masked rather than removed, so that every other character keeps its place.
    """

    def __init__(self, answer: str) -> None:
        self.whole: list[Span] = []
        self.titles: list[Span] = []
        self.holds_code = False
        self._answer = answer
        self._masks: list[tuple[Span, str]] = []
        self._fence = ""  # the marks that opened the fence we are in
        self._code: list[Span] | None = None  # its lines, unless it only wraps text
        self._in_table = False
        self._next_row = 0  # the number of the table's next row, while its first column counts them
        for line, after in pairwise([*lines(answer), Line("", len(answer))]):
            self._read(line, after.text)
        self._close()

    def masked(self) -> str:
        """The answer with line breaks in place of what is no sentence, so that none runs across it."""
        parts, at = [], 0
        for span, fill in self._masks:
            parts += [self._answer[at : span.start], fill * len(span)]
            at = span.end
        return "".join([*parts, self._answer[at:]])

    def _read(self, line: Line, after: str) -> None:
        span = Span(line.start, line.start + len(line.text))
        if self._reads_fence(line.text, line.start):
            self._mask(span)
        elif self._code is not None:
            self._code.append(span)
            self._mask(span)
        elif line.text:
            self._read_text(line, span, after)
        else:
            self._in_table = False

    def _reads_fence(self, text: str, at: int) -> bool:
        """Whether the line opens or closes a fence; and does so."""
        if self._fence:
            closes = text.startswith(self._fence) and not text.strip(self._fence[0])
            if closes:
                self._close()
            return closes
        opening = FENCE.match(text)
        if not opening or opening.group() in text[opening.end() :]:
            return False
        self._fence = opening.group()
        name = text[opening.end() :].strip().casefold()
        wraps = name in _WRAPPERS or (not name and self._wraps_sentences(at))
        self._code = None if wraps else []
        return True

    def _wraps_sentences(self, at: int) -> bool:
        """Whether what the fence at ``at`` opens is prose to its end."""
        inside = self._answer[self._answer.find("\n", at) + 1 :].partition(self._fence)[0]
        return _CODE.search(inside) is None and len(inside.split()) >= _PROSE

    def _close(self) -> None:
        if self._code:
            self.whole.append(Span(self._code[0].start, self._code[-1].end))
            self.holds_code = True
        self._fence, self._code = "", None

    def _read_text(self, line: Line, span: Span, after: str) -> None:
        quoted = _QUOTED.match(line.text)
        begin = quoted.end() if quoted else 0
        if begin == len(line.text) or RULE.fullmatch(line.text, begin) or line.text in _FORMULA_MARKS:
            self._mask(span)
            return
        is_item = False
        while (marker := MARKER.match(line.text, begin)) and not NUMBERED_DAY.match(line.text, begin):
            begin, is_item = marker.end(), True
        body, words = line.text[begin:], Span(span.start + begin, span.end)
        is_header = "|" in body and "-" in after and RULE.fullmatch(after) is not None
        if is_header or HEADING.match(body) or _is_title(body, is_item=is_item):
            self.titles.append(_within(self._answer, words, "#|"))
            self._mask(span)
            self._in_table = is_header
            self._next_row = int(is_header and _NUMBERS_ROWS.match(body) is not None)
        elif "|" in body and (self._in_table or (body[0] == "|" and body.count("|") > 1)):
            counted = self._counted(body) if self._in_table and self._next_row else 0
            self.whole.append(_within(self._answer, Span(words.start + counted, words.end), "|"))
            self._mask(span)
        elif begin:
            # A quotation may be wrapped, so that its sentences run over lines; an item begins anew.
            self._mask(Span(span.start, words.start), "\n" if is_item else " ")

    def _counted(self, row: str) -> int:
        """How long the number is that a row has for being the next one."""
        number = _ROW_NUMBER.match(row)
        if number is None or int(number["number"]) != self._next_row:
            self._next_row = 0
            return 0
        self._next_row += 1
        return number.end()

    def _mask(self, span: Span, fill: str = "\n") -> None:
        self._masks.append((span, fill))


def _is_title(body: str, *, is_item: bool) -> bool:
    bold = _BOLD.fullmatch(body)
    if not bold:
        label = body[:-1]
        return body[-1] in ":：" and len(label) <= 40 and len(label.split()) <= 3 and not _DIGIT.search(label)
    title = bold["title"]
    marker = None if NUMBERED_DAY.match(title) else MARKER.match(title)
    title = title[marker.end() :] if marker else title
    if bold["colon"] or title[-1] in ":：":
        return True
    return not (is_item or title[-1] in ".!?。" or _DIGIT.search(title) or len(title.split()) > 10)


def _statements(answer: str, spans: Iterable[Span]) -> list[Span]:
    trimmed = (_trimmed(answer, span) for span in spans)
    return sorted(span for span in trimmed if _claims(span.of(answer)))


def _claims(words: str) -> bool:
    if _REFERENCES.fullmatch(words) or _TO_FILL_IN.fullmatch(words):
        return False
    return any(c.isalnum() for c in words)


def _unmarked(answer: str, span: Span) -> Span:
    """Leave out the number of an item that stands inside a line: "... the bag. 2. Close it"."""
    marker = MARKER.match(answer, span.start, span.end)
    if marker and not NUMBERED_DAY.match(answer, span.start, span.end):
        return Span(marker.end(), span.end)
    return span


def _unannounced(answer: str, span: Span) -> Span:
    """Leave out what only announces the rest of a sentence: "Here is what I found: ..."."""
    announced = _ANNOUNCEMENT.match(answer, span.start, span.end)
    if announced and itself.is_of_itself(announced.group().rstrip(" :")):
        return Span(announced.end(), span.end)
    return span


def _trimmed(answer: str, span: Span) -> Span:
    """Leave out emphasis around the whole, and a mark at one end whose other half is elsewhere."""
    start, end = span.start, span.end
    for mark in _EMPHASIS:
        words = answer[start:end]
        halves = words.count(mark)
        opened, closed = words.startswith(mark), words.endswith(mark)
        if halves == 1 + (opened and closed and len(words) > len(mark)):
            start += len(mark) * opened
            end -= len(mark) * (closed and end - start >= len(mark))
    while start < end and answer[start].isspace():
        start += 1
    while start < end and answer[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _within(answer: str, span: Span, marks: str) -> Span:
    """``span`` without ``marks`` and spaces at its ends."""
    words = span.of(answer)
    inner = words.strip(marks + " \t")
    start = span.start + len(words) - len(words.lstrip(marks + " \t"))
    return Span(start, start + len(inner)) if inner else Span(span.start, span.start)


# A fence marked so holds an answer, or data that reads like one; any other holds code.
_WRAPPERS = frozenset({"text", "txt", "plaintext", "markdown", "md", "json", "jsonl", "yaml", "yml", "csv"})
_CODE = re.compile(
    r"[{}]|;[ \t]*+$|\s[=<>]=?\s|[-=]>|</|\w\(\)|^[ \t]*+(?:[#$]|//|import\b|def\b|class\b|[\w./-]++\s--?\w)",
    re.MULTILINE,
)
_FORMULA_MARKS = ("$$", "\\[", "\\]")
_PROSE = 5  # words: fewer are a command or a name
_ANNOUNCEMENT = re.compile(r"[^:\n]{3,120}:\s++(?=\S)")
_SIGNED = 3  # lines
_CAPITALISED = r"[^\W\d_a-z][\w'’-]*+"
_NAME = re.compile(
    rf"(?:(?:[Tt]he|[Yy]our|[Ii]hre?|[Vv]otre|[Ss]u) )?{_CAPITALISED}"
    rf"(?: (?:{_CAPITALISED}|of|the|and|&|from|at|team)){{0,5}}"
)
# What a letter leaves open: "[Your Name]".
_TO_FILL_IN = re.compile(
    r"(?:\[(?:(?:your|insert|recipient|customer|company|sender|team|contact|phone|job|first|last)\b"
    r"[^\[\]\n]{0,40}|name|position|title|date|signature|address|e-?mail|ihr name|votre nom|su nombre)\]"
    r"[\s,.!:|]*)+",
    re.IGNORECASE,
)
_NUMBERS_ROWS = re.compile(r"\|?\s*+(?:#|no\.?|nr\.?|s\.? ?no\.?|sr\. no\.|step|row)\s*+\|", re.IGNORECASE)
_ROW_NUMBER = re.compile(r"\|?\s*+(?P<number>\d{1,3})\.?\s*+\|")
_QUOTED = re.compile(r"(?>(?:>\s?)+)")
_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<title>(?>(?:(?!(?P=mark)).)+))(?P=mark)\s*+(?P<colon>[:：]?)")
_DIGIT = re.compile(r"\d")
_REFERENCES = re.compile(
    r"(?>(?:\[\d{1,3}\]\W*+)+)"
    r"|[(\[]?(?:see )?(?:the )?(?:passage|source|reference|document|doc|ref)s?(?: passages?)?"
    r"[ #:]*+\d{1,3}(?:(?: and |[ ,&-]++)\d{1,3}){0,20}[)\]]?\.?",
    re.IGNORECASE,
)
_EMPHASIS = ("***", "**", "__", "*", "_", "`")
