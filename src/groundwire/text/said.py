"""What of a model's answer is said to the asker: not its thinking, nor what it may be wrapped in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from groundwire.core.span import Span
from groundwire.core.thoughts import said_from
from groundwire.text.markup import laid_out
from groundwire.text.plain import Edit, Plain


def said(answer: str) -> str:
    """``answer``, with blanks and line breaks in place of what is not said, so that all else keeps its place.

    * A model's thinking.
    * Of a JSON object with a sentence among its values, alone or in a fence: marks, and the names of members
      that hold sentences; and members in which the answer only speaks of itself, ``"confidence": 0.9`` or
      ``"sources": [1, 2]``. Other members stay as they are. Objects without a sentence are left alone: they
      are records.
    * HTML's tags, which give way to the layout that they stand for, and a model's own marks ("<|eot_id|>").
    * Whom it addresses in a first line of its own ("Dear Ms. Smith,"), a letter's subject above such a line,
      and a label before the whole ("Final answer:", "TL;DR:", "Assistant:").
    """
    answer = answer.replace("\ufeff", " ")  # the mark of a file's beginning
    start = said_from(answer)
    text = _TEMPLATE.sub(lambda mark: " " * len(mark.group()), "\n" * start + answer[start:])
    text = laid_out(_unwrapped(text))
    text = _SUBJECT.sub(lambda head: "\n" * len(head.group()), text)
    text = _after(_SALUTATION.match(text), text)
    return _after(_LABEL.match(text), text)


def _after(opening: re.Match[str] | None, text: str) -> str:
    return "\n" * opening.end() + text[opening.end() :] if opening else text


def _unwrapped(text: str) -> str:
    """``text`` without the JSON object that it may be put in."""
    found = _OBJECT.search(text)
    if found is None or not _is_object(found["object"]):
        return text
    opened = _opened(found["object"])
    if opened is None:
        return text
    first, last = found.span("object")
    return "\n" * first + opened + "\n" * (len(text) - last)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, strict=False), dict)
    except (ValueError, RecursionError):
        return False


def _opened(text: str) -> str | None:
    """An object's text without what is not said; None where it holds no sentence."""
    marks = [*_MARK.finditer(text)]
    followed = zip(marks, [*marks[1:], None], strict=True)
    if not any(mark["string"] and not _is_name(after) and _is_sentence(mark) for mark, after in followed):
        return None
    return Plain(text, _left_out(marks)).text


def _left_out(marks: list[re.Match[str]]) -> Iterator[Edit]:
    for i, mark in enumerate(marks):
        following = marks[i + 1] if i + 1 < len(marks) else None
        if not mark["string"]:
            if mark.group() != ":":
                yield _blank(mark.start(), mark.end())
        elif _is_name(following):
            assert following is not None
            value = marks[i + 2] if i + 2 < len(marks) else None
            about_itself = _ABOUT_ITSELF.match(mark.string, mark.start())
            if about_itself:
                yield _blank(mark.start(), about_itself.end())
            elif value is not None and (value.group() in "[{" or (value["string"] and _is_sentence(value))):
                yield _blank(mark.start(), following.end())
        elif _is_sentence(mark):
            yield _blank(mark.start(), mark.start() + 1)
            for escape in _ESCAPE.finditer(mark.string, mark.start(), mark.end()):
                yield Edit(Span(*escape.span()), _READ[escape[1]])
            yield _blank(mark.end() - 1, mark.end())


def _blank(start: int, end: int) -> Edit:
    return Edit(Span(start, end), "\n" * (end - start))


def _is_name(following: re.Match[str] | None) -> bool:
    return following is not None and following.group() == ":"


def _is_sentence(string: re.Match[str]) -> bool:
    return len(string.group().split()) >= _SENTENCE


_TEMPLATE = re.compile(r"<\|[a-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>")
# Of so many words; fewer are a name, a figure or a choice.
_SENTENCE = 4
_OBJECT = re.compile(r"\A\s*+(?:```(?:json)?[^\S\n]*+\n)?\s*+(?P<object>\{.*\})\s*+(?:```\s*+)?\Z", re.DOTALL)
_ADDRESSED = r"""
    (?i:dear|hello|hi|hey|guten\ tag|hallo|liebe[r]?|sehr\ geehrte[r]?|bonjour|ch[eè]re?|madame|monsieur|hola
      |estimad[oa]s?|querid[oa]s?|ciao|gentile|prezad[oa]s?|car[oa]s?|beste|geachte)
    (?:,?\ (?:there|all|everyone|team|folks|colleagues|customer|sir|madam|or|and|und|et|y|e|en
      |[A-Z][\w'’.-]{0,20}|\[[^\[\]\n]{1,40}\])){0,4}[,!:][^\S\n]*+\n
"""
_SALUTATION = re.compile(rf"\s*+{_ADDRESSED}", re.VERBOSE)
_SUBJECT = re.compile(
    rf"""^[*_>\ ]{{0,6}}(?:Subject(?:\ [Ll]ine)?|Betreff|Objet|Asunto|Oggetto|Assunto|Onderwerp)
        [*_]{{0,3}}\s?:[^\n]{{0,200}}\n[>\s]{{0,6}}{_ADDRESSED}""",
    re.VERBOSE | re.MULTILINE,
)
_LABEL = re.compile(
    r"""\s*+[*_#>"]{0,4}+\s*+
        (?:tl;?dr[*_]{0,3}\s++[-–—]\s++(?=\S)
         | (?:(?:the[ ]|my[ ])?(?:(?:final|short|brief|direct|quick|full|complete|concise)[ ])?
            (?:answer|response|reply)
         | tl;?dr | ai | assistant | bot | chatbot)
        [*_]{0,3}\s?+[:：][*_]{0,3}\s++(?=\S))""",
    re.VERBOSE | re.IGNORECASE,
)
_MARK = re.compile(r"(?P<string>\"(?>(?:[^\"\\]++|\\.)*)\")|[\[\]{},:]", re.DOTALL)
_ESCAPE = re.compile(r"\\([nrt\"/])")
_READ = {"n": " \n", "r": " \n", "t": "  ", '"': ' "', "/": " /"}
_ABOUT_ITSELF = re.compile(
    r"""\"(?: (?:confidence|certainty)(?:_?(?:score|level))? | relevance_?score
           | (?:sources?|citations?|references?|passages?|documents?)(?:_?(?:ids?|used))?
           | page(?:_?(?:number|no))? | (?:doc|chunk|source|passage)_?(?:id|index|number)
        )\"\s*+:\s*+
        (?: -?\d[\d.]*+%?
          | \"(?:very[ ])?(?:high|medium|low|\d[\d.]*+[ ]?%?)\"
          | \[\s*+(?>(?:\"?\d{1,3}\"?\s*+(?:,\s*+)?)*)\]
        )
      | \"(?:(?:is_?|answer_?)?(?:found|grounded|answerable)|(?:has|can)_?answer)\"\s*+:\s*+(?:true|false)\b
      | \"lang(?:uage)?\"\s*+:\s*+\"[a-z]{2}(?:-[A-Z]{2})?\"
      | \"(?:follow_?ups?|suggested|related|next)(?:_?questions?)?\"\s*+:\s*+
        \[\s*+(?>(?:\"[^\"\n]{1,200}\?\"\s*+(?:,\s*+)?)*)\]""",
    re.VERBOSE | re.IGNORECASE,
)
