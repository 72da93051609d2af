"""What the word rules say of records, lists, sums, courtesies and refusals; their reasons name both sides."""

from __future__ import annotations

import pytest

from groundwire import Abstention, Checker, Grading, Interaction, Level, Verdict
from groundwire.core.claim import Claim, Support
from groundwire.core.span import Span
from groundwire.detectors import lexical_features
from groundwire.detectors.lexical_seen import CLAIM_FEATURES, Seen
from groundwire.detectors.lexical_verdict import summary
from groundwire.text import overlap

CAFE = '{"name": "Cafe Uno", "OutdoorSeating": false, "WiFi": "yes", "TakeOut": true, "Parking": null}'
PUB = """{"OutdoorSeating": true, "GoodForGroups": false, "Ambience": {"casual": false, "romantic": true},
"BusinessParking": {"garage": false, "street": true, "valet": false}}"""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
WEEK = "\n".join([*(f'"{day}": "9:00-17:00",' for day in DAYS), '"Saturday": "10:00-14:00"'])
PLANS = "| Plan | Price | Storage |\n|---|---|---|\n| Basic | $10 | 5 GB |\n| Pro | $25 | 50 GB |"
CHECK_OUT = "Check-out is until 11 a.m. Late check-out until 2 p.m. costs 20 EUR."
TICKETS = "Tickets: adults 12 EUR, children 6 EUR, family ticket (2 adults, up to 3 children) 30 EUR."
POOL = "Late fees are 5 EUR. Parking is free."


def judge(answer: str, *contexts: str, question: str = "") -> Verdict | Abstention:
    return Checker("lexical").check(Interaction(question=question, contexts=contexts, answer=answer))


def look(answer: str, context: str) -> Seen:
    span = Span(0, len(answer))
    (seen,) = lexical_features.look(answer, [span], "", overlap.Context([context]), {}).claims
    return seen


class TestRecords:
    """Entries that say yes, no or nothing."""

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (
                "Cafe Uno offers outdoor seating.",
                '“outdoor seating” here, “"OutdoorSeating": false” in the document',
            ),
            (
                "They have Wi-Fi and outdoor seating.",
                '“outdoor seating” here, “"OutdoorSeating": false” in the document',
            ),
            ("Cafe Uno does not offer takeout.", '“takeout” here, “"TakeOut": true” in the document'),
            ("Wi-Fi is not available there.", '“Wi-Fi” here, “"WiFi": "yes"” in the document'),
        ],
    )
    def test_what_an_entry_denies_is_contradicted(self, answer, reason):
        outcome = judge(answer, CAFE)
        (claim,) = outcome.claims
        assert claim.support is Support.CONTRADICTED
        assert claim.reason == reason
        assert claim.evidence[0].quote in CAFE

    @pytest.mark.parametrize("answer", ["Cafe Uno offers parking.", "There is no parking at Cafe Uno."])
    def test_an_entry_that_is_null_bears_out_neither(self, answer):
        (claim,) = judge(answer, CAFE).claims
        assert claim.support is Support.UNSUPPORTED
        assert claim.reason == '“parking” is left open in the document: “"Parking": null”'

    @pytest.mark.parametrize(
        "answer",
        [
            "Cafe Uno has no outdoor seating.",
            "Cafe Uno does not offer outdoor seating.",
            "It has takeout, but no outdoor seating.",
            "They do not take cards and offer takeout.",
            "It is unclear whether Cafe Uno has outdoor seating.",
            "Outdoor seating: No outdoor seating available",
            "Cafe Uno has takeout and dogs are not allowed.",
        ],
    )
    def test_what_agrees_or_says_neither_is_no_contradiction(self, answer):
        assert all(claim.support is not Support.CONTRADICTED for claim in judge(answer, CAFE).claims)

    @pytest.mark.parametrize(
        "answer",
        [
            "Street parking is available, but garage and valet parking are not.",
            "Garage and valet parking aren't offered.",
        ],
    )
    def test_a_list_that_is_denied_at_its_end_is_denied_throughout(self, answer):
        assert all(claim.support is not Support.CONTRADICTED for claim in judge(answer, PUB).claims)

    def test_a_review_beside_the_record_may_know_better(self):
        outcome = judge(
            "Cafe Uno offers outdoor seating.", CAFE, "We sat outside: the outdoor seating is lovely."
        )
        assert outcome.claims[0].support is not Support.CONTRADICTED

    @pytest.mark.parametrize(
        ("answer", "words", "entry"),
        [
            ("The atmosphere is casual.", "casual", '"casual": false'),
            ("You can park in the garage.", "garage", '"garage": false'),
            ("Parking is available in a garage, with no valet.", "garage", '"garage": false'),
        ],
    )
    def test_an_entry_of_an_object_is_named_by_its_own_name_beside_the_object_s(self, answer, words, entry):
        """ "casual", where a claim speaks of an atmosphere and the record of an ambience."""
        (claim,) = judge(answer, PUB).claims
        assert (claim.support, claim.reason) == (
            Support.CONTRADICTED,
            f"“{words}” here, “{entry}” in the document",
        )

    @pytest.mark.parametrize(
        "answer",
        [
            "It is a casual place.",
            "A group of friends runs it.",
            "The ambience is romantic.",
            "There is street parking without valet service.",
            "They offer street parking, with no valet.",
        ],
    )
    def test_what_a_claim_says_of_something_else_is_no_contradiction(self, answer):
        assert all(claim.support is not Support.CONTRADICTED for claim in judge(answer, PUB).claims)

    def test_what_names_an_entry_is_not_missing(self):
        """The documents write "OutdoorSeating" in one word."""
        pub = PUB.replace('"GoodForGroups": false', '"GoodForGroups": true')
        seen = look("It offers outdoor seating, is good for groups and has no street parking.", pub)
        assert [seen.worded.folded[i] for i in seen.missing] == ["offers"]
        counted = dict(zip(CLAIM_FEATURES, seen.features, strict=True))
        assert [counted[f"entries_{how}"] for how in ("right", "differing", "open", "named")] == [2, 1, 0, 0]

    def test_a_claim_of_an_entry_alone_can_be_checked(self):
        assert look("Outdoor seating", PUB).checkable


