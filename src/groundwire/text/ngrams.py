"""How much of one sequence of tokens is in another: BLEU, ROUGE-n and ROUGE-L.

The formulas as they were published, over tokens of any kind. What a token is belongs to ``tokens``, and what
an overlap means for an answer to the detectors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

Tokens = Sequence[Hashable]


class Rouge(NamedTuple):
    """``precision`` is the share of the candidate in the reference, ``recall`` of the reference in it."""

    precision: float
    recall: float


def ngrams(tokens: Tokens, n: int) -> Counter[tuple[Hashable, ...]]:
    """How often each run of ``n`` tokens occurs."""
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def bleu(candidate: Tokens, references: Sequence[Tokens], *, order: int = 4, brevity: bool = True) -> float:
    """BLEU of one candidate (Papineni et al., 2002): the geometric mean of n-gram precisions up to ``order``.

    An n-gram counts at most as often as in the reference that has it most. A candidate shorter than
    ``order`` is measured by the orders that it has; where an order matches nothing, its precision is half of
    the least it could be, a quarter the second time, and so on (NIST's smoothing), unless no token matches.
    Without ``brevity``, a candidate shorter than its references is not punished for it.
    """
    logs: list[float] = []
    halvings = 0
    for n in range(1, min(order, len(candidate)) + 1):
        counted = ngrams(candidate, n)
        most: dict[tuple[Hashable, ...], int] = {}
        for reference in references:
            found = ngrams(reference, n)  # the candidate's alone are kept: references can be many and long
            most |= {gram: max(most.get(gram, 0), found[gram]) for gram in counted.keys() & found.keys()}
        matched = sum(min(times, most.get(gram, 0)) for gram, times in counted.items())
        total = counted.total()
        if not matched:
            if n == 1:
                return 0.0
            halvings += 1
        logs.append(math.log(matched / total if matched else 1 / (2**halvings * total)))
    if not logs:
        return 0.0
    nearest = min((abs(len(r) - len(candidate)), len(r)) for r in references)[1]
    shortness = min(0.0, 1 - nearest / len(candidate)) if brevity else 0.0
    return math.exp(shortness + math.fsum(logs) / len(logs))


def rouge_n(candidate: Tokens, reference: Tokens, n: int) -> Rouge:
    """The shared runs of ``n`` tokens (Lin, 2004)."""
    ours, theirs = ngrams(candidate, n), ngrams(reference, n)
    return _rouge((ours & theirs).total(), ours.total(), theirs.total())


def rouge_l(candidate: Tokens, reference: Tokens) -> Rouge:
    """The longest sequence of tokens that both have in the same order, with gaps or without (Lin, 2004)."""
    return _rouge(common(candidate, reference), len(candidate), len(reference))


def common(a: Tokens, b: Tokens) -> int:
    """The length of the longest common subsequence.

    Bit-parallel (Hyyrö, 2004): one row of the usual table is one integer, so long texts stay affordable.
    """
    if len(a) > len(b):
        a, b = b, a
    places: dict[Hashable, int] = {}
    for i, token in enumerate(a):
        places[token] = places.get(token, 0) | 1 << i
    full = (1 << len(a)) - 1
    row = full
    for token in b:
        if at := places.get(token):
            met = row & at
            row = ((row + met) | (row - met)) & full
    return len(a) - row.bit_count()


def _rouge(shared: int, candidate: int, reference: int) -> Rouge:
    return Rouge(
        precision=shared / candidate if candidate else 0.0, recall=shared / reference if reference else 0.0
    )
