"""Where the answer stands in what a runnable returns, and where its verdict is put.

The same for every framework object a chain may end in: text, messages, dicts, pydantic models. Nothing is
judged or decided here, and nothing that was handed over is changed in place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.utils.pydantic import TypeBaseModel
from pydantic import BaseModel, RootModel, create_model

from groundwire.host.actions import Action, Decision
from groundwire.langchain import chat, states, values

KEY = "hallucination"
PAUSE = "__interrupt__"  # where LangGraph says in a graph's output what it waits for
_DISTINCT = 8  # shorter answers than this stand in other texts by chance


class Attach(StrEnum):
    """Where the verdict goes.

    AUTO puts it where the output has room: a key of a dict, ``response_metadata`` of a message, a field
    named ``hallucination`` of a pydantic model; anything else, text above all, is put in an envelope
    ``{"answer": ..., "hallucination": ...}``. ENVELOPE always does. NONE leaves the output as it is: the
    verdict is then on the trace alone.
    """

    AUTO = "auto"
    ENVELOPE = "envelope"
    NONE = "none"


def answer_text(output: Any, key: str | None = None) -> str | None:
    """The text a reader takes for the answer; None where no such text is found."""
    leaf = _leaf(output, key)
    if leaf is not None:
        return chat.text(leaf)
    return values.answer(output, values.ANSWER_KEYS if key is None else (key,))


def answer_holder(output: Any, key: str | None, said: str | None = None) -> str | None:
    """The key or field under which the answer's own text or message stands.

    Of the usual ones it is the one that holds what was ``said``, where that is known: another may hold what
    the input did.
    """
    names, known = (values.ANSWER_KEYS, said) if key is None else ((key,), None)
    leaves = ((name, _leaf(states.at(output, name), None, known)) for name in names)
    # Where a tool stands in for the schema of a structured answer, its message is no answer.
    by_tool = values.direct(output) is not None
    structured = key is None and values.structured(output) is not None
    for name, leaf in leaves:
        if name == "structured_response" and structured:
            return None if leaf is None else name  # what stands in the messages is what it was made of
        if leaf is None or (isinstance(leaf, ToolMessage) and not by_tool):
            continue
        if known is None or chat.text(leaf) == known:
            return name
    return None


def reworded(output: Any, text: str, key: str | None = None, said: str | None = None) -> Any:
    """The same output with ``text`` for its answer; the bare text where the answer can't be reached.

    Never the output as it was: whoever asks for this wants the answer gone, also where a state holds it a
    second time, such as under another key or in its messages.
    """
    leaf = _leaf(output, key, said)
    if leaf is None:
        return text
    edited = _edited(output, key, lambda leaf: _rewrite(leaf, text), said)
    return _without(edited, chat.text(leaf) or "", text)


def extended(output: Any, text: str, key: str | None = None, said: str | None = None) -> Any:
    """The same output with ``text`` added at the end of its answer, so that offsets into it still hold.

    As it is where the answer ends so already, or can't be reached: see ``reachable``.
    """
    leaf = _leaf(output, key, said)
    if leaf is None or (chat.text(leaf) or "").endswith(text):
        return output
    return _edited(output, key, lambda leaf: _append(leaf, text), said)


def reachable(output: Any, key: str | None = None, said: str | None = None) -> bool:
    """Whether the answer stands in the output as a text or message that can be written to."""
    return _leaf(output, key, said) is not None


def acted_on(output: Any, decision: Decision, key: str | None = None, said: str | None = None) -> Any:
    """The same output after what was decided about its answer, which is what was ``said`` if known."""
    if decision.action is Action.REPLACE:
        return reworded(output, decision.text, key, said)
    if decision.action is Action.WARN and decision.text:
        return extended(output, parted(decision.text), key, said)
    return output


def parted(warning: str) -> str:
    """A warning as it follows an answer: in a paragraph of its own."""
    return f"\n\n{warning}" if warning else ""


def opened(output: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The state in what a graph returns with ``version="v2"``, and how to put another in its place.

    Everything else is the state itself.
    """
    if not is_boxed(output):
        return output, lambda state: state
    return output.value, lambda state: replace(output, value=state)


def is_boxed(output: Any) -> bool:
    """Whether this is a GraphOutput, by its name, since a chain needs no LangGraph."""
    return _is_data(output) and type(output).__name__ == "GraphOutput"


def attached(output: Any, verdict: Mapping[str, Any], attach: Attach) -> Any:
    """The same output, or an envelope of it, that carries the verdict."""
    verdict = dict(verdict)
    if attach is Attach.NONE:
        return output
    if not enveloped(output, attach):
        if isinstance(output, BaseMessage):
            metadata = {**output.response_metadata, KEY: verdict}
            return output.model_copy(update={"response_metadata": metadata})
        if isinstance(output, BaseModel):
            return output.model_copy(update={KEY: verdict})
        return {**output, KEY: verdict}
    return {"answer": output, KEY: verdict}


