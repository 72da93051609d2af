"""Exact facts: what they are read as, and when two of them agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.text import facts
from groundwire.text.facts import Kind, Status


def one(text: str) -> facts.Fact:
    (fact,) = facts.extract(text)
    return fact


def status(answer: str, context: str) -> Status:
    """The status of the answer's first fact."""
    return facts.check(facts.extract(answer)[0], facts.extract(context)).status


@pytest.mark.parametrize(
    ("text", "kind", "values", "unit"),
    [
        ("it weighs 23 kg", Kind.MEASURE, (23.0,), "mass"),
        ("it takes 90 minutes", Kind.MEASURE, (5400.0,), "time"),
        ("it takes an hour and twenty-four hours", None, None, None),
        ("7 business days", Kind.MEASURE, (604800.0,), "time"),
        ("2 hours 30 minutes", Kind.MEASURE, (9000.0, 7200.0), "time"),
        ("two and a half years", Kind.MEASURE, (30.0,), "months"),
        ("half an hour", Kind.MEASURE, (1800.0,), "time"),
        ("-5 °C", Kind.MEASURE, (-5.0,), "temperature"),
        ("15 percent", Kind.PERCENT, (15.0,), "percent"),
        ("12.5%", Kind.PERCENT, (12.5,), "percent"),
        ("$5m", Kind.MONEY, (5e6,), "USD"),
        ("1.2 million dollars", Kind.MONEY, (1.2e6,), "USD"),
        ("€1.200,50", Kind.MONEY, (1200.5,), "EUR"),
        ("300 EUR", Kind.MONEY, (300.0,), "EUR"),
        ("CHF 120", Kind.MONEY, (120.0,), "CHF"),
        ("1 200 000 people", Kind.NUMBER, (1.2e6,), ""),
        ("one hundred and twenty guests", Kind.NUMBER, (120.0,), ""),
        ("a dozen eggs", Kind.NUMBER, (12.0,), ""),
        ("3 1/2 cups", Kind.MEASURE, (0.82805882775,), "volume"),
        ("6 a.m.", Kind.TIME, (360.0,), "clock"),
        ("14:30", Kind.TIME, (870.0,), "clock"),
        ("noon", Kind.TIME, (720.0,), "clock"),
        ("16:00 Uhr", Kind.TIME, (960.0,), "clock"),
        ("9h30", Kind.TIME, (570.0, 1290.0), "clock"),
        ("09:30", Kind.TIME, (570.0,), "clock"),
        ("half past five", Kind.TIME, (330.0, 1050.0), "clock"),
        ("a quarter to ten at night", Kind.TIME, (1305.0,), "clock"),
        ("a quarter to one in the morning", Kind.TIME, (45.0,), "clock"),
        ("twenty past 8", Kind.TIME, (500.0, 1220.0), "clock"),
        ("at nine in the morning", Kind.TIME, (540.0,), "clock"),
        ("until 9:15 in the evening", Kind.TIME, (1275.0,), "clock"),
        ("by two o'clock at night", Kind.TIME, (120.0,), "clock"),
        ("take two in the morning", Kind.NUMBER, (2.0,), ""),
        ("twice daily", Kind.NUMBER, (2.0,), ""),
        ("it left at 4.47 on Friday morning", Kind.TIME, (287.0,), "clock"),
        ("it fell at 3.30 on Monday afternoon", Kind.TIME, (930.0,), "clock"),
        ("it closed at 3.30 on Monday", Kind.NUMBER, (3.3,), ""),
        ("three quarters of an hour", Kind.MEASURE, (2700.0,), "time"),
    ],
)
def test_a_figure_is_read_with_its_unit(text, kind, values, unit):
    """Every way to write a quantity gives its kind, its value in the base unit, and the unit."""
    if kind is None:
        assert [f.values for f in facts.extract(text)] == [(3600.0,), (86400.0,)]
        return
    fact = one(text)
    assert (fact.kind, fact.values, fact.unit) == (kind, pytest.approx(values), unit)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("on 1 April 2026", ((2026, 4, 1),)),
        ("on April 1, 2026", ((2026, 4, 1),)),
        ("on 2026-04-01", ((2026, 4, 1),)),
        ("on 01/04/2026", ((2026, 4, 1), (2026, 1, 4))),
        ("on 3.12.2025", ((2025, 12, 3),)),
        ("in May 2021", ((2021, 5, 0),)),
        ("in 1998", ((1998, 0, 0),)),
        ("am 31. Dezember", ((0, 12, 31),)),
        ("le 14 juillet 1789", ((1789, 7, 14),)),
        ("valid until 2026-08", ((2026, 8, 0),)),
        ("2024-11: mails are kept", ((2024, 11, 0),)),
        ("in the season 2009-10", ((2009, 0, 0), (2010, 0, 0), (2009, 10, 0))),
        ("- 2019: it opened", ((2019, 0, 0),)),
        ("she won the 2013 cup", ((2013, 0, 0),)),
    ],
)
def test_a_date_keeps_every_reading(text, dates):
    """What a date doesn't say is 0, and an ambiguous one has both readings."""
    assert one(text).dates == dates


