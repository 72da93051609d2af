"""Figures that are worked out: each step is found where its word stands, and no other result is."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundwire.text import arithmetic, facts, shares
from groundwire.text.steps import Derived, Step, spoken_of
from groundwire.text.worded import word


def derive(claim: str, figure: str, *sentences: str) -> Derived | None:
    """How the figure of a claim follows from sentences and from what else the claim has of them."""
    near = [facts.extract(sentence) for sentence in sentences]
    known = facts.Known([fact for found in near for fact in found])
    found = facts.extract(claim)
    (fact,) = [one for one in found if one.text == figure]
    named = [o for o in found if o is not fact and (known.has(o) or o.soft or arithmetic.is_factor(o))]
    return arithmetic.derive(
        fact, named=named, near=near, cues=spoken_of(claim), stems=set(word(claim).stems)
    )


RIGHT = [
    (Step.SUM, "the books and films make 45,500 in total", "45,500", ["42,000 books", "3,500 films"]),
    (Step.SUM, "all rooms together seat 60", "60", ["The rooms seat 10, 20 and 30"]),
    (Step.DIFFERENCE, "there are 135 left", "135", ["it seats 400", "265 were sold"]),
    (Step.PRODUCT, "two bags at 30 EUR each make 60 EUR", "60 EUR", ["a bag is 30 EUR"]),
    (Step.PRODUCT, "four hours cost 10 EUR", "10 EUR", ["2.50 EUR per hour", "at least four hours"]),
    (Step.PRODUCT, "that is 348 EUR for a year", "348 EUR", ["29 EUR a month"]),
    (Step.QUOTIENT, "split by four friends it is 17 EUR each", "17 EUR", ["four friends paid 68 EUR"]),
    (Step.QUOTIENT, "an average of 12 litres per day", "12 litres", ["60 litres last for 5 days"]),
    (Step.MEAN, "on average she had 80 points", "80", ["she had 72 and 88 points"]),
    (Step.SHARE, "a quarter of the 200 seats, so 50", "50", ["a quarter of 200 seats"]),
    (Step.SHARE, "60 % of them came", "60 %", ["of 50 guests, 30 came"]),
    (Step.SHARE, "with 10 % off it is 216 EUR", "216 EUR", ["10 % off", "it is 240 EUR"]),
    (Step.SHARE, "it rose by 25 %", "25 %", ["400 units in May, 500 units in June"]),
    (Step.SHARE, "20 % arrive late", "20 %", ["one in five arrives late"]),
    (Step.PERIOD, "it is open for eight and a half hours", "eight and a half hours", ["9:00 to 17:30"]),
    (Step.PERIOD, "it takes 10 hours 45 minutes", "10 hours 45 minutes", ["from 21:40", "to 8:25"]),
    (Step.PERIOD, "12 years after it opened", "12 years", ["opened in 2012", "renovated in 2024"]),
    (Step.PERIOD, "it lasts 21 days", "21 days", ["from 3 March to 24 March"]),
    (Step.DIFFERENCE, "you may keep five of your nine, and the other 4 are lost", "4", ["five", "nine"]),
    (Step.DIFFERENCE, "the rate fell by 2.2 percentage points", "2.2 percentage points", ["8.2%", "6.0%"]),
    (Step.PERIOD, "the second dose is after 14 days, on 15 June", "15 June", ["on 1 June", "14 days apart"]),
    (Step.PERIOD, "it ends on 1 September, after 3 months", "1 September", ["on 1 June", "for 3 months"]),
    (Step.PERIOD, "it closed in 2024, after 12 years", "2024", ["opened in 2012, for 12 years"]),
    (
        Step.SUM,
        "10 EUR and 20 EUR and 30 EUR and 40 EUR: 100 EUR",
        "100 EUR",
        ["10 EUR, 20 EUR", "30 EUR, 40 EUR"],
    ),
    (Step.SUM, "with the 5 EUR for the child that is 81 EUR", "81 EUR", ["5 EUR", "76 EUR"]),
    (Step.DIFFERENCE, "at 2.4 km it lies 0.6 km off", "0.6 km", ["2.4 km", "3 km"]),
    (Step.SHARE, "2 to 4 % is 30 to 60 EUR", "30 to 60 EUR", ["2 to 4 %", "of 1,500 EUR"]),
    (Step.SHARE, "10 % of it are 150 EUR", "150 EUR", ["10 %", "from 1,500 EUR to 1,650 EUR"]),
]


@pytest.mark.parametrize(("step", "claim", "figure", "sentences"), RIGHT)
def test_a_step_is_found(step, claim, figure, sentences):
    """Each step, where the claim speaks of it or names what it is taken on, with where it comes from."""
    derived = derive(claim, figure, *sentences)
    assert derived is not None
    assert derived.step is step
    assert derived.sources
    assert figure in derived.said


@pytest.mark.parametrize(
    ("claim", "figure", "sentences"),
    [
        ("two bags at 30 EUR each make 70 EUR", "70 EUR", ["a bag is 30 EUR"]),
        ("the hall and gallery together seat 240", "240", ["the hall seats 320", "the gallery seats 80"]),
        ("the second is 1,200 EUR less", "1,200 EUR", ["the first is 900 EUR", "the second is 300 EUR"]),
        ("the ferry takes 150", "150", ["120 passengers and 30 cars"]),
        ("in total it weighs 50 kg", "50 kg", ["20 kg of rice", "30 EUR"]),
        ("in total it is 50 EUR", "50 EUR", ["20 EUR", "30 USD"]),
        ("with 10 % off it is 226 EUR", "226 EUR", ["10 % off", "it is 240 EUR"]),
        ("it fell by 25 %", "25 %", ["500 units in May, 400 units in June"]),
        ("48 of the 1,200 pieces", "48", ["0.04 of 1,200 pieces"]),
        ("altogether it has 5 rooms", "5", ["2 rooms above", "3 rooms below"]),
        ("it is open for nine and a half hours", "nine and a half hours", ["9:00 to 17:30"]),
        ("15 years after it opened", "15 years", ["opened in 2012", "renovated in 2024"]),
        ("it lies 0.6 km off", "0.6 km", ["2.4 km", "3 km"]),
        ("2 to 4 % is 30 to 70 EUR", "30 to 70 EUR", ["2 to 4 %", "of 1,500 EUR"]),
    ],
)
def test_a_wrong_result_or_another_step_is_not(claim, figure, sentences):
    """Wrong sums, steps that no word speaks of, units that don't agree, and small sums stay unexplained."""
    assert derive(claim, figure, *sentences) is None


