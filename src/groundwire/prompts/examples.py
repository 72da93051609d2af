"""How reviewed examples are put before a model: quoted like every text of other people, marked as done.

Pure, and no method's own: each method says in its prompt what an example shows.
"""

from __future__ import annotations

from collections.abc import Iterator

from groundwire.core.example import Example, Examples
from groundwire.prompts import catalogue
from groundwire.prompts.quoting import Fence


def example_texts(examples: Examples) -> Iterator[str]:
    """Every text that ``shown_examples`` quotes, for the fence that has to hold them."""
    for example in examples:
        yield example.interaction.question
        yield from (passage.text for passage in example.interaction.contexts)
        yield example.interaction.answer
        yield example.reason


def shown_examples(examples: Examples, fence: Fence) -> str:
    """The examples as a part of a user message, each with its reviewed score from 0 to 1; '' for none."""
    if not len(examples):
        return ""
    shown = "\n".join(_shown(i, example, fence) for i, example in enumerate(examples, 1))
    return catalogue.get("examples").fill(examples=shown)


def _shown(i: int, example: Example, fence: Fence) -> str:
    label, one = f"example {i}", example.interaction
    lines = [fence.around(f"{label} question", one.question)] if one.question else []
    lines += [fence.around(f"{label} passage {n}", p.text) for n, p in enumerate(one.contexts, 1)]
    lines.append(fence.around(f"{label} answer", one.answer))
    lines.append(f"The reviewed score of {label} is {example.score:g}.")
    if example.reason:
        lines.append(fence.around(f"{label} reason", example.reason))
    return "\n".join(lines)
