"""Of many passages, those that bear on an answer are read; nothing that may bear it out is left out."""

import itertools

import pytest

import groundwire as gw
from groundwire.detectors.bearing import bearing
from groundwire.text import overlap

FEES = "A second bag costs 75 EUR and is paid at the counter. The first bag travels free of charge."
DOGS = "Dogs travel in the cabin if they weigh less than 8 kg. Larger dogs travel in the hold."
PLACES = [
    "Aldermoor",
    "Brinscall",
    "Cawthorne",
    "Denholme",
    "Eccleston",
    "Flockton",
    "Grimethorpe",
    "Haverigg",
]
THINGS = ["mill", "bridge", "tower", "market", "harbour", "quarry"]
GOODS = ["lantern", "ferret", "kettle", "saddle", "anvil", "trumpet"]
OTHERS = [
    f"The {thing} of {place} was rebuilt after the great fire by masons from the north; ever since then its "
    f"visitors have been shown around by the wardens of {place}, who keep its keys and close it "
    f"in winter at four. It takes {10 + i} minutes to walk there from the station, past an inn. "
    f"On the way stands a shop whose owner sells one {GOODS[i % 6]} a year and repairs old clocks for anyone "
    f"who brings them, since his father and his father's father did so before him. The road then climbs "
    f"between hedges until the roofs of the village are out of sight, and at the top there is a bench."
    for i, (place, thing) in enumerate(itertools.product(PLACES, THINGS))
]


def kept(said, texts):
    return bearing(said, [overlap.prepare(text) for text in texts])


def test_beside_few_words_all_passages_bear():
    assert kept(["Dogs travel free."], [FEES, DOGS, OTHERS[0]]) == {0, 1, 2}


def test_what_has_a_statements_words_is_kept_wherever_it_stands():
    """Also for two statements of which each has its own passage, and for one that draws on two."""
    texts = [*OTHERS[:24], FEES, *OTHERS[24:], DOGS]
    assert {24, len(texts) - 1} <= kept(["A second bag costs 75 EUR.", "Dogs travel in the cabin."], texts)
    assert {24, len(texts) - 1} <= kept(
        ["A bag paid at the counter costs more than dogs in the hold."], texts
    )


def test_a_statement_that_draws_on_several_passages_has_them_all():
    """What one passage adds to another counts, however little of the statement it has."""
    texts = [*OTHERS[:20], FEES, *OTHERS[20:], DOGS]
    said = ["A second bag costs 75 EUR at the counter, and larger dogs travel in the hold."]
    assert {20, len(texts) - 1} <= kept(said, texts)


def test_most_others_are_left_out():
    """Those that are next are kept up to so many words, and what has no words keeps nothing more."""
    texts = [FEES, DOGS, *OTHERS]
    assert len(kept(["A second bag costs 75 EUR."], texts)) < 15
    assert kept(["A second bag costs 75 EUR."], texts) >= kept(["Zzz qqq."], texts) - {0}


@pytest.mark.parametrize("turn", [1, 17, 40])
def test_the_order_of_passages_decides_nothing(turn):
    texts = [FEES, DOGS, *OTHERS]
    turned = texts[turn:] + texts[:turn]
    said = ["A second bag costs 75 EUR.", "The tower closes in winter."]
    assert {texts[i] for i in kept(said, texts)} == {turned[i] for i in kept(said, turned)}


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
def test_a_made_up_statement_is_not_borne_out_by_passages_about_something_else(detector):
    """Its words stand in them, and the verdict is that beside the passages that bear on it."""
    check = gw.Checker(detector).check
    answer = "A second bag costs 75 EUR. It includes a ferret, an anvil, a kettle, a saddle and a trumpet."
    alone = check(gw.Interaction(question="", contexts=[FEES, DOGS], answer=answer))
    among = check(gw.Interaction(question="", contexts=[*OTHERS, FEES, DOGS], answer=answer))
    assert alone.hallucinated
    assert among.hallucinated
    assert among.claims[0].support is alone.claims[0].support is gw.Support.SUPPORTED
    (evidence, *_) = among.claims[0].evidence
    assert evidence.passage == len(OTHERS)


def test_a_long_context_is_said_to_be_one_though_few_of_it_is_read():
    """Being less sure has not become rarer."""
    verdict = gw.check(
        contexts=[FEES, *(f"{text} {i}" for i in range(3) for text in OTHERS)],
        answer="A second bag costs 75 EUR.",
    )
    assert "more than 10,000 words" in verdict.reason