@given(st.integers(10, 9_999), st.integers(10, 9_999), st.integers(10, 30_000))
def test_only_the_sum_is_the_sum(a, b, said):
    """Of two amounts, "in total" derives their sum and no other figure. The same amount twice is one."""
    assume(a != b)
    derived = derive(f"in total it is {said} EUR", f"{said} EUR", f"first {a} EUR", f"then {b} EUR")
    near = abs(said - a - b) <= 1e-4 * (a + b)
    assert (derived is not None) == (near and said not in (a, b)) or said in (a, b)


@given(st.integers(1, 99), st.integers(2, 400), st.integers(1, 99))
def test_only_the_share_is_the_share(some, of, said):
    """A percentage follows from two counts where it is their share, rounded to a whole number."""
    whole = of + some
    derived = derive(f"{said} % of them came", f"{said} %", f"{some} came", f"there were {whole}")
    shares_ = {100 * some / whole, 100 * some / (some + whole), 100 * whole / (some + whole)}
    right = any(abs(said - share) <= 0.5 + 1e-3 for share in shares_)
    clear = not any(abs(abs(said - share) - 0.5) < 1e-2 for share in shares_)
    if clear:
        assert (derived is not None) == right


@given(st.lists(st.integers(10, 999), max_size=30), st.integers(10, 5_000))
def test_many_figures_do_not_make_any_sum(figures, said):
    """However many figures stand there, what is derived says so in a sum that adds up."""
    text = ", ".join(f"{figure} EUR" for figure in figures)
    derived = derive(f"altogether {said} EUR", f"{said} EUR", text)
    if derived is not None:
        assert derived.step is Step.SUM
        assert sum(source.values[0] for source in derived.sources) == pytest.approx(said, rel=1e-3)


