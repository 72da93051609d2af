"""Corruptions: only the marked words change, and how they change is what the corruption says."""

import random
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundwire.text import sentences
from training import corruption
from training.encoder_rows import Label

TEXT = (
    "The ferry Aurora leaves Port Linden at 7:30 on Monday and reaches Castle Bay in 45 minutes. "
    "Tickets cost $12.50 in winter and $18 in summer, and children under six travel free. "
    "Dogs are not allowed inside the cabin, but they can stay on the upper deck with their owners. "
    "In March 2019 the company bought two larger boats from Norway because demand had increased by 15%. "
    "Captain Elsa Brandt told the Harbour Board that the older boats should never sail after dark. "
    "The northern route was closed for three weeks during repairs to the floating bridge near the island. "
    "Most passengers book their seats online before they arrive at the quiet terminal. "
    "The Aurora carries 1,200 passengers and 85 cars, more than any other ferry on the lake."
)
OTHER = (
    "The museum opened a hidden garden to visitors with a small fountain for tired families. "
    "Its director keeps the ancient clocks running during the coldest nights of January. "
    "A famous painter gave 14 works to Villa Rosen, which the council keeps in a locked room."
)
SENTENCES = [span.of(TEXT) for span in sentences.split(TEXT)]
DONORS = [span.of(OTHER) for span in sentences.split(OTHER)]
CORRUPTIONS = [way for way, _ in (*corruption.FROM_CONTEXT, *corruption.FROM_DONOR)]
FROM_DONOR = [way for way, _ in corruption.FROM_DONOR]

spoken = st.sampled_from(SENTENCES)
seeds = st.integers(0, 10_000).map(random.Random)


def source_of(way, rng):
    return rng.choice(DONORS) if way in FROM_DONOR else TEXT


def marked(changed):
    """The words that are said to be wrong."""
    return [mark.span.of(changed.text) for mark in changed.wrong]


def kept(changed):
    """A pattern of the words that no mark touches, in their order, and of anything between."""
    bounds = [
        0,
        *(at for mark in changed.wrong for at in (mark.span.start, mark.span.end)),
        len(changed.text),
    ]
    pieces = [changed.text[a:b] for a, b in zip(bounds[::2], bounds[1::2], strict=True)]
    return " ?.*? ?".join(re.escape(plain(piece)) for piece in pieces)


def plain(text):
    """Words alone: a tail takes the full stop's place."""
    return " ".join(re.findall(r"\w+", text))


@pytest.mark.parametrize("way", CORRUPTIONS)
def test_every_corruption_finds_something_to_change(way):
    """Otherwise nothing that is tested of it here would mean anything."""
    rng = random.Random(0)
    found = [way(sentence, source_of(way, rng), rng) for sentence in SENTENCES for _ in range(10)]
    assert any(found)


@given(st.sampled_from(CORRUPTIONS), spoken, seeds)
def test_nothing_changes_outside_the_marks(way, sentence, rng):
    """What isn't marked is the sentence's own, word for word and in its order."""
    changed = way(sentence, source_of(way, rng), rng)
    assume(changed is not None)
    assert changed.text != sentence
    assert re.fullmatch(kept(changed), plain(sentence)), changed


@given(st.sampled_from(CORRUPTIONS), spoken, seeds)
def test_marks_are_whole_words(way, sentence, rng):
    """They are in order, none is empty, and none begins or ends within a word or beside a blank."""
    changed = way(sentence, source_of(way, rng), rng)
    assume(changed is not None)
    assert list(changed.wrong) == sorted(changed.wrong)
    for mark, words in zip(changed.wrong, marked(changed), strict=True):
        assert mark.label in {Label.UNSUPPORTED, Label.CONTRADICTED}
        assert words
        assert words.strip() == words
        around = " " + changed.text + " "
        assert not re.match(r"\w\w", around[mark.span.start : mark.span.start + 2])
        assert not re.match(r"\w\w", around[mark.span.end : mark.span.end + 2])


@given(spoken, seeds)
def test_a_number_becomes_another_number(sentence, rng):
    """An amount stays an amount."""
    changed = corruption.number(sentence, TEXT, rng)
    assume(changed is not None)
    (new,) = marked(changed)
    assert re.fullmatch(r"\$?\d[\d,.:]*", new)
    assert sentence.count("$") == changed.text.count("$")
    assert new not in re.findall(r"\$?\d[\d,.:]*", sentence) or sentence.count(new) < changed.text.count(new)


@given(spoken, seeds)
def test_a_name_becomes_one_of_the_context(sentence, rng):
    """And one that the sentence didn't have."""
    changed = corruption.name(sentence, TEXT, rng)
    assume(changed is not None)
    (new,) = marked(changed)
    assert new in TEXT
    assert new not in sentence


