"""Requests for an encoder, of every length, as a detector would make them."""

import random

from groundwire.core.plan import Encode
from groundwire.text.claims import cut

SUBJECTS = ["Kestrel Air", "The captain", "A checked bag", "The Lisbon office", "Each refund", "Flight 417"]
VERBS = ["costs", "takes", "reports", "includes", "no longer offers", "doubled"]
OBJECTS = ["25 EUR", "14 working days", "three meals", "40 % of its staff in 2019", "a letter to Mr Marlowe"]
REASONS = ["", " because the weather changed", ", according to the handbook", " unless it was booked online"]


def sentences(count, seed):
    choice = random.Random(seed).choice
    return " ".join(
        f"{choice(SUBJECTS)} {choice(VERBS)} {choice(OBJECTS)}{choice(REASONS)}." for _ in range(count)
    )


def request(seed=0, *, passages=3, length=8, claims=3, model=""):
    """One Encode: ``length`` sentences in each passage, ``claims`` in the answer."""
    answer = sentences(claims, f"answer {seed}")
    return Encode(
        question=f"What about {SUBJECTS[seed % len(SUBJECTS)]}?",
        passages=tuple(sentences(length, f"passage {seed} {n}") for n in range(passages)),
        answer=answer,
        claims=tuple(cut(answer)),
        model=model,
    )


def requests(count):
    """Requests of many shapes: from no passage at all to more than a row can show."""
    return [request(n, passages=n % 4, length=1 + 3 * (n % 5), claims=1 + n % 3) for n in range(count)]
