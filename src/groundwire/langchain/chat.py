"""Messages: a conversation in any of LangChain's forms, who said what in it, and what it tells a model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue

from groundwire.core.interaction import Role, Turn
from groundwire.core.plain import plain
from groundwire.langchain import states

_ROLES = {
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "AIMessageChunk": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "tool": Role.TOOL,
}
_SPEAKERS = {
    "Human": Role.USER,
    "User": Role.USER,
    "AI": Role.ASSISTANT,
    "Assistant": Role.ASSISTANT,
    "System": Role.SYSTEM,
}
_SPEAKS = re.compile(rf"^({'|'.join(_SPEAKERS)}): ", re.MULTILINE)


def messages(value: Any) -> list[BaseMessage]:  # noqa: PLR0911 - one return a form reads as the table it is
    """A conversation, in any of the forms LangChain accepts; empty for anything else."""
    if value is None or isinstance(value, str | dict):
        return []
    if not isinstance(value, list | tuple):
        if isinstance(value, BaseMessage):
            return [value]
        return value.to_messages() if isinstance(value, PromptValue) else []
    if all(isinstance(item, BaseMessage) for item in value):
        return list(value)
    if not all(isinstance(item, BaseMessage | tuple | dict) for item in value):
        return []
    try:
        return convert_to_messages(value)
    except (ValueError, TypeError, KeyError, NotImplementedError):
        return []  # a list of pairs or dicts that is no conversation


def text(value: Any) -> str | None:
    """The text of a str or a message."""
    if isinstance(value, str):
        return str(value)  # message texts are a subclass of str
    if isinstance(value, BaseMessage):
        return str(value.text)
    return None


def told(message: BaseMessage) -> str:
    """All that a message tells a model, be it in blocks that hold documents; of a model's own its text."""
    if isinstance(message.content, str) or by_model(message):
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


def prompt_text(value: Any) -> str:
    """All that a model was given to read, as one text."""
    if isinstance(value, str):
        return value
    return "\n\n".join(said for message in messages(value) if (said := told(message)))


def given_text(value: Any) -> str:
    """What a model was given to read, without what models said as turns of the conversation."""
    if isinstance(value, str):
        return value
    given = (message for message in messages(value) if not by_model(message))
    return "\n\n".join(said for message in given if (said := told(message)))


def told_now(value: Any) -> str:
    """What a model was given to read since the user's last words, and as instructions."""
    if isinstance(value, str):
        return value
    conversation = messages(value)
    last = last_turn(conversation) or 0
    earlier = (one for one in conversation[:last] if not (by_model(one) or one.type == "human"))
    return "\n\n".join(said for message in (*earlier, *conversation[last:]) if (said := told(message)))


def by_model(message: BaseMessage) -> bool:
    return message.type in ("ai", "AIMessageChunk")


def answered_calls(value: Any) -> Iterator[str]:
    """The ids of the tool calls that a tool's result answers, as far as it says so."""
    return (message.tool_call_id for message in tool_messages(value) if isinstance(message, ToolMessage))


def tool_messages(value: Any) -> list[BaseMessage]:
    """The messages of tools in what a tool returned, or in a conversation; Commands may carry them."""
    value = states.state(value)
    if isinstance(value, list) and any(states.state(one) is not one for one in value):
        return [message for one in value for message in tool_messages(one)]
    if isinstance(value, Mapping):
        value = value.get("messages")
    return [message for message in messages(value) if message.type == "tool"]


def tool_text(value: Any) -> str | None:
    """What a tool brought, as the model reads it; None when it failed or brought nothing."""
    value = states.state(value)
    several = value if isinstance(value, list) else []
    if any(isinstance(one, BaseMessage) or states.state(one) is not one for one in several):
        return "\n".join(filter(None, map(tool_text, several))) or None
    if isinstance(value, Mapping) and (conversation := messages(value.get("messages"))):
        value = conversation[-1]
    if getattr(value, "status", None) == "error":
        return None
    said = told(value) if isinstance(value, BaseMessage) else text(value)
    if said is None:
        said = states.whole(value) or (json.dumps(plain(value), ensure_ascii=False) if value else None)
    return said if said and said.strip() else None


def last_turn(conversation: Sequence[BaseMessage]) -> int | None:
    """Where the user's last message stands."""
    for last in reversed(range(len(conversation))):
        if by_human(conversation[last]):
            return _asked_at(conversation, last)
    return None


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


def turns(conversation: Sequence[BaseMessage]) -> tuple[Turn, ...]:
    """Earlier messages as turns; empty ones, such as a bare tool call, are left out."""
    return tuple(
        Turn(role=_ROLES[message.type] if _asked_at(conversation, i) == i else Role.ASSISTANT, text=said)
        for i, message in enumerate(conversation)
        if message.type in _ROLES and (said := text(message))
    )


def past(value: Any) -> tuple[Turn, ...]:
    """Earlier turns, as applications keep them; none of anything else.

    Messages, pairs of what was asked and answered, or one text, as a memory of LangChain's writes it.
    """
    if conversation := messages(value):
        return turns(conversation)
    return _spelled_out(value) if isinstance(value, str) else _paired(value)


def _spelled_out(text: str) -> tuple[Turn, ...]:
    before, *said = _SPEAKS.split(text)
    if before.strip():
        return ()
    spoken = zip(said[::2], said[1::2], strict=True)
    return tuple(Turn(role=_SPEAKERS[who], text=words.strip()) for who, words in spoken if words.strip())


def _paired(value: Any) -> tuple[Turn, ...]:
    pairs = value if isinstance(value, list | tuple) else ()
    if not all(isinstance(pair, list | tuple) and len(pair) == len(_PAIR) for pair in pairs):
        return ()
    said = [(role, words) for pair in pairs for role, words in zip(_PAIR, pair, strict=True) if words]
    if not all(isinstance(words, str) for _, words in said):
        return ()
    return tuple(Turn(role=role, text=words) for role, words in said)


_PAIR = (Role.USER, Role.ASSISTANT)
