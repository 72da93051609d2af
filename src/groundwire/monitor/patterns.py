"""Where the detector errs more often than elsewhere: by kind, by length, by numbers, by tag, by topic.

Only reviewed answers tell. A group is named where it errs more often than the rest of the reviewed answers
with the same verdict, with the chance of that, multiplied by the number of groups that were looked at
(Bonferroni).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from groundwire.core.verdict import Verdict
from groundwire.monitor.answer import Kept
from groundwire.monitor.export import label
from groundwire.monitor.reviews import Feedback
from groundwire.monitor.statistics import Floats, Rate, fisher, rate
from groundwire.text.tokens import STOP_WORDS, fold, words

Embed = Callable[[list[str]], Sequence[Sequence[float]]]
"""Texts to vectors, as a judge's embeddings give them."""

_MOST = 5000  # reviewed answers that are looked at, the latest ones
_FEWEST = 5  # reviewed answers of a group that is worth a name
_LONG_CONTEXT = 4000  # characters
_LONG_ANSWER = 800
_MOST_VALUES = 20  # of a tag, beyond which it names single answers
_TOPIC = 25  # answers of a topic, about
_ROUNDS = 20
_VOCABULARY = 2000


class Error(StrEnum):
    """A false positive was flagged and is not hallucinated; a false negative is, and was not."""

    FALSE_POSITIVE = "false positive"
    FALSE_NEGATIVE = "false negative"


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Answers on which the detector errs more often than ``elsewhere``; ``p`` is the chance of that."""

    error: Error
    name: str
    here: Rate
    elsewhere: Rate
    p: float
    examples: tuple[str, ...]


def patterns(
    reviewed: Iterable[tuple[Kept, Sequence[Feedback]]], embed: Embed | None = None
) -> tuple[Pattern, ...]:
    """What the errors have in common, the surest first."""
    decided = deque(
        (
            (kept, bool(truth))
            for kept, said in reviewed
            if isinstance(kept.outcome, Verdict) and (truth := label(said)) is not None
        ),
        maxlen=_MOST,
    )
    found: list[Pattern] = []
    for error, flagged in ((Error.FALSE_POSITIVE, True), (Error.FALSE_NEGATIVE, False)):
        alike = [(kept, real) for kept, real in decided if kept.outcome.hallucinated is flagged]
        wrong = np.array([real is not flagged for _, real in alike], dtype=bool)
        if wrong.any() and not wrong.all():
            found += _patterns(error, [kept for kept, _ in alike], wrong, embed)
    return tuple(sorted(found, key=lambda one: (one.p, one.name)))


def _patterns(
    error: Error, answers: Sequence[Kept], wrong: np.ndarray, embed: Embed | None
) -> Iterator[Pattern]:
    groups = {
        name: members
        for name, members in {**_features(answers), **_topics(answers, embed)}.items()
        if _FEWEST <= len(members) <= len(answers) - 1
    }
    for name, members in groups.items():
        errors, others = int(wrong[members].sum()), int(wrong.sum()) - int(wrong[members].sum())
        here, elsewhere = rate(errors, len(members)), rate(others, len(answers) - len(members))
        if here is None or elsewhere is None or here.value <= elsewhere.value:
            continue
        p = fisher(errors, here.of - errors, others, elsewhere.of - others) * len(groups)
        if p < 1:
            examples = tuple(answers[i].id for i in members if wrong[i])[:3]
            yield Pattern(error=error, name=name, here=here, elsewhere=elsewhere, p=p, examples=examples)


def _features(answers: Sequence[Kept]) -> dict[str, list[int]]:
    """Which answers have what; a group's name says it."""
    groups: dict[str, list[int]] = defaultdict(list)
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for kept in answers:
        for name, value in kept.tags:
            values[name][value] += 1
    for i, kept in enumerate(answers):
        for name in dict.fromkeys(_named(kept)):
            groups[name].append(i)
        for name, value in kept.tags:
            if len(values[name]) <= _MOST_VALUES:
                groups[f"{name} {value}"].append(i)
    return groups


