"""``groundwire bench``: several detectors on the same labelled answers, and what each of them costs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundwire import config, detectors
from groundwire.checker import Checker
from groundwire.cli.arguments import add_command
from groundwire.cli.exits import DONE, NOT_ALL_JUDGED
from groundwire.cli.labelled import (
    add_data,
    add_replies,
    add_runs,
    asks,
    examples_of,
    interrupted,
    name_of,
    require_replies,
)
from groundwire.cli.outputs import console
from groundwire.cli.settings import complete_settings, require_models, settings_of
from groundwire.cli.writable import require_folder
from groundwire.core.errors import ConfigurationError, gathered
from groundwire.report.visible import escaped

if TYPE_CHECKING:
    from groundwire.bench.comparison import Contestant
    from groundwire.bench.examples import Example

_OFFLINE = "token,lexical,embedded"

_DESCRIPTION = """\
Judge the same labelled answers by several detectors and compare them: quality with intervals, cost,
paired tests, and the shortcuts that each has to beat. DATA is a table with a context, an answer and
a label (1 for hallucinated, 0 for grounded; or spans), a dataset in its authors' own layout
(--layout), or langsmith:dataset:NAME or langsmith:project:NAME.
"""
_EXAMPLES = """\
examples:
  groundwire bench labelled.csv
  groundwire bench labelled.csv --detectors lexical,embedded,judge --model openai:gpt-4o-mini --out bench
  groundwire bench RAGTruth/dataset --layout ragtruth:test --out bench --plots svg
  groundwire bench labelled.csv --detectors judge --model bedrock:MODEL_ID --dry-run
  groundwire bench labelled.csv --checker strict.yaml --checker lenient.yaml

