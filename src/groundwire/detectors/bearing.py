"""Which of many passages bear on an answer: in the others its words are found by chance.

A retriever returns twenty passages of which two are about the question. What an answer made up is likelier
found somewhere the more is looked through, so that is done in few.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from groundwire.text.overlap import Prepared
from groundwire.text.worded import word


def bearing(said: Iterable[str], passages: Sequence[Prepared]) -> frozenset[int]:
    """The numbers of the passages that bear on what is ``said``: an answer's statements, and its question.

    They are, for each of them, the passage that has most of its content words, those that have a fifth of
    them more than the ones before, and all that have four tenths; a word weighs more the fewer passages have
    it. Up to 600 words, the passages next to these are taken too: up to that many, all are. The order of the
    passages decides nothing.
    """
    numbers = range(len(passages))
    if sum(passage.size for passage in passages) <= _ENOUGH:
        return frozenset(numbers)
    postings = [passage.postings for passage in passages]
    known = Counter(chain.from_iterable(postings))
    heaviest = math.log(sum(passage.size > 0 for passage in passages) + 1.0)
    shares = dict.fromkeys(numbers, 0.0)
    kept: set[int] = set()

    def foremost(of: dict[int, float]) -> list[int]:
        return sorted(numbers, key=lambda i: (-round(of[i], 9), passages[i].size, passages[i].text))

    for worded in map(word, said):
        stems = {worded.stems[i] for i in worded.content}
        weights = {stem: heaviest - math.log(known[stem] + 0.5) for stem in sorted(stems)}
        whole = sum(weights.values())
        least = 0.0
        has: dict[int, float] = {}
        while whole > 0:
            items = weights.items()
            adds = {i: sum([w for stem, w in items if stem in postings[i]]) / whole for i in numbers}
            has = has or adds
            best = max(adds.values())
            if best <= least:
                break
            first = foremost(adds)[0]
            kept.add(first)
            weights = {stem: w for stem, w in weights.items() if stem not in postings[first]}
            least = _ADDS
        kept |= {i for i in has if has[i] >= _BEARS}
        shares = {i: max(shares[i], has.get(i, 0.0)) for i in numbers}
    room = _ENOUGH - sum(passages[i].size for i in kept)
    for i in foremost(shares):
        if i not in kept and passages[i].size <= room:
            room -= passages[i].size
            kept.add(i)
    return frozenset(kept)


_BEARS, _ADDS, _ENOUGH = 0.4, 0.2, 600