def _named(kept: Kept) -> Iterator[str]:
    seen, outcome = kept.interaction, kept.outcome
    if outcome.kind is not None:
        yield f"kind {outcome.kind}"
    if outcome.level is not None:
        yield f"level {outcome.level}"
    if seen is None:
        return
    if re.search(r"\d", seen.answer):
        yield "numbers in the answer"
    if any(re.search(r"\d", span.of(seen.answer)) for span in outcome.spans):
        yield "numbers in the unsupported words"
    if sum(len(passage.text) for passage in seen.contexts) > _LONG_CONTEXT:
        yield f"contexts of more than {_LONG_CONTEXT:,} characters"
    if len(seen.answer) > _LONG_ANSWER:
        yield f"answers of more than {_LONG_ANSWER:,} characters"
    if len(seen.contexts) > 1:
        yield "several passages"
    if not seen.question:
        yield "no question"


# -- topics ----------------------------------------------------------------------------------------------


def _topics(answers: Sequence[Kept], embed: Embed | None) -> dict[str, list[int]]:
    """Answers that are about the same, each topic named by the words that set it apart."""
    count = min(12, len(answers) // _TOPIC)
    if count < 2:
        return {}
    texts = [f"{a.interaction.question} {a.interaction.answer}" if a.interaction else "" for a in answers]
    weights, vocabulary = _weighed(texts)
    vectors = weights if embed is None else np.asarray(embed(texts), dtype=float)
    topics = _clustered(_unit(vectors), count)
    mean = weights.mean(axis=0)
    named: dict[str, list[int]] = {}
    for topic in range(count):
        members = np.flatnonzero(topics == topic)
        if len(members):
            apart = weights[members].mean(axis=0) - mean
            own = [vocabulary[i] for i in np.argsort(-apart)[:3] if apart[i] > 0]
            named[f"topic {', '.join(own) or topic + 1}"] = [int(i) for i in members]
    return named


def _weighed(texts: Sequence[str]) -> tuple[Floats, list[str]]:
    """Each text's words by how often they occur there and how seldom elsewhere (tf-idf)."""
    counts = [Counter(_content(text)) for text in texts]
    spread = Counter(word for one in counts for word in one)
    vocabulary = [word for word, n in spread.most_common(_VOCABULARY) if n > 1] or ["-"]
    place = {word: i for i, word in enumerate(vocabulary)}
    weights = np.zeros((len(texts), len(vocabulary)))
    for i, one in enumerate(counts):
        for word, n in one.items():
            if word in place:
                weights[i, place[word]] = (1 + math.log(n)) * math.log(len(texts) / spread[word])
    return _unit(weights), vocabulary


def _content(text: str) -> Iterator[str]:
    for word in words(text):
        folded = fold(word.text)
        if len(folded) > 2 and folded not in STOP_WORDS and not folded[0].isdigit():
            yield folded


def _clustered(vectors: Floats, count: int) -> np.ndarray:
    """Which of ``count`` clusters each vector belongs to, by their angles (spherical k-means).

    The same vectors give the same clusters: each centre begins at the vector that is farthest from those
    before.
    """
    centres = vectors[[int(np.argmax(vectors @ vectors.mean(axis=0)))]]
    while len(centres) < count:
        nearest = (vectors @ centres.T).max(axis=1)
        centres = np.vstack([centres, vectors[int(np.argmin(nearest))]])
    members = np.zeros(len(vectors), dtype=int)
    for _ in range(_ROUNDS):
        members = np.argmax(vectors @ centres.T, axis=1)
        moved = np.array(
            [vectors[members == k].mean(axis=0) if (members == k).any() else centres[k] for k in range(count)]
        )
        moved = _unit(moved)
        if np.allclose(moved, centres):
            break
        centres = moved
    return members


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
