"""What is weighed on top of the encoder: words beside the words around them, and their claim."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from groundwire.core.plan import ReadClaim, Reading, ReadWord
from groundwire.core.span import Span
from groundwire.detectors import Embedded, embedded_model
from groundwire.detectors.embedded_model import (
    answer_figures,
    but_for,
    claim_figures,
    digest_figures,
    freely_worded,
    in_sight,
    is_digest,
    to_read,
    unsupported_words,
    word_figures,
)
from groundwire.detectors.lexical_model import Weighed, logit
from groundwire.detectors.lexical_seen import Answer


def unsupported(probability: float) -> Reading:
    return Reading(supported=1 - probability, unsupported=probability, contradicted=0.0)


def read(*words_: float) -> ReadClaim:
    """A claim of words of four letters that are read as unsupported so far."""
    words = tuple(ReadWord(span=Span(5 * i, 5 * i + 4), reading=unsupported(p)) for i, p in enumerate(words_))
    return ReadClaim(reading=unsupported(0.5), words=words)


STACK = embedded_model.load()


def test_a_word_is_likelier_unsupported_beside_others_that_are():
    """People mark phrases: what stands in the middle of one is read with what is on either side."""
    alone = STACK.words(0.5, read(0.9, 0.1, 0.1, 0.4, 0.1, 0.1))
    beside = STACK.words(0.5, read(0.1, 0.1, 0.9, 0.4, 0.9, 0.1))
    assert beside[3] > alone[3]


@pytest.mark.parametrize("unsupported", [0.05, 0.5, 0.95])
def test_what_the_claim_s_words_and_facts_tell_counts_for_each_of_its_words(unsupported):
    low, middle, high = (STACK.words(odds, read(unsupported, 0.2)) for odds in (0.05, 0.5, 0.95))
    assert low[0] < middle[0] < high[0]
    assert low[1] < middle[1] < high[1]


def test_a_word_that_is_read_worse_is_likelier_unsupported():
    likely = STACK.words(0.5, read(0.1, 0.5, 0.9))
    assert likely == sorted(likely)
    assert all(0 < p < 1 for p in likely)


def test_no_word_beyond_two_on_either_side_counts_as_beside():
    """And what is beside the first word is not the end of the claim."""
    near = [figures[1] for figures in word_figures(0.5, read(0.5, 0.5, 0.5, 0.9, 0.5, 0.5, 0.5))]
    assert [abs(figure) > 1e-9 for figure in near] == [False, True, True, True, True, True, False]


def test_a_claim_without_words_has_none_that_are_likely():
    assert STACK.words(0.9, read()) == []
    assert unsupported_words(read(), [], 0.5) == []


def test_words_are_joined_over_one_and_none_is_named_where_none_is_likely_enough():
    claim = read(0.9, 0.1, 0.9, 0.1, 0.1, 0.9)
    assert unsupported_words(claim, [0.8, 0.1, 0.8, 0.1, 0.1, 0.8], 0.5) == [Span(0, 14), Span(25, 29)]
    assert unsupported_words(claim, [0.1, 0.2, 0.3, 0.1, 0.1, 0.1], 0.5) == []


class TestReading:
    """What is read against a claim."""

    @pytest.mark.parametrize("words", [(), (0.1, 0.9)])
    def test_a_claim_is_read_as_a_whole_and_an_answer_by_its_worst_claim(self, words):
        claim = replace(read(*words), reading=unsupported(0.6))
        assert claim_figures(0.5, claim, looked_at(120))[2] == pytest.approx(logit(0.6))
        others = [replace(read(0.1), reading=unsupported(p)) for p in (0.2, 0.5)]
        figures = answer_figures(told(0.5), [others[0], claim, others[1]], looked_at(120))
        assert figures[2] == pytest.approx(logit(0.6))

    def test_the_more_of_the_context_was_in_sight_the_more_it_tells(self):
        """And the less it tells that words were found."""

        def gained(words, odds, against):
            claims = [replace(read(0.5), reading=unsupported(p)) for p in against]
            low, high = (
                STACK.unasked.claim(claim_figures(p, c, looked_at(words)))
                for p, c in zip(odds, claims, strict=True)
            )
            return high - low

        assert gained(120, (0.3, 0.3), (0.1, 0.9)) > gained(600, (0.3, 0.3), (0.1, 0.9))
        assert gained(600, (0.1, 0.9), (0.2, 0.2)) > max(0, gained(120, (0.1, 0.9), (0.2, 0.2)))

    @pytest.mark.parametrize(("words", "seen"), [(0, 0.0), (20, 0.5), (40, 1.0), (120, 1.0), (240, 0.5)])
    def test_what_is_shorter_than_it_learnt_or_longer_than_a_row_is_less_in_sight(self, words, seen):
        assert in_sight(looked_at(words)) == seen

    def test_words_tell_less_and_readings_more_of_what_is_all_in_other_words(self):
        """Of a single claim nothing is known of how freely the answer is worded."""

        def gained(odds, low, high):
            (first, second) = (
                STACK.unasked.answer(answer_figures(told(*odds, raw=raw), [against(read_)], looked_at(120)))
                for raw, read_ in (low, high)
            )
            return logit(second) - logit(first)

        near, freely = (0.5, 0.02, 0.02), (0.5, 0.4, 0.4)
        by_words, by_reading = ((0.3, 0.5), (0.6, 0.5)), ((0.5, 0.3), (0.5, 0.6))
        assert gained(freely, *by_words) < gained(near, *by_words)
        assert gained(freely, *by_reading) > gained(near, *by_reading) > 0
        assert freely_worded([0.9]) == freely_worded([]) == 0.0


class TestAnswersToAQuestion:
    """They are weighed by a regression of their own, which hears the encoder whatever is in sight."""

    def test_what_is_read_counts_for_as_much_beside_a_long_context(self):
        worst, other = against(0.9), against(0.2)
        brief, long = (
            STACK.asked.answer(answer_figures(told(0.3, 0.1), [worst, other], looked_at(words, asked=True)))
            for words in (120, 3000)
        )
        assert brief == long
        assert answer_figures(told(0.3, 0.1), [worst, other], looked_at(120, asked=True)) != (
            answer_figures(told(0.3, 0.1), [worst, other], looked_at(120))
        )

    def test_beside_a_sentence_or_two_it_counts_for_less(self):
        """There the encoder doubts what doesn't stand word for word."""
        right = [against(0.86)]
        few, more = (
            STACK.asked.answer(answer_figures(told(0.1, raw=0.1), right, looked_at(words, asked=True)))
            for words in (11, 40)
        )
        threshold = Embedded().grading.threshold
        assert few < threshold < more
        claim = [claim_figures(0.1, against(0.85), looked_at(words, asked=True))[1] for words in (10, 40)]
        assert claim[0] == pytest.approx(claim[1] / 2)

    def test_a_second_claim_that_is_doubted_makes_it_worse(self):
        one, two = (
            STACK.asked.answer(answer_figures(told(0.3, 0.3), readings, looked_at(300, asked=True)))
            for readings in ([against(0.8), against(0.1)], [against(0.8), against(0.8)])
        )
        assert one < two

    def test_a_claim_that_is_read_worse_is_worse(self):
        likely = [
            STACK.asked.claim(claim_figures(0.3, against(p), looked_at(1000, asked=True)))
            for p in (0.1, 0.5, 0.9)
        ]
        assert likely == sorted(likely)
        assert likely[0] < 0.2
        assert likely[2] > Embedded().grading.threshold


