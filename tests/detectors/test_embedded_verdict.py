"""From readings to claims: what is said of them, with readings made up and scores given."""

from __future__ import annotations

import pytest

from groundwire import Grading, Interaction
from groundwire.core.claim import Claim, Support
from groundwire.core.plan import ReadClaim, Reading, ReadWord
from groundwire.detectors.as_read import AsRead
from groundwire.detectors.embedded import Embedded
from groundwire.detectors.embedded_verdict import Caution, ReadJudging, caution
from groundwire.detectors.lexical_model import Weighed
from groundwire.detectors.opening import Opened, concluded, opened
from groundwire.text import tokens

YES = Reading(supported=0.9, unsupported=0.06, contradicted=0.04)
DOUBTED = Reading(supported=0.7, unsupported=0.2, contradicted=0.1)
NO = Reading(supported=0.1, unsupported=0.8, contradicted=0.1)
AGAINST = Reading(supported=0.05, unsupported=0.05, contradicted=0.9)


def begun(answer: str, *contexts: str, question: str = "") -> Opened:
    first = opened(AsRead.of(Interaction(question=question, contexts=contexts, answer=answer)), Embedded())
    assert isinstance(first, Opened)
    return first


def judged(
    answer: str, *contexts: str, score: float, reading: Reading = YES, wrong: str = "", question: str = ""
) -> Claim:
    """The one claim of an answer, with a reading of all of it, and ``wrong`` words read as unsupported."""
    first = begun(answer, *contexts, question=question)
    words = tuple(
        ReadWord(span=word.span, reading=NO if word.text in wrong.split() else YES)
        for word in tokens.words(answer)
    )
    read = ReadClaim(reading=reading, words=words)
    (claim,) = ReadJudging(first, Grading(threshold=0.4), [score], {0: read}, [0.5]).claims()
    return claim


SKY = "The sky is blue."


class TestSupported:
    """What is said of a claim that is not flagged."""

    def test_other_words_are_only_said_to_follow_where_the_encoder_read_them_so(self):
        claim = judged("The sky is red.", SKY, score=0.1, reading=AGAINST)
        assert claim.support is Support.SUPPORTED
        assert claim.reason == "not flagged, though “red” is not in the documents"
        claim = judged("The sky is azure.", SKY, score=0.1, reading=YES)
        assert (claim.support, claim.reason) == (
            Support.INFERRED,
            "follows from the documents, in other words: “azure”",
        )
        claim = judged("A wide sky, an azure sky, a dark sky, a red sky.", SKY, score=0.1, reading=YES)
        assert claim.reason.endswith("in other words: “wide”, “azure”, “dark” and 1 more")

    @pytest.mark.parametrize("reading", [YES, AGAINST])
    def test_a_figure_that_no_passage_has_is_named_first_and_follows_from_nothing(self, reading):
        claim = judged("The azure sky is at 40 metres.", SKY, score=0.1, reading=reading)
        assert claim.reason == "not flagged, though “40 metres” and 1 more are not in the documents"
        claim = judged("The sky is blue 40 metres up, and blue.", SKY, score=0.1, reading=reading)
        assert claim.reason.startswith("not flagged, though “40 metres”")

    def test_nor_does_a_name_that_no_passage_has_and_it_is_named_first(self):
        claim = judged("The azure sky is Brennick's.", SKY, score=0.1, reading=YES)
        assert claim.reason == "not flagged, though “Brennick's” and 1 more are not in the documents"

    def test_words_that_only_say_what_it_goes_by_are_no_other_words(self):
        claim = judged("According to the given documents, the sky is blue.", SKY, score=0.1, reading=YES)
        assert claim.reason == "its words are in the documents"
        claim = judged("Based on the context, the sky is azure.", SKY, score=0.1, reading=YES)
        assert claim.reason == "follows from the documents, in other words: “azure”"

    def test_a_claim_that_may_not_be_supported_is_not_said_to_be(self):
        """Its score makes the answer MEDIUM: the reasons of both say so."""
        claim = judged("The sky is azure.", SKY, score=0.3, reading=YES)
        assert claim.reason == "not flagged, though “azure” is not in the documents"
        claim = judged("Blue is the sky.", SKY, score=0.3, reading=YES)
        assert claim.reason == "its words are in the documents, but may say something else there"

    def test_a_figure_that_was_not_worked_out_is_told_beside_one_that_was(self):
        answer = "Four tickets at 25 EUR cost 100 EUR on platform 7."
        claim = judged(answer, "A ticket costs 25 EUR.", score=0.1)
        assert claim.support is Support.INFERRED
        assert claim.reason.endswith("= 100 EUR; not in the documents: “7”")

    def test_who_declines_follows_from_nothing(self):
        """Also with a figure in it that no passage has, which has such a claim read."""
        first = begun("Cats may come. The handbook does not mention 12 dogs.", "Cats may come.")
        read = ReadClaim(reading=YES)
        judging = ReadJudging(first, Grading(threshold=0.4), [0.1, 0.1], {1: read}, [0.02, 0.1])
        claim = judging.claims()[1]
        assert (claim.support, claim.reason) == (Support.SUPPORTED, "declines to answer")

    @pytest.mark.parametrize("reading", [YES, NO, AGAINST])
    def test_words_are_only_said_to_be_there_where_all_are(self, reading):
        assert (
            judged("Blue is the sky.", SKY, score=0.1, reading=reading).reason
            == "its words are in the documents"
        )
        assert "words are in" not in judged("The sky is red.", SKY, score=0.1, reading=reading).reason


