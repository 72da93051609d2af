"""What options of several commands mean, and what is said where they mean nothing."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable
from typing import Any, NoReturn

from groundwire.tables import Format


class Parser(argparse.ArgumentParser):
    """Tells a mistake in a line of its own, by the command that it was made in; the help has the rest."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As its base, but what a command does not know is told there, and not by the whole program."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\nAll options: {self.prog} --help\n")

    def _meant(self, unknown: Iterable[str]) -> str:
        options = [option for option in unknown if option.startswith("--")]
        for option in options:
            name = option.partition("=")[0]
            if close := difflib.get_close_matches(name, self._option_string_actions, 1):
                return f"; did you mean {close[0]}?"
        return ""


FORMATS = ", ".join(Format)


def table_format(text: str) -> Format:
    """A kind of table."""
    if text not in list(Format):
        raise argparse.ArgumentTypeError(f"expected one of {FORMATS}, not {text!r}")
    return Format(text)


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