def test_a_date_that_a_line_begins_with_is_no_number_of_a_list():
    """Of "9 March, 09:30" at the head of a line both are read; "9 Mix the dough" numbers a step."""
    assert [f.text for f in facts.extract("9 March, 09:30 (Ida): it rang")] == ["9 March", "09:30"]
    assert facts.extract("9 Mix the dough") == []


def test_a_division_is_what_comes_of_it():
    assert facts.extract("a share of 10/20 = one half")[0].values == (0.5,)


def test_so_much_a_month_is_no_number_of_months():
    """ "9.50 a month" is an amount, whatever it is of; "half a month" is a time."""
    first = facts.extract("9.50 a month")[0]
    assert (first.kind, first.values, first.unit) == (Kind.NUMBER, (9.5,), "")
    assert one("half a month").unit == "months"


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("€318-324 million", 318e6, 324e6),
        ("from 5 to 10 million people", 5e6, 10e6),
        ("between 9,000 and 10 million", 9000, 10e6),
        ("5k to 10k", 5000, 10_000),
    ],
)
def test_both_ends_of_a_range_are_millions(text, low, high):
    """The left end has the right one's magnitude, unless it would be the larger then."""
    fact = one(text)
    assert (fact.values[0], fact.highs[0]) == (low, high)


@pytest.mark.parametrize(
    ("answer", "context", "expected"),
    [
        ("It came on 6 May.", "Sent on 2 May. It came on the 6th, thank you.", Status.FOUND),
        ("It came on 6 May.", "Sent on 2 June. It came on the 6th, thank you.", Status.ABSENT),
        ("It came on 6 May.", "Sent on 2 May to the 6th floor.", Status.ABSENT),
    ],
)
def test_a_day_is_told_by_an_ordinal_where_its_month_is_spoken_of(answer, context, expected):
    assert status(answer, context) is expected


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("23-32 kg", 23, 32),
        ("between 3 and 5 kg", 3, 5),
        ("from 4 to 6 kg", 4, 6),
        ("2–3 kg", 2, 3),
    ],
)
def test_a_range_is_one_fact_with_two_ends(text, low, high):
    """However it is joined, a range has a lower and an upper end in one unit."""
    fact = one(text)
    assert (fact.values, fact.highs, fact.unit) == ((low,), (high,), "mass")


@pytest.mark.parametrize(
    ("text", "low", "high", "unit"),
    [
        ("von 22 bis 6 Uhr", (1320.0,), (360.0, 1080.0), "clock"),
        ("von 22 Uhr bis 6 Uhr", (1320.0,), (360.0, 1080.0), "clock"),
        ("zwischen 0 und 6 Uhr", (0.0,), (360.0, 1080.0), "clock"),
        ("van 9 tot 18 uur", (32400.0,), (64800.0,), "time"),
        ("tussen 9 en 18 uur", (32400.0,), (64800.0,), "time"),
        ("das 9h às 18h", (32400.0,), (64800.0,), "time"),
        ("dalle 9 alle 18", (9.0,), (18.0,), ""),
    ],
)
def test_a_range_has_its_ends_in_other_languages_too(text, low, high, unit):
    """The first hour is one of the clock, though "Uhr" stands behind the second alone."""
    fact = one(text)
    assert (fact.values, fact.highs, fact.unit) == (low, high, unit)


def test_what_is_no_hour_begins_no_range_of_hours():
    """Of "30 to 6 pm" only the second is a time."""
    assert [str(fact.kind) for fact in facts.extract("from 30 to 6 pm")] == ["number", "time"]


