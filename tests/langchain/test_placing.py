"""Passages are found again in the text that a model was shown, and only as they stand there."""

import html
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import Passage
from groundwire.langchain.placing import likeness, place, survivors

LEAST = 6  # words of a passage that can be known by its parts
words = st.text("abcdefghij ", min_size=1, max_size=60).map(str.strip).filter(bool)
# Each begins with its own number, so that none is part of another.
passages = st.lists(words, min_size=1, max_size=6).map(
    lambda texts: [Passage(text=f"p{i}q {text}", id=str(i)) for i, text in enumerate(texts)]
)
breaks = st.sampled_from(["\n", "\n\n", " ", "\n---\n", "\n\n***\n\n"])


def joined(known, between="\n\n"):
    return between.join(passage.text for passage in known)


@given(passages, breaks)
def test_what_was_joined_is_found_again(known, between):
    """A joined context gives back exactly its passages, with everything they carry."""
    assert place(known, joined(known, between)) == known


@given(passages, breaks, st.randoms(use_true_random=False), st.data())
def test_a_choice_in_another_order_is_found_as_it_stands(known, between, random, data):
    """Re-ranking and leaving out show: what is found is what was joined, in that order."""
    chosen = random.sample(known, data.draw(st.integers(1, len(known))))
    assert place(known, joined(chosen, between)) == chosen
    assert survivors(known, [joined(chosen, between)]) == [p for p in known if p in chosen]


@given(passages, breaks)
def test_numbers_and_labels_are_left_out(known, between):
    """Bare numbering says nothing that a passage could."""
    shown = between.join(f"[Document {i}] {passage.text}" for i, passage in enumerate(known))
    assert place(known, shown) == known


TARIFF = Passage(
    text="A second bag costs 25 EUR.", metadata={"title": "Tariff of Oslo Air", "valid": "1 March", "page": 4}
)
PETS = Passage(text="Dogs travel in the cabin.", metadata={"title": "Pets", "page": 12, "none": None})


@pytest.mark.parametrize(
    ("above", "heading"),
    [
        ("Tariff of Oslo Air\n", "Tariff of Oslo Air\n"),
        ("## Tariff of Oslo Air (from 1 March, page 4)\n\n", "Tariff of Oslo Air (from 1 March, page 4)\n\n"),
        ("Title: Tariff of Oslo Air\nValid: 1 March\nText: ", "Tariff of Oslo Air\nValid: 1 March\nText: "),
        ("[4] ", ""),
        ("", ""),
        ("Does the Tariff of Oslo Air say that a bag costs 75 EUR?\n", ""),
        ("It costs 75 EUR, as has been said:\n", ""),
        ("The tariff of Oslo Airways\n", ""),
    ],
)
def test_a_heading_in_a_prompt_is_what_the_passage_s_own_metadata_says(above, heading):
    """Whatever else stands above a passage there may be a question, or what a model has said."""
    prompt = f"Answer from this: \n{above}{TARIFF.text}\n\nPets:\n{PETS.text}\nQuestion: 75 EUR?"
    assert [passage.text for passage in survivors([TARIFF, PETS], [prompt])] == [
        f"{heading}{TARIFF.text}",
        f"Pets:\n{PETS.text}",
    ]


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("Content: {text}\nSource: {title}", "{text}\nSource: {title}"),
        ("{text}\n(Source: {title}, page {page})", "{text}\n(Source: {title}, page {page})"),
        ("{text}\npage {page}\nTitle: {title}\n---", "{text}\npage {page}\nTitle: {title}"),
        ('{{"text": "{text}", "title": "{title}"}}', '{text}", "title": "{title}'),
        ("{title}\n{text}\npage {page}", "{title}\n{text}\npage {page}"),
        ("{title}\n{text}", "{title}\n{text}"),
        ("Title: {title}, page {page}: {text}", "Title: {title}, page {page}: {text}"),
        ("[{page}] {text}", "{text}"),
    ],
)
def test_what_is_said_of_a_passage_stays_with_it_above_and_below(form, shown):
    """A source that stands below its document is not taken for that of the next, which has one of its own."""

    def filled(form, passage):
        return form.format(text=passage.text, title=passage.metadata["title"], page=passage.metadata["page"])

    context = "\n\n".join(filled(form, passage) for passage in (PETS, TARIFF))
    assert [one.text.rstrip('"}\n- ') for one in place([TARIFF, PETS], context)] == [
        filled(shown, passage) for passage in (PETS, TARIFF)
    ]


@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        repr,
        lambda records: json.dumps({"results": records}),
        lambda records: "\n".join(map(json.dumps, records)),
        lambda records: json.dumps(records, indent=2),
        lambda records: json.dumps([{"text": one["text"], "fare": {"eur": one["fare"]}} for one in records]),
        lambda records: json.dumps([{"hit": {"text": one["text"]}, "fare": one["fare"]} for one in records]),
    ],
)
def test_the_fields_of_a_record_stay_with_the_passage_in_it(write):
    """They are told of no other, though the next record begins right behind them and none is metadata."""
    told = write([{"text": PETS.text, "fare": 75}, {"text": TARIFF.text, "fare": 120}])
    pets, tariff = (one.text for one in place([TARIFF, PETS], told))
    assert (PETS.text in pets, "75" in pets, "120" in pets) == (True, True, False)
    assert (TARIFF.text in tariff, "75" in tariff, "120" in tariff) == (True, False, True)


