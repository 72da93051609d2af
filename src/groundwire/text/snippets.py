"""Blocks of code in an answer: which names they use as a document's, and which are their own.

A block shows how something is done: its strings, figures and variables are examples. Whether the documents
have its other names is for the detectors to say.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from groundwire.core.cached import cached_property
from groundwire.core.span import Span
from groundwire.text.layout import FENCE, lines
from groundwire.text.settings import is_coded, joined


class Use(StrEnum):
    """How a block uses a name."""

    FLAG = "flag"
    PARAMETER = "parameter"
    METHOD = "method"
    KEY = "key"
    QUERY = "query"


@dataclass(frozen=True, slots=True)
class Used:
    """A name that a block uses, and what it belongs to: a command, a function, an object, or nothing."""

    use: Use
    name: str
    of: str
    span: Span


def find(text: str) -> list[Span]:
    """The insides of the fenced blocks of ``text``, in order."""
    if "```" not in text and "~~~" not in text:
        return []
    found, fence, start = [], "", 0
    for line in lines(text):
        if fence:
            if line.text.startswith(fence) and not line.text.strip(fence[0]):
                found.append(Span(start, max(start, line.start)))
                fence = ""
        elif (opening := FENCE.match(line.text)) and opening.group() not in line.text[opening.end() :]:
            fence, start = opening.group(), line.start + len(line.text)
    return [*found, Span(start, len(text))] if fence else found


@dataclass(frozen=True)
class Snippet:
    """A block of code."""

    text: str

    @property
    def does_something(self) -> bool:
        """Whether it calls a function or runs a command: no list of settings, and no prose within fences."""
        if _PROSE.search(self._bare):
            return False
        return _CALL.search(self._bare) is not None or any(self._commands())

    @cached_property
    def _bare(self) -> str:
        """The code without what strings and comments say, each character in its place."""
        return _SAID.sub(lambda match: _blank(match.group()), self.text)

    @cached_property
    def comments(self) -> tuple[Span, ...]:
        """What it says in comments."""
        return tuple(Span(*match.span()) for match in _SAID.finditer(self.text) if match.group()[0] in "#/-")

    def used(self) -> list[Used]:
        """The names that it uses, but for those that it makes itself."""
        return [*self._flags(), *self._parameters(), *self._methods(), *self._keys(), *self._queries()]

    @cached_property
    def names(self) -> frozenset[str]:
        """All its names, whole and in the parts between hyphens, and its flags."""
        return frozenset([*_WORD.findall(self.text), *_NAME.findall(self.text), *_FLAG.findall(self.text)])

    @cached_property
    def calls(self) -> frozenset[str]:
        """The functions and methods that it calls."""
        return frozenset(match["name"] for match in _CALL.finditer(self._bare))

    @cached_property
    def own(self) -> frozenset[str]:
        """The names that it gives itself: variables, functions, parameters and what it imports."""
        return frozenset(
            name
            for match in _MADE.finditer(self._bare)
            for name in _WORD.findall(match["said"] or match["each"] or match["left"])
        )

    @cached_property
    def owners(self) -> dict[str, set[str]]:
        """By the name of a method, the objects that it is called of."""
        found: dict[str, set[str]] = defaultdict(set)
        for used in self._methods():
            found[used.name].add(used.of)
        return found

    @cached_property
    def made_by(self) -> dict[str, str]:
        """By a variable's name, the function or class that it is the result of."""
        return {match["name"]: match["maker"] for match in _RESULT.finditer(self._bare)}

    @cached_property
    def subcommands(self) -> frozenset[tuple[str, str]]:
        """The commands that it runs, each with a word that follows: "lantern" and "start"."""
        told = [(name, _SUBCOMMAND.match(self._bare, rest.start)) for name, rest in self._commands()]
        return frozenset((name, match["name"]) for name, match in told if match)

    def _commands(self) -> Iterator[tuple[str, Span]]:
        for match in _COMMAND.finditer(self._bare):
            if match["name"] not in _NO_COMMANDS:
                yield match["name"], Span(*match.span("rest"))

    def _flags(self) -> Iterator[Used]:
        for name, rest in self._commands():
            for flag in _FLAG.finditer(self._bare, rest.start, rest.end):
                yield Used(Use.FLAG, flag.group(), name, Span(*flag.span()))

    def _parameters(self) -> Iterator[Used]:
        for call, inside in _calls(self._bare):
            text = _flat(inside.of(self._bare))
            for one in _NAMED.finditer(text):
                span = Span(*one.span("name")).shifted(inside.start)
                yield Used(Use.PARAMETER, one["name"], call, span)

    def _methods(self) -> Iterator[Used]:
        for match in _METHOD.finditer(self._bare):
            yield Used(Use.METHOD, match["name"], match["of"], Span(*match.span("name")))

    def _keys(self) -> Iterator[Used]:
        for match in _KEY.finditer(self.text):
            group = "quoted" if match["quoted"] else "bare"
            yield Used(Use.KEY, match[group], "", Span(*match.span(group)))

    def _queries(self) -> Iterator[Used]:
        for match in _QUERY.finditer(self.text):
            yield Used(Use.QUERY, match["name"], "", Span(*match.span("name")))