class TestHours:
    """Hours that are said of several days."""

    @pytest.mark.parametrize(
        "answer",
        [
            "It is open from 9:00 to 17:00, Monday to Sunday.",
            "It is open every day from 9 am to 5 pm.",
            "It is open seven days a week from 9 am to 5 pm.",
        ],
    )
    def test_hours_of_some_days_are_not_those_of_all(self, answer):
        (claim,) = judge(answer, WEEK).claims
        assert claim.support is Support.CONTRADICTED
        assert claim.reason.endswith(" here, 10:00-14:00 in the document")

    @pytest.mark.parametrize(
        "answer",
        [
            "It is open from 9:00 to 17:00, Monday to Friday, and 10:00 to 14:00, Saturday.",
            "It is open six days a week.",
            "On weekdays it is open from 9 am to 5 pm.",
        ],
    )
    def test_what_holds_of_the_days_that_it_is_said_of_is_supported(self, answer):
        assert not any(claim.support.flagged for claim in judge(answer, WEEK).claims)

    def test_a_statement_that_allows_for_exceptions_is_not_held_against_one(self):
        (claim,) = judge("It is open every day from 9 am to 5 pm, except Saturday.", WEEK).claims
        assert claim.support is not Support.CONTRADICTED

    @pytest.mark.parametrize(
        ("answer", "hours"),
        [
            (
                "Yes, it is open on Monday from 10:00 to 14:00.",
                "Closed on Mondays. Tuesday to Sunday 10:00-14:00.",
            ),
            ("It is open daily from ten to two.", "It is open Monday to Friday from 10:00 to 14:00."),
        ],
    )
    def test_hours_of_other_days_are_contradicted(self, answer, hours):
        (claim,) = judge(answer, hours, question="When is it open?").claims
        assert claim.support is Support.CONTRADICTED
        assert " is said of other days: “" in claim.reason

    def test_another_number_of_days_is_unsupported(self):
        (claim,) = judge("It is open five days a week.", WEEK).claims
        assert claim.support.flagged


