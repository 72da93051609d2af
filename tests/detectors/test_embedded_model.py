"""What is weighed on top of the encoder: words beside the words around them, and their claim."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groundwire import Interaction
from groundwire.core.plan import ReadClaim, Reading, ReadWord
from groundwire.core.span import Span
from groundwire.detectors import embedded_model, lexical_model
from groundwire.detectors.embedded import Embedded
from groundwire.detectors.embedded_model import (
    answer_figures,
    but_for,
    claim_figures,
    logit,
    unsupported_words,
    word_figures,
)
from groundwire.detectors.opening import opened


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

    def test_it_is_against_the_whole_and_against_its_worst_word_alike(self):
        claim = replace(read(0.1, 0.9), reading=unsupported(0.5))
        _, against = claim_figures(0.5, claim)
        assert against == pytest.approx((logit(0.5) + logit(0.9)) / 2)
        _, of_answer = answer_figures(0.5, [read(0.1), claim, read(0.2)])
        assert of_answer == against

    def test_a_claim_without_words_is_read_as_a_whole(self):
        assert claim_figures(0.5, read())[1] == pytest.approx(logit(0.5))

    @pytest.mark.parametrize("figures", [claim_figures, lambda odds, claim: answer_figures(odds, [claim])])
    def test_either_makes_it_likelier(self, figures):
        """A short claim in other words is read as a whole, and one that had a word changed by that word."""
        fine = replace(read(0.1, 0.1), reading=unsupported(0.1))
        as_a_whole = replace(read(0.1, 0.1), reading=unsupported(0.9))
        by_a_word = replace(read(0.1, 0.9), reading=unsupported(0.1))
        known = figures(0.2, fine)
        assert figures(0.2, as_a_whole)[1] == pytest.approx(figures(0.2, by_a_word)[1])
        assert figures(0.2, as_a_whole)[1] > known[1]


class TestReadAgainst:
    """Of what the documents speak of in so many words, finding the words is no evidence."""

    CONTEXT = "The mill on the Orlava closed before the flood of May, and the bakery after it."

    def weighed(self, claim, against):
        interaction = Interaction(question="", contexts=(self.CONTEXT,), answer=claim)
        first = opened(interaction, Embedded())
        lexical = lexical_model.load().weigh(first.seen)
        reading = ReadClaim(reading=unsupported(against), words=read(0.1, 0.1).words)
        return lexical, STACK.weigh(lexical, first.seen, {0: reading})

    def test_such_a_claim_is_flagged_by_what_is_read_against_it(self):
        _, weighed = self.weighed("The bakery closed before the flood of May.", 0.75)
        assert weighed.score < 0.4
        assert weighed.scores() == [0.5]

    def test_and_not_for_a_doubt(self):
        lexical, weighed = self.weighed("The bakery closed before the flood of May.", 0.65)
        assert weighed.least == lexical.least
        assert weighed.scores() == [weighed.score]

    def test_what_the_documents_do_not_speak_of_is_weighed_as_ever(self):
        lexical, weighed = self.weighed("The bakery sells rye bread to tourists from Norway.", 0.9)
        assert weighed.least == lexical.least


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
