"""Several methods on the same answers, side by side, with the shortcuts that each has to beat."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from groundwire.bench import metrics
from groundwire.bench.baselines import AlwaysFlag, AnswerLength, NovelWords
from groundwire.bench.examples import UNLABELLED, Example, among, fingerprint, overlap
from groundwire.bench.intervals import ROUNDS, Averaged, Difference, compare_flags, compare_scores
from groundwire.bench.runs import Judged, judge
from groundwire.bench.scorecard import Answers, Card, brief, card, flagged, scored
from groundwire.checker import Checker
from groundwire.core.errors import ConfigurationError, InputError
from groundwire.core.tuned import Figure, Labels
from groundwire.core.verdict import Verdict
from groundwire.detectors.catalogue import METHODS
from groundwire.identity import identity

Sets = Mapping[str, Sequence[Example]]
Run = Callable[[Sequence[Example], Path | None, bool], Iterator[Judged]]
"""Judges examples in their order: from a record and into it, with a progress bar if asked.

Of those without a label nothing need be said.
"""


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """One method under measurement.

    ``shortcut`` says that it understands nothing and is granted the direction that suits it; ``flags`` that
    its own threshold means something. ``locates`` is what it finds at fault; ``made_by`` is what decides
    about its outcomes, as JSON; ``tuned_on`` are the labelled answers that it was tuned on, if any.
    """

    name: str
    run: Run
    shortcut: bool = False
    flags: bool = True
    locates: str = ""
    made_by: Mapping[str, Any] = field(default_factory=dict)
    tuned_on: Labels | None = None


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Part of a set: its answers of one task, or of one generating model.

    There are no figures where fewer than ``FEWEST`` answers have either label.
    """

    set: str
    by: str
    name: str
    answers: int
    bad: float
    figures: Mapping[str, Mapping[str, Figure | None]]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All that was measured. ``cards`` hold, for each set and for their mean, each contestant's figures.

    ``leads`` are paired tests: by how much one contestant's AUROC, and F1, is above another's on the answers
    that both judged, over all sets; of more than ``MANY`` detectors, the best is compared with every other.
    ``notes`` say what a reader must know: repeats, leaks, rows without a label.
    """

    sets: Sets
    contestants: Sequence[Contestant]
    judged: Mapping[str, Answers]
    cards: Mapping[str, Mapping[str, Card]]
    slices: Sequence[Slice]
    leads: Mapping[tuple[str, str], Mapping[str, Difference | None]]
    notes: Sequence[str]
    data: Mapping[str, str]

    @property
    def whole(self) -> Mapping[str, Card]:
        """Each contestant over all sets: the mean of the sets, where there are several."""
        return self.cards[MEAN] if len(self.sets) > 1 else next(iter(self.cards.values()))


MEAN = "mean of the sets"
MANY = 4
"""Detectors up to which each is compared with each other."""
SCARCE = 50
"""With fewer answers of a label, a reader is told that nothing is sure."""
FEW_SOURCES = 30
"""With answers of a label about fewer sources, a reader is told that intervals over sources are rough."""
FEWEST = 10
"""A part of a set is measured where it has as many answers of either label; fewer say nothing."""


def contestant(
    name: str, checker: Checker, *, concurrency: int | None = None, retry_errors: bool = False
) -> Contestant:
    """A checker under a name of its own. It judges without a deadline where it asks no model.

    ``concurrency`` and ``retry_errors`` are as in ``runs.judge``.
    """
    if not checker.detector.needs_judge and checker.policy.timeout is not None:
        # How busy the machine is has no say in what an offline method can do.
        policy = replace(checker.policy, timeout=None)
        checker = Checker(checker.detector, judge=checker.judge, policy=policy)
    method = METHODS.get(checker.detector.name)
    return Contestant(
        name=name,
        run=lambda examples, record, progress: judge(
            examples,
            checker,
            record=record,
            concurrency=concurrency,
            progress=progress,
            what=name,
            retry_errors=retry_errors,
            labelled=True,
        ),
        locates=method.locates if method else "",
        made_by=identity(checker),
        tuned_on=checker.policy.tuned.labels if checker.policy.tuned else None,
    )


def shortcuts() -> list[Contestant]:
    """The methods that are measured beside every other."""
    return [
        _shortcut(Checker(AnswerLength()), flags=False),
        _shortcut(Checker(NovelWords()), flags=False),
        _shortcut(Checker(AlwaysFlag()), flags=True),
    ]


def _shortcut(checker: Checker, *, flags: bool) -> Contestant:
    return Contestant(
        name=checker.detector.name,
        run=lambda examples, record, progress: judge(examples, checker, labelled=True),  # noqa: ARG005 - done at once
        shortcut=True,
        flags=flags,
        locates="nothing",
        made_by=identity(checker),
    )


def compare(
    sets: Sets,
    contestants: Sequence[Contestant],
    *,
    records: Path | None = None,
    rounds: int = ROUNDS,
    progress: bool = False,
) -> Comparison:
    """Judge every labelled answer by every contestant and by the shortcuts, and measure what they said.

    ``records`` is a folder where outcomes are kept as they come: a comparison that was stopped goes on from
    there, and so does one for which more rows have been labelled. Rows without a label are left out, and
    told. Raises InputError where no row has one, and ConfigurationError for two contestants of one name and
    for records of something else.
    """
    everyone = [*contestants, *shortcuts()]
    for name, count in Counter(one.name for one in everyone).items():
        if count > 1:
            raise ConfigurationError(f"{count} contestants are called {name!r}: give each a name of its own")
    labelled = {name: [one for one in sets[name] if one.label is not None] for name in sets}
    notes = list(overlap(sets).lines())
    for name, examples in labelled.items():
        if left_out := len(sets[name]) - len(examples):
            notes.append(f"{name}: {left_out} answers without a label are left out")
        notes += _scarce(name, examples)
    judged: dict[str, dict[str, list[Judged]]] = {}
    for one in everyone:
        judged[one.name] = {
            name: [
                said
                for said in one.run(examples, _record(records, name, one), progress and not one.shortcut)
                if said.example.label is not None
            ]
            for name, examples in sets.items()
        }
    notes += [line for one in contestants for line in _seen(one, labelled)]
    cards = _cards(labelled, everyone, judged, rounds)
    whole = cards[MEAN if len(labelled) > 1 else next(iter(labelled))]
    return Comparison(
        sets=labelled,
        contestants=everyone,
        judged=judged,
        cards=cards,
        slices=list(_slices(labelled, everyone, judged, rounds)),
        leads=dict(_leads(everyone, judged, whole, rounds)),
        notes=notes,
        data={name: fingerprint(examples) for name, examples in labelled.items()},
    )


def _scarce(name: str, labelled: Sequence[Example]) -> Iterator[str]:
    """What so few labels of a kind, or labels about so few sources, can't tell. InputError without any."""
    if not labelled:
        raise InputError(
            f"{name}: no answer has a label, so there is nothing to measure against. {UNLABELLED}"
        )
    about = len({one.group for one in labelled})
    if about == 1 and len(labelled) > 1:
        yield (
            f"{name}: all answers are about one source, so that nothing can be told of others: the intervals "
            "have no width and no meaning"
        )
    for kind, count in Counter("hallucinated" if one.label else "grounded" for one in labelled).items():
        if count == len(labelled):
            yield f"{name}: all labels are {kind}: nothing can be told from another there"
        elif count < SCARCE:
            few = f"{name}: only {count} answers are {kind}"
            yield f"{few}: nothing is sure before there are {SCARCE} or more"
        else:
            sources = len({one.group for one in labelled if one.label is (kind == "hallucinated")})
            if sources < FEW_SOURCES and about != 1:
                yield f"{name}: its {kind} answers are about {sources} sources: the intervals are rough"