With --out, outcomes are kept as they come: the same command goes on where a stopped one ended.
Full documentation: docs/benchmarking.md
"""


def add_bench(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser of the whole."""
    parser = add_command(
        commands,
        "bench",
        bench,
        about="compare detectors on labelled answers",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument("data", nargs="+", metavar="DATA", help="labelled answers, or - for standard input")
    add_data(parser)

    judging = parser.add_argument_group("judging")
    judging.add_argument("--detectors", metavar="NAME,...", help=f"default: {_OFFLINE}, offline")
    add_runs(judging)
    judging.add_argument("--config", metavar="FILE", help="settings for the detectors: judge, prices, limits")
    judging.add_argument(
        "--checker",
        action="append",
        default=[],
        metavar="FILE",
        help="a whole checker's settings, compared too",
    )
    add_replies(judging)

    output = parser.add_argument_group("output")
    output.add_argument("--out", metavar="FOLDER", help="write report.html, .md and .json, and keep outcomes")
    output.add_argument("--plots", choices=("svg", "png"), help="write each plot to the folder, too")
    output.add_argument("--title", default="Detectors compared", help="of the report")
    output.add_argument("--json", action="store_true", help="print one JSON object")
    output.add_argument("-q", "--quiet", action="store_true", help="draw no progress")


def bench(given: argparse.Namespace) -> int:
    """Run the command. Whatever can be wrong with options is raised before the first row is judged."""
    if given.plots and not given.out:
        raise ConfigurationError("--plots needs a folder to write to: --out FOLDER")
    require_replies(given)
    # Slow to load, and some of it in an extra: both are nobody's concern who runs another command.
    from groundwire.bench import report  # noqa: PLC0415
    from groundwire.bench.comparison import compare, contestant  # noqa: PLC0415

    folder = Path(given.out) if given.out else None
    if folder:
        _require_report(given.plots)
        require_folder("--out", given.out)
        folder.mkdir(parents=True, exist_ok=True)
    named = _named(_settings(given))
    sets = _sets(given)
    if given.dry_run:
        return _estimate(named, sets, given)
    contestants: list[Contestant] = [
        contestant(name, checker, concurrency=given.concurrency, retry_errors=given.retry_errors)
        for name, checker in _checkers(named, given)
    ]
    try:
        comparison = compare(
            sets, contestants, records=folder and folder / "outcomes", progress=not given.quiet
        )
    except KeyboardInterrupt:
        return interrupted(given.out, "--out", replies=given.replies)
    return _tell(report.told(comparison, title=given.title), given, folder)


def _named(found: Iterator[tuple[str, config.Settings]]) -> dict[str, config.Settings]:
    named: dict[str, config.Settings] = {}
    for name, settings in found:
        if name in named:
            raise ConfigurationError(f"two contestants are called {name!r}: name each once, and files apart")
        named[name] = settings
    return named


def _settings(given: argparse.Namespace) -> Iterator[tuple[str, config.Settings]]:
    """What each contestant is made of. Where no model will be asked, none need be named."""
    asking = not (given.dry_run or given.replay)
    complete = complete_settings if asking else settings_of
    names = given.detectors or ("" if given.checker else _OFFLINE)
    for name in filter(None, map(str.strip, names.split(","))):
        model = given.model if detectors.get(name).needs_model else None
        yield name, complete(given.config, detector=name, model=model)
    for file in given.checker:
        yield Path(file).stem, _settings_of_checker(file, asking=asking)


_IN_THE_FILE = {
    "a language model": "set judge.model in the file",
    "an embedding model": "set judge.embeddings in the file",
}


def _settings_of_checker(file: str, *, asking: bool) -> config.Settings:
    """What a file of --checker holds. Of several such files, a mistake tells in which it is."""
    try:
        settings = config.load(file)
        gathered((settings.build_judging, settings.build_redaction, settings.build_fallback))
        if asking:
            require_models(settings, _IN_THE_FILE)
    except ConfigurationError as error:
        raise ConfigurationError(*(f"--checker {file}: {one}" for one in error.problems)) from error
    return settings


def _checkers(
    named: Mapping[str, config.Settings], given: argparse.Namespace
) -> Iterator[tuple[str, Checker]]:
    """The contestants. Those that ask share the replies of --replies, so that none is asked for twice.

    With --replay their model is the file alone, so that neither key nor model is needed.
    """
    from groundwire.bench.replies import Replies  # noqa: PLC0415 - wanted by few

    shared: Replies | None = None
    asking = {
        name: settings
        for name, settings in named.items()
        if given.replies and asks(settings.build_detector(), settings)
    }
    _require_one_model(asking)
    for name, settings in named.items():
        told = settings.without_monitor()
        if name not in asking:
            yield name, Checker.from_config(told)
            continue
        model = settings.judge.build() if settings.judge and not given.replay else None
        shared = shared.beside(model) if shared else Replies(given.replies, model)
        yield name, Checker.from_config(told, judge=shared)


def _require_one_model(asking: Mapping[str, config.Settings]) -> None:
    """Raises ConfigurationError where contestants with one file of replies name different models.

    Of a replay, too: there the model's name is all that tells whose replies are wanted.
    """
    models = {name: settings.judge.model for name, settings in asking.items() if settings.judge}
    if len(set(models.values())) > 1:
        asked = ", ".join(f"{name!r} asks {model!r}" for name, model in models.items())
        raise ConfigurationError(
            f"--replies: one file holds the replies of one model, and {asked}: run the command once for each "
            "model, with a file of its own"
        )


def _sets(given: argparse.Namespace) -> dict[str, list[Example]]:
    sets: dict[str, list[Example]] = {}
    for source in given.data:
        if (name := name_of(source)) in sets:
            raise ConfigurationError(f"two sets would be called {name!r}: rename one of the files")
        sets[name] = examples_of(source, given)
    return sets


def _estimate(
    named: dict[str, config.Settings], sets: dict[str, list[Example]], given: argparse.Namespace
) -> int:
    from groundwire.cli.estimates import estimates, tell  # noqa: PLC0415 - only here

    built = {}
    for name, settings in named.items():
        detector = settings.build_detector().beside(settings.judge)
        settings.build_grading(detector.grading)
        built[name] = (detector, settings)
    interactions = [
        one.interaction for examples in sets.values() for one in examples if one.label is not None
    ]
    tell(estimates(built, interactions), as_json=given.json)
    return DONE


def _require_report(plots: str | None) -> None:
    from groundwire.bench import page  # noqa: F401, PLC0415 - says at once what is not installed

    if plots == "png":
        from groundwire.bench.charts import require_png  # noqa: PLC0415 - only here

        require_png()


def _tell(told: Mapping[str, Any], given: argparse.Namespace, folder: Path | None) -> int:
    from groundwire.bench import table  # noqa: PLC0415 - as above

    if folder:
        from groundwire.bench import page  # noqa: PLC0415 - needs the extra 'bench'

        written = page.write_all(folder, told, plots=given.plots)
        console(stderr=True).print(f"Report: {written[0]}", soft_wrap=True)
    if given.json:
        _say(escaped(json.dumps(told, allow_nan=False)))
        return _code(told)
    out = console(stderr=False)
    if not out.is_terminal:
        out.width = 220
    for part in table.terminal(told):
        out.print(part, soft_wrap=isinstance(part, str))
    return _code(told)


def _code(told: Mapping[str, Any]) -> int:
    """Whether each detector judged anything at all, on every set."""
    silent = any(
        cards[one["name"]]["coverage"] == 0
        for cards in told["cards"].values()
        for one in told["methods"]
        if not one["shortcut"]
    )
    return NOT_ALL_JUDGED if silent else DONE


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
