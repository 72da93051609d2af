"""The probe set is sound, and the default detector keeps to what was measured on it.

The set is for measuring: who looks at what fails while tuning has to write new pairs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import pytest

from benchmarks import probes
from benchmarks.probes import Judged, Pair, Rates, Share
from groundwire import Checker, Grading, Level, Verdict
from groundwire.core.claim import Claim, Support
from groundwire.core.span import Span
from groundwire.core.verdict import Abstention, AbstentionReason, DetectorSpec
from groundwire.text import sentences


class Floor(NamedTuple):
    """How many pairs of a kind the default detector orders and flags at least, and flags wrongly at most."""

    ordered: int
    caught: int
    alarms: int


# What `python -m benchmarks.probes` measured, with two of each kind and three of all to spare.
FLOORS: dict[str, Floor] = {
    probes.ALL: Floor(209, 164, 74),
    "number": Floor(12, 9, 7),
    "date_time": Floor(10, 7, 5),
    "unit": Floor(8, 6, 3),
    "conversion": Floor(11, 12, 5),
    "arithmetic": Floor(8, 10, 11),
    "entity": Floor(11, 8, 5),
    "role_swap": Floor(7, 0, 3),
    "attribution": Floor(10, 3, 4),
    "conjunction": Floor(10, 4, 6),
    "comparison": Floor(5, 2, 8),
    "order": Floor(3, 4, 8),
    "negation": Floor(9, 8, 7),
    "quantifier": Floor(8, 8, 9),
    "modality": Floor(10, 5, 7),
    "condition": Floor(13, 9, 4),
    "causality": Floor(8, 5, 3),
    "invented_detail": Floor(14, 14, 4),
    "invented_item": Floor(10, 5, 5),
    "record": Floor(9, 8, 7),
}
# How many faithful answers of a kind it flags at most, one or two to spare: all sums and conversions.
CEILINGS: dict[str, int] = {
    probes.ALL: 24,
    "paraphrase": 4,
    "summary": 4,
    "refusal": 1,
    "pronouns": 2,
    "lists": 4,
    "conversion": 4,
    "record_to_prose": 4,
    "synonyms": 6,
    "quoting": 2,
    "hedged": 1,
    "two_passages": 3,
}

PAIRS = probes.pairs()
FAITHFUL = probes.faithful()
EARLIER = json.loads(
    (Path(__file__).parents[1] / "detectors" / "probes_lexical.json").read_text(encoding="utf-8")
)


def plain(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def rest(pair: Pair) -> list[str]:
    """The words of the changed answer that are not wrong."""
    starts, ends = [0, *(span.end for span in pair.wrong)], [*(span.start for span in pair.wrong), None]
    return plain(" ".join(pair.hallucinated[a:b] for a, b in zip(starts, ends, strict=True)))


def is_part(some: list[str], whole: list[str]) -> bool:
    left = iter(whole)
    return all(word in left for word in some)


def alike(one: str, other: str) -> float:
    return SequenceMatcher(None, plain(one), plain(other), autojunk=False).ratio()


def size(one: probes.Answer) -> int:
    return sum(len(plain(text)) for text in one.contexts)


def named(one: probes.Answer) -> str:
    return f"{one.kind}: {one.grounded[:40]}"


class TestPairs:
    """Each pair differs in what it says it differs in, and in nothing else."""

    def test_there_are_enough_of_each_kind(self):
        """280 pairs or more, at least 15 a kind, and a floor or its absence for each kind."""
        counts = Counter(pair.kind for pair in PAIRS)
        assert len(PAIRS) >= 280
        assert min(counts.values()) >= 15
        assert {*counts, probes.ALL} == set(FLOORS)

    def test_the_wrong_words_are_all_that_was_put_in(self):
        """What is not marked wrong stands in the faithful answer too, in the same order."""
        assert [named(pair) for pair in PAIRS if not is_part(rest(pair), plain(pair.grounded))] == []
        assert [named(pair) for pair in PAIRS if pair.grounded == pair.hallucinated] == []

    def test_the_change_is_small(self):
        """Half of both answers or more is common to them, in the same order."""
        assert [named(pair) for pair in PAIRS if alike(pair.grounded, pair.hallucinated) < 0.5] == []
        assert fmean(alike(pair.grounded, pair.hallucinated) for pair in PAIRS) > 0.85

    def test_the_wrong_words_are_spans_of_the_answer(self):
        """Ordered, disjoint, and neither blank nor with blanks at their ends."""
        for pair in PAIRS:
            assert pair.wrong
            assert list(pair.wrong) == sorted(pair.wrong)
            assert all(one.end < other.start for one, other in pairwise(pair.wrong))
            texts = [span.of(pair.hallucinated) for span in pair.wrong]
            assert texts == [text.strip() for text in texts]
            assert all(texts)

    def test_every_pair_is_unsupported_or_contradicted(self):
        """No pair has another support, and both are there in numbers."""
        counts = Counter(pair.support for pair in PAIRS)
        assert set(counts) == {Support.UNSUPPORTED, Support.CONTRADICTED}
        assert min(counts.values()) >= 40

    def test_length_tells_nothing(self):
        """The longer one of two answers is the changed one about as often as not."""
        longer = sum(
            0.5 + 0.5 * ((len(p.hallucinated) > len(p.grounded)) - (len(p.hallucinated) < len(p.grounded)))
            for p in PAIRS
        )
        assert 0.4 <= longer / len(PAIRS) <= 0.6

    def test_wrong_words_that_cannot_be_placed_are_refused(self, tmp_path, monkeypatch):
        """Words that are missing from their answer, or stand there twice, are an error and not a guess."""
        for answer in ("The fee is 20 euro.", "The fee is 30 euro, and again 30 euro."):
            row = '[[pair]]\nkind = "number"\nsupport = "contradicted"\ncontexts = ["The fee is 20 euro."]\n'
            row += f'grounded = "The fee is 20 euro."\nhallucinated = "{answer}"\nwrong = ["30"]\n'
            (tmp_path / "one.toml").write_text(row, encoding="utf-8")
            monkeypatch.setattr(probes, "DATA", tmp_path)
            with pytest.raises(ValueError, match="must stand once"):
                probes.pairs()


class TestFaithfulAnswers:
    """Answers that no detector should flag."""

    def test_there_are_enough_of_each_kind(self):
        """60 or more, five a kind, and a ceiling for each kind but the one that is flagged every time."""
        counts = Counter(one.kind for one in FAITHFUL)
        assert len(FAITHFUL) >= 60
        assert min(counts.values()) >= 5
        assert {*counts, probes.ALL} == {*CEILINGS, "arithmetic"}


class TestAllTexts:
    """Passages and answers are varied and new."""

    def test_no_passage_occurs_twice(self):
        """Neither in the set nor in the earlier set, which was looked at while tuning."""
        passages = [text for one in (*PAIRS, *FAITHFUL) for text in one.contexts]
        assert len(set(passages)) == len(passages)
        assert not set(passages) & {one["context"] for one in EARLIER}

    def test_no_answer_occurs_twice(self):
        """Each faithful and each changed answer stands once."""
        answers = [one.grounded for one in (*PAIRS, *FAITHFUL)] + [pair.hallucinated for pair in PAIRS]
        assert len(set(answers)) == len(answers)

    def test_sizes_are_those_of_retrieval(self):
        """At most four passages, of 350 words and figures together, and an answer of a few sentences."""
        texts = [*PAIRS, *FAITHFUL]
        assert {len(one.contexts) for one in texts} <= {1, 2, 3, 4}
        assert [named(one) for one in texts if not 10 <= size(one) <= 350] == []
        assert [named(one) for one in texts if len(sentences.split(one.grounded)) > 8] == []

    def test_most_faithful_answers_say_it_in_other_words(self):
        """Hardly any stands verbatim in its passages."""
        copied = [p for p in PAIRS if any(p.grounded.rstrip(".") in text for text in p.contexts)]
        assert len(copied) <= len(PAIRS) // 50

    def test_some_passages_are_long_or_come_with_others(self):
        """One interaction in five has several passages, and some have more than 150 words and figures."""
        texts = [*PAIRS, *FAITHFUL]
        assert sum(len(one.contexts) > 1 for one in texts) >= len(texts) // 5
        assert sum(size(one) > 150 for one in texts) >= 12


class TestRates:
    """The figures count what they say."""

    def judged(self, good: float | None, bad: float | None, *marked: Span) -> Judged:
        pair = Pair(
            kind="number",
            support=Support.CONTRADICTED,
            contexts=("It costs 20 euro.",),
            question="",
            grounded="The fee is 20 euro.",
            hallucinated="The fee is 30 euro.",
            wrong=(Span(11, 13),),
        )
        return Judged(pair=pair, grounded=self.outcome(good), hallucinated=self.outcome(bad, *marked))

    def outcome(self, score: float | None, *marked: Span) -> Verdict | Abstention:
        if score is None:
            return Abstention(why=AbstentionReason.NO_CLAIMS)
        text = "The fee is 30 euro."
        claims = (Claim(text=text, span=Span(0, 19), support=Support.UNSUPPORTED, score=score, words=marked),)
        grading = Grading(threshold=0.5)
        spec = DetectorSpec(name="scripted", version="1")
        return Verdict.graded(score, grading, detector=spec, claims=claims if marked else ())

    def test_a_tie_is_not_ordered_and_an_abstention_is_nothing(self):
        """Only a strictly higher score orders a pair; what was not judged is counted apart."""
        rates = Rates.of([self.judged(*scores) for scores in [(0.2, 0.6), (0.6, 0.6), (0.7, 0.1)]])
        assert (rates.ordered.hits, rates.caught.hits, rates.alarms.hits, rates.unjudged) == (1, 2, 2, 0)
        rates = Rates.of([self.judged(None, 0.9), self.judged(0.1, None), self.judged(None, None)])
        assert (rates.ordered.hits, rates.caught.hits, rates.alarms.hits, rates.unjudged) == (0, 1, 0, 4)

    def test_a_mark_points_only_where_it_overlaps(self):
        """A mark that touches the wrong words' edge without sharing a character is beside them."""
        marks = [Span(11, 13), Span(12, 18), Span(8, 11), Span(13, 18)]
        judged = [self.judged(0.1, 0.9, mark) for mark in marks]
        assert [one.pointed for one in judged] == [True, True, False, False]
        assert Rates.of(judged).pointed == Share(hits=2, of=4)

    def test_only_flagged_answers_count_as_pointed(self):
        """Marks of an answer under the threshold are in neither number."""
        rates = Rates.of([self.judged(0.1, 0.2), self.judged(0.1, 0.9, Span(11, 13))])
        assert rates.pointed == Share(hits=1, of=1)
        assert self.outcome(0.2).level is Level.LOW

    @pytest.mark.parametrize(
        ("hits", "of", "low", "high"), [(0, 10, 0.0, 0.278), (5, 10, 0.237, 0.763), (10, 10, 0.722, 1.0)]
    )
    def test_intervals_are_wilsons(self, hits, of, low, high):
        """As tabulated, and never outside 0 to 1."""
        assert Share(hits=hits, of=of).interval == pytest.approx((low, high), abs=0.001)
        assert Share(hits=0, of=0).interval == (0.0, 1.0)


@cache
def rates() -> dict[str, Rates]:
    return probes.by_kind(probes.judge(Checker(), PAIRS))


@cache
def flagged() -> dict[str, tuple[Share, int]]:
    return probes.alarms(Checker(), FAITHFUL)


class TestDefaultDetector:
    """The default detector is no worse on any kind than when it was measured."""

    @pytest.mark.parametrize("kind", FLOORS)
    def test_a_kind_of_error_is_seen_as_often_as_was_measured(self, kind):
        """Enough changed answers score higher and are flagged, and not too many faithful ones are."""
        floor = FLOORS[kind]
        found = rates()[kind]
        assert found.ordered.hits >= floor.ordered
        assert found.caught.hits >= floor.caught
        assert found.alarms.hits <= floor.alarms

    @pytest.mark.parametrize("kind", CEILINGS)
    def test_faithful_answers_are_flagged_no_more_than_was_measured(self, kind):
        """Of each kind that doesn't look faithful, at most so many are flagged."""
        assert flagged()[kind][0].hits <= CEILINGS[kind]