class TestMarkedWords:
    """Which words of a flagged claim are marked."""

    FLIGHT = "Captain Maria Lopez flew the plane to Lisbon."

    def marked(self, answer: str, *contexts: str, **fields: str) -> list[str]:
        claim = judged(answer, *contexts, score=0.6, reading=NO, **fields)
        return [span.of(answer) for span in claim.words]

    def test_an_unknown_name_is_marked_whatever_the_encoder_reads(self):
        answer = "The pilot John Carter flew the plane to Lisbon."
        assert self.marked(answer, self.FLIGHT) == ["John Carter"]
        assert self.marked(answer, self.FLIGHT, wrong="The pilot") == ["The pilot", "John Carter"]

    def test_where_it_is_sure_of_no_word_those_that_no_passage_has_are(self):
        assert self.marked("The captain flew the glider to Lisbon.", self.FLIGHT) == ["glider"]

    @pytest.mark.parametrize("doubted", ["glider", "skipper"])
    def test_of_several_the_likeliest_is(self, doubted):
        """Whoever is sure of none does not name them all: some are but other words for the same."""
        answer = "The skipper flew the glider to Lisbon."
        words = tuple(
            ReadWord(span=word.span, reading=DOUBTED if word.text == doubted else YES)
            for word in tokens.words(answer)
        )
        read = {0: ReadClaim(reading=DOUBTED, words=words)}
        first = begun(answer, self.FLIGHT)
        (claim,) = ReadJudging(first, Grading(threshold=0.4), [0.6], read, [0.02]).claims()
        assert [span.of(answer) for span in claim.words] == [doubted]

    def test_a_contradicted_claim_may_have_other_words_that_nothing_bears_out(self):
        flight = "The flight takes 3 hours and lands at noon."
        answer = "The flight takes 4 hours and serves champagne."
        assert self.marked(answer, flight) == ["4 hours"]
        assert self.marked(answer, flight, wrong="serves champagne") == ["4 hours", "serves champagne"]

    def test_a_figure_that_the_passages_have_is_not(self):
        answer = "It may be returned within 30 days."
        assert self.marked(answer, "Returns are free within 30 days.", wrong="30 may") == ["may"]

    def test_the_question_s_words_are_not_where_there_are_others(self):
        answer = "We sell shoes in Rome."
        assert self.marked(answer, "We sell boots.", question="Any shoes?", wrong="shoes") == ["Rome"]
        assert self.marked("We sell shoes.", "We sell boots.", question="Any shoes?") == ["shoes"]


