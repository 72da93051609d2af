"""The token detector: counts checked by hand, what is marked, and what is not judged."""

import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu

from groundwire import (
    AbstentionReason,
    Checker,
    ConfigurationError,
    Grading,
    Interaction,
    Support,
    detectors,
)
from groundwire.core.aggregation import AnyUnsupported, Fraction
from groundwire.detectors.token import Measure, TokenOverlap

CONTEXTS = ("A first checked bag costs 25 EUR. A second one costs 40 EUR.", "Refunds take 14 days.")
ANSWER = "A first bag costs 25 EUR. Dogs fly free. Refunded within 14 days."
INTERACTION = Interaction(contexts=CONTEXTS, answer=ANSWER)


def judged(interaction=INTERACTION, **parameters):
    return Checker(TokenOverlap(**{"grading": Grading(threshold=0.5), **parameters})).check(interaction)


def test_it_is_registered_by_its_name_and_asks_nobody():
    assert detectors.get("token") is TokenOverlap
    assert judged().usage.calls == 0


def test_novelty_is_the_share_of_content_words_that_no_passage_has():
    """4 of 12: dogs, fly, free and within. By their stems, "refunded" and "bag" are there."""
    outcome = judged()
    assert TokenOverlap().measures(INTERACTION)[Measure.NOVELTY] == pytest.approx(4 / 12)
    assert [claim.score for claim in outcome.claims] == pytest.approx([0.0, 1.0, 1 / 4])
    assert [claim.support for claim in outcome.claims] == [
        Support.SUPPORTED,
        Support.UNSUPPORTED,
        Support.SUPPORTED,
    ]
    assert [span.of(ANSWER) for span in outcome.spans] == ["Dogs", "fly", "free"]


def test_the_score_is_shared_between_the_whole_answer_and_its_claims():
    claims = (0.0 + 1.0 + 1 / 4) / 3
    assert judged(whole=1.0).score == pytest.approx(4 / 12)
    assert judged(whole=0.0, aggregation=Fraction()).score == pytest.approx(claims)
    assert judged(whole=0.25, aggregation=Fraction()).score == pytest.approx(0.25 * 4 / 12 + 0.75 * claims)
    assert judged(whole=0.0, aggregation=AnyUnsupported()).score == 1.0


def test_stems_and_stop_words_can_be_chosen():
    assert judged(stem=False).claims[2].score == pytest.approx(2 / 4)
    assert judged(stop_words=["Within"]).claims[2].score == pytest.approx(0 / 3)
    assert judged(stop_words=()).claims[0].score == pytest.approx(0 / 6)


def test_the_nearest_sentence_is_the_evidence():
    outcome = judged()
    assert [[e.quote for e in claim.evidence] for claim in outcome.claims] == [
        ["A first checked bag costs 25 EUR."],
        [],
        ["Refunds take 14 days."],
    ]
    assert outcome.claims[2].evidence[0].passage == 1


def test_every_measure_of_the_whole_is_that_of_the_kept_libraries():
    """The answer is longer than the passage, so that BLEU has no brevity penalty."""
    interaction = Interaction(
        contexts=["the fee is 25 EUR for one bag"], answer="the fee for bag one is 30 EUR it is"
    )
    measures = TokenOverlap(tokenizer=str.split).measures(interaction)
    rouge = RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=_Spaces()).score(
        interaction.contexts[0].text, interaction.answer
    )
    theirs = sentence_bleu(
        interaction.answer, [interaction.contexts[0].text], smooth_method="exp", tokenize="none"
    )
    assert measures[Measure.BLEU] == pytest.approx(1 - theirs.score / 100)
    for n in "12L":
        assert measures[Measure(f"rouge-{n.lower()} precision")] == pytest.approx(
            1 - rouge[f"rouge{n}"].precision
        )
        assert measures[Measure(f"rouge-{n.lower()} recall")] == pytest.approx(1 - rouge[f"rouge{n}"].recall)


class _Spaces:
    def tokenize(self, text):
        return text.split()


@pytest.mark.parametrize("measure", list(Measure))
def test_a_copied_sentence_is_supported_and_an_invented_one_is_not_whatever_the_measure(measure):
    interaction = Interaction(contexts=CONTEXTS, answer=f"{CONTEXTS[1]} Puppies adore chocolate.")
    copied, invented = judged(interaction, measure=measure).claims
    assert copied.score == pytest.approx(0.0)
    assert copied.evidence[0].quote == CONTEXTS[1]
    assert invented.score == 1.0


def test_claims_are_measured_against_the_best_sentence():
    """Of five pairs only "first bag" is new; of seven words only "checked" is left out."""
    assert judged(measure="rouge-2 precision").claims[0].score == pytest.approx(1 - 4 / 5)
    assert judged(measure="rouge-1 recall").claims[0].score == pytest.approx(1 - 6 / 7)
    assert judged(measure="rouge-l precision").claims[2].score == pytest.approx(1 - 3 / 4)


def test_a_claim_shorter_than_the_ngram_is_measured_by_its_own_length():
    interaction = Interaction(contexts=CONTEXTS, answer="Refunds.")
    assert judged(interaction, measure="rouge-2 precision").score == 0.0
    assert judged(interaction, measure="bleu").score == 0.0


def test_a_models_tokenizer_may_give_numbers():
    detector = TokenOverlap(tokenizer=_letters, whole=1.0)
    interaction = Interaction(contexts=["abab"], answer="abcd")
    assert Checker(detector).check(interaction).score == pytest.approx(2 / 4)
    assert detector.spec.parameters["tokenizer"].endswith("_letters")
    assert detector.spec.fingerprint == TokenOverlap(tokenizer=_letters, whole=1.0).spec.fingerprint


def _letters(text):
    return [ord(letter) for letter in text]


def test_words_are_marked_where_they_stand_beside_escapes_and_accents():
    answer = "Fee:\\n25 EUR plus café vouchers."
    outcome = judged(
        Interaction(contexts="The fee is 25 EUR.", answer=answer), grading=Grading(threshold=0.3)
    )
    assert [span.of(answer) for span in outcome.spans] == ["plus", "café", "vouchers"]


@pytest.mark.parametrize("answer", ["", " ", "...", "It is."])
def test_an_answer_without_content_is_not_judged(answer):
    assert judged(Interaction(contexts=CONTEXTS, answer=answer)).why is AbstentionReason.NO_CLAIMS


def test_an_answer_shorter_than_the_cutoff_is_not_judged():
    short = Interaction(contexts=CONTEXTS, answer="42 million")
    assert judged(short).hallucinated
    assert judged(short, shortest=2).hallucinated
    assert judged(short, shortest=3).why is AbstentionReason.NO_CLAIMS


@pytest.mark.parametrize("contexts", [None, "", ["  "], ["?!"]])
def test_without_words_to_compare_with_nothing_is_judged(contexts):
    assert judged(Interaction(contexts=contexts, answer=ANSWER)).why is AbstentionReason.NO_CONTEXT
    with pytest.raises(ValueError, match="nothing to measure"):
        TokenOverlap().measures(Interaction(contexts=contexts, answer=ANSWER))


def test_a_statement_without_content_claims_nothing():
    outcome = judged(Interaction(contexts=CONTEXTS, answer="So it is. Refunds take 14 days."))
    assert outcome.claims[0].support is Support.INFERRED
    assert outcome.score == 0.0


def test_every_mistake_is_named():
    with pytest.raises(ConfigurationError) as caught:
        TokenOverlap(
            measure="rouge", whole=2, aggregation="mean", tokenizer="bert", stop_words="the", shortest=0
        )
    assert len(caught.value.problems) == 6
