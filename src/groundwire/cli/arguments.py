"""What options of several commands mean, and what is said where they mean nothing."""

from __future__ import annotations

import argparse


def count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, not {text!r}")
    return int(text)


def fraction(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, not {text!r}")
    return value