def test_a_contradiction_names_what_the_answer_says_and_what_the_document_says():
    claim = judged(
        "The library closes late.", "The library closes early.", score=0.6, reading=AGAINST, wrong="late"
    )
    assert claim.support is Support.CONTRADICTED
    assert "“late” here, " in claim.reason
    assert "early" in claim.reason


def test_words_that_were_read_as_a_contradiction_are_held_against_the_whole_sentence():
    """They have no counterpart to be named in it."""
    claim = judged(
        "Five days may be kept until March.",
        "Five days may be kept and must be used in March.",
        score=0.6,
        reading=AGAINST,
        wrong="until",
    )
    assert claim.support is Support.CONTRADICTED
    assert claim.reason == "“until” does not fit “Five days may be kept and must be used in March.”"


def test_what_the_documents_bear_out_is_never_said_not_to_fit():
    """The encoder may be wrong of it: then the whole is in doubt."""
    said = "Open TCP 443 to the ingest host."
    claim = judged(
        said, "Outbound: open TCP 443 to the ingest host.", score=0.6, reading=AGAINST, wrong="443"
    )
    assert claim.support is Support.CONTRADICTED
    assert claim.reason.startswith(f"“{said}” does not fit ")


class TestCaution:
    """Text unlike what was calibrated on."""

    @pytest.mark.parametrize(
        ("answer", "language"),
        [
            ("Les clients ont 30 jours pour retourner un article.", "French"),
            ("Kunden haben 30 Tage Zeit für die Rückgabe.", "German"),
            ("Los clientes tienen 30 días.", "Spanish"),
            ("Klanten hebben 30 dagen de tijd.", "Dutch"),
            ("退货期限为三十天。", "Chinese"),
            ("返品は三十日以内です。", "Japanese"),
        ],
    )
    def test_one_foreign_sentence_is_enough(self, answer, language):
        doubt = caution(begun(answer, answer))
        assert doubt is not None
        assert (
            doubt.said == f"Less sure than usual: in {language}, other words for the same are hardly known."
        )

    @pytest.mark.parametrize(
        "answer", ["Los Angeles.", "Red shoes cost 30 dollars.", "Rio de Janeiro and Los Angeles."]
    )
    def test_names_and_terse_english_are_none(self, answer):
        assert caution(begun(answer, answer)) is None

    @pytest.mark.parametrize("score", [0.01, 0.38, 0.4, 0.42, 0.5, 0.99])
    @pytest.mark.parametrize("threshold", [0.0, 0.4, 0.8, 1.0])
    def test_being_less_sure_changes_no_side_of_the_threshold(self, score, threshold):
        weighed = Weighed(odds=(score,), least=(0.0,), raw=score, score=score)
        moved = Caution(said="").applied(weighed, threshold).score
        assert (moved >= threshold) == (score >= threshold)
        assert abs(moved - threshold) <= abs(score - threshold) + 1e-2


def test_title_level_and_reason_agree_just_below_the_threshold():
    """Over all scores: "supported" only where the level is LOW."""
    first = begun("The sky is red.", SKY)
    for score in (0.05, 0.2, 0.3, 0.39, 0.5, 0.7, 0.95):
        read = ReadClaim(reading=NO)
        claims = ReadJudging(first, Grading(threshold=0.4), [score], {0: read}, [0.5]).claims()
        outcome = concluded(claims, Embedded(grading=Grading(threshold=0.4)), raw=None)
        said = "is supported" in outcome.reason
        assert said == (outcome.level == "low") == (outcome.wording.title == "Supported by the documents")
