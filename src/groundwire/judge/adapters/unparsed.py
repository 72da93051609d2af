"""Replies that could not be parsed as structured output, for which LangChain and its providers raise errors.

The model is there and has replied, so they are replies: asked for again where nobody can read them, and no
failures. How a reply that was parsed is read is the adapter's own.
"""

from __future__ import annotations

from pydantic import ValidationError

from groundwire.core.plan import Completed
from groundwire.core.verdict import Usage
from groundwire.judge.adapters.stopped import UNFIT, stopped, unread

# The errors of OpenAI's client, and langchain-core's, for what a provider tells with a reply.
_STOPPED = {
    "LengthFinishReasonError": "length",
    "ContentFilterFinishReasonError": "content_filter",
    "ModelRefusalError": "refusal",
}


def unparsed(error: Exception) -> Completed | None:
    """The reply that an error is about, as far as it tells it; None where it is about something else."""
    names = [kind.__name__ for kind in type(error).__mro__]
    if word := next((_STOPPED[name] for name in names if name in _STOPPED), ""):
        return unread(stopped({"finish_reason": word}))
    by_a_parser = "OutputParserException" in names  # langchain-core's
    if by_a_parser and isinstance(said := getattr(error, "llm_output", None), str) and said:
        return Completed(texts=(said,), usage=Usage(calls=1))
    if by_a_parser or isinstance(error, ValidationError):
        return unread(f"{UNFIT} ({names[0]})")
    return None
