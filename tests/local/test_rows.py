"""Rows: never too long, the same in whatever order the passages come, and true to the text."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire import Span
from groundwire.local import pieces, rows
from groundwire.local.rows import LENGTH, Builder, Kind
from groundwire.text.claims import cut
from tests.text.test_sentences import RAW

pieces.load()  # now, and not on the clock of the first test

WORDS = [
    "the",
    "fee",
    "is",
    "25",
    "EUR",
    "for",
    "one",
    "bag,",
    "40",
    "two;",
    "Kestrel",
    "flies.",
    "\n\n",
    "No.",
]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=120).map(" ".join)
PASSAGES = ("A bag costs 25 EUR. Two bags cost 40 EUR.", "Refunds take 14 days.", "Kestrel flies daily.")
ANSWER = "A bag costs 75 EUR at Kestrel."


def built(passages, answer, question=None):
    return Builder(passages, question).rows(answer, cut(answer))


def row_of(answer, passages=PASSAGES, question=None):
    (row,) = Builder(passages, question).rows(answer, [Span(0, len(answer))])
    return row


@settings(deadline=None)
@given(st.lists(texts, max_size=4), texts, st.none() | texts)
def test_no_row_is_longer_than_the_encoder_reads(passages, answer, question):
    for row in built(passages, answer, question):
        assert len(row.ids) == len(row.kinds) <= LENGTH
        assert row.ids[0] == pieces.START
        assert row.ids[-1] == pieces.END
        assert pieces.PAD not in row.ids


@settings(deadline=None)
@given(st.lists(RAW, max_size=3), RAW)
def test_whatever_a_text_holds_it_becomes_rows(passages, answer):
    for row in Builder(passages, answer).rows(answer, [Span(0, len(answer))]):
        assert len(row.ids) <= LENGTH


@pytest.mark.parametrize("word", ["-".join(["word"] * 500), "x" * 5000, "1.2." * 400, "\u6f22" * 2000])
def test_a_word_without_end_fits(word):
    for row in Builder([word, f"{word} costs"], word).rows(word, [Span(0, len(word))]):
        assert len(row.ids) <= LENGTH


@settings(deadline=None)
@given(st.lists(texts, max_size=4), texts)
def test_every_word_of_a_claim_is_in_one_row_of_it_and_slices_back(passages, answer):
    claims = cut(answer)
    made = Builder(passages, None).rows(answer, claims)
    assert [row.claim for row in made] == sorted(row.claim for row in made)
    for i, span in enumerate(claims):
        words = [(row.ids[at], word) for row in made if row.claim == i for at, word in row.words]
        assert [word for _, word in words] == [
            Span(token.start + span.start, token.end + span.start)
            for token in pieces.read(span.of(answer))
            if token.text is not None
        ]
        assert all(pieces.ids(word.of(answer))[0] == first for first, word in words)


def test_a_very_long_claim_is_several_rows():
    answer = " ".join(f"bag{n}" for n in range(200))
    made = Builder(PASSAGES, None).rows(answer, [Span(0, len(answer))])
    assert len(made) > 1
    assert {row.claim for row in made} == {0}


def test_a_word_s_kind_says_where_it_is_found():
    """In the evidence, or nowhere; and a figure that is nowhere is a kind of its own."""
    row = row_of(ANSWER)
    kinds = {span.of(ANSWER): Kind(row.kinds[at]) for at, span in row.words}
    assert kinds == {
        "A": Kind.PLAIN,
        "bag": Kind.FOUND,
        "costs": Kind.FOUND,
        "75": Kind.MISSING_FIGURE,
        "EUR": Kind.FOUND,
        "at": Kind.PLAIN,
        "Kestrel": Kind.FOUND,
    }
    assert "unicorns" not in " ".join(PASSAGES)
    row = row_of("Bags for unicorns.")
    assert [Kind(row.kinds[at]) for at, _ in row.words] == [Kind.FOUND, Kind.PLAIN, Kind.MISSING]


def test_a_word_that_only_the_rest_of_the_context_has_is_elsewhere():
    filler = [f"Bags number {n} cost {n} EUR to carry on board of our flights." for n in range(60)]
    row = row_of(
        "Bags cost 25 EUR, says the captain.", [*filler, "The captain sleeps. " + "He dreams. " * 300]
    )
    captain = row.words[-1][0]
    shown = {(s.passage, s.span.start) for s in row.shown}
    expected = Kind.FOUND if (60, 0) in shown else Kind.ELSEWHERE
    assert row.kinds[captain] is expected


def test_what_is_shown_is_where_it_says():
    row = row_of(ANSWER)
    for shown in row.shown:
        quoted = shown.span.of(PASSAGES[shown.passage])
        ids = [i for token in pieces.read(quoted) for i in token.ids]
        assert list(row.ids[shown.first : shown.last]) == ids


def test_the_sentence_that_bears_on_the_claim_is_shown_however_much_else_there_is():
    needle = "The captain of flight 90210 is called Marlowe."
    filler = [f"Gate {n} opens at {n % 24}:00 for bags and for passengers." for n in range(2000)]
    random.Random(0).shuffle(filler)
    passages = [" ".join(filler[:1000]), " ".join(filler[1000:1500]) + " " + needle, " ".join(filler[1500:])]
    row = row_of("Flight 90210 has a captain called Marlowe.", passages)
    assert needle in {shown.span.of(passages[shown.passage]) for shown in row.shown}


def test_a_context_of_a_hundred_thousand_words_takes_seconds_and_time_grows_with_it():
    def passages(words):
        numbers = random.Random(1)
        vocabulary = [f"{a}{b}" for a in ("ba", "ke", "lo", "mi", "nu") for b in ("dge", "ster", "r", "ng")]
        text = " ".join(numbers.choice(vocabulary) + (". " if n % 12 == 11 else "") for n in range(words))
        return [text[i : i + 4000] for i in range(0, len(text), 4000)]

    def seconds(words):
        given = passages(words)
        started = time.process_time()
        built(given, "The badge is a keng. The lor is a mister. " * 5)
        return time.process_time() - started

    seconds(1000)
    small, large = seconds(25_000), seconds(100_000)
    assert large < 20
    assert large < 8 * small


def test_a_passage_that_comes_again_is_not_worked_through_again():
    text = "A bag costs 25 EUR. " * 3 + "Once."
    assert rows.passage(text) is rows.passage(text)


def test_a_claim_before_frames_the_next_one():
    answer = "The captain is Marlowe. He sleeps."
    first, second = Builder(PASSAGES, None).rows(answer, cut(answer))
    assert Kind.FRAMING not in first.kinds
    assert Kind.FRAMING in second.kinds


@pytest.mark.parametrize("wanted", [[0], [1], [2], [0, 2], [1, 2]])
def test_a_claim_is_read_alike_whether_or_not_the_others_are(wanted):
    """What is stated before it frames it all the same."""
    answer = "The captain is Marlowe. He sleeps. A bag costs 25 EUR."
    stated = cut(answer)
    all_of_them = Builder(PASSAGES, None).rows(answer, stated)
    some = Builder(PASSAGES, None).rows(answer, [stated[i] for i in wanted], stated)
    assert [(row.ids, row.kinds) for row in some] == [
        (all_of_them[i].ids, all_of_them[i].kinds) for i in wanted
    ]
    assert [row.claim for row in some] == list(range(len(wanted)))
