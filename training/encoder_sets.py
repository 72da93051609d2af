"""What the labelled sets say, as rows: their answers, and what their own labels mean.

Which of them make a stage, the modules of stages say.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from groundwire.core.span import Span
from groundwire.local import rows
from training.encoder_answers import as_marked
from training.encoder_rows import Label, Labelled
from training.labelled_sets import Raw, contexts, read

NLI_PARTS = ("mnli", "snli", "qnli")
ENTAILMENTS = {
    "entailment": Label.SUPPORTED,
    "neutral": Label.UNSUPPORTED,
    "contradiction": Label.CONTRADICTED,
    "not_entailment": Label.NOT_SUPPORTED,
}
STANCES = {
    "irrelevant": Label.UNSUPPORTED,
    "completely-support": Label.SUPPORTED,
    "partially-support": Label.NOT_SUPPORTED,
    "refute": Label.CONTRADICTED,
}
STANCE_WEIGHTS = {Label.SUPPORTED: 1.5, Label.UNSUPPORTED: 0.35}
"""Two snippets in three are irrelevant, and plainly so."""

SHORT_ANSWERS = ("expertqa", "begin", "faithdial_audit", "defacto")
SHORT_SUPPORTED_WEIGHT = 1.5
HALUEVAL_WEIGHT, HALUEVAL_LEAST_WORDS = 0.3, 4
"""Made up by a model, and told apart by their length: little weight, and no answers of a word or two."""

STATED = ("begin", "faithdial_audit", "defacto", "expertqa", "wice")
NLI_STATED_SHARE = 0.2


@dataclass(frozen=True, kw_only=True)
class Sets:
    """Where the sets lie, and how many answers to read of each: all for None."""

    data: Path
    most: int | None = None

    def read(self, *names: str) -> list[Raw]:
        """The answers of these sets, one set after the other."""
        return [raw for name in names for raw in read(self.data / "train" / f"{name}.jsonl.gz")[: self.most]]


def short_pairs(sets: Sets) -> Iterator[Labelled]:
    """Premise and hypothesis, evidence and claim."""
    for raw in sets.read("nli"):
        if raw["meta"]["subset"] in NLI_PARTS:
            yield from whole(raw, ENTAILMENTS[raw["label_fine"]])
    for raw in sets.read("fever_rte"):
        yield from whole(raw, ENTAILMENTS[raw["label_fine"]])
    yield from claims_and_passages(sets)
    for raw in sets.read("halueval"):
        if len(raw["answer"].split()) >= HALUEVAL_LEAST_WORDS:
            yield from whole(raw, either(raw), HALUEVAL_WEIGHT)


def claims_and_passages(sets: Sets) -> Iterator[Labelled]:
    """Claims beside search snippets, cited passages, dialogue and news."""
    for raw in sets.read("factcheckgpt_stance"):
        label = STANCES[raw["label_fine"]]
        yield from whole(raw, label, STANCE_WEIGHTS.get(label, 1.0))
    for raw in sets.read(*SHORT_ANSWERS):
        yield from whole(raw, either(raw), 1.0 if raw["label"] else SHORT_SUPPORTED_WEIGHT)


def marked_claims(sets: Sets) -> Iterator[Labelled]:
    """Claims about long pages, some with their unsupported words marked."""
    for raw in sets.read("wice"):
        yield from whole(raw, either(raw))
    for raw in sets.read("wice_tokens"):
        yield from as_marked(raw, [Span(0, len(raw["answer"]))], 1.0)


def either(raw: Raw) -> Label:
    """What a label of yes or no says."""
    return Label.NOT_SUPPORTED if raw["label"] else Label.SUPPORTED


def whole(raw: Raw, label: Label, weight: float = 1.0) -> Iterator[Labelled]:
    """An answer of one statement as one row; none where it doesn't fit in one."""
    answer = raw["answer"].strip()
    if not answer or not raw["context"].strip():
        return
    made = rows.Builder(contexts(raw), raw.get("question")).rows(answer, [Span(0, len(answer))])
    if len(made) == 1:
        # Nobody said which words of an unsupported statement are at fault.
        of_words = Label.SUPPORTED if label == Label.SUPPORTED else Label.IGNORED
        yield Labelled(made[0], label, [of_words] * len(made[0].words), weight)


def supported(sets: Sets, rng: random.Random) -> Iterator[Raw]:
    """Answers of one statement that follow from their context."""
    yield from (raw for raw in sets.read("fever_rte") if raw["label_fine"] == "entailment")
    for raw in sets.read("nli"):
        entailed = raw["meta"]["subset"] in NLI_PARTS[:2] and raw["label_fine"] == "entailment"
        if entailed and rng.random() < NLI_STATED_SHARE:
            yield raw
    yield from (raw for raw in sets.read(*STATED) if not raw["label"])
    stances = sets.read("factcheckgpt_stance")
    yield from (raw for raw in stances if STANCES[raw["label_fine"]] == Label.SUPPORTED)
