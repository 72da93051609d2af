"""``groundwire tune``: how a detector's scores are to be read, fitted to labelled answers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire import config
from groundwire.checker import Checker
from groundwire.cli.arguments import add_command
from groundwire.cli.exits import DONE
from groundwire.cli.labelled import (
    add_data,
    add_replies,
    add_runs,
    asks,
    examples_of,
    interrupted,
    require_replies,
)
from groundwire.cli.outputs import console
from groundwire.cli.tuning_output import tell
from groundwire.cli.writable import require_folder, require_writable
from groundwire.core.errors import ConfigurationError
from groundwire.policy import Policy

if TYPE_CHECKING:
    from groundwire.bench.examples import Example
    from groundwire.bench.runs import Judged
    from groundwire.bench.tuning import Target, Tuning
    from groundwire.core.detector import Detector

_DESCRIPTION = """\
Fit how a detector's scores are read to labelled answers: its threshold, the cuts of its levels, its
calibration, and the rule from claims to answers. DATA is what groundwire bench reads: a table with a
context, an answer and a label (1 for hallucinated, 0 for grounded), or a dataset in its authors' own
layout. The result is a settings file for Checker.from_config and groundwire check --config, and what it
is worth on answers that took no part, with 95 % intervals over sources.
"""
_EXAMPLES = """\
targets:
  f1, accuracy, balanced_accuracy   as high as can be
  precision>=0.95                   the highest recall that keeps it, on these labels
  recall>=0.9                       the highest precision that keeps it, on these labels
  cost<=0.2 calls                   for cascades: the highest F1 at so many calls of a model an answer
  false_alarms<=0.05 with 0.95      the most that can be flagged while, with that confidence, at most
                                    that share of a source's grounded answers is, on the mean over
                                    sources, also of answers to come
  misses<=0.1 with 0.95             the same for hallucinated answers that are not flagged

examples:
  groundwire tune labelled.csv
  groundwire tune labelled.csv --detector lexical --target "precision>=0.9" --out strict.json
  groundwire tune labelled.csv --detector judge --model bedrock:MODEL_ID --dry-run
  groundwire tune labelled.csv --detector judge --model bedrock:MODEL_ID --outcomes outcomes
  groundwire tune labelled.csv --detector embedded,token --target "false_alarms<=0.1 with 0.9"
  groundwire check answers.csv --config tuned.json