class TestPlaces:
    """A fact that the documents have for something else."""

    def test_a_cell_of_another_row_is_not_this_row_s(self):
        (claim,) = judge("The Basic plan costs $25.", PLANS).claims
        assert (claim.support, claim.reason) == (Support.CONTRADICTED, "$25 here, $10 in the document")

    @pytest.mark.parametrize(
        "answer", ["The Pro plan costs $25.", "The Pro plan costs $25 and has 50 GB, the Basic plan $10."]
    )
    def test_a_cell_of_a_row_that_is_named_is_in_place(self, answer):
        assert all(
            not claim.support.flagged or "here" not in claim.reason for claim in judge(answer, PLANS).claims
        )

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ("Adults pay 8 EUR and children 12 EUR.", "8 EUR here, 12 EUR in the document"),
            ("Children pay 12 EUR, adults 8 EUR.", "12 EUR here, 8 EUR in the document"),
        ],
    )
    def test_two_items_that_have_each_other_s_figure_are_swapped(self, answer, reason):
        fees = "Adults pay 12 EUR, children 8 EUR."
        (claim,) = judge(answer, fees).claims
        assert (claim.support, claim.reason) == (Support.CONTRADICTED, reason)

    @pytest.mark.parametrize(
        ("answer", "list_"),
        [
            ("Paul was born in 1971 and Anna in 1974.", "Anna was born in 1971, her brother Paul in 1974."),
            ("Ghent sent 412 rowers and Delft 377.", "Delft sent 412 rowers, Ghent 377."),
        ],
    )
    def test_what_is_said_of_both_items_tells_neither(self, answer, list_):
        (claim,) = judge(answer, list_).claims
        assert claim.support is Support.CONTRADICTED
        assert all(one.support is not Support.CONTRADICTED for one in judge(list_, list_).claims)

    @pytest.mark.parametrize(
        ("answer", "list_", "meant"),
        [
            ("A family ticket costs 12 EUR.", TICKETS, "30 EUR"),
            ("Plus costs 5 EUR.", "Basic (10 GB) costs 5 EUR, Plus (50 GB) 9 EUR and Max 15 EUR.", "9 EUR"),
            ("Children pay 12 EUR.", "Adults pay 12 EUR, children 8 EUR.", "8 EUR"),
            ("Ghent has 45 staff.", "Our office in Porto has 45 staff; the one in Ghent has 30.", "30"),
            ("The museum closes at 10.", "The museum opens at 10:00 and closes at 18:00.", "18:00"),
        ],
    )
    def test_an_item_has_its_own_figure(self, answer, list_, meant):
        """Whatever stands in brackets, and whichever words the first item alone has, though said of all."""
        (claim,) = judge(answer, list_).claims
        assert claim.reason.endswith(f" here, {meant} in the document")

    @pytest.mark.parametrize(
        ("answer", "context", "flagged"),
        [
            ("Check-out is until 2 p.m.", CHECK_OUT, True),
            ("Check-out is until 11.", CHECK_OUT, False),
            ("Late check-out is until 2 p.m.", CHECK_OUT, False),
            ("Simmer for 15 minutes.", "Simmer for 5 minutes. Stir, then simmer for 15 minutes more.", False),
        ],
    )
    def test_a_sentence_said_again_has_its_own_figure(self, answer, context, flagged):
        """Though another sentence of the passage has the claim's, of something else."""
        (claim,) = judge(answer, context).claims
        assert (claim.support is Support.CONTRADICTED) is flagged

    def test_a_figure_of_another_item_is_no_step_from_it(self):
        """One month is no factor of what costs so much a month."""
        (claim,) = judge(
            "Gold costs 19 EUR a month and basic 35 EUR.", "Basic is 19 EUR a month, gold 35 EUR."
        ).claims
        assert claim.support is Support.CONTRADICTED

    @pytest.mark.parametrize(
        "answer",
        [
            "Adults pay 12 EUR and children 8 EUR.",
            "Children pay 8 EUR, adults 12 EUR.",
            "Adults pay 12 EUR.",
            "A family of adults and children pays 12 EUR and 8 EUR.",
        ],
    )
    def test_two_items_that_have_their_own_are_not(self, answer):
        fees = "Adults pay 12 EUR, children 8 EUR."
        assert all(claim.support is not Support.CONTRADICTED for claim in judge(answer, fees).claims)

    @pytest.mark.parametrize(
        "answer",
        [
            "The trail is 12 km long with 640 m of ascent.",
            "With 640 m of ascent the trail takes you 12 km.",
            "It is 12 km for an ascent of 640 m.",
        ],
    )
    def test_a_figure_is_not_held_against_one_that_the_claim_has_too(self, answer):
        """The claim gives the other item what is said of it, in words that no mark divides."""
        (claim,) = judge(answer, "Length 12 km, ascent 640 m.").claims
        assert claim.support is not Support.CONTRADICTED

    def test_a_figure_beside_the_other_s_name_is(self):
        (claim,) = judge("It takes an ascent of 12 km for 640 m.", "Length 12 km, ascent 640 m.").claims
        assert claim.reason.startswith("12 km here, 640 m in the document")

    def test_a_year_is_that_of_the_sentence_with_the_same_figures(self):
        """The other sentence alone has the word "medals", which the second one leaves out."""
        medals = "In 2020 Norway won 10 medals, Sweden 12. In 2024 Norway won 12, Sweden 10."
        claims = judge("In 2024 Norway won 12 medals and Sweden 10.", medals).claims
        assert all(claim.support is not Support.CONTRADICTED for claim in claims)
        (claim,) = judge("In 2024 Norway won 11 medals.", medals).claims
        assert claim.support.flagged

    def test_items_that_are_both_named_are_not_confused(self):
        steak = "Roast the filet for 22 minutes for rare, 25 minutes for medium."
        assert judge("Roast it for 22 minutes for rare or 25 minutes for medium.", steak).grounded