def test_figures_that_share_a_unit_all_have_it():
    """In "55 × 40 × 23 cm" and "two or three days" the unit stands only once."""
    assert [f.values for f in facts.extract("55 × 40 × 23 cm")] == [(0.55,), (0.40,), (0.23,)]
    assert [f.unit for f in facts.extract("two or three days")] == ["time", "time"]
    assert [f.unit for f in facts.extract("4 × 2 × €40")] == ["", "", "EUR"]


def test_a_range_of_dates_shares_its_year():
    """ "1 May to 30 September 2026" is two dates of 2026."""
    dates = [f.dates for f in facts.extract("from 1 May to 30 September 2026")]
    assert dates == [((2026, 5, 1),), ((2026, 9, 30),)]


@pytest.mark.parametrize(
    "text",
    [
        "twice as fast, at twice the price",
        "1. Wash it\n2) Dry it",
        "(see Passage 2)",
        "[3]",
        "Step 4: stir",
        "passages 1 and 3",
        "a 401(k) plan",
    ],
)
def test_what_only_numbers_the_text_is_no_fact(text):
    """Enumerators, citations and names of a document's parts state nothing about the world."""
    assert facts.extract(text) == []


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("call 0161 555 0142", "0161 5550142"),
        ("call +44 161 555 0142", "tel. 0161 555 0142"),
        ("call +44 (0)161 555 0142", "tel. 0161/5550142"),
        ("call 030 123456", "+49 30 123456"),
        ("call 01 55 50 01 42", "+33 1 55 50 01 42"),
        ("call (555) 014-7733", "+1 555 014 7733"),
    ],
)
def test_a_telephone_number_is_one_fact_however_it_is_grouped(text, other):
    """The country's code, or the 0 in its place, and the gaps make no other number."""
    assert one(text).is_phone
    assert status(text, other) is Status.FOUND
    assert status(text, other[:-2] + "99") is Status.DIFFERS


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("call 312-555-0198", "call 212-555-0198"),
        ("call +1 312 555 0198", "call +1 212 555 0198"),
        ("call 0900 123 4567", "call 0800 123 4567"),
        ("call +33 20 7946 0958", "call +44 20 7946 0958"),
        ("call 0161 7946 0958", "call +44 20 7946 0958"),
    ],
)
def test_another_area_or_country_is_another_telephone_number(text, other):
    assert status(text, other) is Status.DIFFERS


def test_a_long_number_is_compared_to_its_last_digit():
    assert status("account 1234567891", "account 1234567890") is not Status.FOUND
    assert status("account 1234567890", "account 1234567890") is Status.FOUND


@pytest.mark.parametrize(
    "text", ["0.5 to 0.75", "01-02-2024 10:30", "open 0800-1700", "05.06.2024", "0 and 007"]
)
def test_what_begins_with_a_0_need_not_be_a_telephone_number(text):
    assert not any(fact.is_phone for fact in facts.extract(text))


def test_a_ratio_is_its_two_figures():
    assert [fact.values for fact in facts.extract("mix them 50:1")] == [(50.0,), (1.0,)]
    assert one("at 5:10").kind is Kind.TIME
    assert one("hours: 10:0-22:0").highs == (1320.0,)


def test_by_how_much_and_to_what_are_no_range():
    """As "from 3 to 21 million" is."""
    assert [fact.highs for fact in facts.extract("debt fell by $3 million to $21 million")] == [(), ()]
    assert one("debt of $3 million to $21 million").highs == (21e6,)


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("profit is down 10.5%", "| Profit | -10.5% |"),
        ("profit was 10.5% lower", "| Profit | -10.5% |"),
        ("a discount of 271.30 EUR", "Discount 5%: -271.30 EUR"),
        ("volumes: -1%", "volumes fell by 1%"),
        ("sales of $1.17 billion", "sales of $1,172.4 million"),
        ("sales of $1.17 billion", "sales of $1.174 billion"),
        ("$90.9 million of assets", "$90,925,000 of assets"),
    ],
)
def test_a_fall_may_have_a_minus_and_a_large_figure_be_rounded(answer, context):
    """To the precision of its own decimals."""
    assert status(answer, context) is Status.FOUND


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("profit is up 10.5%", "| Profit | -10.5% |"),
        ("profit fell to 10.5%", "| Profit | -10.5% |"),
        ("sales of $1.18 billion", "sales of $1,172.4 million"),
        ("sales of $1 billion", "sales of $1,172.4 million"),
        ("$90.9 thousand of assets", "assets of $90,925 thousand"),
    ],
)
def test_a_rise_has_no_minus_and_a_rounding_is_right(answer, context):
    assert status(answer, context) is not Status.FOUND