def _seen(one: Contestant, labelled: Sets) -> Iterator[str]:
    """How many of the answers a contestant was tuned on, by what they say."""
    if one.tuned_on is None:
        return
    if not one.tuned_on.contents:
        yield (
            f"{one.name} was tuned before tunings told on which answers: if these are among them, it does "
            "better here than on others. Tune it again to know"
        )
    for name, examples in labelled.items():
        if count := among(one.tuned_on.contents, examples):
            which = "very answers" if count == len(examples) else f"answers: {count:,} of {len(examples):,}"
            yield (
                f"{name}: {one.name} was tuned on these {which}, so it does better here than on others: "
                "what it is worth on answers held out stands in its own file"
            )


def _record(folder: Path | None, name: str, one: Contestant) -> Path | None:
    if folder is None or one.shortcut:
        return None
    # Names may hold anything; what tells them apart must survive.
    whole = f"{name}--{one.name}"
    digest = hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()[:6]
    return folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', whole)}-{digest}.jsonl"


def _cards(
    sets: Sets, everyone: Sequence[Contestant], judged: Mapping[str, Answers], rounds: int
) -> dict[str, dict[str, Card]]:
    wholes: dict[str, Sequence[str]] = {name: [name] for name in sets}
    if len(sets) > 1:
        wholes = {MEAN: list(sets), **wholes}
    return {
        whole: {
            one.name: card(
                {name: judged[one.name][name] for name in names},
                shortcut=one.shortcut,
                flags=one.flags,
                rounds=rounds,
            )
            for one in everyone
        }
        for whole, names in wholes.items()
    }


