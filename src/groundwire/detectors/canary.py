"""A sentence that no passage can state, put among the claims to try whoever judges them.

A model that was talked into calling everything supported calls this supported, too; a reply that was copied
out of the material leaves it out. Either way the reply is worth nothing.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from groundwire.core.claim import Support
from groundwire.core.interaction import Interaction
from groundwire.prompts.quoting import neutral
from groundwire.prompts.replies import ClaimReply, UnreadableError

_BEGINS = ("Vel", "Tor", "Kas", "Mir", "Bren", "Dal", "Fen", "Gor", "Hal", "Jor", "Lom", "Nar", "Ost", "Pell")
_GOES_ON = ("mo", "ri", "ta", "lu", "ve", "na", "so", "di", "ke", "pa", "shi", "bo")
_ENDS = ("ra", "stad", "wick", "mund", "lin", "dorf", "vik", "nes", "holm", "gard")
_SAID = (
    "The town hall of {} was finished in {}.",
    "The ferry to {} has run since {}.",
    "A school for clockmakers opened in {} in {}.",
    "The bridge at {} was painted green in {}.",
    "{} won its third rowing cup in {}.",
    "The old mill in {} burnt down in {}.",
)


@dataclass(frozen=True, kw_only=True)
class Canary:
    """A sentence about a place whose name stands in none of the texts, and where it comes among the claims.

    Both come from what the texts say, so that nobody who writes one of them can tell beforehand.
    """

    text: str
    place: int

    def check(self, replies: Mapping[int, ClaimReply]) -> None:
        """Raise UnreadableError unless the reply flags the sentence."""
        said = replies.get(self.place)
        if said is None:
            raise UnreadableError("it leaves out a sentence that was put in to try it")
        if not Support(said.support).flagged:
            raise UnreadableError(f"it calls a sentence {said.support} that no passage states")


def canary(interaction: Interaction, *, claims: int) -> Canary:
    """The canary for an interaction whose answer makes so many claims."""
    seed = hashlib.sha256(repr(claims).encode())
    texts = [neutral(text) for text in _texts(interaction)]
    for text in texts:
        seed.update(hashlib.sha256(text.encode()).digest())
    known = "\n".join(texts).casefold()
    for drawn in _draws(seed.digest()):
        place = "".join(part[drawn[i] % len(part)] for i, part in enumerate((_BEGINS, _GOES_ON, _ENDS)))
        if place.casefold() not in known:
            said = _SAID[drawn[3] % len(_SAID)].format(place, 1700 + drawn[4])
            return Canary(text=said, place=1 + int.from_bytes(drawn[5:9], "big") % (claims + 1))
    raise AssertionError("unreachable: there is always another draw")


def _texts(interaction: Interaction) -> Iterable[str]:
    yield interaction.question
    yield interaction.answer
    yield from (passage.text for passage in interaction.contexts)
    yield from (turn.text for turn in interaction.history)


def _draws(seed: bytes) -> Iterator[bytes]:
    for attempt in itertools.count():
        yield hashlib.sha256(seed + attempt.to_bytes(8, "big")).digest()