class TestUnitsAbove:
    """A table whose columns, or a note, say in what their figures are."""

    TOWERS = (
        "| Tower | Height (m) | Cost (€m) | Staff |\n|---|---|---|---|\n"
        "| North | 45 | 12.5 | 31 |\n| South | 62 | 18.1 | 12 |"
    )
    NOTED = (
        "All amounts in EUR million.\n\n"
        "| Segment | Revenue |\n|---|---|\n| Ships | 142.6 |\n| Cranes | 96.1 |"
    )

    @pytest.mark.parametrize(
        "answer",
        [
            "The north tower is 45 m high and cost €12.5 million.",
            "The south tower cost €5.6 million more than the north tower.",
            "The north tower has a staff of 31.",
        ],
    )
    def test_a_figure_with_the_unit_above_it_is_borne_out(self, answer):
        assert judge(answer, self.TOWERS).grounded

    def test_another_row_s_is_contradicted(self):
        outcome = judge("The north tower cost €18.1m.", self.TOWERS)
        assert outcome.reason == "The documents say otherwise: €18.1m here, 12.5 in the document."

    def test_a_note_holds_for_the_tables_below_it(self):
        assert judge("Ships had a revenue of €142.6m.", self.NOTED).grounded
        assert judge("Ships had a revenue of €142.6 billion.", self.NOTED).hallucinated


class TestLinesThatAreAboutOthers:
    """What a heading, or when a line of a chat was written, says of nothing below it."""

    CHAT = (
        "**priya** 11:02: I have the shift from Thursday to Saturday\n"
        "**mo** 11:31: I can take Sunday, but only from 10:00"
    )

    def test_when_a_line_was_written_contradicts_no_time(self):
        assert judge("Mo has the shift on Sunday from 10:00.", self.CHAT).grounded
        shift = judge("Priya has the shift from Thursday 10:00 to Saturday.", self.CHAT)
        assert "11:02" not in shift.reason

    def test_a_date_in_a_heading_contradicts_none_below_it(self):
        calendar = (
            "## Atlas release calendar (wiki, last edited 2 May)\n\n"
            "| Version | Release |\n|---|---|\n| 5.1 | 19 March |\n| 5.2 | 21 May |"
        )
        assert "2 May" not in judge("The wiki's release calendar has 21 May.", calendar).reason