Several detectors are stacked: one combination of their scores is fitted and tuned. With --outcomes, what
a detector said is kept as it comes: the same command goes on where a stopped one ended, and another target
judges nothing again. Full documentation: docs/tuning.md
"""


def add_tune(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser of the whole."""
    parser = add_command(
        commands,
        "tune",
        tune,
        about="fit thresholds to labelled answers",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument("data", metavar="DATA", help="labelled answers, or - for standard input")
    add_data(parser)

    judging = parser.add_argument_group("judging")
    judging.add_argument(
        "--detector", metavar="NAME,...", help="default: that of --config, or embedded; several are stacked"
    )
    add_runs(judging)
    add_replies(judging)
    judging.add_argument(
        "--config", metavar="FILE", help="settings: detector, judge, limits; without threshold and levels"
    )
    judging.add_argument(
        "--outcomes", metavar="FOLDER", help="keep what the detectors said, and judge none twice"
    )

    fitting = parser.add_argument_group("fitting")
    fitting.add_argument(
        "--target", default="f1", metavar="TARGET", help="what the threshold is to reach (f1)"
    )
    fitting.add_argument(
        "--calibration",
        default="auto",
        metavar="KIND",
        help="none, temperature, platt or isotonic (default: auto, by answers held out)",
    )
    fitting.add_argument(
        "--aggregation",
        default="auto",
        metavar="RULE",
        help="own, any_unsupported, worst_2, worst_3, length_weighted or fraction (default: auto)",
    )
    fitting.add_argument(
        "--combination", default="auto", metavar="KIND", help="of a stack: logistic or trees (default: auto)"
    )

    output = parser.add_argument_group("output")
    output.add_argument(
        "--out", default="tuned.json", metavar="FILE", help="the settings file to write (tuned.json)"
    )
    output.add_argument("--json", action="store_true", help="print one JSON object")
    output.add_argument("-q", "--quiet", action="store_true", help="print only warnings, to stderr")


def tune(given: argparse.Namespace) -> int:
    """Run the command. Whatever can be wrong with options is raised before the first row is judged."""
    from groundwire.bench import tuning  # noqa: PLC0415 - numpy and scikit-learn

    target = tuning.Target.parse(given.target)
    out = Path(given.out)
    if out.suffix.lower() not in (".json", ".yaml", ".yml"):
        raise ConfigurationError(f"--out {given.out!r}: expected a name ending in .json or .yaml")
    require_writable("--out", given.out, read=(given.data, given.config, given.replies))
    if given.outcomes:
        require_folder("--outcomes", given.outcomes)
    require_replies(given)
    settings, built = _built(given)
    checkers = [] if given.dry_run else list(_checkers(settings, built, given))
    tuning.require_options(
        built,
        target,
        calibration=given.calibration,
        aggregation=given.aggregation,
        combination=given.combination,
    )
    examples = examples_of(given.data, given)
    tuning.require_labels(examples, target, stack=len(built) > 1)
    if (left_out := sum(one.label is None for one in examples)) and not (given.json or given.quiet):
        console(stderr=True).print(f"{left_out:,} answers without a label are left out.", style="dim")
    if given.dry_run:
        return _estimate(settings, built, examples, given)
    try:
        found = _fitted(examples, checkers, target, given)
    except KeyboardInterrupt:
        return interrupted(given.outcomes, "--outcomes", replies=given.replies)
    found.save(out, settings={"judge": {"model": given.model}} if given.model else None)
    elsewhere = not given.model and any(getattr(checker.judge, "model", None) for checker in checkers)
    tell(
        found,
        out,
        as_json=given.json,
        quiet=given.quiet,
        beside=given.config if elsewhere else None,
        unnamed=elsewhere and not given.config,
    )
    return DONE


def _estimate(
    settings: config.Settings, built: list[Detector], examples: list[Example], given: argparse.Namespace
) -> int:
    """Tell what the detectors would ask; of a cascade each stage, for each judges every answer."""
    from groundwire.bench.tuning.cascading import stages_alone  # noqa: PLC0415 - as above
    from groundwire.cli import estimates  # noqa: PLC0415 - only here

    beside = [detector.beside(settings.judge) for detector in built]
    named: dict[str, tuple[Detector, config.Settings]] = {one.name: (one, settings) for one in beside}
    if named.keys() == {"cascade"}:
        named = {stage.name: (alone, settings) for stage, alone in stages_alone(beside[0])}
    interactions = [one.interaction for one in examples if one.label is not None]
    estimates.tell(estimates.estimates(named, interactions), as_json=given.json)
    return DONE


def _fitted(
    examples: list[Example], checkers: list[Checker], target: Target, given: argparse.Namespace
) -> Tuning:
    from groundwire.bench import tuning  # noqa: PLC0415 - as above

    def said(of: list[Checker]) -> list[list[Judged]]:
        return [list(_judged(examples, checker, given)) for checker in of]

    first, *others = checkers
    if others:
        return tuning.stack(
            said(checkers),
            checkers,
            target=target,
            calibration=given.calibration,
            combination=given.combination,
        )
    if first.detector.name == "cascade":
        return tuning.tune_cascade(said(tuning.stages(first)), first, target=target)
    return tuning.tune(
        said([first])[0],
        first,
        target=target,
        calibration=given.calibration,
        aggregation=given.aggregation,
    )


def _built(given: argparse.Namespace) -> tuple[config.Settings, list[Detector]]:
    """The settings, and each detector by them; none with a reading of its own."""
    settings = config.load(given.config) if given.config else config.Settings()
    if settings.tuned is not None or settings.threshold is not None:
        raise ConfigurationError(
            f"{given.config}: it sets {'tuned' if settings.tuned else 'threshold'!r}, which is what is to be "
            "fitted: remove it"
        )
    told = settings.without_monitor()
    if given.model:
        told["judge"] = {**(told.get("judge") or {}), "model": given.model}
    names = [name.strip() for name in given.detector.split(",")] if given.detector else [None]
    built = [config.load({**told, "detector": name} if name else told).build_detector() for name in names]
    whole = config.load(told)
    takes = any(one.takes_model for one in built)
    for option, value, asked in (
        ("--model has nothing to answer", given.model, takes),
        ("--replay has nothing to give", given.replay, takes),
        ("--replies has nothing to keep", given.replies, given.replay or any(asks(o, whole) for o in built)),
    ):
        if value and not asked:
            raise ConfigurationError(f"{option}: {', '.join(repr(one.name) for one in built)} asks no model")
    return whole, built


def _checkers(
    settings: config.Settings, built: list[Detector], given: argparse.Namespace
) -> Iterator[Checker]:
    """A checker for each detector, all with one judge; with --replay that is the file of replies alone."""
    from groundwire.bench.replies import Replies  # noqa: PLC0415 - wanted by few

    wanted = settings.judge is not None and any(detector.takes_model for detector in built)
    model = settings.judge.build() if settings.judge and wanted and not given.replay else None
    judge = Replies(given.replies, model) if given.replies else model
    budget = settings.budget.build() if settings.budget else None
    policy = Policy(timeout=settings.timeout, budget=budget, redact=settings.build_redaction())
    for detector in built:
        yield Checker(detector, judge=judge if detector.takes_model else None, policy=policy)


def _judged(examples: list[Example], checker: Checker, given: argparse.Namespace) -> Iterator[Judged]:
    from groundwire.bench.runs import judge  # noqa: PLC0415 - as above

    record = None
    if given.outcomes:
        spec, data = checker.detector.spec, "stdin" if given.data == "-" else Path(given.data).name
        record = Path(given.outcomes) / f"{data}.{spec.name}.{spec.fingerprint[:8]}.jsonl"
    return judge(
        examples,
        checker,
        record=record,
        concurrency=given.concurrency,
        retry_errors=given.retry_errors,
        labelled=True,
        progress=not given.quiet,
        what=checker.detector.name,
    )
