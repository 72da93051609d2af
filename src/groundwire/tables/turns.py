"""A conversation as tables keep it: messages of all makes, as turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from groundwire.core.errors import InputError
from groundwire.core.interaction import Role, Turn, shown
from groundwire.tables.printed import spelled

_ROLES: Mapping[str, Role] = {
    **{role.value: role for role in Role},
    **dict.fromkeys(("human", "customer"), Role.USER),
    **dict.fromkeys(("ai", "agent", "bot", "model", "gpt", "chatbot"), Role.ASSISTANT),
    **dict.fromkeys(("developer",), Role.SYSTEM),
    **dict.fromkeys(("function",), Role.TOOL),
}
_SPEAKERS = ("role", "speaker", "type", "from", "author")
_TEXTS = ("content", "text", "value", "message", "utterance")


def turns(value: Any, *, where: str, guessed: bool = False) -> tuple[Turn, ...]:
    """The turns of a list of messages, oldest first.

    A message is an object with a role (``role``, ``speaker``, ``type``, ...) and a text (``content``,
    ``text``, ...), or a pair of what the user and the assistant said. A text may spell the list out, as JSON
    or as Python prints it. Raises InputError, naming the message by ``where`` and its number, for anything
    else; where it was only ``guessed`` that messages stand there, what doesn't look like any is none.
    """
    said = _listed(value)
    if said is None or (guessed and not _looks_said(said)):
        return ()
    if isinstance(said, str) or not isinstance(said, Sequence):
        raise InputError(f"{where} must be a list of messages, not {shown(said)}")
    return tuple(turn for i, item in enumerate(said) for turn in _turns(item, f"{where}[{i}]"))


def asked(value: Any) -> tuple[Any, Sequence[Turn]]:
    """The question, and what was said before it where a whole conversation stands in its place.

    Raises InputError for a list that is no conversation, or one in which the user says nothing.
    """
    said = _listed(value) if isinstance(value, str) and value.startswith("[{") else value
    if not isinstance(said, list):
        return value, ()
    messages = turns(said, where="question")
    last = max((i for i, turn in enumerate(messages) if turn.role is Role.USER), default=None)
    if last is None:
        raise InputError("question: no message of the conversation is the user's")
    return messages[last].text, messages[:last]


def _listed(value: Any) -> Any:
    """The list that a text spells out, None for a blank one; anything else is itself."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    said = spelled(value)
    return said if isinstance(said, list) else value


def _looks_said(said: Any) -> bool:
    """Whether something looks like a list of messages, right or not: its first item says who speaks."""
    if not isinstance(said, list) or not said:
        return False
    first = said[0]
    if isinstance(first, Mapping):
        return any(key in _opened(first) for key in _SPEAKERS)
    return isinstance(first, list | tuple) and len(first) == len(_PAIR)


def _turns(item: Any, where: str) -> Iterator[Turn]:
    if isinstance(item, Mapping):
        message = _opened(item)
        yield Turn(role=_role(message, where), text=_text(message, where))
    elif isinstance(item, list | tuple) and len(item) == len(_PAIR):
        for role, text in zip(_PAIR, item, strict=True):
            if text is not None:  # as where nothing was answered yet
                yield Turn(role=role, text=text)
    else:
        raise InputError(f"{where} must be a message with a role and a content, not {shown(item)}")


def _opened(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message, where LangChain has put it inside of another object."""
    for name in ("data", "kwargs"):
        if isinstance(inner := item.get(name), Mapping):
            return {**item, **inner}
    return item


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