def test_neighbours_are_a_ratio_only_where_they_say_so():
    """ "One in five" is a fifth; "one of five", "1 in 2024" and "five in one" are none."""
    assert [r.values[0] for r in shares.ratios(facts.extract("one in five came"))] == [0.2]
    assert [r.values[0] for r in shares.ratios(facts.extract("3 out of 4 came"))] == [0.75]
    assert not shares.ratios(facts.extract("five in one, 1 in 2024, three and 4"))


@pytest.mark.parametrize(
    ("claim", "figure", "sentences", "follows"),
    [
        ("the code is 49 901830", "901830", ["the code is 49 901820"], False),
        ("together that is 1,234,600", "1,234,600", ["1,000,000 here", "234,567 there"], False),
        ("with 19 % it is 23.79 EUR", "23.79 EUR", ["it is 19.99 EUR", "19 % are added"], True),
        ("with 15 % off it is 10.62 EUR", "10.62 EUR", ["it is 12.49 EUR", "15 % off"], True),
    ],
)
def test_whole_numbers_are_exact_and_cents_are_rounded(claim, figure, sentences, follows):
    """What is written without decimals was not rounded, however large it is."""
    assert (derive(claim, figure, *sentences) is not None) is follows


@pytest.mark.parametrize(
    ("step", "claim", "figure", "sentences"),
    [
        (Step.PERIOD, "it lasts three months, from 1 March to 31 May", "three months", ["1 March to 31 May"]),
        (Step.PERIOD, "it is valid for 12 months", "12 months", ["from 1 January 2024 to 31 December 2024"]),
        (Step.PERIOD, "she was 35 years old in 1999", "35 years", ["born in 1964", "won in 1999"]),
        (Step.PERIOD, "she was 34 years old in 1999", "34 years", ["born in 1964", "won in 1999"]),
        (Step.PERIOD, "she was 34 years old", "34 years", ["born on 2 May 1964", "on 1 May 1999"]),
        (Step.PERIOD, "he died at the age of 68", "68", ["Carl Jensen (1832–1901)"]),
        (Step.PERIOD, "it is open 16 hours a day", "16 hours", ["open from 06:00 to 22:00"]),
        (Step.SHARE, "three quarters of them (90 of 120)", "three quarters", ["of 120 members, 90 came"]),
        (Step.SHARE, "the accuracy is 93.4 %", "93.4 %", ["accuracy=0.934"]),
        (Step.SHARE, "the accuracy is 0.934", "0.934", ["an accuracy of 93.4 %"]),
        (Step.DIFFERENCE, "92 % passed, the remaining 8 % did not", "8 %", ["92 % passed"]),
        (Step.DIFFERENCE, "it rose by 25 basis points", "25 basis points", ["it was 3.25 %", "it is 3.50 %"]),
        (
            Step.PRODUCT,
            "over three years that makes 12 checks",
            "12",
            ["checked four times a year", "three years"],
        ),
    ],
)
def test_ages_shares_and_whole_months_are_worked_out(step, claim, figure, sentences):
    """Of the years of birth and death two ages may follow; months may run to the day before."""
    derived = derive(claim, figure, *sentences)
    assert derived is not None
    assert derived.step is step


@pytest.mark.parametrize(
    ("claim", "figure", "sentences"),
    [
        ("it lasts four months, from 1 March to 31 May", "four months", ["1 March to 31 May"]),
        ("she was 35 years old", "35 years", ["born on 2 May 1964", "on 1 May 1999"]),
        ("she was 33 years old", "33 years", ["born in 1964", "in 1999"]),
        ("two thirds (90 of 120) came", "two thirds", ["of 120 members, 90 came"]),
        ("the accuracy is 94.3 %", "94.3 %", ["accuracy=0.934"]),
        ("92 % passed and 8 % did not come", "8 %", ["92 % passed"]),
    ],
)
def test_other_ages_shares_and_months_are_not(claim, figure, sentences):
    assert derive(claim, figure, *sentences) is None


def test_a_number_that_is_part_of_a_name_is_no_factor():
    """Of QoS 2 nobody has two."""
    named = "It supports QoS 2. Messages may have 256 KB."
    assert derive(named, "256 KB", "A message may have 128 KB") is None
    counted = "Buy 2 bags. They hold 256 KB."
    assert derive(counted, "256 KB", "A bag holds 128 KB") is not None
