"""How much words and readings tell in other languages than English.

    python -m training.languages

Fits on ``tests/probes/languages/choosing.toml``, with one answer in four wrong, and prints the weights that
``lexical_model.in_other_words`` and ``embedded_model.in_other_words`` have. Two or three numbers from 96
answers: they stand in the code, rounded, and not in a file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks import probes
from groundwire import Interaction
from groundwire.core.plan import Encoded
from groundwire.detectors import Embedded, embedded_model, lexical_model
from groundwire.detectors.as_read import AsRead
from groundwire.detectors.embedded import asked, without_known
from groundwire.detectors.lexical_model import logit
from groundwire.detectors.opening import Opened, opened
from groundwire.local.embedded import READER

CHOOSING = Path(__file__).resolve().parents[1] / "tests" / "probes" / "languages" / "choosing.toml"
WRONG = 0.25
PENALTY = {"lexical": 1.0, "embedded": 10.0}
"""How strongly weights are held down: for two figures, .3 to 10 are equally good, and 10 claims least."""


def main() -> None:
    """Fit and print."""
    pairs = probes.pairs(CHOOSING)
    table = np.array([figures(side) for pair in pairs for side in (pair.interaction, pair.changed)])
    labels = np.tile([0, 1], len(pairs))
    weights = np.where(labels == 1, WRONG, 1 - WRONG) * 2
    for name, columns in (("lexical", [0]), ("embedded", [0, 1])):
        model = LogisticRegression(C=1 / PENALTY[name]).fit(table[:, columns], labels, sample_weight=weights)
        told = ", ".join(f"{weight:.2f}" for weight in model.coef_[0])
        print(f"{name}: {told}; begins at {model.intercept_[0]:.2f}")


def figures(interaction: Interaction) -> tuple[float, float]:
    """The log-odds that words and facts give an answer, and those of the worst word that was read."""
    first = opened(AsRead.of(interaction), Embedded())
    if not isinstance(first, Opened) or first.spoken is None:
        raise SystemExit(f"nothing to weigh, or no other language: {interaction.answer}")
    lexical = lexical_model.load().weigh(first.seen)
    numbers = embedded_model.to_read(first.seen, lexical)
    if not numbers:
        return logit(lexical.raw), embedded_model.worst_word(())
    (reply,) = READER.read([asked(first.interaction, first.seen, numbers)])
    assert isinstance(reply, Encoded), reply
    read = without_known(first.seen, dict(zip(numbers, reply.claims, strict=True)))
    return logit(lexical.raw), max(embedded_model.worst_word(claim.words) for claim in read.values())


if __name__ == "__main__":
    main()
