"""Docstrings as Markdown: their examples become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*?(?=^\s*$|\Z)", re.MULTILINE | re.DOTALL)
_FLAG = re.compile(r"\s*# doctest:.*")


class Examples(griffe.Extension):
    """Puts each ``>>>`` example of a docstring into a fence, without its doctest flags."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        del kwargs
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    return _EXAMPLE.sub(lambda example: f"```pycon\n{_FLAG.sub('', example[0]).rstrip()}\n```\n", docstring)