@pytest.mark.parametrize("text", ["flight SK123", "an A330-900", "COVID-19", "192.168.0.1", "(510) 889-8690"])
def test_a_figure_stuck_to_letters_is_a_code(text):
    """Flight numbers, models, addresses and telephone numbers are compared as they are written."""
    assert one(text).kind is Kind.CODE


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("after 60 minutes", "after 1 hour"),
        ("after one day", "after 24 hours"),
        ("a path of 1.5 km", "a path of 1500 m"),
        ("within two weeks", "within 14 days"),
        ("for two years", "for 24 months"),
        ("for 7 days", "for a week"),
        ("it is 15 percent", "it is 15 %"),
        ("it costs €1,200", "it costs 1.200 EUR"),
        ("at 2:30 pm", "at 14:30"),
        ("at 12:00", "at noon"),
        ("by April 1, 2026", "by 2026-04-01"),
        ("by 1 April", "by 1 April 2026"),
        ("in 2026", "on 3 May 2026"),
        ("it lasts 4 hours", "it lasts 4 to 6 hours"),
        ("it lasts 6 hours", "it lasts between 4 and 6 hours"),
        ("it lasts 4-6 hours", "at least 4 hours, at most 6 hours"),
        ("about 1,200 people", "1,198 people"),
        ("8 kg (about 17.6 lb)", "8 kg"),
        ("17.6 lb of luggage", "8 kg of luggage"),
        ("12 eggs", "a dozen eggs"),
        ("two times a day", "twice daily"),
        ("renewed twice", "renewed up to 2 times"),
        ("3 eggs", "three eggs"),
        ("23 kg per bag", "| Bag (kg) | 23 |"),
        ("On Saturday it is open from 9 am to 1 pm", "Mon-Fri 8-18, Sat 9-13"),
        ("open 9-13 on Saturday", "Saturday: 9 am to 1 pm"),
        ("On Friday it closes at 6 pm", "Mon-Fri 8-18, Sat 9-13"),
        ("It opens at nine", "Opening hours: 9:00 to 17:30"),
        ("On Fridays it closes at 8.", "On Fridays it closes at 20:00"),
        ("It is open nine to five", "Opening hours: 09:00-17:00"),
        ("It is open from 9 to half past five", "Opening hours: 9 a.m. - 5:30 p.m."),
        ("from nine in the morning until six in the evening", "Opening hours: 9:00 to 18:00"),
        ("between eight in the morning and one in the afternoon", "8:00 to 13:00"),
        ("It opens at 9 a.m.", "The shop opens at 9, closes at 6"),
        ("It is open daily, 9:00 to 17:00, except at weekends", "Monday to Friday 9:00-17:00"),
        ("open daily from 9 am to 6 pm", "Monday to Saturday 9:00-18:00"),
    ],
)
def test_the_same_in_other_words_is_found(answer, context):
    """Conversions that are exact, spellings, roundings that say so, and ends of ranges bear a fact out."""
    assert status(answer, context) is Status.FOUND


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Bags may weigh 32 kg at most.", "Bags may weigh 23 kg at most."),
        ("The refund fee is 90 EUR.", "The refund fee is 25 EUR."),
        ("The refund fee is 25%.", "The refund fee is 25 EUR."),
        ("The dough rests for 45 hours.", "The dough rests for 45 minutes."),
        ("The course starts on 3 May 2026.", "The course starts on 3 June 2026."),
        ("Breakfast ends at 11:30.", "Breakfast ends at 10:30."),
        ("Delivery usually takes 7 to 10 days.", "Delivery usually takes 3 to 5 days."),
        ("Guests may bring four dogs along.", "Guests may bring two dogs along."),
        ("On Saturday it is open from 9 am to 2 pm.", "It is open Mon-Fri 8-18, Saturday 9-13."),
        ("On Monday it is open from 9 am to 1 pm.", "It is open Mon-Fri 8-18, Sat 9-13."),
        ("Breakfast ends at ten.", "Breakfast ends at 10:30."),
        ("Loans can be renewed three times.", "Loans can be renewed twice."),
        ("It is open on Mondays from 7 to 21.", "Closed on Mondays. Tuesday to Sunday 7:00-21:00."),
        ("It is staffed daily from 9 am to 6 pm.", "It is staffed Monday to Friday, 9:00-18:00."),
        ("The shop opens at eight in the evening.", "The shop opens at 8:00 a.m."),
    ],
)
def test_another_value_in_the_same_place_differs(answer, context):
    """A fact of the same kind among the same words, with another value, differs."""
    assert status(answer, context) is Status.DIFFERS


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("The tower is 93 m high.", "The bridge was closed for 12 days."),
        ("about 1,300 people came", "1,198 people came to the fair by noon"),
        ("1,200 people came", "1,190 ducks were counted"),
        ("Ravens live 23 years.", "Crows are black."),
        ("On Saturday it opens at 9 am.", "On Saturday they won 9-25."),
        ("It opens at 9 am.", "They won 9-13."),
        ("It stops at nine stations.", "It leaves at 9:00."),
    ],
)
def test_what_is_nowhere_is_not_found(answer, context):
    """Nothing equal is said, and a rounding must say that it is one and stay within five per cent."""
    assert status(answer, context) is not Status.FOUND


