"""What options of several commands mean, and what is said where they mean nothing."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, NoReturn

from groundwire.cli.exits import COULD_NOT_RUN
from groundwire.tables import Columns, Format

_MOST = 10**9


class Parser(argparse.ArgumentParser):
    """Tells a mistake in a line of its own, by the command that it was made in; the help has the rest."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As its base, but what a command does not know is told there, and not by the whole program."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(COULD_NOT_RUN, f"{self.prog}: {message}\nAll options: {self.prog} --help\n")

    def _meant(self, unknown: Iterable[str]) -> str:
        options = [option for option in unknown if option.startswith("--")]
        for option in options:
            name = option.partition("=")[0]
            if close := difflib.get_close_matches(name, self._option_string_actions, 1):
                return f"; did you mean {close[0]}?"
        return ""


def add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    about: str,
    description: str,
    epilog: str,
) -> argparse.ArgumentParser:
    """Add a command to the parser of the whole, with what is told of it laid out as it is written."""
    parser = commands.add_parser(
        name,
        help=about,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_table(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add how a table of answers is read."""
    table = parser.add_argument_group("reading the table")
    for kind, what in (
        ("question", "what was asked; may be missing"),
        ("history", "the conversation before it, a list of messages; may be missing"),
        ("context", "what was retrieved"),
        ("answer", "what is judged"),
        ("id", "names the row in the output (default: id, else FILE:LINE)"),
        ("label", "1 for hallucinated, 0 for grounded; reversed if called faithful, say (default: label)"),
    ):
        table.add_argument(f"--{kind}", metavar="COLUMN", help=what)
    table.add_argument(
        "--format",
        type=table_format,
        metavar="FORMAT",
        help=f"{', '.join(Format)} (default: told by name and content)",
    )
    return table


def columns_of(given: argparse.Namespace) -> Columns:
    """The columns that the options of ``add_table`` name."""
    return Columns(**{one.name: getattr(given, one.name) for one in fields(Columns)})


def add_judging(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add what judges a table of answers."""
    judging = parser.add_argument_group("judging")
    judging.add_argument("--detector", metavar="NAME", help="default: embedded, offline; judge with --model")
    judging.add_argument(
        "--model",
        metavar="MODEL",
        help="ask this model: bedrock:MODEL_ID or any LangChain model string (needs groundwire[langchain])",
    )
    judging.add_argument(
        "--threshold", type=fraction, metavar="SCORE", help="hallucinated from this score on, 0 to 1"
    )
    judging.add_argument(
        "--config", metavar="FILE", help="settings in YAML, TOML or JSON; options win over it"
    )
    judging.add_argument(
        "--dry-run", action="store_true", help="ask no model: tell the calls, tokens and cost it would take"
    )
    return judging


def table_format(text: str) -> Format:
    """A kind of table."""
    if text not in list(Format):
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(Format)}, not {text!r}")
    return Format(text)


def count(text: str) -> int:
    """A whole number from 1 on, and no larger than what counts rows and processes can take."""
    digits = text.lstrip("0")
    if not text.isascii() or not text.isdigit() or not digits:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, not {text!r:.40}")
    if len(digits) > len(str(_MOST)) or int(digits) > _MOST:
        raise argparse.ArgumentTypeError(f"expected at most {_MOST:,}, not {text!r:.40}")
    return int(digits)


def fraction(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, not {text!r}")
    return value
