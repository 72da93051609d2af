"""Reviewed answers as examples that a judge is shown before it judges: few, short, and of both kinds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from groundwire.bench.examples import group_of
from groundwire.core.errors import ConfigurationError, InputError
from groundwire.core.example import Example, Examples
from groundwire.monitor import Feedback, Filter, Label, Monitor

_ALL = Filter()
_MOST = 50
_LONGEST = 8000  # characters of an example: it goes along with every call


def reviewed_examples(
    monitor: Monitor, wanted: Filter = _ALL, *, ids: Sequence[str] = (), limit: int = 8
) -> Examples:
    """At most ``limit`` reviewed answers, for ``examples=`` of a detector that asks a model.

    Those named by ``ids``; or a choice: hallucinated and grounded ones in turn, those about which reviewers
    corrected the detector first, then the latest; one of each set of passages, none of over 8,000
    characters. Texts are as they are kept, masked where the monitor masks. What the judge then says of
    these answers, or of others from the same passages, is no measure of it, and tuning leaves them out.
    Raises InputError where an answer is not decided, or none is.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MOST:
        raise InputError(f"limit must be a whole number from 1 to {_MOST}, not {limit!r}")
    labels = monitor.labels(wanted).labels
    if ids:
        if len(ids) > limit:
            raise InputError(f"{len(ids)} answers are named, and at most {limit} are shown: raise the limit")
        return Examples(_example(one) for one in _named(monitor, labels, ids))
    found = Examples(_example(one) for one in list(_chosen(labels))[:limit])
    if not len(found):
        raise InputError(
            "no answer is reviewed that could be shown: groundwire monitor next --reviewer NAME begins"
        )
    return found


def save_examples(shown: Examples, path: Path) -> None:
    """Write them as JSON, readable by their owner alone; settings take the file's name as ``examples``.

    Raises ConfigurationError for a file that is there already.
    """
    rows = [
        {
            "question": one.interaction.question,
            "contexts": [passage.text for passage in one.interaction.contexts],
            "answer": one.interaction.answer,
            "score": one.score,
            "reason": one.reason,
        }
        for one in shown
    ]
    text = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise ConfigurationError(f"{str(path)!r} is there already: name another file") from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _named(monitor: Monitor, labels: Iterable[Label], ids: Sequence[str]) -> Iterator[Label]:
    by_id = {one.kept.id: one for one in labels}
    for key in ids:
        kept = monitor.get(key)
        if kept.id not in by_id or kept.interaction is None:
            raise InputError(f"{key}: reviewers have not decided about it, or it can't be read")
        yield by_id[kept.id]


def _chosen(labels: Iterable[Label]) -> Iterator[Label]:
    """Both kinds in turn, the most telling first."""
    kinds: dict[bool, list[Label]] = {True: [], False: []}
    seen: set[str] = set()
    telling = sorted(
        labels, key=lambda one: (one.kept.outcome.hallucinated is not one.hallucinated, one.kept.id)
    )
    for one in reversed(telling):
        if one.kept.interaction is None or _size(one) > _LONGEST:
            continue
        if (group := group_of(one.kept.interaction)) not in seen:
            seen.add(group)
            kinds[one.hallucinated].append(one)
    while kinds[True] or kinds[False]:
        for kind in (True, False):
            if kinds[kind]:
                yield kinds[kind].pop(0)


def _size(one: Label) -> int:
    assert one.kept.interaction is not None
    whole = one.kept.interaction
    return len(whole.question) + len(whole.answer) + sum(len(passage.text) for passage in whole.contexts)


def _example(one: Label) -> Example:
    assert one.kept.interaction is not None
    return Example(
        interaction=one.kept.interaction,
        score=float(one.hallucinated),
        reason=next(iter(_reasons(one, one.kept.interaction.answer)), ""),
    )


def _reasons(one: Label, answer: str) -> Iterator[str]:
    """What those who share the majority's view wrote, or marked."""
    agreeing: list[Feedback] = [said for said in one.feedback if said.hallucinated is one.hallucinated]
    yield from (said.note for said in agreeing if said.note)
    for said in agreeing:
        if one.hallucinated and said.spans:
            yield "unsupported: " + " | ".join(span.of(answer) for span in said.spans)