def enveloped(output: Any, attach: Attach) -> bool:
    """Whether the output has no room for a verdict, or was not to be touched."""
    if attach is not Attach.AUTO:
        return attach is Attach.ENVELOPE
    if isinstance(output, BaseMessage | dict):
        return False
    return not (isinstance(output, BaseModel) and KEY in type(output).model_fields)


def output_type(runnable: Runnable[Any, Any], attach: Attach) -> Any:
    """The type of ``runnable``'s output once it carries a verdict."""
    kind = runnable.OutputType
    return dict[str, Any] if _in_envelope(kind, attach) else kind


def output_schema(
    runnable: Runnable[Any, Any], attach: Attach, *, name: str, config: RunnableConfig | None
) -> TypeBaseModel:
    """What ``runnable``'s output looks like once it carries a verdict, as far as that is declared."""
    inner, kind = runnable.get_output_schema(config), runnable.OutputType
    verdict: dict[str, Any] = {KEY: (dict[str, Any], ...)}
    made: TypeBaseModel = inner
    if _in_envelope(kind, attach):
        made = create_model(name, answer=(kind, ...), **verdict)
    elif attach is Attach.AUTO and not _is_model(kind) and not issubclass(inner, RootModel):
        made = create_model(name, __base__=cast("type[BaseModel]", inner), **verdict)
    return made


def _in_envelope(kind: Any, attach: Attach) -> bool:
    if attach is not Attach.AUTO:
        return attach is Attach.ENVELOPE
    return kind is str or (_is_model(kind) and KEY not in kind.model_fields)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel) and not issubclass(kind, BaseMessage)


def _leaf(output: Any, key: str | None, said: str | None = None) -> str | BaseMessage | None:
    """The text or message that is the answer; of a state, the one that was ``said``, where that is known."""
    if isinstance(output, str | BaseMessage):
        return output
    if isinstance(output, list):
        last = output[-1] if output else None
        return last if isinstance(last, AIMessage | ToolMessage) else None
    if not (isinstance(output, dict | BaseModel) or _is_data(output)):
        return None
    said = said if key is None else None
    holder = answer_holder(output, key, said)
    return None if holder is None else _leaf(states.at(output, holder), None, said)


def _edited(
    output: Any, key: str | None, edit: Callable[[str | BaseMessage], Any], said: str | None = None
) -> Any:
    """The output with its leaf edited; there must be one."""
    if isinstance(output, str | BaseMessage):
        return edit(output)
    if isinstance(output, list):
        return [*output[:-1], edit(output[-1])]
    said = said if key is None else None
    holder = answer_holder(output, key, said)
    assert holder is not None
    inner = _edited(states.at(output, holder), None, edit, said)
    if isinstance(output, BaseModel):
        return output.model_copy(update={holder: inner})
    return replace(output, **{holder: inner}) if _is_data(output) else {**output, holder: inner}


def _without(value: Any, answer: str, text: str) -> Any:  # noqa: PLR0911 - one return a kind of value
    """The same value with ``text`` wherever the answer stood, but in documents and in what a user said."""
    if isinstance(value, str):
        return text if value == answer or (len(answer) >= _DISTINCT and _holds(value, answer)) else value
    if isinstance(value, BaseMessage):
        if value.type not in ("ai", "AIMessageChunk", "tool"):
            return value
        said, calls = chat.text(value) or "", getattr(value, "tool_calls", None)
        if calls and (others := _without(calls, answer, text)) != calls:
            value = value.model_copy(update={"tool_calls": others, "additional_kwargs": {}})
        return _rewrite(value, text) if _without(said, answer, text) != said else value
    if isinstance(value, Document):
        return value
    if isinstance(value, dict):
        return {name: _without(held, answer, text) for name, held in value.items()}
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(_without(held, answer, text) for held in value)
    if isinstance(value, BaseModel):
        held = {name: getattr(value, name) for name in type(value).model_fields}
        return value.model_copy(update={name: _without(one, answer, text) for name, one in held.items()})
    if _is_data(value):
        held = {part.name: getattr(value, part.name) for part in fields(value) if part.init}
        return replace(value, **{name: _without(one, answer, text) for name, one in held.items()})
    return value


def _holds(value: str, answer: str) -> bool:
    """Whether an answer stands in a text, be that JSON."""
    forms = (json.dumps(answer, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True))
    return answer in value or any(form in value for form in forms)


def _is_data(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def _rewrite(leaf: str | BaseMessage, text: str) -> Any:
    return text if isinstance(leaf, str) else leaf.model_copy(update={"content": text})


def _append(leaf: str | BaseMessage, text: str) -> Any:
    if isinstance(leaf, str):
        return leaf + text
    if isinstance(leaf.content, str):
        return leaf.model_copy(update={"content": leaf.content + text})
    return leaf.model_copy(update={"content": [*leaf.content, {"type": "text", "text": text}]})