def _slices(
    sets: Sets, everyone: Sequence[Contestant], judged: Mapping[str, Answers], rounds: int
) -> Iterator[Slice]:
    for name, examples in sets.items():
        for by in ("task", "model"):
            parts: dict[str, list[int]] = {}
            for at, example in enumerate(examples):
                parts.setdefault(getattr(example, by), []).append(at)
            parts.pop("", None)
            for value, inside in sorted(parts.items()) if len(parts) > 1 else ():
                bad = sum(bool(examples[at].label) for at in inside)
                enough = min(bad, len(inside) - bad) >= FEWEST
                yield Slice(
                    set=name,
                    by=by,
                    name=value,
                    answers=len(inside),
                    bad=bad / len(inside),
                    figures={
                        one.name: brief(
                            {name: [judged[one.name][name][at] for at in inside]},
                            shortcut=one.shortcut,
                            rounds=rounds,
                        )
                        for one in everyone
                        if enough
                    },
                )


def _leads(
    everyone: Sequence[Contestant], judged: Mapping[str, Answers], whole: Mapping[str, Card], rounds: int
) -> Iterator[tuple[tuple[str, str], dict[str, Difference | None]]]:
    for first, second in _pairs(everyone, whole):
        one, other = _both(judged[first.name], judged[second.name])
        found = {}
        if AlwaysFlag.name not in (first.name, second.name):  # which orders nothing
            mine, theirs = scored(one, either_way=first.shortcut), scored(other, either_way=second.shortcut)
            found["auroc"] = compare_scores(Averaged(metrics.auroc), mine, theirs, rounds)
        if first.flags and second.flags:
            found["f1"] = compare_flags(Averaged(metrics.f1), flagged(one), flagged(other), rounds)
        yield (first.name, second.name), found


def _pairs(
    everyone: Sequence[Contestant], whole: Mapping[str, Card]
) -> Iterator[tuple[Contestant, Contestant]]:
    """Who is compared with whom: of many, the best with every other, and each with the best shortcut."""

    def reached(one: Contestant) -> float:
        figure = whole[one.name].figures["auroc"]
        return figure.value if figure else -1.0

    entered = [one for one in everyone if not one.shortcut]
    rivals = [one for one in everyone if one.shortcut]
    if len(entered) <= MANY:
        yield from itertools.combinations(entered, 2)
    else:
        best = max(entered, key=reached)
        yield from ((best, one) for one in entered if one is not best)
        rival = max(rivals, key=reached)
        rivals = [one for one in rivals if one.flags or one is rival]
    yield from itertools.product(entered, rivals)


def _both(first: Answers, second: Answers) -> tuple[Answers, Answers]:
    """What two contestants said of the answers that both judged."""
    kept: tuple[dict[str, list[Judged]], dict[str, list[Judged]]] = ({}, {})
    for name in first:
        pairs = [
            (a, b)
            for a, b in zip(first[name], second[name], strict=True)
            if isinstance(a.outcome, Verdict) and isinstance(b.outcome, Verdict)
        ]
        kept[0][name], kept[1][name] = [a for a, _ in pairs], [b for _, b in pairs]
    return kept


def beats_shortcuts(comparison: Comparison, name: str) -> list[str]:
    """The sets on which this contestant's AUROC is above every shortcut's on the answers that both judged."""
    mine, rivals = comparison.judged[name], [one.name for one in comparison.contestants if one.shortcut]
    return [
        where
        for where in comparison.sets
        if all(_above({where: mine[where]}, {where: comparison.judged[one][where]}) for one in rivals)
    ]


def _above(judged: Answers, shortcut: Answers) -> bool:
    one, other = _both(judged, shortcut)
    return metrics.auroc(scored(one)) > metrics.auroc(scored(other, either_way=True))


def worst(judged: Sequence[Judged], count: int = 3) -> tuple[list[Judged], list[Judged]]:
    """The surest mistakes: hallucinated answers with the lowest scores, grounded ones with the highest.

    Only answers that were told wrong by the method's own threshold are mistakes.
    """
    known = [one for one in judged if isinstance(one.outcome, Verdict)]
    order = np.argsort([one.outcome.score or 0.0 for one in known], kind="stable")
    missed = [known[at] for at in order if known[at].example.label and not known[at].outcome.hallucinated]
    alarmed = [
        known[at] for at in order[::-1] if not known[at].example.label and known[at].outcome.hallucinated
    ]
    return missed[:count], alarmed[:count]
