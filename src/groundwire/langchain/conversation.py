"""What tools have said in a conversation, before a pause or outside of the run that answered."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from groundwire.core.interaction import Passage
from groundwire.host.seen import given_words, is_statement, unechoed
from groundwire.langchain import values
from groundwire.langchain.tree import Run, Unit


def from_before(unit: Unit, answering: Run | None) -> list[Passage]:
    """What tools had said since the last human message when the run went on after a pause.

    What was asked for or brought since then was seen.
    """
    if not _goes_on(unit.run):
        return []
    seen = {call for model in unit.models for call in values.calls(model.outputs)}
    seen.update(call for tool in unit.tools for call in values.answered_calls(tool.outputs))
    told = {values.tool_text(tool.outputs) for tool in unit.tools}  # one that was run by hand has no id
    return tool_messages(unit, answering, seen, told)


def _goes_on(run: Run) -> bool:
    """Whether a graph was resumed, or given what a tool has said outside of it."""
    top = run
    while top.parent is not None and not resumes(top.inputs):
        top = top.parent
    if resumes(top.inputs):
        return True
    given = _since(values.messages(top.inputs) or values.messages(values.at(top.inputs, "messages")))
    return bool(given) and isinstance(given[-1], ToolMessage)


def resumes(given: Any) -> bool:
    """Whether this input lets a graph go on where it paused: a Command, or nothing new."""
    return given is None or type(given).__name__ == "Command"


def tool_messages(
    unit: Unit, answering: Run | None, seen: Container[str] = (), told: Container[str | None] = ()
) -> list[Passage]:
    """What tools said since the last human message, but to calls that were ``seen`` and what was ``told``."""
    read = [] if answering is None else values.messages(answering.inputs)
    return said_by_tools(unit.run.outputs, seen, told) or _of_messages(read, seen, told)


def said_by_tools(outputs: Any, seen: Container[str] = (), told: Container[str | None] = ()) -> list[Passage]:
    """What a state's messages hold of it, up to the last answer: nobody has answered from what follows."""
    held = values.messages(values.at(values.state(outputs), "messages"))
    last = max((i for i, message in enumerate(held) if message.type == "ai"), default=0)
    return _of_messages(held[:last], seen, told)


def _of_messages(
    conversation: list[BaseMessage], seen: Container[str], told: Container[str | None] = ()
) -> list[Passage]:
    found = (
        unechoed(said, given)
        for message, given in given_before(_since(conversation))
        if isinstance(message, ToolMessage) and message.tool_call_id not in seen
        if (said := values.tool_text(message) or "") not in told
    )
    return [Passage(text=said) for said in found if said.strip()]


def given_before(messages: Iterable[BaseMessage]) -> Iterator[tuple[BaseMessage, list[str]]]:
    """Each message, and what models gave to the tool that it is from, or stated to those before it."""
    given: dict[str | None, list[str]] = {}
    before: list[str] = []
    found: list[str] = []
    for message in messages:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            given[call["id"]] = own_words(given_words(call["args"]), found)
            before += filter(is_statement, given[call["id"]])
        yield message, [*given.get(getattr(message, "tool_call_id", None), ()), *before]
        if isinstance(message, ToolMessage):
            found.append(values.tool_text(message) or "")


def own_words(words: Iterable[str], found: Sequence[str]) -> list[str]:
    """What a model gave to a tool and did not have from what another had found."""
    return [one for one in words if not any(one.strip() in text for text in found)]


def _since(conversation: list[BaseMessage]) -> list[BaseMessage]:
    last = values.last_turn(conversation)
    return conversation[0 if last is None else last + 1 :]