class TestDigests:
    """Texts that tell over, in words of their own, more than the encoder is shown."""

    @pytest.mark.parametrize(
        ("words", "asked", "odds", "is_one"),
        [
            (241, False, (0.2, 0.2), True),
            (240, False, (0.2, 0.2), False),
            (241, True, (0.2, 0.2), False),
            (241, False, (0.05, 0.05), False),
        ],
    )
    def test_one_answers_no_question_in_other_words_than_a_long_context_s(self, words, asked, odds, is_one):
        assert is_digest(looked_at(words, asked=asked), told(*odds)) == is_one

    def test_four_claims_are_read_of_it_as_of_an_answer_to_a_question_and_one_of_other_texts(self):
        free = told(0.25, 0.12, 0.21, 0.22, 0.11, 0.23, 0.15, 0.11)
        near = told(0.25, 0.02, 0.1, 0.2, 0.01, 0.15, 0.05, 0.01)
        assert to_read(of_claims(8, words=1000), free) == (0, 2, 3, 5)
        assert to_read(of_claims(8, words=1000, asked=True), near) == (0, 2, 3, 5)
        assert to_read(of_claims(8, words=1000), near) == (0,)
        for lexical in (free, near):
            for asked in (True, False):
                assert to_read(of_claims(8, words=200, asked=asked), lexical) == tuple(range(8))

    def test_what_words_suspect_counts_by_itself_and_the_two_worst_beside_it(self):
        lexical, answer = told(0.25, 0.2, 0.1, 0.2), of_claims(4, words=1000)
        read_ = {0: against(0.3), 1: against(0.9), 2: against(0.2), 3: against(0.8)}
        known, suspected, both, freely = digest_figures(lexical, read_, answer)
        assert known == pytest.approx(logit(0.5))
        assert suspected == pytest.approx(logit(0.3))
        assert both == pytest.approx((logit(0.9) + logit(0.8)) / 2)
        assert freely == freely_worded(lexical.odds)

    def test_what_is_read_worse_is_worse_however_long_the_context(self):
        lexical = told(0.25, 0.2, 0.1, 0.2, raw=0.3)

        def weighed(words, *probabilities):
            answer = of_claims(4, words=words)
            return STACK.weigh(lexical, answer, dict(enumerate(map(against, probabilities)))).score

        assert weighed(600, 0.1, 0.1) < weighed(600, 0.1, 0.9) < weighed(600, 0.9, 0.9)
        assert weighed(600, 0.9, 0.9) == weighed(6000, 0.9, 0.9)