def test_a_bound_that_is_kept_is_no_difference():
    """131 people are "more than 130"."""
    assert status("The outbreak affected 131 people.", "The outbreak affected more than 130 people.") is not (
        Status.DIFFERS
    )


def test_the_nearest_is_the_one_that_speaks_of_the_same():
    """Of two candidates the one among the same words is named, and how well it fits."""
    (fact,) = facts.extract("The refund fee on Classic is 100 EUR.")
    known = facts.extract("A meal costs 12 EUR. The refund fee on Classic is 90 EUR.")
    checked = facts.check(fact, known)
    assert checked.nearest is not None
    assert (checked.nearest.text, checked.affinity) == ("90 EUR", 1.0)


def test_a_fact_said_of_something_else_differs():
    """14 days are in the document, but not for this: thirty are."""
    (fact,) = facts.extract("For a partially used ticket the request must reach us within 14 days.")
    known = facts.extract(
        "Partially used ticket: the request must reach us within 30 days. A certificate is due in 14 days."
    )
    assert facts.check(fact, known).status is Status.DIFFERS


@given(st.text(max_size=400))
def test_facts_are_ordered_disjoint_and_slice_back(text):
    """Whatever the text, spans lie in it, in order, without overlap, and are never empty."""
    end = 0
    for fact in facts.extract(text):
        assert end <= fact.span.start < fact.span.end <= len(text)
        assert fact.text == fact.span.of(text)
        end = fact.span.end


@given(st.text(alphabet="0123456789.,/-:½ kgm€$%april two half\n", max_size=120))
def test_no_mixture_of_figures_and_units_breaks_reading(text):
    """Any run of figures, signs and unit words can be read."""
    for fact in facts.extract(text):
        assert fact.ends()


@given(st.text(alphabet="ab 0123456789.€%kg:", max_size=80))
def test_a_text_bears_out_its_own_facts(text):
    """Every fact is found in the very text that states it."""
    found = facts.extract(text)
    assert all(facts.check(fact, found).status is Status.FOUND for fact in found)


def test_reading_is_linear():
    """A long run of digits, separators or number words takes no more than its share of time."""
    for piece in ("1,", "12 ", "one ", "1/", "3-", "€", "a hour ", "9:"):
        assert len(facts.extract(piece * 20_000)) <= 20_000


def test_of_a_long_list_of_figures_only_the_first_are_held_against_one():
    """Each figure of an answer would else be compared with each of a thousand readings in one line."""
    known = facts.extract("The readings are " + ", ".join(str(n) for n in range(1, 1_000)))
    looked_at = []

    def near():
        for fact in known:
            looked_at.append(fact)
            yield fact

    for figure in ("5000", "3"):
        looked_at.clear()
        facts.check(facts.extract(f"One of the readings is {figure}.")[-1], facts.Known(known), near=near())
        assert len(looked_at) < 100
