"""``groundwire monitor``: what was kept, what people think of it, and what follows from both."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
import textwrap
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundwire.cli import monitor_learning as learning
from groundwire.cli import monitor_view as view
from groundwire.cli.exits import ALARM, DONE
from groundwire.core.errors import ConfigurationError
from groundwire.core.plain import plain

if TYPE_CHECKING:
    from groundwire.monitor import Filter, Monitor

_LEFT = 10.0  # seconds for what an ended process has left on disk, which belongs into every figure
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

_EXAMPLES = """\
examples:
  groundwire monitor                                  the figures of everything that was kept
  groundwire monitor --since 7d --by route --every day
  groundwire monitor --db postgresql://user@host/db --tag application=handbook --json
  groundwire monitor next --reviewer ann              the next answer of a fair sample, reserved for ann
  groundwire monitor review ID disagree --reviewer ann --note "the page says so"
  groundwire monitor list --queue uncertain --limit 20
  groundwire monitor export --form csv > answers.csv
  groundwire monitor compare --before prompt_version=1 --after prompt_version=2
  groundwire monitor drift || page-somebody           1 while something drifts
  groundwire monitor retune --config production.yaml  a better threshold, beside the one in production
  groundwire monitor push-langsmith --queue uncertain --dry-run

exit codes: 0 done, 1 something drifts, 2 could not run. Full documentation: docs/monitoring.md
"""


def add_monitor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser of the whole."""
    common = _common()
    parser = commands.add_parser(
        "monitor",
        help="tell what was kept of production, and review it",
        description=textwrap.dedent("""\
            Tell how often the kept answers hallucinate, where, at what cost, and how right the detector is by
            human judgement. Answers are kept by a Monitor that is given to a handler, a wrapper or a checker.
            """),
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common],
    )
    parser.set_defaults(run=_with(_figures))
    parser.add_argument("--by", metavar="TAG", action="append", help="figures of each value of a tag, too")
    parser.add_argument("--every", choices=("hour", "day", "week"), help="figures over time, too")
    parser.add_argument(
        "--patterns", action="store_true", help="what the detector's errors have in common, too"
    )
    more = parser.add_subparsers(dest="what", metavar="WHAT")

    def add(
        name: str, act: Callable[[Monitor, argparse.Namespace], int], what: str
    ) -> argparse.ArgumentParser:
        made = more.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.", parents=[common])
        made.set_defaults(run=_with(act))
        return made

    listed = add("list", _list, "list kept answers, one a line")
    listed.add_argument("--queue", default="newest", metavar="QUEUE", help="newest, uncertain, flagged, ...")
    listed.add_argument("--limit", type=int, default=20, metavar="N", help="how many (default: 20)")
    listed.add_argument("--text", default="", metavar="TEXT", help="only with this in question or answer")
    _add_drafts(listed)
    add("show", _show, "show one answer in full, with its feedback").add_argument("id", metavar="ID")
    following = add("next", _next, "show the next answer to review, and reserve it")
    following.add_argument("--reviewer", required=True, metavar="NAME", help="for whom")
    following.add_argument(
        "--queue", default="random", metavar="QUEUE", help="default: random, a fair sample"
    )
    _add_review(add("review", _review, "keep what a reviewer thinks of an answer"))
    exported = add("export", _export, "write answers and feedback to standard output")
    exported.add_argument("--form", choices=("csv", "jsonl"), default="jsonl", help="default: jsonl")
    _add_drafts(exported)
    compared = add("compare", _compare, "compare two sets of answers on the same questions")
    for side in ("before", "after"):
        compared.add_argument(
            f"--{side}", required=True, type=_tag, metavar="TAG=VALUE", help=f"the answers {side}"
        )
    drift = add("drift", _drift, "tell whether scores or abstentions drift")
    drift.add_argument("--rebase", action="store_true", help="take the answers from now on as the reference")
    pruned = add("prune", _prune, "delete what is too old or too much")
    pruned.add_argument("--days", type=float, metavar="N", help="older than so many days")
    pruned.add_argument("--megabytes", type=float, metavar="N", help="the oldest, beyond so much text")
    forgotten = add(
        "forget", _forget, "delete all answers with a tag, such as a person's, or a reviewer's word"
    )
    who = forgotten.add_mutually_exclusive_group(required=True)
    who.add_argument("of", type=_tag, nargs="?", metavar="TAG=VALUE", help="answers with this tag")
    who.add_argument("--reviewer", metavar="NAME", help="all that this reviewer said")
    learning.add(add, filtered)
    add("migrate", _migrate, "bring the database up to date, and do nothing else")


def _common() -> argparse.ArgumentParser:
    """Options of every form of the command. Without defaults: those of a form would hide what came before."""
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--db", metavar="URL", help="default: sqlite:///groundwire.db")
    common.add_argument("--since", type=_moment, metavar="WHEN", help="2026-11-01 (UTC), or 90m, 24h, 7d, 4w")
    common.add_argument("--until", type=_moment, metavar="WHEN", help="the first moment beyond")
    common.add_argument("--tag", type=_tag, action="append", metavar="TAG=VALUE", help="only with this tag")
    common.add_argument("--json", action="store_true", help="print JSON")
    return common


