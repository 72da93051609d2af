"""How cost grows: in step with the text; what comes again is worked through once."""

import random
import time
import tracemalloc

import pytest

from benchmarks import texts
from groundwire import Checker, Interaction, Policy
from groundwire.local import rows
from groundwire.local.embedded import READER
from groundwire.text import overlap
from groundwire.text.remembered import Remembered

SMALL = texts.interaction(0)
TIMES = 4
"""How many times longer the longer text is. What grows with its square takes sixteen times as long."""
AT_MOST = 8.0


def spent(name, interaction):
    """Seconds of the processor for a check of passages that were never seen, the least of two."""
    checker = Checker(name, policy=Policy(timeout=None))
    checker.check(SMALL)
    least = float("inf")
    for _ in range(2):
        rows._PASSAGES.forget()
        overlap._PASSAGES.forget()
        started = time.process_time()
        checker.check(interaction)
        least = min(least, time.process_time() - started)
    return least


def long_context(size):
    return Interaction(question=SMALL.question, contexts=texts.words(size // 4)[:size], answer=SMALL.answer)


def long_answer(size):
    answer = " ".join(texts.words(40, seed=i) for i in range(size // 100))
    return Interaction(question=SMALL.question, contexts=SMALL.contexts, answer=answer)


def many_passages(size):
    text = texts.words(size // 4)[:size]
    return Interaction(contexts=[text[at : at + 200] for at in range(0, size, 200)], answer=SMALL.answer)


@pytest.mark.parametrize(
    ("name", "build", "size"),
    [
        ("lexical", long_context, 30_000),
        ("embedded", long_context, 30_000),
        ("lexical", many_passages, 30_000),
        ("lexical", long_answer, 5_000),
    ],
)
def test_a_longer_text_takes_longer_in_step_and_no_more(name, build, size):
    short, long = spent(name, build(size)), spent(name, build(TIMES * size))
    assert long < AT_MOST * max(short, 0.005)


def test_a_long_passage_takes_memory_in_step_and_is_not_kept():
    """The rows of a passage: some bytes a character while it is looked at, and none after."""
    rows.Builder([texts.words(10_000)], None)
    text = texts.words(75_000)[:300_000]
    tracemalloc.start()
    builder = rows.Builder([text], None)
    held = tracemalloc.get_traced_memory()[0]
    del builder
    left = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < 60 * len(text)
    assert left < 5 * len(text), "what is too long to be remembered is let go of"


@pytest.mark.parametrize("name", ["lexical", "embedded"])
def test_what_is_written_without_spaces_is_let_go_of(name):
    """Encoded files stand in documents, each another: of words as long as theirs none comes again."""
    checker, chance, size = Checker(name), random.Random(7), 300_000
    checker.check(SMALL)
    tracemalloc.start()
    for _ in range(5):
        encoded = "".join(chance.choices("bcdfgh", k=size))
        checker.check(Interaction(contexts=f"The fee is 25 EUR. {encoded}", answer="Crews take it in cash."))
    del encoded
    left = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert left < size


def test_passages_that_a_batch_shares_are_worked_through_once(monkeypatch):
    """Sixteen answers over eight passages: each is read once for the words, and at most once for the rows."""
    read = []

    def counting(module):
        made = module._PASSAGES._make
        return Remembered(lambda text: read.append((module.__name__, text)) or made(text), most=1_000_000)

    for module in (rows, overlap):
        monkeypatch.setattr(module, "_PASSAGES", counting(module))
    items = [texts.interaction(3, answer_tokens=30, variant=i) for i in range(16)]
    assert len({item.answer for item in items}) > 8
    assert len(list(Checker("embedded").check_many(items))) == 16
    assert len(read) == len(set(read))
    assert {text for module, text in read if module == overlap.__name__ and text} == {
        passage.text for passage in items[0].contexts
    }


def test_the_encoder_s_own_threads_are_bounded():
    """One thread a row, whatever the machine has: how many rows are read at once is ours to say."""
    options = READER._loaded.get()._session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
