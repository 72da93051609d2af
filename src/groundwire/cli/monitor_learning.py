"""The forms of ``groundwire monitor`` that turn reviews into something: a tuning, examples, shared labels."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from groundwire import config, detectors
from groundwire.checker import Checker
from groundwire.cli import monitor_view as view
from groundwire.cli.exits import DONE
from groundwire.cli.outputs import console
from groundwire.cli.tuning_output import as_json_has_it, lines, table
from groundwire.core.errors import ConfigurationError
from groundwire.core.plain import plain
from groundwire.judge.drivers import NoBackend

if TYPE_CHECKING:
    from groundwire.learning import Proposal, Retuned
    from groundwire.monitor import Filter, Monitor

_NEW_FILE = "a new file (default: examples.json)"


class _Add(Protocol):
    def __call__(
        self, name: str, act: Callable[[Monitor, argparse.Namespace], int], what: str
    ) -> argparse.ArgumentParser: ...


def add(add_form: _Add, filtered: Callable[..., Filter]) -> None:
    """Add the forms; ``filtered`` makes the filter that their options mean."""
    retuned = add_form("retune", lambda m, g: _retune(m, g, filtered), "fit what is in production to reviews")
    retuned.add_argument(
        "--config", type=Path, metavar="FILE", help="production's settings; or give --detector"
    )
    retuned.add_argument("--detector", metavar="NAME", help="default: the one whose answers were reviewed")
    retuned.add_argument("--target", default="f1", metavar="TARGET", help="as of groundwire tune (f1)")
    retuned.add_argument(
        "--stack", metavar="NAME,...", help="fit a combination of production's detector with these"
    )
    retuned.add_argument(
        "--chosen", action="store_true", help="use also what people chose, and chance did not draw"
    )
    retuned.add_argument("--rejudge", action="store_true", help="judge anew where needed, also with a model")
    retuned.add_argument(
        "--source", default="", metavar="TAG", help="answers with one value of it stay together"
    )
    retuned.add_argument("--out", type=Path, metavar="FILE", help="default: beside --config, or retuned.json")
    retuned.add_argument("--apply", action="store_true", help="put it in the place of --config")
    shown = add_form(
        "examples", lambda m, g: _examples(m, g, filtered), "write reviewed answers for a judge to be shown"
    )
    shown.add_argument("id", metavar="ID", nargs="*", help="these; default: a choice among all reviewed")
    shown.add_argument("--limit", type=int, default=8, metavar="N", help="at most so many (default: 8)")
    shown.add_argument("--out", type=Path, default=Path("examples.json"), metavar="FILE", help=_NEW_FILE)
    pulled = add_form(
        "pull-langsmith",
        lambda m, g: _pull(m, g, filtered),
        "take over what people said in LangSmith",
    )
    pulled.add_argument(
        "--key", action="append", metavar="KEY", help="of feedback (hallucination_human, hallucination)"
    )
    pulled.add_argument("--dry-run", action="store_true", help="read, and keep nothing")
    pushed = add_form(
        "push-langsmith", lambda m, g: _push(m, g, filtered), "send labels, examples or runs to LangSmith"
    )
    pushed.add_argument("--dataset", default="", metavar="NAME", help="decided answers, as its examples")
    pushed.add_argument(
        "--queue", default="", metavar="NAME", help="runs to this annotation queue, for review"
    )
    pushed.add_argument(
        "--order", default="uncertain", metavar="QUEUE", help="which runs first: uncertain, flagged, ..."
    )
    pushed.add_argument("--limit", type=int, default=50, metavar="N", help="at most so many runs (50)")
    pushed.add_argument("--labels", action="store_true", help="what reviewers decided, as feedback on runs")
    pushed.add_argument("--notes", action="store_true", help="with what they wrote")
    pushed.add_argument("--project", default="", metavar="NAME", help="LangSmith's, of the runs")
    pushed.add_argument(
        "--redact", metavar="NAME,...", help="mask keys, emails, cards, beside what is masked already"
    )
    pushed.add_argument("--dry-run", action="store_true", help="tell what would go, and send nothing")


def _retune(monitor: Monitor, given: argparse.Namespace, filtered: Callable[..., Filter]) -> int:
    from groundwire.learning import propose, retune  # noqa: PLC0415 - scikit-learn, for those who tune
    from groundwire.learning.proposal import require_same_form  # noqa: PLC0415

    if given.apply and given.config is None:
        raise ConfigurationError("--apply needs --config: the file that is to be replaced")
    if given.apply and given.out is not None:
        require_same_form(given.out, given.config)
    wanted = filtered(given)
    checker = _production(monitor, given, wanted)
    found = retune(
        monitor,
        checker,
        wanted=wanted,
        target=given.target,
        beside=[_beside(name, checker) for name in given.stack.split(",")] if given.stack else (),
        chosen=given.chosen,
        rejudge=given.rejudge,
        source=given.source,
        progress=True,
    )
    proposal = propose(found, given.config, out=given.out)
    if _json(given):
        view.say_json(
            {
                **plain(as_json_has_it(found.tuning)),
                **{name: plain(getattr(found, name)) for name in ("reviewed", "used", "basis", "left_out")},
                "better": found.better,
                "warnings": [*found.warnings, *found.tuning.tuned.warnings],
                "file": str(proposal.path),
                "diff": proposal.diff,
            }
        )
    else:
        _tell(found, proposal)
    if given.apply:
        old = proposal.apply()
        view.hint(
            f"applied: {given.config} is the new one now, and {old} the old. A running process reads none by "
            "itself; once it does, scores may mean something else: groundwire monitor drift --rebase"
        )
    elif given.config is not None:
        view.hint(f"{given.config} is as it was; --apply would put {proposal.path} in its place")
    return DONE


def _tell(found: Retuned, proposal: Proposal) -> None:
    for warning in (*found.warnings, *found.tuning.tuned.warnings):
        console(stderr=True).print(f"Warning: {warning}.", style="yellow", soft_wrap=True)
    out, labels = console(stderr=False), found.tuning.tuned.labels
    out.print(
        f"{found.tuning.detector.name} retuned for {found.tuning.tuned.target} on {found.used:,} of "
        f"{found.reviewed:,} reviewed answers about {labels.groups:,} sources, {labels.hallucinated:,} of "
        "them hallucinated",
        soft_wrap=True,
    )
    out.print(table(found.tuning, "in production"))
    for line in lines(found.tuning, "production"):
        out.print(line, soft_wrap=True)
    out.print(f"Sample: {found.basis}.", soft_wrap=True)
    for why, count in found.left_out.items():
        out.print(f"Left out: {count:,} {why}.", soft_wrap=True)
    verdict = {
        True: "Better than production on held-out answers.",
        False: "Worse than production on held-out answers: keep what you have.",
        None: "Not shown to be better than production: chance alone explains the difference.",
    }[found.better]
    if found.tuning.lead is not None:
        out.print(verdict, style="bold", soft_wrap=True)
    out.print()
    for line in proposal.diff.splitlines():
        style = {"+": "green", "-": "red"}.get(line[:1])
        out.print(line, style=style, soft_wrap=True)
    out.print(f"Written: {proposal.path}.", soft_wrap=True)


def _production(monitor: Monitor, given: argparse.Namespace, wanted: Filter) -> Checker:
    """The checker that is in production, as the options or the reviewed answers name it."""
    if given.config is not None:
        if given.detector:
            raise ConfigurationError("--detector: --config names production's detector already")
        return Checker.from_config(config.load(given.config).without_monitor())
    if given.detector:
        return _offline(given.detector)
    named = Counter(
        kept.outcome.detector.name for kept, _ in monitor.reviewed(wanted) if kept.outcome.detector
    )
    if len(named) > 1:
        told = ", ".join(f"{name} ({count:,})" for name, count in named.most_common())
        raise ConfigurationError(
            f"several detectors judged the reviewed answers: {told}: --config FILE or --detector NAME says "
            "which is in production"
        )
    return _offline(next(iter(named), detectors.DEFAULT))


def _offline(name: str) -> Checker:
    detector = detectors.get(name)()
    if detector.needs_judge:
        raise ConfigurationError(f"the {name!r} detector asks a model: --config FILE names it")
    return Checker(detector)


def _beside(name: str, checker: Checker) -> Checker:
    """Another detector, asking the same judge if it asks any."""
    detector = config.load({"detector": name.strip()}).build_detector()
    asks = detector.takes_model and not isinstance(checker.judge, NoBackend)
    return Checker(detector, judge=checker.judge if asks else None)


def _examples(monitor: Monitor, given: argparse.Namespace, filtered: Callable[..., Filter]) -> int:
    from groundwire.learning import reviewed_examples, save_examples  # noqa: PLC0415

    found = reviewed_examples(monitor, filtered(given), ids=given.id, limit=given.limit)
    save_examples(found, given.out)
    bad = sum(one.score >= 0.5 for one in found)
    if _json(given):
        view.say_json({"examples": len(found), "hallucinated": bad, "file": str(given.out)})
    else:
        view.hint(
            f"{len(found)} examples written to {given.out}, {bad} of them hallucinated; they hold texts as "
            f"they are kept. In settings: detector: {{name: judge, examples: {given.out}}}"
        )
    return DONE


def _pull(monitor: Monitor, given: argparse.Namespace, filtered: Callable[..., Filter]) -> int:
    from groundwire.learning import pull  # noqa: PLC0415
    from groundwire.learning.pulling import KEYS  # noqa: PLC0415

    found = pull(monitor, wanted=filtered(given), keys=given.key or KEYS, dry_run=given.dry_run)
    if _json(given):
        view.say_json(plain(asdict(found)))
        return DONE
    view.hint(
        f"{found.found:,} feedbacks by people on the runs of {found.runs:,} answers: {found.new:,} "
        f"{'would be kept' if given.dry_run else 'kept'}, {found.unchanged:,} there already"
    )
    for why, count in found.unread.items():
        view.hint(f"passed over: {count:,} {why}")
    return DONE


def _push(monitor: Monitor, given: argparse.Namespace, filtered: Callable[..., Filter]) -> int:
    from groundwire.learning import plan_push  # noqa: PLC0415
    from groundwire.monitor import Redaction  # noqa: PLC0415

    plan = plan_push(
        monitor,
        dataset=given.dataset,
        queue=given.queue,
        order=given.order,
        labels=given.labels,
        project=given.project,
        wanted=filtered(given),
        limit=given.limit,
        notes=given.notes,
        redact=Redaction(*given.redact.split(",")) if given.redact else None,
    )
    lines = list(plan.lines())
    if not _json(given):  # before anything goes
        for line in lines:
            view.hint(f"{'would go' if given.dry_run else 'goes'}: {line}")
    if given.dry_run:
        if _json(given):
            view.say_json({"would_go": lines})
        return DONE
    sent = plan.send()
    if _json(given):
        view.say_json({"goes": lines, **asdict(sent)})
    else:
        view.hint(
            f"sent: {sent.examples:,} examples, {sent.runs:,} runs, {sent.labels:,} labels; "
            f"{sent.unchanged:,} were there already, {sent.missing:,} runs are not in the project"
        )
    return DONE


def _json(given: argparse.Namespace) -> bool:
    return bool(getattr(given, "json", False))
