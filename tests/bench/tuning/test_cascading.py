"""Bands fitted to labels: their figures are those of running that cascade, and their limits are told."""

import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from groundwire import (
    AbstentionReason,
    Checker,
    Claim,
    Detector,
    Interaction,
    Judge,
    Span,
    Support,
    Verdict,
)
from groundwire.bench import tuning
from groundwire.bench.examples import Example
from groundwire.bench.runs import judge
from groundwire.core.plan import Complete, Failed
from groundwire.detectors import Cascade
from groundwire.detectors.cascade.stages import Facts, Stage

NO_ANSWER = "I don't know"


@dataclass(frozen=True, kw_only=True)
class Known(Detector):
    """Knows its score without asking anybody."""

    name: ClassVar[str] = "known"
    version: ClassVar[str] = "1"

    def detect(self, interaction):
        yield from ()
        return Verdict.graded(interaction.metadata["cheap"], self.grading, detector=self.spec)


@dataclass(frozen=True, kw_only=True)
class Asking(Detector):
    """Asks a model for its score; a reply without one can't be read."""

    name: ClassVar[str] = "asking"
    version: ClassVar[str] = "1"
    needs_model: ClassVar[bool] = True
    takes_model: ClassVar[bool] = True

    of: str = "dear"

    def detect(self, interaction):
        [reply] = yield [Complete(system="", user=str(interaction.metadata[self.of]))]
        if isinstance(reply, Failed):
            return self.abstain(reply.reason, reply.detail)
        if not (score := re.fullmatch(r"[0-9.]+", reply.texts[0])):
            return self.abstain(AbstentionReason.UNREADABLE_REPLY, "no score")
        return Verdict.graded(float(score[0]), self.grading, detector=self.spec)


def says_again(system, user):
    return user


def answers(count=60, *, refuted=0.0, failing=0.0):
    """Grounded and hallucinated answers, and what a poor stage and a good one say of them.

    Some of the hallucinated ones state another fee than the passage; on some the good stage fails.
    """
    rng = np.random.default_rng(5)
    for i in range(count):
        bad = bool(rng.random() < 0.4)
        cheap, dear = np.clip(rng.normal([0.25 + 0.4 * bad, 0.1 + 0.75 * bad], [0.25, 0.15]), 0, 1)
        fee = 75 if bad and rng.random() < refuted else 25
        said = NO_ANSWER if rng.random() < failing else f"{dear:.3f}"
        yield Example(
            id=str(i),
            interaction=Interaction(
                contexts=f"Document {i}. The fee is 25 EUR.",
                answer=f"The fee is {fee} EUR.",
                metadata={"cheap": round(float(cheap), 3), "dear": said},
            ),
            label=bad,
            group=f"source {i}",
        )


def tuned(given, first, *, facts=Facts.OFF, target="f1"):
    checker = Checker(
        Cascade(stages=(first, Stage(detector=Asking(), name="last")), facts=facts), judge=JUDGE
    )
    said = [list(judge(given, stage)) for stage in tuning.stages(checker)]
    return tuning.tune_cascade(said, checker, target=target), checker


JUDGE = Judge(says_again)
CHEAP = Stage(detector=Known(), accept=0.2, flag=0.8)
ACCEPTING = Stage(detector=Known(), accept=0.2)
SMALL_MODEL = Stage(detector=Asking(of="cheap"), accept=0.2, flag=0.6, name="small")


@pytest.mark.parametrize("facts", Facts)
@pytest.mark.parametrize("first", [CHEAP, ACCEPTING, SMALL_MODEL])
def test_what_a_cascade_is_said_to_do_is_what_it_does(facts, first):
    """Facts refute some answers, and on some its last stage fails."""
    given = list(answers(refuted=0.5, failing=0.4))
    found, checker = tuned(given, first, facts=facts)
    outcomes = [one.outcome for one in judge(given, checker)]
    labels = np.array([one.label for one in given])
    flagged = np.array([one.hallucinated is True for one in outcomes])
    assert found.before["precision"].value == pytest.approx(labels[flagged].mean())
    assert found.before["recall"].value == pytest.approx(flagged[labels].mean())
    assert found.before["calls"].value == pytest.approx(np.mean([one.usage.calls for one in outcomes]))


def test_answers_that_a_failing_stage_leaves_unjudged_are_counted_and_told():
    found, _ = tuned(list(answers(failing=0.4)), CHEAP)
    assert found.tuned.labels.not_judged == found.not_judged["UNREADABLE_REPLY"] > 0
    [told] = [one for one in found.tuned.warnings if "were not judged" in one]
    assert told.startswith(f"{found.tuned.labels.not_judged} of 60 answers held out")


