"""What a text says a setting is: "`max_retries` defaults to 5", ``--depth N  (default: 2)``, ``workers: 4``.

Reading alone. Whether two texts say the same of a setting belongs to the detectors.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from groundwire.core.span import Span
from groundwire.text import config


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting and the value that it is said to have.

    ``name`` is its path, each part without case and joints: "max_retries", "maxRetries" and "--max-retries"
    are one. ``coded`` says that it is written as only names are; ``default`` that its value is called so.
    """

    name: tuple[str, ...]
    span: Span
    said: Span
    default: bool
    coded: bool


def stated(text: str) -> list[Setting]:
    """The settings that sentences of ``text`` give a value, in order."""
    names = list(_NAME.finditer(text))
    found = [one for name in names for one in _after(text, name)]
    taken = {one.said.start for one in found}
    found += [one for one in _detached(text, names) if one.said.start not in taken]
    return sorted(found, key=lambda one: one.said.start)


def given(text: str, said: Iterable[Setting] | None = None) -> list[Setting]:
    """The settings that a document gives a value, in sentences, tables, signatures and files of settings.

    ``said`` are those that its sentences have ``stated``, where they are known.
    """
    entries = [
        Setting(path(entry.name), entry.span, entry.said, entry.default, coded=True)
        for entry in config.entries(text)
        if _is_name(entry.name.rpartition(".")[2])
    ]
    taken = {one.said.start for one in entries}
    told = [
        one
        for one in (*(stated(text) if said is None else said), *_without(text))
        if one.coded or one.default
    ]
    return [*entries, *(one for one in told if one.said.start not in taken)]


def _without(text: str) -> Iterator[Setting]:
    """What holds if a setting isn't given: "If `idleTimeout` isn't set, they are closed after 75 s"."""
    for match in _NOT_GIVEN.finditer(text):
        rest = _STOP.split(text[match.end() : match.end() + _FAR], maxsplit=1)[0]
        figures = list(_FIGURE.finditer(rest))
        if len(figures) == 1 and is_coded(match["name"]):
            said = Span(*figures[0].span()).shifted(match.end())
            yield Setting(path(match["name"]), Span(*match.span("name")), said, default=True, coded=True)


def alluded(text: str) -> Iterator[tuple[Setting, Span]]:
    """The settings whose value ``text`` tells somewhere else: "at most 10 files (`maxFiles`)".

    Each with the stretch of ``text`` that the value must stand in, and an empty span for that.
    """
    for pattern in (_IN_BRACKETS_ALONE, _AS_IT_SAYS, _DEFAULT_OF, _NOT_GIVEN):
        for match in pattern.finditer(text):
            if is_coded(match["name"]):
                near = Span(match.end(), len(text)) if pattern is _NOT_GIVEN else Span(0, match.start())
                default = pattern in (_DEFAULT_OF, _NOT_GIVEN)
                name = Span(*match.span("name"))
                yield Setting(path(match["name"]), name, Span(0, 0), default, coded=True), near


def path(name: str) -> tuple[str, ...]:
    """The parts of a dotted name, without case and joints."""
    return tuple(map(joined, name.strip("-").split(".")))


def joined(name: str) -> str:
    """A name without case and joints."""
    return name.replace("_", "").replace("-", "").lower()


def is_coded(name: str) -> bool:
    """Whether something is written as only names of code are."""
    return _CODED.fullmatch(name) is not None


def words(name: str) -> list[str]:
    """The words that a name is made of, in small letters: "max" and "retries"."""
    return [part.lower() for part in _PARTS.findall(name)]


def _is_name(name: str) -> bool:
    """Whether something may name a setting: a word with a capital is a heading, or a day."""
    return is_coded(name) or (name.lower() not in _NO_NAMES and (name.isupper() or not name[0].isupper()))


def _after(text: str, name: re.Match[str]) -> Iterator[Setting]:
    """What is said of a name right after it."""
    coded = is_coded(name.group())
    if not _is_name(name.group()):
        return
    for pattern, default in ((_DEFAULTS, True), (_BRACKETED, True), (_IN_BRACKETS, True), (_IS, False)):
        match = pattern.match(text, name.end())
        if match is None or not _is_value(text, match, strong=default):
            continue
        if pattern in (_BRACKETED, _IN_BRACKETS) and not coded and _in_entry(text, name):
            continue
        called = default or _by_default(text, name, match)
        yield Setting(path(name.group()), Span(*name.span()), _value(match), default=called, coded=coded)
        return


