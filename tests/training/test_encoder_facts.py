"""Facts of our own: what is right says what the passage says, what is wrong does not, and is marked."""

import random
import re

import pytest

from training import facts
from training.encoder_facts import FIRST, FULL, Maker, Told, last_names, wrong
from training.encoder_rows import Label
from training.facts import Contrast, Drawn, Facts, Relation, filled

WORDS = {
    "first_name": ["Ada", "Ben", "Cleo", "Dov", "Ella", "Finn"],
    "last_name": ["Moss", "Nye", "Orr", "Pike", "Quill", "Rook"],
    "place": ["Anvil", "Brook", "Cliff", "Dale", "Elm", "Ford"],
}
TEACHING = Relation(
    parts={"a": "person", "b": "person", "c": "place"},
    forms=["{a} taught {b} in {c}.", "In {c}, {b} was a pupil of {a}."],
)
DUTY = Contrast(
    parts={"a": "place"},
    one=["All visitors must register in {a}.", "Registering in {a} is a duty of all visitors."],
    other=["Some visitors may register in {a}.", "Some visitors may also register in {a}."],
    label=Label.UNSUPPORTED,
    only_one=True,
)
FACTS = Facts(words=WORDS, relations=[TEACHING], contrasts=[DUTY])
SEEDS = range(40)


@pytest.fixture(scope="module")
def ours():
    return Facts.read(facts.FACTS)


def made_of(seed, habits=FULL):
    return Maker(facts=FACTS, rng=random.Random(seed), habits=habits).relation()


@pytest.mark.parametrize("habits", [FULL, FIRST])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_statement_is_what_the_passage_says_and_a_wrong_one_is_not(seed, habits):
    made = made_of(seed, habits)
    if made is None:  # what was exchanged may hold as well
        return
    known = {said for text in made.passages for said in facts_of(text)}
    known |= {(a.split()[-1], b.split()[-1], c) for a, b, c in known}
    assert facts_of(made.right)[0] in known
    assert facts_of(made.wrong)[0] not in known


def facts_of(text):
    """Who taught whom, and where."""
    active = re.findall(r"(\w+(?: \w+)?) taught (\w+(?: \w+)?) in (\w+)\.", text)
    passive = re.findall(r"In (\w+), (\w+(?: \w+)?) was a pupil of (\w+(?: \w+)?)\.", text)
    return active + [(a, b, c) for c, b, a in passive]


@pytest.mark.parametrize("habits", [FULL, FIRST])
def test_most_draws_make_a_pair(habits):
    assert sum(made_of(seed, habits) is not None for seed in SEEDS) > len(SEEDS) / 2
    contrasts = [Maker(facts=FACTS, rng=random.Random(seed), habits=habits).contrast() for seed in SEEDS]
    assert sum(made is not None for made in contrasts) > len(SEEDS) / 2


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_put_in_is_marked_and_nothing_else(seed):
    made = made_of(seed)
    if made is None:
        return
    assert made.marks
    kept = made.wrong
    for mark in sorted(made.marks, reverse=True):
        kept = kept[: mark.span.start] + kept[mark.span.end :]
    assert {word.strip(".,") for word in kept.split()} <= {
        word.strip(".,") for word in made.right.split()
    } | {""}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_side_alone_holds_where_it_is_said_so(seed):
    made = Maker(facts=FACTS, rng=random.Random(seed)).contrast()
    if made is None:
        return
    assert made.right.startswith(("All", "Registering"))
    assert made.wrong.startswith("Some")
    assert made.label == Label.UNSUPPORTED
    place = re.search(r" in (\w+)", made.right)[1]
    holds = (f"All visitors must register in {place}.", f"Registering in {place} is a duty of all visitors.")
    assert any(text in passage for passage in made.passages for text in holds)
    marked = {mark.span.of(made.wrong): mark.label for mark in made.marks}
    assert marked["Some"] == marked["may"] == Label.UNSUPPORTED
    assert marked["visitors"] == Label.IGNORED
    assert place not in marked


def test_no_wrong_values_are_another_fact_of_the_same_relation():
    """ "Ada taught Ben" and "Ada taught Cleo" both hold: Cleo for Ben isn't wrong."""
    one = Told(relation=TEACHING, values={"a": "Ada Moss", "b": "Ben Nye", "c": "Anvil"})
    two = Told(relation=TEACHING, values={"a": "Ada Moss", "b": "Cleo Orr", "c": "Anvil"})
    for seed in range(200):
        found = wrong(one, [two], Drawn(words=WORDS, rng=random.Random(seed)))
        assert found not in (one.values, two.values)


