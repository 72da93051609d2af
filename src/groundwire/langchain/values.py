"""Reading what applications pass around: texts, messages, documents, and states that hold them under a key.

Each function takes any value at all and says None where it finds nothing. Which value of a run is looked at
is decided in ``capture`` and ``contexts``.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, ToolMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from pydantic import BaseModel

from groundwire.core.interaction import Passage, Role, Turn
from groundwire.core.plain import plain
from groundwire.host.actions import UNCHECKED_WARNING

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
CONTEXT_KEYS = (
    "context",
    "contexts",
    "source_documents",
    "documents",
    "docs",
    "retrieved_documents",
    "retrieved_docs",
    "retrieved_context",
    "passages",
    "chunks",
    "sources",
    "search_results",
    "context_str",
    "summaries",
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
    "messages",
)
HISTORY_KEYS = ("chat_history", "history", "messages", "input")
SCORE_KEYS = ("relevance_score", "score", "similarity_score", "_score", "similarity", "distance")

_ROLES = {
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "AIMessageChunk": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "tool": Role.TOOL,
}


def state(value: Any) -> Any:
    """What a graph's node hands on: a Command is taken for the update it carries."""
    return value.update if type(value).__name__ == "Command" and not isinstance(value, Mapping) else value


def at(value: Any, key: str) -> Any:
    """What a state, be it a dict, a pydantic model or a dataclass, holds under ``key``; None if nothing."""
    return next((held for _, held in known(value, (key,))), None)