class TestWorkedOutStepByStep:
    """Figures that follow from the question's, and from others that were worked out."""

    FUND = "The entry charge is 2%. The ongoing charge is 1.25% a year of what is invested."
    QUESTION = "What are the charges on £20,000 for one year?"

    def test_each_step_is_one_to_go_on_with(self):
        right = (
            "Up to £645: an entry charge of £400 (2%) and an ongoing charge of £245 (1.25% of the £19,600)."
        )
        assert not any(
            claim.support is Support.UNSUPPORTED and "£" in claim.reason
            for claim in judge(right, self.FUND, question=self.QUESTION).claims
        )
        wrong = right.replace("£645", "£685")
        (claim,) = judge(wrong, self.FUND, question=self.QUESTION).claims
        assert "£685" in claim.reason


class TestSums:
    """What adds up from two facts that the claim names, or that it says are added."""

    TICKETS = "A ticket costs 12 EUR. A guided tour costs 8 EUR."

    @pytest.mark.parametrize(
        "answer", ["A ticket with a guided tour costs 20 EUR.", "Together they cost 20 EUR, ticket and tour."]
    )
    def test_a_right_sum_is_not_flagged(self, answer):
        assert judge(answer, self.TICKETS).grounded

    @pytest.mark.parametrize(
        "answer", ["A ticket with a guided tour costs 21 EUR.", "A ticket costs 20 EUR."]
    )
    def test_a_wrong_sum_and_one_of_unnamed_things_are(self, answer):
        assert judge(answer, self.TICKETS).hallucinated


class TestRefusals:
    """Saying that something is not mentioned."""

    @pytest.mark.parametrize(
        "answer",
        [
            "The documents do not mention late fees.",
            "Late fees are not mentioned in the documents.",
            "There is no mention of late fees in the passages.",
        ],
    )
    def test_what_is_mentioned_after_all_is_contradicted(self, answer):
        outcome = judge(answer, POOL)
        assert outcome.claims[0].support is Support.CONTRADICTED
        assert "is mentioned in the document: “Late fees are 5 EUR.”" in outcome.reason
        assert not outcome.reason.endswith("..")

    @pytest.mark.parametrize(
        "answer",
        [
            "The documents do not mention late parking.",
            "Late fees are not explicitly mentioned.",
            "I can't find the late fees.",
            "I can't answer from the documents.",
        ],
    )
    def test_other_refusals_are_believed(self, answer):
        assert judge(answer, POOL).grounded


@pytest.mark.parametrize("guess", ["No: ", "A: No, ", "Unfortunately not: ", "Not really – ", "Not quite. "])
@pytest.mark.parametrize("detector", ["lexical", "embedded"])
def test_what_denies_a_guess_denies_nothing_of_the_document(guess, detector):
    """It stands for itself before what is said."""
    interaction = Interaction(
        question="Can I swim on Tuesdays?",
        contexts=["Tuesdays are cleaning days for everybody."],
        answer=f'{guess}"Tuesdays are cleaning days for everybody."',
    )
    assert not Checker(detector).check(interaction).hallucinated


def test_an_answer_of_courtesies_states_nothing():
    assert judge("Have a nice day!", POOL).why == "NO_CLAIMS"


def test_answers_in_another_language_say_so():
    """Also where the passage is a single sentence."""
    outcome = judge(
        "Returns are possible within 30 days.", "Die Rückgabe ist innerhalb von 30 Tagen möglich."
    )
    assert "different languages" in outcome.reason


def test_an_answer_in_another_language_is_told_by_the_figures_that_were_compared():
    """Which one no passage has, and where the others stand."""
    outcome = judge(
        "You can send items back within 30 days. Shipping costs 4.95 EUR.",
        "Die Rücksendung ist innerhalb von 14 Tagen möglich. Die Versandkosten betragen 4,95 €.",
    )
    wrong, right = outcome.claims
    assert wrong.reason.startswith("not in the documents: “30 days” (judged by its figures alone")
    assert [one.quote for one in right.evidence] == ["Die Versandkosten betragen 4,95 €."]


