"""Every regular expression of the package, found without a list, and the texts that are worst for each.

A pattern can be slow in two ways: it tries many ways to match in one place, or it scans far from every place.
Both show on texts that repeat what the pattern itself repeats and then fail it, so those are made from the
pattern's own parts.
"""

import ast
import importlib
import inspect
import pkgutil
import re
from dataclasses import dataclass
from pathlib import Path
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import groundwire

_MANY = 8  # from so many repetitions on, a part is worth pumping
_USES = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
_SEARCHES = _USES - {"match", "fullmatch", "compile"}
_CLASSES = {ops.CATEGORY_DIGIT: "7", ops.CATEGORY_SPACE: " ", ops.CATEGORY_WORD: "a"}
_OTHERS = {ops.CATEGORY_NOT_DIGIT: "x", ops.CATEGORY_NOT_SPACE: "x", ops.CATEGORY_NOT_WORD: "-"}
FAMILIES = {
    "one letter": "a",
    "capitals": "A",
    "digits": "7",
    "spaces": " ",
    "line breaks": "\n",
    "stops": ".",
    "dots and spaces": ". ",
    "words": "word ",
    "names": "Ada Byron ",
    "open brackets": "([{<",
    "brackets": "()",
    "quotes": "\"'“",
    "marks": "*_`~#|",
    "hyphens": "a-",
    "figures": "1,234.5 ",
    "clock": "12:30:",
    "dates": "2024-01-",
    "abbreviations": "e.g.",
    "links": "http://a.",
    "addresses": "a.b@c.",
    "thoughts": "<think>",
    "emoji": "😀. ",
    "slashes": "a/",
    "commas": "a, ",
}


def modules():
    """Every module of the package that can be imported here."""
    for found in pkgutil.walk_packages(groundwire.__path__, "groundwire."):
        if ".migrations" in found.name or found.name.endswith("__main__"):
            continue  # scripts of other programs
        try:
            yield importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("groundwire"):
                raise
            # An extra that isn't installed, such as PyTorch, which `make test` does without.


@dataclass
class Used:
    """A pattern, where it stands, and whether it is searched for or only tried at one place."""

    module: str
    pattern: re.Pattern
    searched: bool


def patterns():
    """Each pattern: compiled in a name or a container, or written in a call."""
    found = {}

    def add(module, one, searched):
        known = found.setdefault((one.pattern, one.flags), Used(module.__name__, one, searched))
        known.searched |= searched

    for module in modules():
        uses = _uses(module)
        for name, value in vars(module).items():
            for one in _held([value]):
                alone = isinstance(value, re.Pattern)
                add(module, one, not alone or bool(uses.get(name, _SEARCHES) & _SEARCHES))
        for one, use in _written(module):
            known = (one.pattern, one.flags) in found  # by the name that it was compiled for
            add(module, one, not known if use == "compile" else use in _SEARCHES)
    return [one for one in found.values() if isinstance(one.pattern.pattern, str)]


def _uses(module):
    """What is called on each name of a module, in the module itself."""
    called = {}
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            called.setdefault(node.value.id, set()).add(node.attr)
    return called


def _tree(module):
    return ast.parse(Path(module.__file__).read_text(encoding="utf-8"))


def _held(values, depth=0):
    """The patterns among values, and inside of containers, classes and cached functions."""
    for value in list(values.values()) if isinstance(values, dict) else list(values):
        if isinstance(value, re.Pattern):
            yield value
        elif isinstance(value, dict | list | tuple | set | frozenset) and depth < 3:
            yield from _held(value, depth + 1)
        elif inspect.isclass(value) and value.__module__.startswith("groundwire") and depth < 3:
            yield from _held(dict(vars(value)), depth + 1)


def _written(module):
    """The patterns that stand as constants in calls of ``re``."""
    for node in ast.walk(_tree(module)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _USES
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            yield re.compile(node.args[0].value, _flags(node)), node.func.attr


def _flags(call):
    """The flags that a call of ``re.compile`` names; no other call here has any."""
    named = [one.value for one in call.keywords if one.arg == "flags"]
    named += call.args[1:2] if call.func.attr == "compile" else []
    return eval(ast.unparse(named[0]), {"re": re}) if named else 0


def worst_texts(pattern, size):
    """Texts of about ``size`` characters that are hard for it, by what they are made of."""
    pumps = {name: ("", unit) for name, unit in FAMILIES.items()}
    parsed = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    whole = _sample(parsed)
    if whole:
        pumps["its own match"] = ("", whole)
        pumps["its own match, cut short"] = ("", whole[:-1] or whole)
    for i, pump in enumerate(_pumps(parsed)):
        pumps[f"its repetition {i + 1}"] = pump
    for name, (head, unit) in pumps.items():
        text = head + unit * (size // len(unit) + 1)
        yield name, text[:size] + "\x00"


def _pumps(parsed, head=""):
    """For each part that may be repeated: what leads to it, and what it repeats."""
    before = head
    for node in parsed:
        op, value = node
        for inner in _inner(op, value):
            yield from _pumps(inner, before)
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT) and value[1] >= _MANY:
            unit = _sample(value[2])
            if unit:
                yield before, unit
                yield "", before + unit * 2  # and again and again from its beginning
        before += _sample([node])


def _inner(op, value):
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        return [value[2]]
    if op is ops.SUBPATTERN:
        return [value[3]]
    if op is ops.ATOMIC_GROUP:
        return [value]
    if op is ops.BRANCH:
        return value[1]
    if op in (ops.ASSERT, ops.ASSERT_NOT):
        return [value[1]]
    return []


def _sample(parsed):
    return "".join(_sample_of(op, value) for op, value in parsed)


def _sample_of(op, value):  # noqa: PLR0911 - one return a kind of node
    if op is ops.LITERAL:
        return chr(value)
    if op is ops.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if op is ops.ANY:
        return "a"
    if op is ops.IN:
        return _one_of(value)
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        return _sample(value[2]) * max(1, min(value[0], 4))
    if op is ops.SUBPATTERN:
        return _sample(value[3])
    if op is ops.ATOMIC_GROUP:
        return _sample(value)
    if op is ops.BRANCH:
        return max((_sample(branch) for branch in value[1]), key=len)
    return ""


def _one_of(members):
    if members[0][0] is ops.NEGATE:
        barred = re.compile("[" + "".join(map(_as_class, members[1:])) + "]")
        return next(c for c in "a7 -x.\n\x00ä" if not barred.match(c))
    op, value = members[0]
    if op is ops.LITERAL:
        return chr(value)
    if op is ops.RANGE:
        return chr(value[0])
    return {**_CLASSES, **_OTHERS}.get(value, "a")


def _as_class(member):
    op, value = member
    if op is ops.LITERAL:
        return re.escape(chr(value))
    if op is ops.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {
        ops.CATEGORY_DIGIT: r"\d",
        ops.CATEGORY_NOT_DIGIT: r"\D",
        ops.CATEGORY_SPACE: r"\s",
        ops.CATEGORY_NOT_SPACE: r"\S",
        ops.CATEGORY_WORD: r"\w",
        ops.CATEGORY_NOT_WORD: r"\W",
    }[value]