def _add_drafts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--drafts", action="store_true", help="also answers that nobody was given")


def _add_review(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the answer's, its outcome's, or its run's")
    parser.add_argument(
        "opinion", choices=("agree", "disagree", "unsure"), help="with the detector's outcome"
    )
    parser.add_argument("--reviewer", required=True, metavar="NAME")
    truth = parser.add_mutually_exclusive_group()
    truth.add_argument(
        "--hallucinated", action="store_true", default=None, help="where the opinion can't say"
    )
    truth.add_argument("--grounded", dest="hallucinated", action="store_false", default=None)
    parser.add_argument(
        "--span", type=_span, action="append", metavar="START:END", help="unsupported characters"
    )
    parser.add_argument("--kind", metavar="KIND", help="what sort of hallucination it is")
    parser.add_argument("--note", default="", metavar="TEXT")


def _with(act: Callable[[Monitor, argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """The same with the monitor that the options mean, which is closed afterwards."""

    def run(given: argparse.Namespace) -> int:
        with closing(open_monitor(getattr(given, "db", None))) as monitor:
            monitor.flush(_LEFT)
            return act(monitor, given)

    return run


def open_monitor(url: str | None) -> Monitor:
    """The monitor of a database that can be read. Raises ConfigurationError where none is, or StoreError."""
    from groundwire.monitor import Durability, Monitor  # noqa: PLC0415 - an extra, and slow to import
    from groundwire.monitor.database import Database  # noqa: PLC0415
    from groundwire.monitor.monitor import DEFAULT_URL  # noqa: PLC0415

    url = url or DEFAULT_URL
    if url.startswith("sqlite:///") and not (path := Path(url.removeprefix("sqlite:///"))).exists():
        # Nothing was ever kept there, and to make an empty store would hide a wrong name.
        raise ConfigurationError(
            f"{path}: no such database; --db names another, such as sqlite:///path/to/file.db"
        )
    # A monitor starts without its database, and says that it keeps outcomes on disk; a command keeps none.
    with closing(Database(url, durability=Durability.PROCESS, busy=_LEFT)) as database:
        database.ready()
    return Monitor(url, drift=None)


def filtered(given: argparse.Namespace, **more: Any) -> Filter:
    """The kept answers that the options mean."""
    from groundwire.monitor import Filter  # noqa: PLC0415

    tags: dict[str, str] = {}
    for name, value in getattr(given, "tag", None) or ():
        if tags.setdefault(name, value) != value:
            raise ConfigurationError(f"--tag gives {name!r} two values, and may give it one")
    return Filter(since=getattr(given, "since", None), until=getattr(given, "until", None), tags=tags, **more)


def _figures(monitor: Monitor, given: argparse.Namespace) -> int:
    from groundwire.monitor.figures import MOST_GROUPS  # noqa: PLC0415

    wanted = filtered(given)
    figures = monitor.figures(wanted)
    over = monitor.over_time(wanted, every=given.every) if given.every else ()
    groups = {tag: monitor.by(tag, wanted) for tag in given.by or ()}
    patterns = monitor.patterns(wanted) if given.patterns else None
    if _json(given):
        view.say_json(
            {
                "figures": plain(asdict(figures)),
                "over_time": [plain(asdict(group)) for group in over],
                "by": {tag: [plain(asdict(group)) for group in found] for tag, found in groups.items()},
                "agreement": [plain(asdict(one)) for one in monitor.agreement(wanted)],
                **({} if patterns is None else {"patterns": [plain(asdict(one)) for one in patterns]}),
            }
        )
        return DONE
    view.figures(figures, monitor.agreement(wanted))
    if over:
        view.groups(given.every, over)
    for tag, found in groups.items():
        view.groups(tag, found)
        if len(found) == MOST_GROUPS:
            view.hint(f"of {tag}, the {MOST_GROUPS} most frequent values")
    if patterns is not None:
        quality = figures.quality
        view.patterns(patterns, decided=quality.reviewed - quality.undecided)
    if not any(groups.values()) and (names := monitor.tags()):
        view.hint(f"--by counts by a tag: {', '.join(names)}")
    return DONE


def _list(monitor: Monitor, given: argparse.Namespace) -> int:
    page = monitor.page(
        filtered(given, text=given.text, drafts=given.drafts), queue=given.queue, limit=given.limit
    )
    for line in page.lines:
        view.say_json(plain(asdict(line))) if _json(given) else view.line(line)
    if not page.lines:
        view.hint("nothing is kept that meets this")
    if page.after and not _json(given):
        view.hint("there are more: --limit shows them")
    return DONE


def _show(monitor: Monitor, given: argparse.Namespace) -> int:
    kept = monitor.get(given.id)
    said = monitor.feedback(kept.id)
    if _json(given):
        _say_whole(monitor, kept.id)
    else:
        view.answer(kept, said)
    return DONE


def _next(monitor: Monitor, given: argparse.Namespace) -> int:
    found = monitor.next(given.reviewer, queue=given.queue, wanted=filtered(given))
    if not found:
        view.hint(f"nothing in the {given.queue} queue is left for {given.reviewer}")
    for kept in found:
        if _json(given):
            _say_whole(monitor, kept.id)
        else:
            view.answer(kept, ())
            view.hint(
                f"groundwire monitor review {kept.id} agree|disagree|unsure --reviewer {given.reviewer}"
            )
    return DONE


def _review(monitor: Monitor, given: argparse.Namespace) -> int:
    said = monitor.review(
        given.id,
        given.opinion,
        reviewer=given.reviewer,
        hallucinated=given.hallucinated,
        spans=given.span,
        kind=given.kind,
        note=given.note,
        source="cli",
    )
    if _json(given):
        view.say_json(plain(asdict(said)))
    else:
        truth = {True: "hallucinated", False: "grounded", None: "not decided"}[said.hallucinated]
        view.hint(f"kept: {said.reviewer} is of the opinion {said.opinion}; the answer is {truth}")
    return DONE


def _say_whole(monitor: Monitor, key: str) -> None:
    line = io.StringIO()
    monitor.export_one(line, key)
    view.say_json(json.loads(line.getvalue()))


def _export(monitor: Monitor, given: argparse.Namespace) -> int:
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(encoding="utf-8")  # a table for other programs, whatever this terminal can show
    count = monitor.export(sys.stdout, filtered(given, drafts=given.drafts), form=given.form)
    view.hint(f"{count:,} answers written")
    return DONE


def _compare(monitor: Monitor, given: argparse.Namespace) -> int:
    from dataclasses import replace  # noqa: PLC0415

    wanted = filtered(given)
    before, after = (
        replace(wanted, tags={**wanted.tags, name: value}) for name, value in (given.before, given.after)
    )
    compared = monitor.compare(before, after)
    if _json(given):
        view.say_json(plain(asdict(compared)))
    else:
        view.comparison(compared)
    return DONE


def _drift(monitor: Monitor, given: argparse.Namespace) -> int:
    if given.rebase:
        monitor.rebase()
        view.hint("the answers from now on are the reference")
        return DONE
    found = monitor.standing(filtered(given))
    if _json(given):
        view.say_json(
            {
                "has_reference": found.has_reference,
                "windows": found.windows,
                "alarms": [alarm.to_dict() for alarm in found.alarms],
                "up": list(found.up),
            }
        )
    else:
        view.drift(found)
    return ALARM if found.up else DONE


def _prune(monitor: Monitor, given: argparse.Namespace) -> int:
    from groundwire.monitor import Retention  # noqa: PLC0415

    _require_all(given, "prune deletes the oldest answers, whichever they are")
    if given.days is None and given.megabytes is None:
        raise ConfigurationError("prune needs --days N, --megabytes N, or both")
    return _deleted(monitor.prune(Retention(days=given.days, megabytes=given.megabytes)), given)


def _forget(monitor: Monitor, given: argparse.Namespace) -> int:
    _require_all(given, "forget deletes all that is kept of somebody")
    if given.reviewer is not None:
        return _deleted(monitor.forget_reviewer(given.reviewer), given, "reviews")
    name, value = given.of
    gone = monitor.forget(name, value)
    if not gone and name not in (known := monitor.tags()):
        view.hint(f"no answer has a tag {name!r}; there are: {', '.join(known) or 'none'}")
    return _deleted(gone, given)


def _require_all(given: argparse.Namespace, why: str) -> None:
    """Refuse options that choose some answers: what is deleted in spite of them is gone."""
    chosen = [f"--{name}" for name in ("since", "until", "tag") if getattr(given, name, None) is not None]
    if chosen:
        raise ConfigurationError(f"{', '.join(chosen)}: {why}, and can't choose among them")


def _deleted(number: int, given: argparse.Namespace, what: str = "answers") -> int:
    if _json(given):
        view.say_json({"deleted": number})
    else:
        view.hint(f"{number:,} {what} deleted")
    return DONE


def _migrate(monitor: Monitor, given: argparse.Namespace) -> int:
    del given
    monitor.count()  # opening it was all
    view.hint("the database is up to date")
    return DONE


def _json(given: argparse.Namespace) -> bool:
    return bool(getattr(given, "json", False))


def _moment(text: str) -> datetime:
    """A time ago, or a date; in UTC like every time that is told."""
    try:
        if ago := re.fullmatch(r"(\d{1,6})([mhdw])", text):
            return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        at = datetime.fromisoformat(text)
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"expected a date, or 90m, 24h, 7d, 4w, not {text!r}") from None


def _tag(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"expected TAG=VALUE, not {text!r}")
    return name, value


def _span(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,9}):(\d{1,9})", text)
    if not found:
        raise argparse.ArgumentTypeError(f"expected START:END in characters, not {text!r}")
    return int(found[1]), int(found[2])
