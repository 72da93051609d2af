"""Merging: claims that say the same become one, are found in the answer, and no order matters."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire import Span, Support
from groundwire.core.claim import LABELS
from groundwire.detectors.ensemble.opinions import Said
from groundwire.detectors.ensemble.places import Places
from groundwire.detectors.ensemble.reduction import lexical, merged

TEA = "Green tea boosts metabolism, enhances brain function, and can cure chronic diseases."
ANSWER = f"{TEA} It costs 25 EUR. Dogs are not allowed in the shop."
PLACES = Places(ANSWER)
SUP, INF, UNS, CON = LABELS


def said(oracle, statement, support=SUP, words=None, **fields):
    span = PLACES.quoted(statement if words is None else words) if words != "" else None
    return Said(oracle=oracle, statement=statement, support=support, span=span, **fields)


def grouped(*claims, likeness=lexical, threshold=0.6):
    return [
        ({one.oracle for one in each.said}, each.span.of(ANSWER) if each.span else None)
        for each in merged(claims, PLACES, likeness, threshold)
    ]


def test_paraphrases_of_one_claim_are_merged_and_others_are_not():
    assert grouped(
        said("a", "Green tea can cure chronic diseases.", words=""),
        said("b", "Chronic diseases can be cured by green tea.", words=""),
        said("c", "Green tea boosts metabolism.", words=""),
    ) == [({"c"}, "Green tea boosts metabolism"), ({"a", "b"}, "can cure chronic diseases")]


def test_paraphrases_without_common_words_are_merged_by_the_words_that_they_quote():
    """So an oracle that answers in another language is understood by what it copies from the answer."""
    assert grouped(
        said("a", "Green tea can cure chronic diseases.", words="can cure chronic diseases"),
        said("b", "Grüner Tee kann chronische Krankheiten heilen.", words="can cure chronic diseases"),
    ) == [({"a", "b"}, "can cure chronic diseases")]


def test_claims_of_one_reading_that_quote_the_same_sentence_stay_apart():
    claims = [
        said(oracle, statement, words=TEA)
        for oracle in ("a", "b")
        for statement in ("Green tea boosts metabolism.", "Green tea can cure chronic diseases.")
    ]
    assert [oracles for oracles, _ in grouped(*claims)] == [{"a", "b"}, {"a", "b"}]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The tea costs 25 EUR.", "The tea costs 75 EUR."),
        ("Dogs are allowed in the shop.", "Dogs are not allowed in the shop."),
    ],
)
def test_claims_that_differ_in_a_figure_or_a_not_are_never_the_same(one, other):
    assert len(grouped(said("a", one, words=""), said("b", other, words=""))) == 2


def test_a_claim_without_a_figure_does_not_make_two_figures_one():
    claims = [said("a", "A second red bag costs 25 EUR.", words="")]
    claims += [said(oracle, "A second red bag costs EUR.", words="") for oracle in "bcd"]
    claims += [said("e", "A second red bag costs 75 EUR.", words="")]
    assert [len(one.said) for one in merged(claims, PLACES, lexical, 0.6)] in ([1, 4], [4, 1])


PETS = Places("Dogs travel for free. Cats travel for free.")
ALIKE = ("Dogs travel for free.", "Cats travel for free.")


@pytest.mark.parametrize("quoting", [True, False])
def test_what_one_oracle_told_apart_is_never_one_however_alike_it_is(quoting):
    claims = [
        Said(oracle=oracle, statement=one, support=SUP, span=PETS.quoted(one) if quoting else None)
        for oracle in "ab"
        for one in ALIKE
    ]
    found = merged(claims, PETS, lexical, 0.6)
    assert [(one.statement, set(one.votes())) for one in found] == [(one, {"a", "b"}) for one in ALIKE]


def test_claims_that_quote_other_places_of_the_answer_are_never_one():
    """Each oracle left out what the other speaks of."""
    claims = [
        Said(oracle=oracle, statement=one, support=SUP, span=PETS.quoted(one))
        for oracle, one in zip("ab", ALIKE, strict=True)
    ]
    assert [one.statement for one in merged(claims, PETS, lexical, 0.6)] == [*ALIKE]
    assert not PETS.left_out(one.span for one in claims)


def test_a_claim_that_matches_no_words_of_the_answer_is_kept_and_comes_last():
    found = merged(
        [said("a", "Penguins live in Antarctica.", UNS, words=""), said("b", "It costs 25 EUR.")],
        PLACES,
        lexical,
        0.6,
    )
    assert [(one.span is None, one.statement) for one in found] == [
        (False, "It costs 25 EUR."),
        (True, "Penguins live in Antarctica."),
    ]


def test_a_claim_over_a_whole_sentence_votes_on_the_parts_that_others_took_from_it():
    """Where it is borne out, for each; where it is not, for those with the words that it names."""
    parts = [
        said("a", "Green tea boosts metabolism.", words="Green tea boosts metabolism"),
        said("a", "It enhances brain function.", words="enhances brain function"),
        said("a", "It can cure chronic diseases.", UNS, words="can cure chronic diseases"),
    ]
    clean = said("b", TEA, SUP)
    assert all(oracles == {"a", "b"} for oracles, _ in grouped(*parts, clean))
    disease = PLACES.quoted("chronic diseases")
    found = merged([*parts, said("b", TEA, UNS, words=None)], PLACES, lexical, 0.6)
    assert len(found) == 4  # it names no words, so it can't be told which part it means
    marked = Said(oracle="b", statement=TEA, support=UNS, span=PLACES.quoted(TEA), words=(disease,))
    assert grouped(*parts, marked) == [
        ({"a"}, "Green tea boosts metabolism"),
        ({"a"}, "enhances brain function"),
        ({"a", "b"}, "can cure chronic diseases"),
    ]


def test_an_oracle_has_one_vote_its_most_severe():
    (one,) = merged(
        [
            said("a", "It costs 25 EUR.", SUP),
            said("a", "It costs 25 EUR.", CON),
            said("a", "It costs 25 EUR.", UNS),
        ],
        PLACES,
        lexical,
        0.6,
    )
    assert one.votes()["a"].support is CON
    (one,) = merged(
        [said("a", "It costs 25 EUR.", Support.UNVERIFIED), said("a", "It costs 25 EUR.", SUP)],
        PLACES,
        lexical,
        0.6,
    )
    assert one.votes()["a"].support is SUP


STATEMENTS = [
    "Green tea boosts metabolism.",
    "Metabolism is boosted by tea.",
    "Green tea can cure chronic diseases.",
    "Chronic diseases can be cured by it.",
    "It costs 25 EUR.",
    "It costs 75 EUR.",
    "Dogs are not allowed in the shop.",
    "Penguins live in Antarctica.",
    TEA,
]
WORDS = ["", "can cure chronic diseases", "Green tea boosts metabolism", "It costs 25 EUR", TEA]
claims = st.lists(
    st.builds(
        said,
        st.sampled_from("abc"),
        st.sampled_from(STATEMENTS),
        st.sampled_from([*LABELS, Support.UNVERIFIED]),
        st.sampled_from(WORDS),
    ),
    max_size=9,
)


def voted(given_claims):
    return [
        (one.span, one.statement, sorted((name, vote.support) for name, vote in one.votes().items()))
        for one in merged(given_claims, PLACES, lexical, 0.6)
    ]


@given(given_claims=claims, random=st.randoms())
@settings(deadline=None)
def test_the_order_of_oracles_and_claims_never_matters(given_claims, random):
    shuffled = list(given_claims)
    random.shuffle(shuffled)
    assert voted(shuffled) == voted(given_claims)


@given(given_claims=claims)
@settings(deadline=None)
def test_nothing_that_was_said_is_lost(given_claims):
    """Every oracle that spoke has a vote, in one of the claims that are kept."""
    found = merged(given_claims, PLACES, lexical, 0.6)
    assert {one.oracle for one in given_claims} == {name for each in found for name in each.votes()}
    for one in given_claims:
        assert any(one.oracle in {s.oracle for s in each.said} for each in found)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("can cure chronic diseases", "can cure chronic diseases"),
        ("CAN CURE  chronic diseases!", "can cure chronic diseases"),
        ("Green tea ... can cure chronic diseases", "can cure chronic diseases"),
        ("Green tea ... metabolism", "Green tea boosts metabolism"),
        ("cures everything", None),
        ("", None),
    ],
)
def test_quoted_words_are_found_in_the_answer_or_nowhere(words, expected):
    span = PLACES.quoted(words)
    assert (span and span.of(ANSWER)) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Green tea improves brain function.", "brain function"),
        ("Chronic diseases can be cured by green tea.", "can cure chronic diseases"),
        ("The price is 25 EUR.", "25 EUR"),
        ("Grüner Tee heilt chronische Krankheiten.", None),
    ],
)
def test_a_statement_in_other_words_is_found_by_those_it_shares(statement, expected):
    span = PLACES.stated(statement)
    assert (span and span.of(ANSWER)) == expected


def test_a_sentence_that_stands_twice_is_spoken_of_where_it_is_found():
    twice = Places("Dogs travel for free. Cats pay 5 EUR. Dogs travel for free.")
    dogs = twice.quoted("Dogs travel for free.")
    assert [span.of(twice.answer) for span in twice.left_out([dogs])] == ["Cats pay 5 EUR."]


def test_sentences_that_nobody_spoke_of_are_told():
    assert [s.of(ANSWER) for s in PLACES.left_out([])] == [s.of(ANSWER) for s in PLACES.sentences]
    half = [PLACES.quoted("It costs 25 EUR"), PLACES.quoted("can cure chronic diseases")]
    assert [s.of(ANSWER) for s in PLACES.left_out(half)] == [TEA, "Dogs are not allowed in the shop."]
    assert PLACES.left_out([Span(0, len(ANSWER))]) == []
