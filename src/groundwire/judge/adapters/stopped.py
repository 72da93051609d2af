"""Why a model stopped before it had said all, from the places and words that providers have for that.

A reply that was cut off or withheld often has no text at all, so that nothing else would tell its reader why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundwire.core.plan import Completed
from groundwire.core.verdict import Usage

UNFIT = "the reply doesn't fit the schema of the model's output"
_PLACES = ("stopReason", "stop_reason", "finish_reason", "done_reason")
_CUT = frozenset({"max_tokens", "max_output_tokens", "length"})
_FULL = frozenset({"model_context_window_exceeded", "model_length"})
_MALFORMED = frozenset({"malformed_tool_use", "malformed_model_output", "malformed_function_call"})
_WITHHELD = frozenset(
    {
        *("content_filter", "content_filtered", "guardrail_intervened", "refusal"),
        *("safety", "blocklist", "prohibited_content", "recitation", "spii"),
    }
)


def stopped(told: Mapping[str, Any]) -> str:
    """What became of a reply, in words, from what came with it; "" where its model ended by itself."""
    for word in _words(told):
        if word.lower() in _CUT:
            return f"the reply was cut off ({word}): the model needs a higher max_tokens"
        if word.lower() in _FULL:
            return f"the reply was cut off ({word}): the model's window is full"
        if word.lower() in _MALFORMED:
            return f"the reply was broken ({word}), as its provider says"
        if word.lower() in _WITHHELD:
            return f"the reply was withheld ({word}) by the model, its provider or a guardrail"
    return ""


def unread(why: str) -> Completed:
    """A reply of which nothing is known but why: its model is there, and may be asked again."""
    return Completed(texts=("",), usage=Usage(calls=1), stopped=(why,))


def _words(told: Mapping[str, Any]) -> Iterator[str]:
    yield from (word for place in _PLACES if isinstance(word := told.get(place), str))
    incomplete = told.get("incomplete_details")  # OpenAI's Responses
    if isinstance(incomplete, Mapping) and isinstance(incomplete.get("reason"), str):
        yield incomplete["reason"]
    if told.get("refusal"):  # OpenAI's word for word, beside a text that is empty
        yield "refusal"