@given(spoken, seeds)
def test_roles_change_places(sentence, rng):
    """Both names are marked, each where the other was."""
    changed = corruption.roles(sentence, TEXT, rng)
    assume(changed is not None)
    first, second = marked(changed)
    assert sentence.index(second) < sentence.rindex(first)
    assert sorted(re.findall(r"\w+", changed.text)) == sorted(re.findall(r"\w+", sentence))


@pytest.mark.parametrize(
    ("sentence", "changed", "wrong"),
    [
        ("Dogs are not allowed.", "Dogs are allowed.", ["are allowed."]),
        ("Never sail after dark.", "sail after dark.", ["sail"]),
        ("Dogs can stay.", "Dogs cannot stay.", ["cannot"]),
        ("Dogs were there.", "Dogs were not there.", ["were not"]),
        ("Dogs stay.", None, None),
    ],
)
def test_a_negation_is_taken_away_or_put_in(sentence, changed, wrong):
    """Where a "not" is missing, the words that it stood between are wrong."""
    made = corruption.negation(sentence, "", random.Random(0))
    assert (made and made.text, made and marked(made)) == (changed, wrong)


@pytest.mark.parametrize(
    ("way", "sentence", "changed"),
    [
        (corruption.opposite, "Higher fees apply.", "Lower fees apply."),
        (corruption.opposite, "It is cheap.", "It is expensive."),
        (corruption.calendar, "Come at 9 a.m. today.", "Come at 9 p.m. today."),
        (corruption.calendar, "It is 20 Celsius.", "It is 20 Fahrenheit."),
        (corruption.calendar, "One may go.", None),
    ],
)
def test_words_are_exchanged_within_their_kind(way, sentence, changed):
    """Case is kept, and words that mean something else as a name or pronoun are left alone."""
    made = way(sentence, "", random.Random(0))
    assert (made and made.text) == changed


@given(st.sampled_from(FROM_DONOR), spoken, st.sampled_from(DONORS), seeds)
def test_inventions_are_words_about_something_else(way, sentence, donor, rng):
    """They come from the donor, and are unsupported, not contradicted."""
    changed = way(sentence, donor, rng)
    assume(changed is not None)
    (new,) = marked(changed)
    assert new in donor
    assert [mark.label for mark in changed.wrong] == [Label.UNSUPPORTED]


@given(spoken, st.sampled_from(DONORS), st.integers())
def test_the_same_seed_corrupts_alike(sentence, donor, seed):
    """Rows can be made again from the data alone."""
    once, again = (corruption.corrupt(sentence, TEXT, donor, random.Random(seed)) for _ in range(2))
    assert once == again
    assert once is not None


def test_a_sentence_without_anything_to_change_is_left_alone():
    """Nothing is forced on it."""
    assert corruption.corrupt("Yes.", "No.", "Well.", random.Random(0)) is None


NUMBERS = corruption._NUMBERS
FIGURE = re.compile(rf"\d[\d,]*(?:\.\d+)?|\b(?:{'|'.join(NUMBERS)})\b")


def values(text):
    """The figures of a text as numbers, however they are written."""
    found = FIGURE.findall(re.sub(r"(\d):00\b", r"\1", text))
    return [float(NUMBERS.index(f) if f in NUMBERS else f.replace(",", "")) for f in found]


figures = st.one_of(
    st.integers(0, 40).map(str),
    st.integers(1_000, 999_999).map("{:,}".format),
    st.integers(0, 100).map("{}%".format),
    st.integers(0, 100).map("{} percent".format),
    st.integers(1, 999).map("${}".format),
    st.integers(100, 9_999).map(lambda cents: f"${cents / 100:.2f}"),
    st.integers(1, 12).map("{}:00 PM".format),
    st.integers(2, 20).map(NUMBERS.__getitem__),
)


@given(figures, figures, seeds)
def test_harmless_changes_keep_the_value_of_figures(first, second, rng):
    """The same numbers in the same order, and the text is another."""
    sentence = f"It is not {first} of them, and {second} for the rest"
    changed = corruption.harmless(sentence, rng)
    assert changed is not None
    assert changed != sentence
    assert values(changed) == values(sentence)


@pytest.mark.xfail(
    strict=True, reason="the rows of version 1 were made so, and the same seed makes the same rows"
)
@pytest.mark.parametrize(
    "sentence", ["It cost $45 million.", "It cost $4.5 million.", "It has 1,500,000 books."]
)
def test_harmless_changes_keep_large_amounts(sentence):
    """An amount in millions is left alone, and all commas of a figure go together."""
    for seed in range(20):
        changed = corruption.harmless(sentence, random.Random(seed))
        assert changed is None or re.fullmatch(r"It (cost|has) \$?[\d.]+ \w+( dollars)?\.", changed), changed


def test_words_that_are_exchanged_are_written_once():
    """A pair that is there twice would be drawn twice as often."""
    for word, others in corruption._OPPOSITES.items():
        assert len(set(others)) == len(others), word
        assert word not in others
    for group in corruption._EXCHANGED:
        assert len(set(group)) == len(group) > 1
    assert len(NUMBERS) == 21
