"""What people say in LangSmith about runs, as reviews of the answers that were kept of them.

Asked for explicitly, and never in the background. An annotation queue puts what its reviewers say on the run
itself, so that one way serves both. Nothing is sent but the ids of runs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING
from uuid import UUID

from groundwire.core.errors import GroundwireError, MissingExtraError
from groundwire.core.redaction import may_be
from groundwire.monitor import Feedback, Filter, Kept, Monitor
from groundwire.monitor.answer import kept_text
from groundwire.tables.labels import asks_whether_grounded, label_of

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import Feedback as Said

KEY = "hallucination_human"
"""The key of what people say, 1 for hallucinated."""
KEYS = (KEY, "hallucination")
"""Those that are read: under the second, detectors write too, and are passed over."""
SOURCE = "langsmith"
MINE = "groundwire"
"""What we note about feedback of our own, in its source."""
_MACHINES = frozenset({"model", "auto_eval"})
_AT_ONCE = 100
_LONGEST_NOTE = 4000
_LONGEST_NAME = 180
_ALL = Filter()


class ExchangeError(GroundwireError, RuntimeError):
    """LangSmith could not be read or written. What was done before it failed is done; do it again."""


@dataclass(frozen=True, kw_only=True)
class Pulled:
    """What became of people's feedback.

    Of ``runs`` kept answers' runs, ``found`` feedbacks by people were read: ``new`` reviews were kept, in
    place of an earlier one of the same person or not, ``unchanged`` were there already; ``unread`` counts
    why others could not be read.
    """

    runs: int
    found: int
    new: int
    unchanged: int
    unread: Mapping[str, int] = field(default_factory=dict)


def pull(
    monitor: Monitor,
    *,
    client: Client | None = None,
    wanted: Filter = _ALL,
    keys: Sequence[str] = KEYS,
    dry_run: bool = False,
) -> Pulled:
    """Take over what people said in LangSmith, under any of ``keys``, about the runs of kept answers.

    1 or a word such as hallucinated says that an answer is, 0 or grounded that it is not, and the other way
    round under a key that asks whether it is grounded (``correctness``); a share between is read as what it
    is nearer to. Whatever a model gave is passed over, and so is what groundwire sent itself.
    Reviewers are called ``langsmith:NAME``; what one of them says last counts, so that pulling again changes
    nothing. Raises ExchangeError, and MissingExtraError without LangSmith's package.
    """
    client = client or connected()
    counts: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    for group in _with_runs(monitor, wanted, unread):
        counts["runs"] += len(group)
        with telling("feedback"):
            said = list(client.list_feedback(run_ids=list(group), feedback_key=list(keys)))
        for (run, reviewer), (one, real) in _latest(said, unread, counts).items():
            changed = _review(monitor, group[run], reviewer, one, real, dry_run=dry_run)
            counts["new" if changed else "unchanged"] += 1
    return Pulled(
        runs=counts["runs"],
        found=counts["found"],
        new=counts["new"],
        unchanged=counts["unchanged"],
        unread=dict(unread),
    )


def connected() -> Client:
    """LangSmith's own client, as its environment sets it up."""
    try:
        client: Client = import_module("langsmith").Client()
    except ImportError as error:
        raise MissingExtraError("exchange with LangSmith", package="langsmith", extra="langchain") from error
    return client


def run_of(kept: Kept) -> UUID | None:
    """The run in LangSmith that an answer was kept of; None for one of another host."""
    try:
        return UUID(kept.run_id or "")
    except ValueError:
        return None


@contextmanager
def telling(what: str) -> Iterator[None]:
    """Turn what the client raises into an error of ours."""
    errors = import_module("langsmith.utils")
    try:
        yield
    except errors.LangSmithError as error:
        raise ExchangeError(f"{what} could not be exchanged with LangSmith: {error}") from error


def _with_runs(monitor: Monitor, wanted: Filter, unread: Counter[str]) -> Iterator[dict[UUID, Kept]]:
    """Kept answers by their runs, as many as are asked for at once; of several of one run the latest."""
    group: dict[UUID, Kept] = {}
    for kept in monitor.rows(wanted):
        run = run_of(kept)
        if run is None:
            unread["answers without a run in LangSmith"] += 1
            continue
        group[run] = kept
        if len(group) == _AT_ONCE:
            yield group
            group = {}
    if group:
        yield group


def _latest(
    said: Sequence[Said], unread: Counter[str], counts: Counter[str]
) -> dict[tuple[UUID, str], tuple[Said, bool]]:
    """What each person said last of each run, and whether that is that it is hallucinated."""
    found: dict[tuple[UUID, str], tuple[Said, bool]] = {}
    for one in sorted(said, key=lambda one: str(one.modified_at or one.created_at or "")):
        source = one.feedback_source
        if one.run_id is None or (source is not None and source.type in _MACHINES):
            continue
        if source is not None and MINE in (source.metadata or {}):
            continue
        counts["found"] += 1
        try:
            real = _label(one)
        except ValueError:
            unread["feedback that says neither hallucinated nor grounded"] += 1
            continue
        name = str((source and (source.user_name or source.user_id)) or "")[:_LONGEST_NAME]
        found[one.run_id, f"{SOURCE}:{name}" if name else SOURCE] = one, real
    return found


def _label(one: Said) -> bool:
    """Raises ValueError where it says neither."""
    if isinstance(one.value, str) and one.value.strip():
        told = label_of(one.value, under=one.key)
    elif one.score is not None and 0 <= one.score <= 1:
        told = (one.score >= 0.5) is not asks_whether_grounded(one.key)
    else:
        told = None
    if told is None:
        raise ValueError("it says neither")
    return told


def _review(monitor: Monitor, kept: Kept, reviewer: str, one: Said, real: bool, *, dry_run: bool) -> bool:
    """Keep one person's word, unless it is kept already; whether it was not."""
    agrees = kept.outcome.hallucinated is real
    note = _note(one)
    before = {said.reviewer: said for said in monitor.feedback(kept.id)}.get(reviewer)
    if before is not None and _is_same(before, real, note):
        return False
    if not dry_run:
        monitor.review(
            kept.id,
            "agree" if agrees else "disagree",
            reviewer=reviewer,
            hallucinated=real,
            note=note,
            source=SOURCE,
        )
    return True


def _is_same(before: Feedback, real: bool, note: str) -> bool:
    return before.hallucinated is real and may_be(before.note, kept_text(note))


def _note(one: Said) -> str:
    if one.comment:
        return one.comment[:_LONGEST_NOTE]
    if isinstance(one.correction, dict):
        return json.dumps(one.correction, ensure_ascii=False)[:_LONGEST_NOTE]
    return (one.correction or "")[:_LONGEST_NOTE]