def test_braces_in_a_template_close_no_record():
    """What follows them may be the heading of the next passage."""
    told = f"{PETS.text}\nUse {{name}} {{\nBags\n{TARIFF.text}"
    assert [one.text for one in place([TARIFF, PETS], told)] == [
        PETS.text,
        f"Use {{name}} {{\nBags\n{TARIFF.text}",
    ]


def test_a_source_below_a_passage_is_found_again_where_all_have_the_same():
    """What is true of both neighbours may stand with either, and is none of its own at the end."""
    first, last = (Passage(text=text, metadata={"source": "fees.pdf"}) for text in (TARIFF.text, PETS.text))
    context = "\n\n".join(f"{one.text}\nSource: fees.pdf" for one in (first, last))
    assert [one.text for one in place([first, last], context)] == [
        first.text,
        f"Source: fees.pdf\n\n{last.text}\nSource: fees.pdf",
    ]


FEES = Passage(
    text="Fees of Oslo Air for bags, from 1 March on.\nA passenger's first bag is free of charge.\n"
    "At the desk of John Smith in the hall a second bag costs 40 EUR, and online it costs 25 EUR.",
)
CABIN = Passage(text="The bag in the cabin weighs 8 kilos or less, whatever the tariff.")
BICYCLES = Passage(
    text="Fees of Oslo Air for bags, from 1 March on.\nA box for a bicycle is 70 EUR a flight."
)


@pytest.mark.parametrize("heading", ["", "Fees of Oslo Air for bags, from 1 March on.\n"])
@pytest.mark.parametrize(
    "alter",
    [
        lambda text: text.replace("\n", " "),
        html.escape,
        json.dumps,
        repr,
        lambda text: text.replace("\n", "<br/>"),
        lambda text: text.replace("\n", "\n- "),
        lambda text: text.replace("John Smith", "<PERSON>"),
        lambda text: text.replace("Fees of Oslo Air", "Fees"),
        lambda text: text.replace("passenger", "guest").replace("25 EUR", "25 euros"),
    ],
)
def test_a_passage_that_was_altered_is_found_beside_one_that_was_not(alter, heading):
    """No word of it is lost, and one that was left out is not known by a heading that it has, too."""
    told = f"Say it shortly.\n{heading}{alter(FEES.text)}\n\n{heading}{CABIN.text}\nWhat is the second bag?"
    fees, cabin = survivors([FEES, CABIN, BICYCLES], [told])
    assert (" ".join(fees.text.split()), cabin) == (" ".join(FEES.text.split()), CABIN)


@pytest.mark.parametrize(
    "write",
    [json.dumps, repr, lambda texts: "".join(f"<p>{text}</p>".replace("\n", "<br/>") for text in texts)],
)
def test_a_list_of_short_lines_is_found_however_it_was_written(write):
    """Marks between its lines leave enough of it."""
    rules = Passage(
        text='Bags:\n- Each passenger\'s first bag is free.\n- A "second" bag costs 25 EUR online.\n'
        "- It costs 40 EUR at the desk.\n- Übergepäck isn't included."
    )
    context = write([rules.text, CABIN.text])
    assert survivors([rules, CABIN, BICYCLES], [f"Answer from {context}."]) == [rules, CABIN]


def test_a_passage_that_was_altered_counts_where_it_is_most_of_a_variable():
    """The one that stands there as it is would not be the most of it."""
    told = f"{html.escape(FEES.text)}\n\n{CABIN.text}"
    assert place([FEES, CABIN], told, mostly=True) == [CABIN, FEES]


def test_a_passage_that_was_cut_is_not_taken_for_altered():
    """What was left out of it stands nowhere else."""
    (fees, cabin) = survivors([FEES, CABIN], [f"{FEES.text[:60]}...\n{CABIN.text}"])
    assert (fees.text, cabin) == (FEES.text[:60], CABIN)


