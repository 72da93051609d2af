"""Passages and answers to measure speed with, of any size, drawn by a seed.

An answer says some of its passages' facts in other words, and gets every sixth one wrong. Every word of it
is invented, so it says nothing about quality.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from groundwire import Interaction
from groundwire.local import pieces

# Each fact as a passage puts it, and as an answer does.
_FACTS = (
    (
        "{place} Harbour is open to visitors from {hour}:00 until {late}:30 between {month} and October.",
        "Visitors can enter {place} Harbour between {hour}:00 and {late}:30 from {month} to October.",
    ),
    (
        "A season ticket for the {place} ferry costs {price} euros and is valid for {many} days.",
        "You pay {price} euros for a season ticket of the {place} ferry, which lasts {many} days.",
    ),
    (
        "The museum of {place} keeps {many} letters that {person} wrote to her brother in {year}.",
        "In {year}, {person} wrote {many} letters to her brother; the museum of {place} has them.",
    ),
    (
        "Repairs to the old mill at {place} began in {year} under {person} and took {few} years to complete.",
        "{person} led the repairs of the mill at {place}, which started in {year} and lasted {few} years.",
    ),
    (
        "Members who cancel a course in {place} {few} weeks ahead get back {share} % of the fee.",
        "A {place} course cancelled {few} weeks before it starts is refunded by {share} %.",
    ),
    (
        "The reservoir above {place} holds {many} thousand cubic metres and supplies {few} villages.",
        "{few} villages get water from the {place} reservoir of {many} thousand cubic metres.",
    ),
    (
        "Dogs are welcome on the trail from {place} to the ridge, but must be kept on a lead until {month}.",
        "You may take a dog on the {place} trail as long as it is on a lead until {month}.",
    ),
    (
        "{person} was elected to the council of {place} with {share} % of the votes and serves until {year}.",
        "With {share} % of the votes, {person} holds a seat on the {place} council until {year}.",
    ),
    (
        "The night train stops at {place} at {late}:15 and carries {many} passengers in {few} sleeping cars.",
        "At {late}:15 the night train calls at {place}; its {few} sleeping cars take {many} passengers.",
    ),
    (
        "Orders above {price} euros are delivered to {place} free of charge within {few} working days.",
        "Delivery to {place} takes {few} working days and costs nothing for orders above {price} euros.",
    ),
    (
        "The station at {place} measured {few} degrees on average in {month}, the coldest since {year}.",
        "It was the coldest {month} since {year} at the {place} station, with {few} degrees on average.",
    ),
    (
        "Staff in {place} may work from home {few} days a month once {person} has agreed in writing.",
        "Once {person} agrees in writing, staff in {place} can work at home {few} days a month.",
    ),
)
_MONTHS = ("February", "March", "April", "May", "June", "July", "August")
_FIRST = (
    "Ada",
    "Bruno",
    "Clara",
    "Dimitri",
    "Edda",
    "Farid",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Kaya",
    "Leo",
)
_STARTS = ("Al", "Bran", "Cor", "Dun", "El", "Fen", "Gar", "Hol", "Ist", "Kel", "Lor", "Mar", "Nor", "Ost")
_MIDDLES = ("a", "e", "i", "o", "er", "an", "en", "or")
_ENDS = ("by", "dale", "ford", "ham", "ley", "mouth", "ness", "stead", "ton", "wick")
_WRONG_EVERY = 6
_SENTENCE = 24


def interaction(
    seed: int, *, context_tokens: int = 1_000, answer_tokens: int = 150, passages: int = 8, variant: int = 0
) -> Interaction:
    """An interaction of about so many tokens; another ``variant`` answers over the same passages."""
    rng = random.Random(f"passages {seed}")
    facts = list(_until(rng, context_tokens))
    share = -(-len(facts) // passages)
    texts = [" ".join(said for said, _ in facts[at : at + share]) for at in range(0, len(facts), share)]
    picked = random.Random(f"answer {seed} {variant}")
    order = picked.sample(facts, len(facts))
    told: list[str] = []
    size = 0
    while size < answer_tokens - _SENTENCE / 2 and len(told) < len(order):
        sentence = order[len(told)][1]
        if len(told) % _WRONG_EVERY == _WRONG_EVERY - 1:
            sentence = _spoilt(sentence)
        told.append(sentence)
        size += tokens(sentence)
    place = order[0][1].split()[0]
    return Interaction(question=f"What should I know about {place}?", contexts=texts, answer=" ".join(told))


def words(count: int, seed: int = 0) -> str:
    """One text of at least ``count`` words."""
    rng = random.Random(f"words {seed}")
    told: list[str] = []
    size = 0
    while size < count:
        told.append(_fact(rng)[0])
        size += len(told[-1].split())
    return " ".join(told)


def tokens(text: str) -> int:
    """The number of tokens that the encoder would read."""
    return sum(len(token.ids) for token in pieces.read(text))


def _until(rng: random.Random, size: int) -> Iterator[tuple[str, str]]:
    while size > 0:
        fact = _fact(rng)
        yield fact
        size -= tokens(fact[0])


def _fact(rng: random.Random) -> tuple[str, str]:
    slots = {
        "place": rng.choice(_STARTS) + rng.choice(_MIDDLES) + rng.choice(_ENDS),
        "person": f"{rng.choice(_FIRST)} {rng.choice(_STARTS)}{rng.choice(_ENDS)}",
        "month": rng.choice(_MONTHS),
        "year": rng.randint(1850, 2035),
        "hour": rng.randint(5, 11),
        "late": rng.randint(17, 23),
        "few": rng.randint(2, 12),
        "many": rng.randint(13, 980),
        "price": rng.randint(15, 400),
        "share": rng.randint(13, 97),
    }
    said, told = rng.choice(_FACTS)
    return said.format(**slots), told.format(**slots)


def _spoilt(sentence: str) -> str:
    """The sentence with its first digit changed, or with a denial where it has none."""
    for at, letter in enumerate(sentence):
        if letter.isdigit():
            return f"{sentence[:at]}{(int(letter) + 3) % 9 + 1}{sentence[at + 1 :]}"
    return sentence.replace(" you may ", " you may not ").replace("You may ", "You may not ")
