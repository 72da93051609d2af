"""Labelled answers as ``groundwire bench`` and ``groundwire tune`` read and judge them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire import config
from groundwire.cli.arguments import count
from groundwire.cli.exits import INTERRUPTED
from groundwire.cli.outputs import console
from groundwire.cli.writable import require_writable
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError

if TYPE_CHECKING:
    from groundwire.bench.examples import Example

_COLUMNS = ("question", "history", "context", "answer", "id", "label", "spans", "group", "task", "model")


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add how labelled answers are read."""
    table = parser.add_argument_group("reading the data")
    table.add_argument("--layout", metavar="NAME", help="a dataset's own layout, such as ragtruth:test")
    table.add_argument(
        "--columns",
        metavar="PART=COLUMN,...",
        help=f"names of columns that are not the usual ones; parts are {', '.join(_COLUMNS)}",
    )
    table.add_argument("--limit", type=count, metavar="N", help="the first N answers of each set")


def add_runs(judging: argparse._ArgumentGroup) -> None:
    """Add how they are judged by any detector."""
    judging.add_argument("--model", metavar="MODEL", help="for the detectors that ask one, as in check")
    judging.add_argument("--concurrency", type=count, metavar="N", help="answers that are judged at once")
    judging.add_argument(
        "--retry-errors", action="store_true", help="judge answers again that models failed on, of those kept"
    )


def add_replies(judging: argparse._ArgumentGroup) -> None:
    """Add what may be known of a model before it is asked, and kept of it after."""
    judging.add_argument(
        "--dry-run", action="store_true", help="ask no model: tell the calls, tokens and cost"
    )
    judging.add_argument("--replies", metavar="FILE", help="keep the model's replies, and ask none twice")
    judging.add_argument("--replay", action="store_true", help="ask no model: only what --replies holds")


def require_replies(given: argparse.Namespace) -> None:
    """Raises ConfigurationError where replies are wanted again of no file, or can't be kept in theirs."""
    if given.replay and not given.replies:
        raise ConfigurationError("--replay gives again what a file holds: name it with --replies FILE")
    if given.replies and not given.replay and not given.dry_run:
        require_writable("--replies", given.replies)


def asks(detector: Detector, settings: config.Settings) -> bool:
    """Whether a model is asked: one that the detector needs, or that is of use to it and named."""
    return detector.needs_judge or (detector.takes_model and settings.judge is not None)


def examples_of(source: str, given: argparse.Namespace) -> list[Example]:
    """The answers of a file, of standard input, of a dataset in its own layout, or of LangSmith."""
    from groundwire.bench.datasets import load, read_table  # noqa: PLC0415 - numpy is loaded when needed

    columns = _columns(given.columns)
    if source == "-":
        if given.layout is not None:
            raise ConfigurationError("--layout: a dataset in its own layout is read from files, not from -")
        return read_table(sys.stdin.buffer, name="stdin", columns=columns)[: given.limit]
    if source.startswith("langsmith:"):
        from groundwire.bench.langsmith import load_named  # noqa: PLC0415 - the extra 'langchain'

        return load_named(source, columns=columns)[: given.limit]
    return load(source, layout=given.layout, columns=columns)[: given.limit]


def name_of(source: str) -> str:
    """What the answers of a source are called."""
    if source == "-":
        return "stdin"
    if source.startswith("langsmith:"):
        return source.rpartition(":")[2]
    name = Path(source).name or Path(source).resolve().name
    for ending in (".gz", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet"):
        name = name.removesuffix(ending)
    return name


def interrupted(folder: str | None, option: str, *, replies: str | None = None) -> int:
    """Say what is left of the work, and return the exit code. ``option`` names the folder that keeps it."""
    kept = f"nothing was kept: {option} FOLDER would have"
    if replies and Path(replies).exists():
        kept = f"the replies are in {replies}; the same command asks for none of them again"
    if folder:
        kept = f"the outcomes are in {folder}; the same command goes on"
    console(stderr=True).print(f"Stopped: {kept}.", style="bold yellow", soft_wrap=True)
    return INTERRUPTED


def _columns(told: str | None) -> dict[str, str] | None:
    if told is None:
        return None
    pairs = [pair.partition("=") for pair in told.split(",")]
    for part, sign, column in pairs:
        if not (sign and part.strip() and column.strip()):
            raise ConfigurationError(f"--columns: expected PART=COLUMN,..., not {told!r}")
    return {part.strip(): column.strip() for part, _, column in pairs}