class TestWords:
    """Reasons, levels and titles that don't contradict each other."""

    def test_a_word_that_no_passage_has_is_never_said_to_be_there(self):
        (claim,) = judge("The sky is red.", "The sky is blue.").claims
        assert claim.reason == "not flagged, though “red” is not in the documents"

    def test_a_figure_that_a_passage_has_is_never_said_to_be_missing(self):
        """The nearest to each is another one of its claim's, which the passage has as well."""
        passage = "Die Versandkosten betragen 4,95 €. Ab einem Wert von 1.000 € ist der Versand kostenlos."
        (claim,) = judge("Der Versand kostet 4,95 Euro, ab 1000 € ist er kostenlos.", passage).claims
        assert claim.support is Support.SUPPORTED
        assert "4,95" not in claim.reason
        assert "1000" not in claim.reason

    @pytest.mark.parametrize(
        ("passage", "answer", "said"),
        [
            ("Sunrise 09:51, sunset 13:34 (CET, UTC+1).", "Sunset is at 15:34.", "15:34 here, 13:34 in"),
            ("Oslo has 7 trams, Bergen 3.", "Bergen has 5 trams.", "5 here, 3 in"),
            ("Oslo has 7 trams, Bergen 3.", "Oslo has 5 trams.", "5 here, 7 in"),
            ("A mug costs £7.50, a pot costs £24.00.", "| Pot | £26.00 |", "£26.00 here, £24.00 in"),
            ('{"sunrise": "06:51", "sunset": "18:34"}', "The sunset is at 19:34.", "19:34 here, 18:34 in"),
        ],
    )
    def test_of_a_list_the_figure_of_the_item_that_is_named_is_told(self, passage, answer, said):
        assert said in judge(answer, passage).reason

    @pytest.mark.parametrize(
        ("passage", "answer", "marked", "told"),
        [
            (
                "Shares fell to 412.6p on Wednesday.",
                "Shares fell to 426.1p on Wednesday.",
                "426.1p",
                "412.6p",
            ),
            ("The scale factor is 4x.", "The scale factor is 5x.", "5x", "4x"),
            ("Call +1 (800) 555-0199.", "Call +1 (800) 555-0191.", "+1 (800) 555-0191", "+1 (800) 555-0199"),
        ],
    )
    def test_a_figure_is_marked_and_told_as_a_whole(self, passage, answer, marked, told):
        """With letters written onto it, and with the bracket that opens it."""
        outcome = judge(answer, passage)
        assert [span.of(answer) for span in outcome.spans] == [marked]
        assert f"{marked} here, {told} in the document" in outcome.reason

    def test_a_stop_after_a_figure_is_none_of_it(self):
        outcome = judge("Send a fax to 030/654321.", "Send a fax to 030/123456.")
        assert "030/654321 here, 030/123456 in the document." in outcome.reason

    def test_a_figure_that_no_passage_has_is_told_also_where_it_is_not_flagged(self):
        passage = "The gala takes place on the second Friday of May, on the 3rd floor, in Hall C."
        outcome = judge("The gala is on the 2nd Friday in May on the third floor in Hall C.", passage)
        assert not outcome.hallucinated
        assert outcome.claims[0].reason.startswith("not flagged, though “2nd”")

    def test_a_figure_that_the_asker_alone_has_told_is_not_said_to_be_in_the_documents(self):
        question = "My friend paid a fee of 50 EUR. What is the fee?"
        (claim,) = judge("The fee is 50 EUR.", "The fee is 20 EUR.", question=question).claims
        assert claim.reason == "not flagged, though “50 EUR” is not in the documents"
        (claim,) = judge("The fee is 50 EUR.", "All pay a fee of 50 EUR.", question=question).claims
        assert claim.reason == "its words are in the documents"

    def test_the_question_s_own_words_are_not_the_ones_that_are_marked(self):
        outcome = judge(
            "Our shoes are handcrafted in Portofino by Luigi Bertone since 1923.",
            "We sell boots.",
            question="Where do your shoes come from?",
        )
        assert outcome.hallucinated
        assert all(
            "shoes" not in span.of(outcome.claims[0].text) for span in outcome.spans if len(outcome.spans) > 1
        )

    @pytest.mark.parametrize(
        ("scores", "said"),
        [
            ([0.1], "The statement is supported by the documents."),
            ([0.1, 0.2], "Both statements are supported by the documents."),
            ([0.35], "The statement may not be supported by the documents."),
            ([0.1, 0.35], "1 of 2 statements may not be supported by the documents."),
            ([0.35, 0.45], "Both statements may not be supported by the documents."),
        ],
    )
    def test_a_summary_doubts_what_the_level_doubts(self, scores, said):
        """Below the threshold, but no longer LOW: "supported" would deny the level."""
        grading = Grading(threshold=0.5)
        claims = [
            Claim(text="x", span=Span(i, i + 1), support=Support.SUPPORTED, score=s)
            for i, s in enumerate(scores)
        ]
        assert summary(claims, grading) == said
        assert ("may not" in said) == (grading.level(max(scores)) is Level.MEDIUM)

    @pytest.mark.parametrize(
        ("score", "said"),
        [(0.41, "The documents may say otherwise: why."), (0.85, "The documents say otherwise: why.")],
    )
    def test_a_contradiction_at_a_medium_level_is_told_as_one(self, score, said):
        grading = Grading(threshold=0.4)
        claim = Claim(text="x", span=Span(0, 1), support=Support.CONTRADICTED, score=score, reason="why")
        assert summary([claim], grading) == said

    @pytest.mark.parametrize(
        ("others", "said"),
        [
            ([(Support.UNSUPPORTED, 0.41)], "The documents may say otherwise: perhaps."),
            ([(Support.UNSUPPORTED, 0.9)], "Both statements are not supported by the documents."),
            (
                [(Support.SUPPORTED, 0.1), (Support.UNSUPPORTED, 0.9)],
                "2 of 3 statements are not supported by the documents.",
            ),
            (
                [(Support.UNSUPPORTED, 0.95), (Support.CONTRADICTED, 0.9)],
                "The documents say otherwise: surely.",
            ),
        ],
    )
    def test_a_summary_tells_what_made_the_level_what_it_is(self, others, said):
        """What only may be a contradiction stands beside something worse, and says less than that."""
        grading = Grading(threshold=0.4)
        scored = [(Support.CONTRADICTED, 0.45), *others]
        claims = [
            Claim(
                text="x",
                span=Span(i, i + 1),
                support=support,
                score=score,
                reason="surely" if score > 0.8 else "perhaps",
            )
            for i, (support, score) in enumerate(scored)
        ]
        assert summary(claims, grading) == said


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize(
    ("question", "answer", "wrong"),
    [
        ("What do I pay?", "You pay 12 EUR.", False),
        ("What do adults pay, in EUR?", "You pay 12 EUR.", False),
        ("What do children pay?", "They pay 12 EUR.", True),
        ("What do children pay?", "Children pay 12 EUR.", True),
        ("What do adults pay?", "Adults pay 12 EUR.", False),
    ],
)
def test_whom_a_claim_of_one_word_is_about_is_told_by_the_question(detector, question, answer, wrong):
    """Of "pay" alone, the sentence that has this word may tell of somebody else."""
    context = "Admission is 12 EUR for adults. Children pay 6 EUR."
    outcome = Checker(detector).check(Interaction(question=question, contexts=context, answer=answer))
    assert outcome.hallucinated is wrong