@dataclass(frozen=True)
class Documented:
    """The names of code that a document has."""

    text: str

    @cached_property
    def names(self) -> frozenset[str]:
        """Its words and names, and the parts of those, without case and joints."""
        whole = {joined(word) for word in _NAME.findall(self.text)}
        return frozenset(whole | {word.lower() for word in _WORD.findall(self.text)})

    @cached_property
    def written(self) -> frozenset[str]:
        """Its names as they are written."""
        return frozenset(_NAME.findall(self.text))

    @cached_property
    def keys(self) -> frozenset[str]:
        """What stands in quotation marks, or as the name of an entry."""
        return frozenset(
            [*_QUOTED.findall(self.text), *(m["quoted"] or m["bare"] for m in _KEY.finditer(self.text))]
        )

    @cached_property
    def parameters(self) -> dict[str, frozenset[str]]:
        """By the name of a function, the names between its brackets."""
        found: dict[str, set[str]] = defaultdict(set)
        for call, inside in _calls(self.text):
            found[call].update(_WORD.findall(_flat(_SAID.sub(" ", inside.of(self.text)))))
        return {name: frozenset(inside) for name, inside in found.items()}

    @cached_property
    def methods(self) -> dict[str, frozenset[str]]:
        """By the name of an object, the methods that it is said to have."""
        found: dict[str, set[str]] = defaultdict(set)
        for match in _METHOD.finditer(self.text):
            found[match["of"]].add(match["name"])
        return {name: frozenset(inside) for name, inside in found.items()}

    @cached_property
    def calls(self) -> frozenset[str]:
        """The functions and methods that it names with their brackets."""
        return frozenset(match["name"] for match in _CALL.finditer(self.text))

    @cached_property
    def code(self) -> frozenset[str]:
        """What it names as code: functions, flags, keys, and what is written as only names of code are."""
        return self.calls | self.flags | self.keys | frozenset(filter(is_coded, self.written))

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of addresses that it names, of two parts or more."""
        return frozenset(_PATH.findall(self.text))

    @cached_property
    def flags(self) -> frozenset[str]:
        return frozenset(_FLAG.findall(self.text))


def _calls(text: str) -> Iterator[tuple[str, Span]]:
    """Each function that is called, and what stands between its brackets, as far as is near."""
    for match in _CALL.finditer(text):
        depth, end = 1, match.end()
        for bracket in _BRACKET.finditer(text, match.end(), match.end() + _LONGEST):
            depth += 1 if bracket.group() == "(" else -1
            end = bracket.start()
            if not depth:
                yield match["name"], Span(match.end(), end)
                break


def _flat(inside: str) -> str:
    """What stands between brackets without what further brackets hold, but for its one object.

    Each character is in its place. Of several objects, some may be data of the reader's own.
    """
    depths, depth = [], 0
    for char in inside:
        depth -= char in ")]}"
        depths.append(depth)
        depth += char in "([{"
    objects = [i for i, char in enumerate(inside) if char == "{" and not depths[i]]
    at = objects[0] if len(objects) == 1 and not inside[: objects[0]].rstrip().endswith("=>") else len(inside)
    end = next((i for i in range(at + 1, len(inside)) if depths[i] <= 0), len(inside))
    return "".join(char if depths[i] <= (at < i < end) else " " for i, char in enumerate(inside))


def _blank(said: str) -> str:
    return (
        f"{said[0]}{' ' * (len(said) - 2)}{said[-1]}"
        if said[0] in "\"'`" and len(said) > 1
        else " " * len(said)
    )


_LONGEST = 600
_SAID = re.compile(
    r'"(?:[^"\\\n]|\\.){0,400}"|\'(?:[^\'\\\n]|\\.){0,400}\'|(?:(?<=\s)|(?<=^))(?:#|//)[^\n]*'
    r"|(?:(?<=^)|(?<=[;,]\s))-- [^\n]*",
    re.MULTILINE,
)
# Words in a row of which one is hardly ever code: "returns at once and the scan goes on".
_PROSE = re.compile(r"(?<![\w.])(?:[A-Za-z]{1,20} ){1,12}(?:the|an|are|its|their|which|than|you|been) [a-z]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_CALL = re.compile(r"(?<!\w)(?<!def )(?<!class )(?P<name>[A-Za-z_]\w{0,60})\(")
_BRACKET = re.compile(r"[()]")
_METHOD = re.compile(r"(?<![\w.])(?P<of>[A-Za-z_]\w{0,60})\.(?P<name>[A-Za-z_]\w{0,60})\(")
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]{0,40}")
_COMMAND = re.compile(
    r"^[ \t]{0,8}(?:[$>%] )?(?:sudo )?"
    r"(?P<name>[a-z][\w.-]{0,40})(?P<rest> (?![=:(.])(?:[^\n\\|;&(]|\\\r?\n|\\){1,2000})",
    re.MULTILINE,
)
_SUBCOMMAND = re.compile(r" {1,4}(?P<name>[a-z][a-z-]{1,30})(?=\s|\Z)")
# What a line of a program begins with, not one of a shell.
_NO_COMMANDS = frozenset(
    """
    import from def class return for while if else elif with try except raise async await const let
    var function new export public private static void int float string bool yield assert print not
    lambda del global in end do use func fn type struct package select insert update delete create
    where order group name
    """.split()  # noqa: SIM905
)
_NAMED = re.compile(r"(?<![\w.\"'])(?P<name>[A-Za-z_]\w{0,60})(?:\s?=(?![=>])|\s?:(?=[ \d\[{\"']))")
_MADE = re.compile(
    r"^[ \t]*(?:(?:export|async|const|let|var) )?"
    r"(?:(?:def|class|function|fn|func|import|from) (?P<said>[^\n]{1,200})"
    r"|(?:for|with) (?:[^\n]{0,100} as )?(?P<each>\w{1,60})(?: in\b|:)"
    r"|(?P<left>[\w ,{}\[\]:]{1,80}?) ?=[^=])",
    re.MULTILINE,
)
_RESULT = re.compile(
    r"^[ \t]*(?:(?:const|let|var|async|await|with)\s)?(?P<name>[A-Za-z_]\w{0,60})\s?=\s?(?:await |new )?"
    r"(?:[A-Za-z_]\w{0,60}\.){0,3}(?P<maker>[A-Za-z_]\w{0,60})\(",
    re.MULTILINE,
)
_KEY = re.compile(
    r"[\"'](?P<quoted>[A-Za-z][\w-]{1,60})[\"']\s?:"
    r"|^[ \t]*(?:- )?(?P<bare>[A-Za-z][\w-]{1,60})\s?(?::(?=\s|$)|=(?=\s))",
    re.MULTILINE,
)
_QUOTED = re.compile(r"[\"“](\w[\w-]{1,40})[\"”]")
_PATH = re.compile(r"(?<![\w.:/])(?:/[\w-]{1,40}){2,10}")
_QUERY = re.compile(r"(?<=[?&])(?P<name>[A-Za-z][\w-]{1,60})=")