def _by_default(text: str, name: re.Match[str], match: re.Match[str]) -> bool:
    head = _STOP.split(text[max(0, name.start() - _NEAR) : name.start()])[-1].lower()
    return "default" in head or _UNLESS.match(text, match.end()) is not None


def _detached(text: str, names: Iterable[re.Match[str]]) -> Iterator[Setting]:
    """Defaults that are told of the name before them: "- `depth`: links to follow. Default: 2"."""
    subjects = [name for name in names if is_coded(name.group()) or _is_head(text, name)]
    starts = [name.start() for name in subjects]
    for pattern in (_DEFAULT, _OTHERWISE):
        for match in pattern.finditer(text):
            before = bisect_right(starts, match.start()) - 1
            if before < 0 or not _is_value(text, match, strong=True) or _OF_A_NAME.match(match.group()):
                continue
            name = subjects[before]
            if match.start() - name.end() > _FAR or _is_apart(text[name.end() : match.start()]):
                continue
            coded = is_coded(name.group()) or not name.group()[0].isupper()
            yield Setting(path(name.group()), Span(*name.span()), _value(match), default=True, coded=coded)


def _is_apart(between: str) -> bool:
    """Whether a paragraph ends, or several sentences do, between a name and a value."""
    return _APART.search(between) is not None or len(_STOP.findall(between)) > _SENTENCES


def _is_head(text: str, name: re.Match[str]) -> bool:
    """Whether a line, an item or a parameter's entry begins with a name."""
    before = text[max(0, name.start() - _HEAD) : name.start()]
    before = before if name.start() > _HEAD else f"\n{before}"
    ends = _ENDS_HEAD.match(text, name.end()) is not None
    return ends and _BEGINS.search(before) is not None and _is_name(name.group())


def _in_entry(text: str, name: re.Match[str]) -> bool:
    """Whether a name stands in what a line says of another: "--depth N  links to follow (default: 2)"."""
    start = text.rfind("\n", max(0, name.start() - _FAR), name.start()) + 1
    if text[start : start + 1].isspace() and _ENTRY.match(text, start) is None:
        start = text.rfind("\n", max(0, start - _FAR), max(0, start - 1)) + 1  # what an entry says goes on
    entry = _ENTRY.match(text, start)
    return entry is not None and entry.end() <= name.start()


def _value(match: re.Match[str]) -> Span:
    return Span(*match.span("value"))


def _is_value(text: str, match: re.Match[str], *, strong: bool) -> bool:
    """Whether what stands there is a value: a figure, a yes or no, something quoted, or one word alone."""
    value, start = match["value"], match.start("value")
    if value[0] in "-$€£" or value[0].isdigit() or value.lower() in TRUTHS:
        return True
    if text[start - 1 : start] in _QUOTES:
        return True
    if value.lower() in _NUMBERS:
        return True
    return strong and value.lower() not in _NO_VALUES and _ALONE.match(text, match.end("value")) is not None


