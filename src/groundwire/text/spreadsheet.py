"""Cells of tables that spreadsheets open: nothing in them may be carried out as a formula."""

from __future__ import annotations

from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def cell(value: Any) -> str:
    """A cell that a spreadsheet shows and does not carry out; numbers are numbers, None is empty."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    text = str(value)
    return f"'{text}" if text.lstrip(" \n").startswith(_FORMULA) else text
