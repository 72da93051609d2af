"""BLEU and ROUGE: the published formulas, checked against the libraries that are kept for them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu as sacre

from groundwire.text.ngrams import bleu, common, ngrams, rouge_l, rouge_n

WORDS = ("the", "fee", "is", "25", "EUR", "for", "one", "bag")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12)
references = st.lists(texts, min_size=1, max_size=3)


class Spaces:
    """Leaves the cutting of words to us."""

    def tokenize(self, text):
        return text.split()


def by_rouge_score(candidate, reference):
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=Spaces())
    return scorer.score(" ".join(reference), " ".join(candidate))


@given(texts, references)
def test_bleu_is_that_of_sacrebleu(candidate, several):
    theirs = sacre(
        " ".join(candidate), [" ".join(one) for one in several], smooth_method="exp", tokenize="none"
    )
    assert bleu(candidate, several) == pytest.approx(theirs.score / 100, abs=1e-9)


@given(texts.filter(lambda words: len(words) >= 4), references)
def test_bleu_is_that_of_nltk(candidate, several):
    theirs = sentence_bleu(several, candidate, smoothing_function=SmoothingFunction().method3)
    assert bleu(candidate, several) == pytest.approx(theirs, abs=1e-9)


def test_bleu_on_a_worked_example():
    """Six words: 5 of 6 single ones, 3 of 5 pairs, 2 of 4 triples and 1 of 3 runs of four are shared."""
    candidate, reference = ["the", "cat", "sat", "on", "a", "mat"], ["the", "cat", "sat", "on", "the", "mat"]
    assert bleu(candidate, [reference]) == pytest.approx((5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_brevity_costs_the_exponential_of_what_is_missing():
    reference = ["the", "cat", "sat", "on", "the", "mat"]
    assert bleu(reference[:4], [reference], brevity=False) == pytest.approx(1.0)
    assert bleu(reference[:4], [reference]) == pytest.approx(2.718281828459045 ** (1 - 6 / 4))


def test_a_word_counts_no_more_often_than_a_reference_has_it():
    assert bleu(["the"] * 7, [["the", "cat", "the", "mat"]], order=1) == pytest.approx(2 / 7)


@given(texts, texts)
def test_rouge_is_that_of_rouge_score(candidate, reference):
    theirs = by_rouge_score(candidate, reference)
    for name, ours in (
        ("rouge1", rouge_n(candidate, reference, 1)),
        ("rouge2", rouge_n(candidate, reference, 2)),
        ("rougeL", rouge_l(candidate, reference)),
    ):
        assert ours.precision == pytest.approx(theirs[name].precision)
        assert ours.recall == pytest.approx(theirs[name].recall)


def test_rouge_on_a_worked_example():
    """Lin's own: both candidates share three words with the reference, but only one keeps their order."""
    reference = ["police", "killed", "the", "gunman"]
    assert rouge_l(["police", "kill", "the", "gunman"], reference) == (3 / 4, 3 / 4)
    assert rouge_l(["the", "gunman", "kill", "police"], reference) == (2 / 4, 2 / 4)
    assert rouge_n(["the", "gunman", "kill", "police"], reference, 2) == (1 / 3, 1 / 3)


@given(texts, texts)
def test_the_common_sequence_is_that_of_the_textbook_table(a, b):
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            rows[i + 1][j + 1] = rows[i][j] + 1 if x == y else max(rows[i][j + 1], rows[i + 1][j])
    assert common(a, b) == common(b, a) == rows[-1][-1]


def test_a_reference_more_costs_what_it_is_long():
    """However many went before it: passages have thousands of sentences, each of them a reference."""
    many = [[f"{i} {j}" for j in range(12)] for i in range(4_000)]
    began = time.process_time()
    assert bleu(many[0], many) == 1.0
    assert time.process_time() - began < 3


def test_nothing_has_nothing_in_common():
    assert bleu([], [["a"]]) == bleu(["a"], [[]]) == 0.0
    assert rouge_l([], []) == rouge_n([], ["a"], 1) == (0.0, 0.0)
    assert ngrams(["a"], 2).total() == 0
