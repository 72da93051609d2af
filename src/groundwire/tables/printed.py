"""Lists that are spelled out in a cell: as JSON, or as Python prints them, which is never run."""

from __future__ import annotations

import ast
import io
import json
import re
import threading
import tokenize
import warnings
from collections.abc import Callable, Iterator
from typing import Any

# How a list begins that str() wrote, and hardly a text in brackets: what comes then costs time to read.
_BEGINS = re.compile(r"""[\[(]\s*(?:[\[({'"]|(?:None|nan|NaN|array)\b|[A-Z]\w*\()""")
_NO_NUMBERS = ("nan", "NaN", "NaT", "inf", "Infinity")  # as Python, pandas and JSON print them, and -inf
_LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_ATOMS = (tokenize.STRING, tokenize.NUMBER, tokenize.NAME)
# What warnings a process shows is one list of all its threads: two that put it aside at once would lose it.
_QUIETLY = threading.Lock()


def spelled(text: str, *, nan: Callable[[str], Any] | None = None) -> Any:
    """What ``text`` is as JSON, else the list that Python printed; None where it is neither.

    ``nan`` is called for JSON's NaN, which is a float where it is left out.
    """
    try:
        return json.loads(text, parse_constant=nan)
    except (ValueError, RecursionError):
        return _printed(text.strip())


def _printed(text: str) -> Any:
    """The list that ``text`` is the print of, as pandas writes a column of lists; None where it is none.

    Objects such as LangChain's Documents are dicts of what they show; of a number or a time in a type of its
    own (``np.float32(0.83)``) the value is taken, and NaN, NaT and infinities are None.
    """
    if not _BEGINS.match(text):
        return None
    try:
        value = _value(_parsed(text))
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
            value = _strings(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
        return None
    return value if isinstance(value, list) else None


def _parsed(text: str) -> ast.expr:
    with _QUIETLY, warnings.catch_warnings(action="ignore"):  # Python's opinion of a stray backslash
        try:
            return ast.parse(text, mode="eval").body
        except SyntaxError:
            return ast.parse(" ".join(_with_commas(text)), mode="eval").body


def _with_commas(text: str) -> Iterator[str]:
    """The tokens of a list, with the commas that NumPy leaves out between its items."""
    depth, before = 0, None
    for token in _tokens(text):
        ends = before is not None and (before.type in _ATOMS or before.string in ("}", "]", ")"))
        begins = token.type in _ATOMS or token.string in ("{", "[", "(")
        called = before is not None and token.string == "(" and before.end == token.start
        if depth == 1 and ends and begins and not called:
            yield ","
        depth += (token.string in ("{", "[", "(")) - (token.string in ("}", "]", ")"))
        before = token
        yield token.string


def _strings(text: str) -> list[str]:
    """The texts of a list that seems to be of one: where NumPy wrote it, there are no commas between them."""
    told = (token.string for token in _tokens(text) if token.type == tokenize.STRING)
    return [ast.literal_eval(_parsed(one)) for one in told]


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return (
        token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in _LAYOUT
    )


def _value(node: ast.expr) -> Any:
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            found = [_value(item) for item in items]
            scored = isinstance(node, ast.Tuple) and len(found) == 2 and isinstance(found[0], dict)
            # A document and its score, as LangChain's similarity_search_with_score gives them.
            return found[0] | {"score": found[1]} if scored else found
        case ast.Dict(keys=keys, values=values):
            return {_value(key): _value(value) for key, value in zip(keys, values, strict=True) if key}
        case ast.Call():
            return _called(node)
        case ast.Name(id=name) | ast.UnaryOp(operand=ast.Name(id=name)) if name in _NO_NUMBERS:
            return None
    return ast.literal_eval(node)


def _called(node: ast.Call) -> Any:
    if len(node.args) == 1:
        return _value(node.args[0])
    if node.keywords and not node.args:
        return {one.arg: _value(one.value) for one in node.keywords}
    return ast.unparse(node)
