"""``groundwire batch``: tables of any size, judged on every core or on a cluster, and never twice."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from groundwire import config
from groundwire.cli.arguments import add_command, add_judging, add_table, columns_of, count
from groundwire.cli.exits import ALL_GROUNDED, COULD_NOT_RUN, DONE, HALLUCINATED, INTERRUPTED, NOT_ALL_JUDGED
from groundwire.cli.outputs import console
from groundwire.cli.settings import complete_settings, settings_of
from groundwire.config import Settings
from groundwire.core.errors import ConfigurationError
from groundwire.core.secrets import without_secrets
from groundwire.progress import counting
from groundwire.report import Group
from groundwire.report.visible import escaped
from groundwire.tables import readable

if TYPE_CHECKING:
    from groundwire.batch.batch import Batch, Engine
    from groundwire.batch.forecast import Forecast
    from groundwire.batch.summary import Summary

_DESCRIPTION = """\
Judge tables of any size: one row of outcomes for each row, in parts that are each written once. IN are
files, folders, patterns and fsspec URLs of Parquet, JSON lines and CSV; OUT is a folder or such a URL.
The same command goes on where a stopped one ended, however it was stopped.
"""
_EXAMPLES = """\
examples:
  groundwire batch answers.parquet judged
  groundwire batch 'runs/*.jsonl' judged --detector lexical --to parquet
  groundwire batch s3://bucket/runs s3://bucket/judged --engine ray --address auto
  groundwire batch runs.parquet judged --config judge.yaml --dry-run
  groundwire batch runs.parquet judged --config judge.yaml --max-cost 50 --yes

exit codes:
  0    every answer is grounded
  1    all units are done, and at least one answer is hallucinated
  2    could not run, or a unit failed: its file is damaged, or its process died
  3    at least one row could not be judged, or the budget ended before the rows did
  130  stopped by Ctrl-C; what is done is kept