@pytest.mark.parametrize(
    ("below", "footing"),
    [
        ("\nSource: Tariff of Oslo Air", "\nSource: Tariff of Oslo Air"),
        ("\n(Source: Tariff of Oslo Air, page 4)\n---", "\n(Source: Tariff of Oslo Air, page 4)"),
        ("\nTitle: Tariff of Oslo Air\nPage: 4", "\nTitle: Tariff of Oslo Air\nPage: 4"),
        ("\n[4]", ""),
        ("\nIt costs 75 EUR: Tariff of Oslo Air", ""),
        ("\n75 EUR.\nSource: Tariff of Oslo Air", ""),
        ("\nDoes the Tariff of Oslo Air say so?", ""),
        ("\nTariff of Oslo Air?", ""),
    ],
)
@pytest.mark.parametrize("is_last", [False, True])
def test_what_stands_below_a_passage_in_a_prompt_is_its_own_metadata(below, footing, is_last):
    """As above it: a source that is named there is the passage's, and words of others are not."""
    tariff, pets = f"{TARIFF.text}{below}", f"{PETS.text}\nSource: Pets"
    prompt = "\n\n".join(["Answer from this:", *([pets, tariff] if is_last else [tariff, pets])])
    found = survivors([TARIFF, PETS], [f"{prompt}\n\nQuestion: 75 EUR?"], "Tariff of Oslo Air?")
    assert [one.text for one in found] == [f"{TARIFF.text}{footing}", pets]


@given(passages, st.text(max_size=300))
def test_every_word_of_a_passage_was_shown(known, text):
    """Whatever the text, what is found in it stands in it, or most of its parts do."""
    whole = f"{text}\n{known[0].text}\n{text[:50]}"
    for passage in [*place(known, whole), *survivors(known, [whole])]:
        assert "".join(passage.text.split()) in "".join(whole.split()) or len(passage.text.split()) >= LEAST


@given(passages, words)
def test_nothing_of_the_shown_text_is_lost(known, more):
    """Text that is no passage's is kept with its neighbours, so that it can support an answer."""
    shown = f"Above {more} stands\n{joined(known)}\nbelow {more} stands"
    found = " ".join(passage.text for passage in place(known, shown))
    assert "Above" in found
    assert "below" in found
    assert set(more.split()) <= set(found.split())


@pytest.mark.parametrize("text", ["", " ", "nothing of it", "p0", "\ud800"])
def test_where_no_passage_stands_none_is_found(text):
    """Nothing is invented."""
    known = [Passage(text="p0q is a passage"), Passage(text=" ")]
    assert place(known, text) == []
    assert survivors(known, [text]) == []


def test_likeness_is_the_share_of_known_words():
    """Reworded passages resemble their text; another text does not; a few words tell nothing."""
    known = [
        Passage(text="refunds reach your original payment card within seven working days after approval")
    ]
    reworded = "within seven working days after approval refunds reach your original payment card again"
    assert likeness(known, reworded) > 0.8
    assert (
        likeness(known, "an entirely different sentence about luggage weighing twenty kilograms maximum")
        < 0.2
    )
    assert likeness(known, "refunds reach") == 0


def test_of_many_passages_each_is_found_where_one_text_holds_it():
    """Cut, in one line, of a word or two, below its heading: as where there are few."""
    ways = [
        lambda text: text,
        lambda text: text[:60],
        lambda text: " ".join(text.split()),
        lambda text: f"Source: fees.pdf\n{text}\nIs that so?",
    ]
    said = "Item {0} costs {0} EUR\nin the shop of number {0}, and is sold there since {1}."
    fees = {"source": "fees.pdf"}
    passages = [Passage(text=said.format(i, 1900 + i), metadata=fees) for i in range(150)]
    passages += [Passage(text=f"{i} EUR") for i in range(1000, 1010)]
    texts = [f"Read this:\n{ways[i % 4](one.text)}" for i, one in enumerate(passages)]
    alone = [survivors([one], [text])[0] for one, text in zip(passages, texts, strict=True)]
    assert survivors(passages, texts) == alone


@pytest.mark.parametrize("graders", [1, 200])
def test_a_text_that_holds_many_is_looked_through_closely_beside_any_number_of_others(graders):
    """As the prompt of the answer, in which they are JSON, beside those of models that graded each."""
    said = "# Tariff {0}\nA bag of kind {0} costs {0} EUR, as long as it weighs less than {0} kilos."
    passages = [Passage(text="A bag of kind 0 costs nothing at all.")]
    passages += [Passage(text=said.format(i)) for i in range(1, 110)]
    answering = json.dumps([one.text for one in passages])
    assert survivors(passages, [*(["Is it of use?"] * graders), answering]) == passages


def test_thousands_of_texts_that_each_hold_one_passage_are_looked_through_quickly():
    """As where each document is read by a model of its own, at length told what to do."""
    passages = [
        Passage(text=f"{i} is what item {i} costs in the shop, and has cost ever since.") for i in range(3000)
    ]
    texts = [f"{'Read all of it with care. ' * 20}\n\n{one.text}" for one in passages]
    assert survivors(passages, texts) == passages


def test_long_passages_of_which_each_text_holds_one_are_taken_apart_once():
    """As where each document is read by a model of its own; any of the others may stand there altered."""
    passages = [
        Passage(text=f"Note {i}. " + " ".join(f"item{i * j % 4999} costs {j}" for j in range(100, 400)))
        for i in range(1, 101)
    ]
    begun = time.process_time()
    assert survivors(passages, [f"Does it help?\n\n{one.text}" for one in passages]) == passages
    assert time.process_time() - begun < 1
