"""A conversation as tables keep it: messages of all makes, as turns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from groundwire.core.errors import InputError
from groundwire.core.interaction import Role, Turn, shown

_ROLES: Mapping[str, Role] = {
    **{role.value: role for role in Role},
    **dict.fromkeys(("human", "customer"), Role.USER),
    **dict.fromkeys(("ai", "agent", "bot", "model", "gpt", "chatbot"), Role.ASSISTANT),
    **dict.fromkeys(("developer",), Role.SYSTEM),
    **dict.fromkeys(("function",), Role.TOOL),
}
_SPEAKERS = ("role", "speaker", "type", "from", "author")
_TEXTS = ("content", "text", "value", "message", "utterance")


def turns(value: Any, *, where: str) -> tuple[Turn, ...]:
    """The turns of a list of messages, oldest first; a text may spell the list out as JSON.

    A message is an object with a role (``role``, ``speaker``, ``type``, ...) and a text (``content``,
    ``text``, ...), or a pair of what the user and the assistant said. Raises InputError, naming the message
    by ``where`` and its number, for anything else.
    """
    if isinstance(value, str):
        value = listed(value)
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError(f"{where} must be a list of messages, not {shown(value)}")
    return tuple(turn for i, item in enumerate(value) for turn in _turns(item, f"{where}[{i}]"))


def listed(text: str) -> Any:
    """The list that a text spells out as JSON, None for a blank one; else the text itself."""
    if not text.strip():
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list) else text


def _turns(item: Any, where: str) -> Iterator[Turn]:
    if isinstance(item, Mapping):
        yield Turn(role=_role(item, where), text=_text(item, where))
    elif isinstance(item, list | tuple) and len(item) == len(_PAIR):
        for role, text in zip(_PAIR, item, strict=True):
            if text is not None:  # as where nothing was answered yet
                yield Turn(role=role, text=text)
    else:
        raise InputError(f"{where} must be a message with a role and a content, not {shown(item)}")


def _role(message: Mapping[str, Any], where: str) -> Role:
    told = next((message[key] for key in _SPEAKERS if isinstance(message.get(key), str)), None)
    if told is None:
        raise InputError(f"{where} doesn't tell who spoke: expected one of {', '.join(_SPEAKERS)}")
    if told.casefold() not in _ROLES:
        raise InputError(f"{where} has a role that is none: expected one of {', '.join(_ROLES)}")
    return _ROLES[told.casefold()]


def _text(message: Mapping[str, Any], where: str) -> str:
    for key in _TEXTS:
        told = message.get(key)
        if isinstance(told, str):
            return told
        if isinstance(told, list):  # content blocks, of which some are no text
            return "\n".join(one["text"] for one in told if isinstance(one, Mapping) and _holds_text(one))
    if message.get("content", "") is None:  # a call of tools says nothing
        return ""
    raise InputError(f"{where} has no text: expected one of {', '.join(_TEXTS)}")


def _holds_text(block: Mapping[str, Any]) -> bool:
    return block.get("type", "text") == "text" and isinstance(block.get("text"), str)


_PAIR = (Role.USER, Role.ASSISTANT)