def known(value: Any, keys: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Those of the keys that a state holds anything under, and what it holds."""
    if isinstance(value, str | list | tuple | BaseMessage) or value is None:
        return
    if isinstance(value, dict | Mapping):
        get = value.get
    elif isinstance(value, BaseModel) or dataclasses.is_dataclass(value):
        get = partial(getattr, value)
    else:
        return
    for key in keys:
        held = get(key, None)
        if held is not None:
            yield key, held


def names(value: Any) -> frozenset[str]:
    """The keys or fields of a state; none of anything else."""
    if isinstance(value, Mapping):
        return frozenset(value)
    if isinstance(value, BaseModel) and not isinstance(value, BaseMessage):
        return frozenset(type(value).model_fields)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return frozenset(part.name for part in dataclasses.fields(value))
    return frozenset()


def text(value: Any) -> str | None:
    """The text of a str or a message."""
    if isinstance(value, str):
        return str(value)  # message texts are a subclass of str
    if isinstance(value, BaseMessage):
        return str(value.text)
    return None


def messages(value: Any) -> list[BaseMessage]:  # noqa: PLR0911 - one return a form reads as the table it is
    """A conversation, in any of the forms LangChain accepts; empty for anything else."""
    if isinstance(value, BaseMessage):
        return [value]
    if isinstance(value, PromptValue):
        return value.to_messages()
    if not isinstance(value, list | tuple) or not value:
        return []
    if all(isinstance(item, BaseMessage) for item in value):
        return list(value)
    if not all(isinstance(item, BaseMessage | tuple | dict) for item in value):
        return []
    try:
        return convert_to_messages(value)
    except (ValueError, TypeError, KeyError, NotImplementedError):
        return []  # a list of pairs or dicts that is no conversation


def prompt_text(value: Any) -> str:
    """All that a model was given to read, as one text."""
    if isinstance(value, str):
        return value
    return "\n\n".join(said for message in messages(value) if (said := told(message)))


def told(message: BaseMessage) -> str:
    """All that a message tells a model, be it in blocks that hold documents; of a model's own its text."""
    if isinstance(message.content, str) or _by_model(message):
        return str(message.text)
    return "\n\n".join(said for block in message.content for said in _block_texts(block) if said.strip())


def _block_texts(block: Any, depth: int = 4) -> Iterator[str]:
    """The texts in one block of a message's content, whichever provider's form it has; of media none."""
    if isinstance(block, str):
        yield block
    elif isinstance(block, list | tuple) and depth:
        for one in block:
            yield from _block_texts(one, depth - 1)
    elif isinstance(block, Mapping) and depth:
        if block.get("type") == "json":
            yield json.dumps(plain(block.get("json")), ensure_ascii=False)
            return
        held = [block.get(key) for key in ("title", "context", "text", "content", "value")]
        source = block.get("source")
        if isinstance(source, Mapping):  # a document's text; a reference to one is a text itself
            held += [source.get("content"), source.get("data") if source.get("type") == "text" else None]
        yield "\n".join(said for one in held for said in _block_texts(one, depth - 1) if said.strip())


def given_text(value: Any) -> str:
    """What a model was given to read, without what models said as turns of the conversation."""
    if isinstance(value, str):
        return value
    given = (message for message in messages(value) if not _by_model(message))
    return "\n\n".join(said for message in given if (said := told(message)))


def _by_model(message: BaseMessage) -> bool:
    return message.type in ("ai", "AIMessageChunk")


def answered_calls(value: Any) -> Iterator[str]:
    """The ids of the tool calls that a tool's result answers, as far as it says so."""
    return (message.tool_call_id for message in tool_messages(value) if isinstance(message, ToolMessage))


def tool_messages(value: Any) -> list[BaseMessage]:
    """The messages of tools in what a tool returned, or in a conversation; Commands may carry them."""
    value = state(value)
    if isinstance(value, list) and any(state(one) is not one for one in value):
        return [message for one in value for message in tool_messages(one)]
    if isinstance(value, Mapping):
        value = value.get("messages")
    return [message for message in messages(value) if message.type == "tool"]


def tool_text(value: Any) -> str | None:
    """What a tool brought, as the model reads it; None when it failed or brought nothing."""
    value = state(value)
    several = value if isinstance(value, list) else []
    if any(isinstance(one, BaseMessage) or state(one) is not one for one in several):
        return "\n".join(filter(None, map(tool_text, several))) or None
    if isinstance(value, Mapping) and (conversation := messages(value.get("messages"))):
        value = conversation[-1]
    if getattr(value, "status", None) == "error":
        return None
    said = told(value) if isinstance(value, BaseMessage) else text(value)
    if said is None:
        said = whole(value) or (json.dumps(plain(value), ensure_ascii=False) if value else None)
    return said if said and said.strip() else None


def last_turn(conversation: Sequence[BaseMessage]) -> int | None:
    """Where the user's last message stands."""
    last = next((i for i in reversed(range(len(conversation))) if by_human(conversation[i])), None)
    return None if last is None else _asked_at(conversation, last)


def _asked_at(conversation: Sequence[BaseMessage], at: int) -> int:
    """Where the user has said what a human's message is about.

    Applications of several agents pass on what one of them said in a human's place, under the agent's name.
    So what has a name, and follows a human's message that has none, is not the user's.
    """
    asked = at
    while asked and conversation[asked].name and by_human(conversation[asked - 1]):
        asked -= 1
    return at if conversation[asked].name else asked


def by_human(message: BaseMessage) -> bool:
    """Whether a human said this; LangChain's summary of earlier turns stands there in a human's place."""
    return message.type == "human" and message.additional_kwargs.get("lc_source") != "summarization"


def question(value: Any, keys: Iterable[str] = QUESTION_KEYS) -> str | None:
    """What was asked: the text itself, the last human message, or what a state holds under a known key."""
    if isinstance(value, str):
        return str(value) if value.strip() else None
    if conversation := messages(value):
        i = last_turn(conversation)
        return (text(conversation[i]) or None) if i is not None else None
    for _, held in known(value, keys):
        if asked := question(held):
            return asked
    return None


def answer(value: Any, keys: Iterable[str] = ANSWER_KEYS) -> str | None:
    """What was answered: the text, the last message of a model or a tool, or what a state has under a key."""
    if (plain := _unwarned(value)) is not None:
        return plain
    if conversation := messages(value):
        said = [message for message in conversation if _by_model(message)]
        return _unwarned(said[-1]) if said else None
    found: str | None = None
    for _, found in answers(value, keys):
        if found:
            break
    return found


def answers(value: Any, keys: Iterable[str] = ANSWER_KEYS) -> Iterator[tuple[str, str]]:
    """What a state holds under each of the keys that may hold the answer, in their order."""
    for key, held in known(value, keys):
        if key == "structured_response":
            given = structured(value)
        else:
            # A tool that told the user itself goes before what the model said beside calling it.
            given = _given((direct(value) if key == "messages" else None) or held)
        if given is not None:
            yield key, given


def structured(value: Any) -> str | None:
    """The text of a state's structured response: its own answer, else all of it as JSON.

    None where the last model has said something else: then it is left from an earlier turn.
    """
    held = at(value, "structured_response")
    said = [message for message in messages(at(value, "messages")) if _by_model(message)]
    return None if held is None or (said and not _fills_in(said[-1])) else _given(held)


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
    return whole(held) if given is None else given


def direct(value: Any) -> str | None:
    """What a tool told the user itself, as a state's last message: LangChain's ``return_direct``."""
    last = messages(at(value, "messages"))[-1:]
    structured = at(value, "structured_response") is not None  # a tool stands in for its schema
    said = tool_text(last[0]) if last and last[0].type == "tool" and not structured else None
    return said and (text(last[0]) or said)


def _unwarned(value: Any) -> str | None:
    """``text`` without the warning that a wrapper or the middleware has added: no claim of the answer's."""
    said = text(value)
    verdict = value.response_metadata.get("hallucination") if isinstance(value, BaseMessage) else None
    if said and isinstance(verdict, Mapping):
        for warning in filter(None, (verdict.get("warning"), UNCHECKED_WARNING)):
            said = said.removesuffix(f"\n\n{warning}")
    return said


def texts(value: Any, depth: int = 4) -> Iterator[str]:
    """The texts, and those that models said, anywhere in what was returned; documents hold none."""
    if isinstance(value, str) or (isinstance(value, BaseMessage) and _by_model(value)):
        yield text(value) or ""
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


def whole(value: Any) -> str | None:
    """A structured answer that has no one text, as JSON; None for what is no structure."""
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, Mapping) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return json.dumps(plain(_unnamed(value)), ensure_ascii=False)
    return None


