"""Texts worked through once: what is kept, and what is not."""

from groundwire.text.remembered import Remembered


class Making:
    """Makes an object of its own of each text, and counts."""

    def __init__(self):
        self.made = 0

    def __call__(self, text):
        self.made += 1
        return [text]


def test_the_same_text_is_worked_through_once():
    making = Making()
    memory = Remembered(making, most=10_000)
    assert memory.of("a bag") is memory.of("a bag")
    assert making.made == 1
    memory.forget()
    assert memory.of("a bag") == ["a bag"]
    assert making.made == 2


def test_what_is_remembered_is_bounded():
    """The latest are kept, up to some characters in all; one that alone would drive out many is not."""
    making = Making()
    memory = Remembered(making, most=10_000)
    texts = [f"{n:1000}" for n in range(50)]
    made = [memory.of(text) for text in texts]
    kept = []
    for text, one in zip(reversed(texts), reversed(made), strict=True):
        if memory.of(text) is not one:
            break
        kept.insert(0, one)
    assert kept == made[-len(kept) :]
    assert 5 <= len(kept) <= 10
    huge = "x" * 5000
    assert memory.of(huge) is not memory.of(huge)


def test_a_forked_child_begins_anew():
    making = Making()
    memory = Remembered(making, most=10_000)
    memory.of("a bag")
    memory.after_fork()
    memory.of("a bag")
    assert making.made == 2