def told(*odds, raw=0.5):
    """What words and facts tell of an answer with claims of these probabilities."""
    return Weighed(odds=odds, least=(0.0,) * len(odds), raw=raw, score=raw)


def against(probability):
    return replace(read(0.5), reading=unsupported(probability))


def looked_at(words, *, asked=False):
    """An answer beside a context of so many words."""
    return Answer(claims=(), features=(), words=words, asked=asked)


def of_claims(count, *, words, asked=False):
    """An answer of so many claims that words and facts leave open."""
    claims = tuple(SimpleNamespace(settled=None, least=0.0, least_by_name=0.0) for _ in range(count))
    return Answer(claims=claims, features=(), words=words, asked=asked)


class TestButFor:
    """A reading without the words that are known to hold."""

    def test_what_was_doubted_for_such_a_word_is_read_by_the_others(self):
        left = but_for(read(0.2, 0.9, 0.3), [Span(5, 9)])
        assert [word.span for word in left.words] == [Span(0, 4), Span(10, 14)]
        assert left.reading == unsupported(0.3)

    def test_what_was_doubted_for_another_word_stays_so(self):
        """An invention is no safer for a figure beside it that was converted rightly."""
        left = but_for(read(0.2, 0.6, 0.9), [Span(5, 9)])
        assert [word.span for word in left.words] == [Span(0, 4), Span(10, 14)]
        assert left.reading == unsupported(0.5)

    @pytest.mark.parametrize("claim", [read(0.2, 0.9), read()])
    def test_where_none_of_its_words_is_known_it_stays_as_it_is(self, claim):
        assert but_for(claim, []) is claim
        assert but_for(claim, [Span(50, 60)]) is claim

    def test_where_none_is_left_nothing_speaks_against_the_claim(self):
        left = but_for(read(0.9, 0.9), [Span(0, 9)])
        assert (left.words, left.reading) == ((), unsupported(0.0))
