"""The ``groundwire`` command: its options, its help, and what becomes of errors."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from groundwire import __version__
from groundwire.cli.arguments import Parser
from groundwire.cli.batch import add_batch
from groundwire.cli.bench import add_bench
from groundwire.cli.catalogue import add_commands
from groundwire.cli.check import add_check
from groundwire.cli.exits import COULD_NOT_RUN, INTERRUPTED
from groundwire.cli.monitor import add_monitor
from groundwire.cli.review import add_review
from groundwire.cli.tune import add_tune
from groundwire.core.errors import ConfigurationError, GroundwireError
from groundwire.report.visible import visible


def entry() -> None:
    """What the installed ``groundwire`` command runs."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    _prepare_streams()
    parser = _parser()
    if not argv:
        parser.print_help(sys.stderr)
        return COULD_NOT_RUN
    arguments = parser.parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except (GroundwireError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            _let_go()
            return 128 + signal.SIGPIPE
        try:
            sys.stdout.flush()
        except OSError:  # a full disk, and perhaps the very error
            _let_go()
        print(f"groundwire: {visible(_said(error))}", file=sys.stderr)  # noqa: T201 - this is the command line
        return COULD_NOT_RUN
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:
        # Python would end with 1, which here says that an answer is hallucinated.
        traceback.print_exc()
        return COULD_NOT_RUN
    return code


def _prepare_streams() -> None:
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started the command
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - the process's own
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")  # a terminal that lacks a character still gets the rest


def _let_go() -> None:
    """Give up what stdout has not taken.

    Python flushes once more at exit; without a place to go that would print a traceback, and end with 120.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _said(error: Exception) -> str:
    """What went wrong, in a line; of several mistakes each has a line of its own below."""
    if isinstance(error, ConfigurationError) and len(error.problems) > 1:
        return "\n  ".join(("this can't work:", *error.problems))
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror.lower()
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="groundwire",
        description="Tells a RAG application, on every answer, whether the retrieved documents support it.",
    )
    parser.add_argument("--version", action="version", version=f"groundwire {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add in (add_check, add_batch, add_bench, add_tune, add_commands, add_monitor, add_review):
        add(commands)
    return parser