@dataclass(frozen=True, kw_only=True)
class Partial(Known):
    """Has verified nothing of what it flags."""

    name: ClassVar[str] = "partial"

    def detect(self, interaction):
        verdict = yield from super().detect(interaction)
        if not verdict.hallucinated:
            return verdict
        answer = interaction.answer
        claim = Claim(text=answer, span=Span(0, len(answer)), support=Support.UNVERIFIED)
        return replace(verdict, claims=(claim,))


@pytest.mark.parametrize(
    "stages",
    [
        (Stage(detector=Partial(), accept=0.7, flag=0.9), Stage(detector=Asking())),
        (Stage(detector=Asking(), accept=0.2, flag=0.9), Stage(detector=Partial(), accept=0.7, flag=0.9)),
    ],
)
def test_what_could_not_be_verified_is_accepted_by_no_stage(stages):
    given = list(answers())
    checker = Checker(Cascade(stages=stages, facts=Facts.OFF), judge=JUDGE)
    found = tuning.tune_cascade([list(judge(given, one)) for one in tuning.stages(checker)], checker)
    run = [one.outcome for one in judge(given, checker)]
    flagged = np.array([one.hallucinated is True for one in run])
    assert found.before["recall"].value == pytest.approx(flagged[[one.label for one in given]].mean())
    assert found.before["calls"].value == pytest.approx(np.mean([one.usage.calls for one in run]))


def poor_and_perfect():
    rng = np.random.default_rng(1)
    for one in answers(80):
        said = {"cheap": round(float(rng.random()), 3), "dear": "0.9" if one.label else "0.1"}
        yield replace(one, interaction=replace(one.interaction, metadata=said))


@pytest.mark.parametrize("target", ["precision>=0.9", "recall>=0.9"])
def test_a_bound_is_kept_by_a_cascade_that_is_of_use(target):
    """A perfect judge is asked where the first stage tells nothing."""
    given = list(poor_and_perfect())
    found, _ = tuned(given, CHEAP, target=target)
    run = [one.outcome.hallucinated for one in judge(given, Checker(found.detector, judge=JUDGE))]
    right = sum(flagged and one.label for one, flagged in zip(given, run, strict=True))
    assert right / sum(run) >= 0.9
    assert right / sum(one.label for one in given) >= 0.9
    assert found.after["precision"].value >= 0.8
    assert found.after["recall"].value >= 0.8


def test_a_bound_that_no_bands_reach_is_told():
    given = [
        replace(one, interaction=replace(one.interaction, metadata={"cheap": 0.2, "dear": "0.2"}))
        for one in answers()
    ]
    found, _ = tuned(given, CHEAP, target="precision>=0.9")
    assert any("no bands were found that reach precision>=0.9" in one for one in found.tuned.warnings)


def few(names):
    for i, name in enumerate(names):
        for k in range(3):
            bad = i in (0, 3, 6)
            said = {"cheap": 0.7 - 0.01 * k - 0.02 * i if bad else 0.2 + 0.02 * k + 0.01 * i}
            yield Example(
                id=f"{i} {k}",
                interaction=Interaction(
                    contexts=f"Document {i}.",
                    answer="It is so.",
                    metadata={**said, "dear": "0.9" if bad else "0.1"},
                ),
                label=bad,
                group=name,
            )


def test_what_sources_are_called_changes_no_figure():
    """By one naming, every third name would be hallucinated."""
    names = [f"doc {i:02d}" for i in range(12)]
    other = [names[i] for i in (0, 1, 2, 4, 5, 6, 8, 7, 9, 10, 11, 3)]
    figures = [tuned(list(few(each)), CHEAP, target="recall>=0.9")[0].after for each in (names, other)]
    assert {k: v.value for k, v in figures[0].items()} == {k: v.value for k, v in figures[1].items()}


def test_labels_that_show_too_little_are_told():
    found, _ = tuned(list(few([f"doc {i:02d}" for i in range(12)])), CHEAP)
    assert any("only 3 sources have hallucinated answers" in one for one in found.tuned.warnings)
    assert any("only 9 sources have grounded answers" in one for one in found.tuned.warnings)
    found, _ = tuned(list(answers(30, failing=0.4)), CHEAP)
    assert any("f1 is known to ±" in one for one in found.tuned.warnings)
    found, _ = tuned(list(answers()), CHEAP, target="precision>=0.99")
    assert any("on held-out answers precision was" in one for one in found.tuned.warnings)