TRUTHS = {
    **dict.fromkeys(["true", "yes", "on", "enabled"], True),
    **dict.fromkeys(["false", "no", "off", "disabled"], False),
}
_NUMBERS = frozenset(
    """
    one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty
    sixty half
    """.split()  # noqa: SIM905
)
_QUOTES = ('"', "'", "“", "‘")
_NO_VALUES = frozenset(
    """
    the a an its their this that these those it what whatever which being how not none null nothing
    all any used given required value values setting settings option options used
    """.split()  # noqa: SIM905
)
# Words that stand before "is" and a figure as often as names do.
_NO_NAMES = frozenset(
    """
    it its his her their this that there by in of to for with which what who he she they we you i is
    are was be and or the a an value values default defaults price total sum result answer score
    version number amount count here one each maximum minimum
    """.split()  # noqa: SIM905
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAME = re.compile(
    r"(?<![\w./@-])(?:--)?[A-Za-z][A-Za-z0-9]{0,40}(?:[._-]{1,2}[A-Za-z0-9]{1,40}){0,10}(?![\w@])"
)
_CODED = re.compile(
    r"""--[A-Za-z][\w.-]*
      | [A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+(?:\.\w+)*
      | [a-z]+[0-9]*(?:[A-Z][a-z0-9]*)+(?:\.\w+)*
      | [A-Za-z][\w-]*(?:\.[A-Za-z][\w-]+)+
      | [a-z][a-z0-9]*(?:-[a-z0-9]+)+""",
    re.VERBOSE,
)
_VALUE = (
    rf"""["'“‘]?(?P<value>{config.FIGURE}"""
    r"|[A-Za-z](?:[\w+-]|[./](?=\w)){0,40})"
)
_KIND = r"""["'”]?(?: (?:setting|option|parameter|variable|flag|property|key|field|argument))?"""
_DEFAULTS = re.compile(
    rf"{_KIND}(?: \([^()\n]{{0,40}}\))?,? (?:now |still |normally |whose )?"
    r"(?:defaults? (?:to|is)|has (?:a|the) default(?: value)?(?: of)?|is by default|with a default of) "
    rf"{_VALUE}"
)
_BRACKETED = re.compile(
    rf"{_KIND} \((?:[^()\n]{{0,60}}?[,;] ?)?(?:its )?default(?:s to| is| value)?[:=]? ?{_VALUE}",
    re.IGNORECASE,
)
_UNLESS_ = (
    r"(?: [\w%]{1,20}){0,3},? (?:by default\b|unless (?:you |it |it's |it is )?(?:is |are )?"
    r"(?:set|sets|change|changed|changes|configure|configured|told|given|overridden|otherwise)\b"
    r"|(?:when|if|where) (?:it is |it's )?"
    r"(?:not set|unset|not given|omitted|left out|nothing is (?:set|given))\b)"
)
_UNLESS = re.compile(_UNLESS_)
_IN_BRACKETS = re.compile(rf"{_KIND} \({_VALUE}[\"'”]?{_UNLESS_}")
_IS = re.compile(
    rf"{_KIND}(?: (?:is|are)(?: (?:set to|now|still|currently|configured (?:as|to)|fixed at))? | ?[=:] ?)"
    rf"{_VALUE}[\"'”]?"
)
_DEFAULT = re.compile(
    rf"\bdefault(?:s|ed)?(?:[ -]values?)?(?: ?[:=] ?| (?:is|to|of) | ){_VALUE}", re.IGNORECASE
)
_OTHERWISE = re.compile(rf"(?<![\w.,$-]){_VALUE}[\"'”]?{_UNLESS_}")
_A_NAME = r"[\"'“]?(?P<name>(?:--)?[A-Za-z][\w.-]{0,80}\w)[\"'”]?"
_IN_BRACKETS_ALONE = re.compile(
    rf"\((?:the |see |from )?{_A_NAME}(?: (?:setting|option|parameter|variable))?\)"
)
_AS_IT_SAYS = re.compile(rf"\b(?:what|as) {_A_NAME} (?:is set to|says|sets)\b")
_DEFAULT_OF = re.compile(
    rf"[,(:] ?(?:which is |that is )?(?:the|its) default(?: value)? (?:of|for) {_A_NAME}"
)
_NOT_GIVEN = re.compile(
    r"\b(?:[Ww]ithout (?:setting )?"
    r"|(?:[Ii]f|[Ww]hen) (?:you (?:don't|do not) (?:pass|set|give|change|specify) )?)"
    rf"{_A_NAME}(?: (?:isn't|is not) (?:set|given|passed|specified)| is unset)?, "
)
_FIGURE = re.compile(rf"(?<![\w.]){config.FIGURE}")
_ALONE = re.compile(r"[\"'”]?(?:\Z|[\n.,;:)\]|]| (?:by default|unless|when|if|and|or)\b)")
_STOP = re.compile(r"[.!?;]\s|\n")
_BEGINS = re.compile(r"\n[ \t]*(?:[-*•] |#{1,6} |:param |\d+\. )?\Z")
_ENDS_HEAD = re.compile(r"[\"'”]?(?: ?[:(=–—-]|\s*\n)")
_OF_A_NAME = re.compile(r"default(?: value)? of [A-Za-z]", re.IGNORECASE)
_ENTRY = re.compile(r"[ \t]*(?:[-*•] |:param |\d+\. )?(?:(?:-\w, )?--[\w-]{1,60}|[\w.-]{1,80}:[ \n])")
_APART = re.compile(r"\n\s*\n(?!\s*(?:Type|Default)\b)")
_NEAR, _FAR, _HEAD, _SENTENCES = 60, 240, 24, 2