def test_a_sentence_begins_with_a_capital_and_its_parts_are_found():
    text, places = filled("{a} lies in {b}.", {"a": "the mill", "b": "Anvil"})
    assert text == "The mill lies in Anvil."
    assert [(part, span.of(text)) for part, span in places] == [("a", "The mill"), ("b", "Anvil")]


@pytest.mark.parametrize(("seed", "habits"), [(1, FULL), (2, FULL), (3, FIRST)])
def test_pairs_are_rows_alike_but_for_what_is_wrong(seed, habits, ours):
    others = [f"Rain fell on harbour {i} all week." for i in range(9)]
    maker = Maker(facts=ours, rng=random.Random(seed), habits=habits, others=others)
    made = list(maker.pairs(60))
    assert len(made) == 60
    for right, against in made:
        assert right.label == Label.SUPPORTED
        assert set(right.words) == {Label.SUPPORTED}
        assert against.label > Label.SUPPORTED
    assert sum(max(row.words) > Label.SUPPORTED for _, row in made) > 50


def test_no_word_holds_where_another_of_its_kind_does(ours):
    """Where foxes eat river otters they eat otters, and "open()" is "open"."""

    def plain(word):
        return f" {word.lower().replace('()', '').removeprefix('the ')}"

    lists = [words for kind, words in ours.words.items() if not kind.endswith("_name")]
    pairs = [(one, other) for words in lists for one in words for other in words if one != other]
    assert [(one, other) for one, other in pairs if plain(other).endswith(plain(one))] == []


def test_no_sentence_is_on_both_sides(ours):
    assert not [c.one for c in ours.contrasts if set(c.one) & set(c.other)]


def test_names_in_code_keep_their_letters():
    assert (
        filled("{a} calls {b}.", {"a": "load_config()", "b": "fetch()"})[0] == "load_config() calls fetch()."
    )


def test_no_two_durations_are_the_same_length():
    """Two years are 24 months."""
    lengths = {"minutes": 1, "hours": 60, "days": 1440, "weeks": 10080, "months": 43800, "years": 525600}
    drawn = Drawn(words={}, rng=random.Random(5))
    said = [drawn.one("duration").split() for _ in range(60)]
    numbers = ["", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    counted = [(numbers.index(n) if n in numbers else int(n)) * lengths[unit] for n, unit in said]
    assert len(set(counted)) == len(said)


def test_the_same_seed_makes_the_same_pairs(ours):
    one, two = (list(Maker(facts=ours, rng=random.Random(7)).pairs(20)) for _ in range(2))
    assert one == two


def test_no_two_people_of_a_statement_go_by_one_name(ours):
    """A last name alone says who is meant."""
    told = [
        Told(relation=TEACHING, values={"a": "Ada Moss", "b": f"Ben {name}", "c": "Anvil"})
        for name in ("Moss", "Nye")
    ]
    assert not last_names(told)
    assert last_names(told[1:]) == {"Ada Moss": "Moss", "Ben Nye": "Nye"}


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        ('forms = ["{a} sold {c} to {b}.", "{b} bought {c}."]', "bought"),
        ('forms = ["{a} sold {c} to {d}.", "{a} sold {b} {c}."]', "sold"),
        ('forms = ["{a} sold {c} to {b}."]', "in other words"),
    ],
)
def test_forms_that_leave_a_part_out_are_refused(broken, named, tmp_path):
    path = tmp_path / "facts.toml"
    parts = 'parts = { a = "person", b = "person", c = "boat" }'
    path.write_text(f'[words]\nboat = ["the skiff"]\n[[relation]]\n{parts}\n{broken}\n')
    with pytest.raises(ValueError, match=named):
        Facts.read(path)


def test_a_kind_without_words_is_refused(tmp_path):
    path = tmp_path / "facts.toml"
    path.write_text(
        '[words]\nboat = ["the skiff"]\n[[relation]]\nparts = { a = "sail" }\n'
        'forms = ["{a} tore.", "{a} was torn."]\n'
        '[[contrast]]\nparts = { a = "boat" }\nlabel = "contradicted"\n'
        'one = ["{a} sank.", "{a} went down."]\nother = ["{a} floats.", "{a} swims."]\n'
    )
    with pytest.raises(ValueError, match="sail"):
        Facts.read(path)
