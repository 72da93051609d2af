"""The question and the answer in what applications pass around: texts, messages, and states that hold them.

Each function takes any value at all and says None where it finds nothing. Which value of a run is looked at
is decided in ``capture`` and ``contexts``.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from groundwire.host.actions import UNCHECKED_WARNING
from groundwire.langchain import chat, states

QUESTION_KEYS = (
    "question",
    "input",
    "query",
    "user_input",
    "user_question",
    "user_query",
    "prompt",
    "message",
    "messages",
)
ANSWER_KEYS = (
    "answer",
    "final_answer",
    "result",
    "output",
    "generation",
    "response",
    "completion",
    "output_text",
    "text",
    "structured_response",
    "parsed",
    "messages",
)
_PARSED = frozenset({"raw", "parsed", "parsing_error"})  # ``with_structured_output(include_raw=True)``
NAMED = ("answer", "final_answer", "generation")  # for the answer; others may hold a plan as well
PAST_KEYS = ("chat_history", "history")
HISTORY_KEYS = (*PAST_KEYS, "messages", "input")


def question(value: Any, keys: Iterable[str] = QUESTION_KEYS) -> str | None:
    """What was asked: the text itself, the last human message, or what a state holds under a known key."""
    if isinstance(value, str):
        return str(value) if value.strip() else None
    if conversation := chat.messages(value):
        i = chat.last_turn(conversation)
        return (chat.text(conversation[i]) or None) if i is not None else None
    for _, held in states.known(value, keys):
        if asked := question(held):
            return asked
    return None


def answer(value: Any, keys: Iterable[str] = ANSWER_KEYS) -> str | None:
    """What was answered: the text, the last message of a model or a tool, or what a state has under a key."""
    if (plain := _unwarned(value)) is not None:
        return plain
    if conversation := chat.messages(value):
        said = [message for message in conversation if chat.by_model(message)]
        return _unwarned(said[-1]) if said else None
    found: str | None = None
    for _, found in answers(value, keys):
        if found:
            break
    return found


def answers(value: Any, keys: Iterable[str] = ANSWER_KEYS) -> Iterator[tuple[str, str]]:
    """What a state holds under each of the keys that may hold the answer, in their order."""
    is_parsed = states.names(value) >= _PARSED
    for key, held in states.known(value, keys):
        if key == "structured_response":
            given = structured(value)
        elif key == "parsed" and not is_parsed:
            continue
        else:
            # A tool that told the user itself goes before what the model said beside calling it.
            given = _given((direct(value) if key == "messages" else None) or held)
        if given is not None:
            yield key, given
    if is_parsed and states.at(value, "parsed") is None:
        yield "raw", answer(states.at(value, "raw")) or ""


def structured(value: Any) -> str | None:
    """The text of a state's structured response: its own answer, else all of it as JSON.

    None where the last model has said something else: then it is left from an earlier turn.
    """
    said = [message for message in chat.messages(states.at(value, "messages")) if chat.by_model(message)]
    return form(value) if not said or _fills_in(said[-1]) else None


def form(value: Any) -> str | None:
    """The text of whatever structured response a state holds; None if it has none."""
    held = states.at(value, "structured_response")
    return None if held is None else _given(held)


def _fills_in(message: BaseMessage) -> bool:
    """Whether a model's message may be a structured response: the call of its form, or JSON."""
    if getattr(message, "tool_calls", None):
        return True
    try:
        json.loads(_unwarned(message) or "")
    except (ValueError, RecursionError):
        return False
    return True


def _given(held: Any) -> str | None:
    given = answer(held)
    return states.whole(held) if given is None else given


def direct(value: Any) -> str | None:
    """What a tool told the user itself, as a state's last message: LangChain's ``return_direct``."""
    last = chat.messages(states.at(value, "messages"))[-1:]
    structured = states.at(value, "structured_response") is not None  # a tool stands in for its schema
    said = chat.tool_text(last[0]) if last and last[0].type == "tool" and not structured else None
    return said and (chat.text(last[0]) or said)


def _unwarned(value: Any) -> str | None:
    """``text`` without the warning that a wrapper or the middleware has added: no claim of the answer's."""
    said = chat.text(value)
    verdict = value.response_metadata.get("hallucination") if isinstance(value, BaseMessage) else None
    if said and isinstance(verdict, Mapping):
        for warning in filter(None, (verdict.get("warning"), UNCHECKED_WARNING)):
            said = said.removesuffix(f"\n\n{warning}")
    return said


def texts(value: Any, depth: int = 4) -> Iterator[str]:
    """The texts, and those that models said, anywhere in what was returned; documents hold none."""
    if isinstance(value, str) or (isinstance(value, BaseMessage) and chat.by_model(value)):
        yield chat.text(value) or ""
    elif depth and not isinstance(value, BaseMessage | Document):
        held: Iterable[Any] = ()
        if isinstance(value, Mapping):
            held = value.values()
        elif isinstance(value, list | tuple):
            held = value
        elif isinstance(value, BaseModel):
            held = dict(value).values()
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            held = (getattr(value, part.name, None) for part in dataclasses.fields(value))
        for one in held:
            yield from texts(one, depth - 1)
