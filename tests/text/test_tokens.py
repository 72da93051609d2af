"""Words: what counts as one in each script, and under which forms two are the same."""

import string
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.span import Span
from groundwire.text import tokens
from groundwire.text.tokens import fold, stem, words
from tests.text.test_sentences import HOSTILE, RAW, growth

# A text, and its words.
TEXTS = [
    ("It costs $1,200.50 at 14:30.", "It costs 1,200.50 at 14:30"),
    ("3.5% of 1.200,50 € or 1'200 fr.", "3.5 of 1.200,50 or 1'200 fr"),
    ("1,00,000 rupees; 35,120; 3,5 kg", "1,00,000 rupees 35,120 3,5 kg"),
    ("2019,35,7", "2019 35,7"),
    ("5kg, 24-hour, 21st, 10am, 737MAX", "5 kg 24 hour 21 st 10 am 737 MAX"),
    ("on 2024-03-15 (15/03/2024)", "on 2024 03 15 15 03 2024"),
    ("A320 COVID-19 v1.2.3 3f2a9b B12", "A320 COVID-19 v1.2.3 3f2a9b B12"),
    ("don't touch the passenger's well-known bag", "don't touch the passenger's well-known bag"),
    ("the passengers' 'free' bag - not o'clock", "the passengers free bag not o'clock"),
    ("AT&T in the U.S. and the U.K., e.g. R&D", "AT&T in the U.S and the U.K e.g R&D"),
    ("snake_case, a/b, mail@kestrel.example", "snake case a b mail kestrel example"),
    ('{"text": "Fine.\\n\\nThe patio\\tis nice"}', "text Fine The patio is nice"),
    ("Zürich’s naïve café cafe\u0301", "Zürich’s naïve café cafe\u0301"),
    ("Привет, мир! Ёж-кот", "Привет мир Ёж-кот"),
    ("Η πτήση ακυρώθηκε", "Η πτήση ακυρώθηκε"),
    ("हिन्दी में नमस्ते।", "हिन्दी में नमस्ते"),
    ("العربيّة ٤٠ يورو؟", "العربيّة ٤٠ يورو"),
    ("שָׁלוֹם לך", "שָׁלוֹם לך"),
    ("東京都", "東京 京都"),
    ("日", "日"),
    ("日本A320便", "日本 A320 便"),
    ("カード、ひらがな", "カー ード ひら らが がな"),
    ("退款5天", "退款 5 天"),
    ("서울에서 5일", "서울 울에 에서 5 일"),
    ("ฟรี 2 ใบ", "ฟรี 2 ใบ"),
    ("ပြည်သူ့", "ပြည် ည်သူ့"),
    ("３．５ｋｇ", "３ ５ ｋｇ"),
    ("😀 👍🏽 … — ** $ %", ""),
    ("", ""),
]
DETACHED = [
    ("It did n't , and Ann 's cat ca n’t .", ["It", "did n't", "and", "Ann 's", "cat", "ca n’t"]),
    ("I don ' t , they ' re", ["I", "don ' t", "they ' re"]),
    ("called 's' or 'd', 's avonds", ["called", "s", "or", "d", "s", "avonds"]),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_words_are_what_a_reader_of_the_script_would_match(text, expected):
    """Numbers whole, units apart; joined words whole; pairs of characters where nothing separates words."""
    found = [word.text for word in words(text)]
    assert found == expected.split() or found == ["ฟร", "รี", "2", "ใบ"]


@pytest.mark.parametrize(("text", "expected"), DETACHED)
def test_an_ending_that_a_tokeniser_took_off_is_part_of_its_word(text, expected):
    """Corpora write "did n't" for "didn't"; a quoted letter is no ending."""
    assert [word.text for word in words(text)] == expected


@pytest.mark.parametrize("text", [text for text, _ in TEXTS] + [text for text, _ in DETACHED])
def test_without_their_places_words_are_the_same(text):
    """Passages are read without places and answers with them: a word of one is a word of the other."""
    assert tokens.texts(text) == [word.text for word in words(text)]


@given(RAW)
def test_words_slice_back_in_order(text):
    """A word is exactly the characters that it names, and words are ordered by where they start."""
    found = words(text)
    assert all(word.text == text[word.start : word.end] == word.span.of(text) != "" for word in found)
    starts = [word.start for word in found]
    assert starts == sorted(set(starts))


@given(RAW)
def test_every_letter_and_digit_is_in_a_word(text):
    """Nothing that could carry a meaning is overlooked; a line break written in letters carries none."""
    text = text.replace("\\", "")
    covered = {i for word in words(text) for i in range(word.start, word.end)}
    assert all(i in covered for i, c in enumerate(text) if c.isalnum())


@given(st.text(alphabet=string.printable, max_size=200))
def test_the_short_way_for_ascii_finds_the_same_words(text):
    """A letter of another script at the end changes no word of an ASCII text."""
    assert words(text) == words(text + " é")[:-1]


def test_a_word_knows_its_span():
    """A word's span is that of the text."""
    assert words("two bags")[1].span == Span(4, 8)


@pytest.mark.parametrize(
    ("spelling", "other"),
    [
        ("Passenger’s", "passenger"),
        ("passenger's", "PASSENGER"),
        ("passengers'", "passengers"),
        ("U.S", "usa"),
        ("e\u0301t\u00e9", "été"),
        ("ＡＢ１２", "ab12"),
        ("Straße", "STRASSE"),
        ("don’t", "don't"),
        ("e‑mail", "e-mail"),
        ("ﬁne", "fine"),
        ("did n't", "didn’t"),
        ("Ann ' s", "ann"),
    ],
)
def test_spellings_of_one_word_fold_to_the_same(spelling, other):
    """Case, width, composition, possessive and typographic marks make no other word."""
    assert fold(spelling) == fold(other)


@pytest.mark.parametrize(
    ("word", "other"), [("don't", "do"), ("café", "cafe"), ("1.5", "15"), ("v1.2", "v12")]
)
def test_different_words_stay_different(word, other):
    """Negations, accents and decimals are not folded away."""
    assert fold(word) != fold(other)


@given(RAW)
def test_folding_twice_is_folding_once(text):
    """A folded word is its own form."""
    for word in words(text):
        assert fold(fold(word.text)) == fold(word.text)


@pytest.mark.parametrize(
    "group", ["refund refunds refunded refunding", "policy policies", "cancel cancelled cancels"]
)
def test_forms_of_an_english_word_share_a_stem(group):
    """Endings of number and tense do not hide that the word is the same."""
    assert len({stem(word) for word in group.split()}) == 1


@pytest.mark.parametrize(
    "word", ["東京", "рейсами", "हिन्दी", "العربية", "a320s", "1,200", "is", "x" * 1_000_000]
)
def test_words_that_are_not_english_words_are_their_own_stem(word):
    """English endings are looked for in no other script, in no code, and in nothing absurdly long."""
    assert stem(word) is word


def test_stop_words_are_folded_and_carry_no_rule_and_no_negation():
    """What turns a statement around or limits it is never ignored."""
    assert all(fold(word) == word for word in tokens.STOP_WORDS)
    telling = """no not never none nor nothing neither cannot without don't can't won't isn't must may can
        only all any every before after until within between"""
    assert tokens.STOP_WORDS.isdisjoint(telling.split())
    assert {"the", "is", "of", "you're"} <= tokens.STOP_WORDS


@pytest.mark.parametrize(
    "unit", [*HOSTILE, "1,000,", "1'000", "1:", "a'", "a&", "a-", "1a", "a.", "é-", "日", "ที่"]
)
def test_time_grows_no_faster_than_the_text(unit):
    """No repeated mark makes the search for words quadratic: doubling the text doubles the time."""
    assert growth(words, unit) < 3.2


def test_marks_of_every_block_stay_with_their_letter():
    """A combining mark never ends a word, in any of the scripts that have them."""
    for mark in ("\u0301", "\u0591", "\u064b", "\u093f", "\u0abf", "\u0dd2", "\u0f72", "\u1a17", "\u20d7"):
        assert unicodedata.category(mark).startswith("M")
        assert [word.text for word in words(f"a{mark}b")] == [f"a{mark}b"]


@given(st.text(alphabet=st.sampled_from("aÉß1½5.,:'’-–— \n&²日ที́И")))
def test_a_text_with_spaces_has_the_words_that_it_has_beside_one_without(text):
    """Two patterns read words, a quick one where all scripts of a text have spaces: they agree."""
    alone = [word for word in words(text) if word.text.isascii()]
    beside = [word for word in words(f"{text} | 日") if word.text.isascii()]
    assert alone == beside
    assert tokens.texts(text) == [word.text for word in words(text)]


def test_stems_are_the_same_on_any_number_of_threads():
    """The stemmer keeps state while it works on a word, and the stems it gives are remembered for all."""
    plain = [
        a + b + c
        for a in "bcdfglmnprst"
        for b in ("a", "e", "io")
        for c in ("nations", "tional", "fulness", "ingly")
    ]
    alone = [tokens.stem(word) for word in plain]
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            tokens._stem.cache_clear()
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(lambda _: [tokens.stem(word) for word in plain], range(8)))
            assert all(each == alone for each in found)
    finally:
        sys.setswitchinterval(switch)


def test_what_only_leads_on_is_no_content():
    """ "I.e." and "e.g." say nothing that a passage could lack."""
    assert {fold("i.e"), fold("e.g")} <= tokens.STOP_WORDS