SETTINGS = "autoscaling: false\nbackups: true\nregion: eu"


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("Autoscaling is disabled.", False),
        ("Autoscaling is enabled.", True),
        ("Backups are enabled.", False),
        ("Backups are disabled.", True),
    ],
)
def test_what_is_disabled_is_a_no_of_the_settings(detector, ends, answer, wrong):
    """Whatever their lines end with."""
    context = SETTINGS.replace("\n", ends)
    outcome = Checker(detector).check(Interaction(contexts=context, answer=answer))
    assert outcome.hallucinated is wrong


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        ("There are 500 seats.", "500.", "400."),
        ("It opened at 2025-03-12T22:41:00Z.", "It opened at 22:41.", "It opened at 21:41."),
        (
            "Der Umsatz stieg auf 1,2 Mrd. Euro.",
            "Der Umsatz stieg auf 1,2 Milliarden Euro.",
            "Der Umsatz stieg auf 1,3 Milliarden Euro.",
        ),
        (
            "Der Gewinn stieg auf 5 Mio. €.",
            "Der Gewinn stieg auf 5.000.000 €.",
            "Der Gewinn stieg auf 6.000.000 €.",
        ),
        ("Le musée ferme à 18 h 30.", "Le musée ferme à 18h30.", "Le musée ferme à 18h45."),
    ],
)
def test_figures_are_read_as_they_are_written_elsewhere(detector, context, right, wrong):
    """An answer that is one figure, times after a date, abbreviated millions, French times."""
    good, bad = (
        Checker(detector).check(Interaction(question="How much?", contexts=context, answer=answer))
        for answer in (right, wrong)
    )
    assert not good.hallucinated
    assert bad.hallucinated


