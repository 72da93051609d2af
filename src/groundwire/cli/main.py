"""The ``groundwire`` command: its options, its help, and what becomes of errors."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import textwrap
import traceback
from collections.abc import Sequence

from groundwire import __version__
from groundwire.cli.arguments import FORMATS, Parser, count, fraction, table_format
from groundwire.cli.batch import add_batch
from groundwire.cli.bench import add_bench
from groundwire.cli.catalogue import add_commands
from groundwire.cli.check import COULD_NOT_RUN, CheckOptions, check
from groundwire.cli.monitor import add_monitor
from groundwire.cli.review import add_review
from groundwire.cli.tune import add_tune
from groundwire.core.errors import GroundwireError
from groundwire.report.visible import visible
from groundwire.tables import Columns

_EXAMPLES = """\
examples:
  groundwire check runs.jsonl                what needs a look in full, the rest in a line each
  groundwire check runs.csv --answer reply --context docs --question asked
  groundwire check runs.jsonl.gz --html report.html --quiet
  groundwire check runs.parquet --jsonl > verdicts.jsonl
  cat runs.jsonl | groundwire check - --json | jq .summary
  groundwire check runs.jsonl --detector judge --model bedrock:MODEL_ID

exit codes:
  0    every answer is grounded
  1    at least one answer is hallucinated: its score reaches the threshold
  2    could not run: options, settings or a file are wrong, or a file holds no row
  3    nothing is hallucinated, but at least one row could not be judged
  130  stopped by Ctrl-C; what was printed until then is complete
  141  whoever read the output went away

1 wins over 3, so a pipeline that fails on 1 alone lets unjudged rows pass; failing on any code but 0
does not. Full documentation: docs/cli.md
"""


def entry() -> None:
    """What the installed ``groundwire`` command runs."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")  # a terminal that lacks a character still gets the rest
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
            # Python flushes once more at exit; without a place to go that would print a traceback.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 128 + signal.SIGPIPE
        print(f"groundwire: {visible(_said(error))}", file=sys.stderr)  # noqa: T201 - this is the command line
        return COULD_NOT_RUN
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception:
        # Python would end with 1, which here says that an answer is hallucinated.
        traceback.print_exc()
        return COULD_NOT_RUN
    return code


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror.lower()
    return str(error)


def _options(given: argparse.Namespace) -> CheckOptions:
    return CheckOptions(
        files=tuple(given.files),
        kind=given.format,
        columns=Columns(
            question=given.question,
            context=given.context,
            answer=given.answer,
            id=given.id,
            label=given.label,
        ),
        limit=given.limit,
        threshold=given.threshold,
        detector=given.detector,
        model=given.model,
        config=given.config,
        dry_run=given.dry_run,
        output=given.output or "text",
        html=given.html,
        show_all=given.all,
        quiet=given.quiet,
    )


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="groundwire",
        description="Tells a RAG application, on every answer, whether the retrieved documents support it.",
    )
    parser.add_argument("--version", action="version", version=f"groundwire {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_check(commands)
    add_batch(commands)
    add_bench(commands)
    add_tune(commands)
    add_commands(commands)
    add_monitor(commands)
    add_review(commands)
    return parser


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    check_parser = commands.add_parser(
        "check",
        help="judge a table of answers",
        description=textwrap.dedent("""\
            Judge a table of answers against the context each was given, one row an answer.

            Tables are JSON lines, a JSON array, CSV, TSV or Parquet, each also gzip'd. Columns with the
            usual names are found (question, query, user_input; context, contexts, retrieved_contexts,
            documents; answer, response, output; ...). A context is a text, a list of texts, or a list of
            objects with a text, page_content or content, and perhaps an id, metadata and a score.
            A row that can't be read is named by its line and counts as not judged; the rest is judged.
            """),
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check_parser.set_defaults(run=lambda given: check(_options(given)))
    check_parser.add_argument("files", nargs="+", metavar="FILE", help="a table, or - for standard input")

    table = check_parser.add_argument_group("reading the table")
    for kind, what in (
        ("question", "what was asked; may be missing"),
        ("context", "what was retrieved"),
        ("answer", "what is judged"),
        ("id", "names the row in the output (default: id, else FILE:LINE)"),
        ("label", "1 for hallucinated, 0 for grounded: prints AUROC and F1 (default: label)"),
    ):
        table.add_argument(f"--{kind}", metavar="COLUMN", help=what)
    table.add_argument(
        "--format",
        type=table_format,
        metavar="FORMAT",
        help=f"{FORMATS} (default: told by name and content)",
    )
    table.add_argument("--limit", type=count, metavar="N", help="judge the first N rows")

    judging = check_parser.add_argument_group("judging")
    judging.add_argument(
        "--threshold", type=fraction, metavar="SCORE", help="hallucinated from this score on, 0 to 1"
    )
    judging.add_argument("--detector", metavar="NAME", help="default: embedded, offline; judge with --model")
    judging.add_argument(
        "--model",
        metavar="MODEL",
        help="ask this model: bedrock:MODEL_ID or any LangChain model string (needs groundwire[langchain])",
    )
    judging.add_argument(
        "--config", metavar="FILE", help="settings in YAML, TOML or JSON; options win over it"
    )
    judging.add_argument(
        "--dry-run", action="store_true", help="ask no model: tell the calls, tokens and cost it would take"
    )

    output = check_parser.add_argument_group("output")
    kinds = output.add_mutually_exclusive_group()
    kinds.add_argument(
        "--json", dest="output", action="store_const", const="json", help="print one JSON object"
    )
    kinds.add_argument(
        "--jsonl", dest="output", action="store_const", const="jsonl", help="print one JSON object a row"
    )
    output.add_argument(
        "--html", metavar="PATH", help="write a self-contained page too (needs groundwire[report])"
    )
    output.add_argument("--all", action="store_true", help="show grounded answers in full too")
    output.add_argument("-q", "--quiet", action="store_true", help="print no rows, only the summary")
