"""Any value in the terms of JSON: what outcomes, their fingerprints and everything stored are written in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from numbers import Integral, Real
from typing import Any
from uuid import UUID

# Python writes no number of more than 4,300 digits, and reads none.
_LONGEST = 14_000  # bits

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(value: Any) -> Any:  # noqa: C901, PLR0911 - one return a kind of value reads as the table it is
    """Any value as JSON can hold it; what has no form there is told by its repr, or by its name.

    What is plain, also once it was written and read, stays as it is.
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Integral):  # numpy's numbers, too
        whole = int(value)
        return whole if whole.bit_length() <= _LONGEST else hex(whole)
    if isinstance(value, Real):
        number = float(value)
        return number if number - number == 0 else None  # NaN and the infinities are not JSON
    if isinstance(value, str):
        return valid(value)
    if isinstance(value, UUID):  # as every program writes it, and looks for it
        return str(value)
    if isinstance(value, Mapping):
        return {valid(str(key)): plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        named = {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.repr}
        return {"kind": type(value).__name__, **named}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        items = [plain(item) for item in value]
        return sorted(items, key=repr) if isinstance(value, set | frozenset) else items
    kind: Any = value if hasattr(value, "__qualname__") else type(value)
    if kind is value or kind.__repr__ is object.__repr__:  # it would tell where in memory something lies
        return valid(f"{getattr(kind, '__module__', None) or 'builtins'}.{kind.__qualname__}")
    return valid(repr(value))


def valid(text: str) -> str:
    """The text in valid Unicode: a lone surrogate becomes U+FFFD, so offsets still hold."""
    return _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
