"""Texts to measure speed with have the size asked for, and are the same wherever they are drawn."""

import pytest

from benchmarks import texts
from benchmarks.tables import grown


@pytest.mark.parametrize(("context", "answer"), [(1_000, 150), (200, 40)])
def test_an_interaction_has_about_the_size_asked_for(context, answer):
    """Within a sentence or two, in as many passages."""
    item = texts.interaction(3, context_tokens=context, answer_tokens=answer, passages=4)
    assert sum(texts.tokens(passage.text) for passage in item.contexts) == pytest.approx(context, abs=40)
    assert texts.tokens(item.answer) == pytest.approx(answer, abs=30)
    assert 3 <= len(item.contexts) <= 4


def test_texts_are_drawn_by_their_seed():
    """The same seed gives the same interaction, another seed another, and a variant another answer."""
    first, other, variant = texts.interaction(1), texts.interaction(2), texts.interaction(1, variant=1)
    assert first == texts.interaction(1)
    assert first.contexts != other.contexts
    assert first.contexts == variant.contexts
    assert first.answer != variant.answer


def test_a_text_has_at_least_so_many_words():
    """One sentence more at most."""
    assert 500 <= len(texts.words(500).split()) < 530


def test_memory_is_compared_after_it_has_warmed_up():
    """What is loaded at first is no growth."""
    assert grown({"marks": [[0, 50], [100, 100], [200, 104], [300, 110]]}) == pytest.approx(0.1)