Full documentation: docs/batch.md
"""


def add_batch(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser of the whole."""
    parser = add_command(
        commands,
        "batch",
        batch,
        about="judge tables of any size, resumably, on all cores or a cluster",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument("inputs", nargs="+", metavar="IN", help="tables to judge")
    parser.add_argument("out", metavar="OUT", help="the folder for the outcomes")
    add_table(parser)
    judging = add_judging(parser)
    for name, what in (("calls", int), ("tokens", int), ("cost", float)):
        judging.add_argument(
            f"--max-{name}", type=what, metavar="N", help=f"the most {name} that the whole job may take"
        )
    judging.add_argument("-y", "--yes", action="store_true", help="don't ask before paying for a model")

    running = parser.add_argument_group("running")
    running.add_argument("--engine", choices=("local", "ray"), default="local", help="default: local")
    running.add_argument("--processes", type=count, metavar="N", help="local: default: one for each core")
    running.add_argument("--address", metavar="ADDRESS", help="ray: the cluster (default: this machine)")
    running.add_argument(
        "--num-cpus", type=float, metavar="N", help="ray: processors for each task (default 1)"
    )
    running.add_argument("--unit-rows", type=count, metavar="N", help="rows that are judged as one unit")
    running.add_argument("--retry-errors", action="store_true", help="judge rows again that models failed on")
    running.add_argument("--overwrite", action="store_true", help="begin anew in a folder that was begun")
    running.add_argument(
        "--state", metavar="FOLDER", help="for replies and what was spent (default: in OUT, if it is a path)"
    )

    output = parser.add_argument_group("output")
    output.add_argument(
        "--to", choices=("parquet", "jsonl", "csv"), help="default: the format of the first table"
    )
    output.add_argument("--full", action="store_true", help="add claims and evidence, as JSON")
    output.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    output.add_argument("-q", "--quiet", action="store_true", help="draw no progress, print no summary")


def batch(given: argparse.Namespace) -> int:
    """Run the command. Whatever can be wrong with options is raised before the first row is judged."""
    _require_fitting(given)
    named = {name: getattr(given, name) for name in ("detector", "model", "threshold")}
    if given.dry_run:
        return _dry_run(settings_of(given.config, **named), given)
    # Slow to load, and nobody's concern who runs another command.
    from groundwire.batch.batch import Batch  # noqa: PLC0415

    settings = _with_budget(complete_settings(given.config, **named), given)
    with Batch(
        given.inputs,
        given.out,
        checker=settings.without_monitor(),
        columns=columns_of(given),
        kind=given.format,
        to=given.to,
        unit_rows=given.unit_rows,
        full=given.full,
        overwrite=given.overwrite,
        state=given.state,
    ) as job:
        if settings.judge is not None and not given.yes:
            told = job.forecast(retry_errors=given.retry_errors)
            if not _agreed(told):
                return COULD_NOT_RUN
        return _run(job, _engine(given), given)


def _run(job: Batch, engine: Engine, given: argparse.Namespace) -> int:
    before = sum(stats.rows for stats in job.done.values())
    known = dict(job.done)
    try:
        with _bar(job.plan.rows, before, quiet=given.quiet) as bar:
            summary = job.run(
                engine,
                retry_errors=given.retry_errors,
                on_done=lambda one: bar(one.stats.rows) if one.stats and one.unit not in known else None,
            )
    except KeyboardInterrupt:
        done = f"{len(job.done):,} of {len(job.plan.units):,} units are done and kept"
        console(stderr=True).print(f"Stopped: {done}; the same command goes on.", style="bold yellow")
        return INTERRUPTED
    _tell(summary, given)
    return _exit_code(summary)


def _bar(
    rows: int | None, before: int, *, quiet: bool
) -> contextlib.AbstractContextManager[Callable[[int], None]]:
    return (
        contextlib.nullcontext(lambda _: None) if quiet else counting(total=rows, done=before, what="judged")
    )


def _exit_code(summary: Summary) -> int:
    """What failed, then what was not begun, then what is hallucinated, then what was not judged."""
    if summary.failures:
        return COULD_NOT_RUN
    if not summary.complete:
        return NOT_ALL_JUDGED
    if summary.stats[Group.HALLUCINATED]:
        return HALLUCINATED
    return NOT_ALL_JUDGED if summary.stats[Group.NOT_JUDGED] else ALL_GROUNDED


def _tell(summary: Summary, given: argparse.Namespace) -> None:
    told = console(stderr=True)
    for one in summary.failures[:20]:
        told.print(f"failed: {one.failure} (unit {one.unit}, from line {one.line})", soft_wrap=True)
    if summary.stopped:
        told.print(f"Stopped: {summary.stopped}.", style="bold yellow", soft_wrap=True)
    if given.json:
        sys.stdout.write(escaped(json.dumps(summary.to_dict(), ensure_ascii=True, allow_nan=False)) + "\n")
    elif not given.quiet:
        console(stderr=False).print("\n".join(_lines(summary, given)), soft_wrap=True)


def _lines(summary: Summary, given: argparse.Namespace) -> list[str]:
    stats, rates = summary.stats, (summary.hallucinated, summary.not_judged)
    share, unjudged = (f" ({r.value:.1%} [{r.low:.1%}, {r.high:.1%}])" if r else "" for r in rates)
    counts = (
        f"{stats.rows:,} rows: {stats[Group.HALLUCINATED]:,} hallucinated{share}, "
        f"{stats[Group.TO_CHECK]:,} to check, {stats[Group.GROUNDED]:,} grounded, "
        f"{stats[Group.NOT_JUDGED]:,} not judged{unjudged if stats[Group.NOT_JUDGED] else ''}"
    )
    lines = [counts]
    if stats.abstentions:
        reasons = sorted(stats.abstentions.items(), key=lambda one: -one[1])
        lines.append("not judged: " + ", ".join(f"{why} {count:,}" for why, count in reasons))
    if stats.unlabelled:
        expected = readable(given.label or "")
        lines.append(f"labels that can't be read, and are null: {stats.unlabelled:,} ({expected})")
    if stats.calls:
        money = "" if stats.cost is None else f", {stats.cost:,.4f} in money"
        tokens = f"{stats.input_tokens:,} tokens to them, {stats.output_tokens:,} from them"
        lines.append(f"{stats.calls:,} calls of models, {tokens}{money}")
    rows = f"{summary.now.rows:,} rows in {summary.seconds:,.1f} s, {summary.speed:,.1f} a second"
    place = without_secrets(given.out).rstrip("/")
    nothing = "no unit was done" if summary.failures or summary.stopped else "nothing to do"
    this_run = rows if summary.now.rows else nothing
    lines.append(f"{summary.done:,} of {summary.units:,} units; this run: {this_run}")
    lines.append(f"outcomes: {place}/part-*; summary: {_written(summary, place)}")
    if summary.empty:
        lines.append(f"without any row: {', '.join(summary.empty[:5])}{' ...' if summary.empty[5:] else ''}")
    return lines


def _written(summary: Summary, place: str) -> str:
    """Where the summary is."""
    if not summary.written:
        return "none could be written"
    name = summary.written[-1]
    if len(summary.written) > 1:
        return f"{place}/{name} (and .json)"
    return f"{place}/{name}" + ("" if find_spec("jinja2") else " (with groundwire[report] .html, too)")


def _dry_run(settings: Settings, given: argparse.Namespace) -> int:
    """What all of the input would take. No model is built: that would need its packages and credentials."""
    from groundwire.batch import plan as plans  # noqa: PLC0415 - as above
    from groundwire.batch.batch import unit_rows_for  # noqa: PLC0415
    from groundwire.batch.forecast import forecast  # noqa: PLC0415
    from groundwire.batch.places import find  # noqa: PLC0415
    from groundwire.judge.limits import Limits  # noqa: PLC0415

    detector = settings.build_detector()
    plan = plans.make(
        find(given.inputs, outside=given.out),
        made_by={},
        columns=columns_of(given),
        kind=given.format,
        unit_rows=given.unit_rows or unit_rows_for(detector, judged=settings.judge is not None),
    )
    judge = settings.judge
    limits = judge and Limits(
        requests_per_minute=judge.limits.requests_per_minute, tokens_per_minute=judge.limits.tokens_per_minute
    )
    told = forecast(plan, plan.units, detector, prices=judge.priced() if judge else {}, limits=limits or None)
    if given.json:
        sys.stdout.write(json.dumps({"dry_run": vars(told)}) + "\n")
    else:
        lines = [*_forecast(told), "Nothing was asked." if told.calls else "Nothing was judged."]
        console(stderr=False).print("\n".join(lines), soft_wrap=True)
    return DONE


def _agreed(told: Forecast) -> bool:
    """Whether whoever sits there wants to pay for it. Raises ConfigurationError where nobody does."""
    if not told.calls and not told.embedding_calls:
        return True
    if not sys.stdin.isatty():
        raise ConfigurationError(f"{' '.join(_forecast(told))} To do it, give --yes")
    console(stderr=True).print("\n".join(_forecast(told)), soft_wrap=True)
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _forecast(told: Forecast) -> list[str]:
    if not told.calls and not told.embedding_calls:
        return [f"Judging {told.rows:,} rows asks no model, and costs nothing."]
    sampled = f", as {told.sampled:,} of them say" if told.sampled < told.rows else ""
    margin = f", give or take {told.margin:.0%}" if told.margin else ""
    lines = [
        f"Judging {told.rows:,} rows would take at least{sampled}:",
        f"{told.calls:,} calls of the model,",
        f"{told.input_tokens:,} tokens to it and {told.output_tokens:,} from it (estimated{margin}),",
    ]
    if told.embedding_calls:
        lines.append(
            f"{told.embedding_calls:,} calls of the embedding model with {told.embedding_tokens:,} tokens,"
        )
    if told.calls:
        cost = "unknown, for the model has no price" if told.cost is None else f"{told.cost:,.4f}"
        lines.append(f"cost: {cost}.")
    if told.minutes >= 1:
        lines.append(f"At the limits of its rate that is {told.minutes:,.0f} minutes or more.")
    return lines


def _engine(given: argparse.Namespace) -> Engine:
    from groundwire.batch import Local, Ray  # noqa: PLC0415 - as above

    if given.engine == "local":
        return Local(processes=given.processes)
    return Ray(address=given.address, num_cpus=given.num_cpus or 1.0)


def _require_fitting(given: argparse.Namespace) -> None:
    of_other = {"local": ("address", "num_cpus"), "ray": ("processes",)}[given.engine]
    problems = [
        f"--{name.replace('_', '-')} is not for --engine {given.engine}"
        for name in of_other
        if getattr(given, name) is not None
    ]
    if problems:
        raise ConfigurationError(*problems)


def _with_budget(settings: Settings, given: argparse.Namespace) -> Settings:
    """The settings with the job's budget in them, where options give one."""
    most = {
        name: value
        for name in ("calls", "tokens", "cost")
        if (value := getattr(given, f"max_{name}")) is not None
    }
    if not most:
        return settings
    if settings.judge is None:
        raise ConfigurationError(
            "--max-calls, --max-tokens and --max-cost are for a model, and none is asked"
        )
    whole = settings.without_monitor()
    limits: Mapping[str, Any] = whole["judge"].get("limits") or {}
    budget = {**(limits.get("budget") or {}), **most}
    whole["judge"] = {**whole["judge"], "limits": {**limits, "budget": budget}}
    return config.load(whole)
