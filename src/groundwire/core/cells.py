"""Cells of tables that spreadsheets open: no text of other people becomes a formula there."""

from __future__ import annotations

from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def cell(value: Any) -> str:
    """A value as a cell that a spreadsheet shows and does not carry out. Numbers stay numbers; None is ''."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    text = str(value)
    return f"'{text}" if text.lstrip(" \n\ufeff\u200b").startswith(_FORMULA) else text