def test_the_mark_of_a_files_beginning_changes_no_answer():
    marked, plain = (judge(f"{mark}# Safety\n\nWear a helmet.", "Wear gloves.") for mark in ("\ufeff", ""))
    assert [claim.text for claim in marked.claims] == [claim.text for claim in plain.claims]
    assert marked.score == plain.score


def test_a_reason_names_the_figure_in_the_same_unit():
    """Though another one of that kind stands nearer to the beginning."""
    (claim,) = judge(
        "20 weeks per child.", "After 12 months staff may take 16 weeks of leave per child."
    ).claims
    assert claim.reason == "20 weeks here, 16 weeks in the document"


class TestVersions:
    """Versions and other figures of one sentence of technical documents."""

    ENDED = "Minimum Python is now 3.10; support for 3.8 and 3.9 ended."
    LOG = "22:40:51 heap at 91 % of 2048 MiB, pause 840 ms. Queue depth is 18,442."

    def test_the_one_that_is_left_is_what_another_stands_for(self):
        wrong = look("Python 3.11 is required; Python 3.8 and 3.9 are not supported.", self.ENDED)
        differing = [(f.text, c.nearest.text) for f, c, _ in wrong.checked if c.status.value == "differs"]
        assert differing == [("3.11", "3.10")]
        outcome = judge("Python 3.11 is required; Python 3.8 and 3.9 are not supported.", self.ENDED)
        assert outcome.claims[0].reason == "3.11 here, 3.10 in the document"

    def test_two_that_are_named_in_one_breath_are_not_held_against_each_other(self):
        right = look("Python 3.8 and 3.9 are no longer supported.", self.ENDED)
        assert not right.lacking

    @pytest.mark.parametrize("counted", ["2 versions", "3 of them"])
    def test_a_whole_number_counts_anything(self, counted):
        answer = f"Python 3.10 is required; 3.8 and 3.9, so {counted}, are not supported."
        assert not any(c.status.value == "differs" for _, c, _ in look(answer, self.ENDED).checked)

    @pytest.mark.parametrize("detector", ["lexical", "embedded"])
    def test_one_figure_among_several_of_a_sentence_is_a_contradiction(self, detector):
        """However well the encoder likes the rest."""
        answer = "At 22:40:51 the heap had reached 91 % of its 4096 MiB, with a GC pause of 840 ms."
        assert look(answer, self.LOG).says_otherwise
        outcome = Checker(detector).check(Interaction(question="", contexts=[self.LOG], answer=answer))
        (claim,) = outcome.claims
        assert claim.support is Support.CONTRADICTED
        assert claim.reason == "4096 MiB here, 2048 MiB in the document"