def _unnamed(value: Any) -> Any:
    """A structure whose dataclasses are dicts: what their type is called is no part of an answer."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {part.name: getattr(value, part.name) for part in dataclasses.fields(value) if part.repr}
    if isinstance(value, Mapping):
        return {name: _unnamed(held) for name, held in value.items()}
    return [_unnamed(one) for one in value] if isinstance(value, list | tuple) else value


def turns(conversation: Sequence[BaseMessage]) -> tuple[Turn, ...]:
    """Earlier messages as turns; empty ones, such as a bare tool call, are left out."""
    return tuple(
        Turn(role=_ROLES[message.type] if _asked_at(conversation, i) == i else Role.ASSISTANT, text=said)
        for i, message in enumerate(conversation)
        if message.type in _ROLES and (said := text(message))
    )


def documents(value: Any) -> list[Document]:
    """The documents of a list of them, or of one."""
    if isinstance(value, Document):
        return [value]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if value and all(isinstance(item, Document) for item in value):
            return list(value)
        # Some searches return (document, score) pairs.
        if value and all(
            isinstance(item, tuple) and item and isinstance(item[0], Document) for item in value
        ):
            return [item[0] for item in value]
    return []


def passage(document: Document, score: Any = None) -> Passage:
    """A document as a passage, with its id, its metadata and the retriever's score."""
    metadata = dict(document.metadata)
    if score is None and metadata:
        for key in SCORE_KEYS:
            if key in metadata:
                score = metadata[key]
                break
    return Passage(
        text=document.page_content,
        id=None if document.id is None else str(document.id),
        metadata=metadata,
        score=None if score is None else _number(score),
    )


def passages(value: Any) -> list[Passage]:  # noqa: PLR0911 - as above
    """The passages in documents, texts, (document, score) pairs, dicts with a text, or a state of these."""
    if value is None:
        return []
    if isinstance(value, Passage):
        return [value]
    if isinstance(value, Document):
        return [passage(value)]
    said = told(value) if isinstance(value, BaseMessage) else text(value)
    if said is not None:
        return [Passage(text=said)] if said.strip() else []
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], Document):
        return [passage(*value)]
    if isinstance(value, Mapping):
        for _, held in known(value, ("page_content", "text", "content", *CONTEXT_KEYS)):
            if found := passages(held):
                return found
        return []
    if isinstance(value, list | tuple):
        return [found for item in value for found in passages(item)]
    return []


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        return None
