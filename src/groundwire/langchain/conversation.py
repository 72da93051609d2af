"""What tools have said in a conversation, before a pause or without that anybody heard them run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from groundwire.core.interaction import Passage
from groundwire.host.echoes import edited, given_words, says_something, unechoed
from groundwire.host.seen import beside, is_statement
from groundwire.langchain import chat, results, states
from groundwire.langchain.tree import Kind, Run, Unit

_MOST_KEPT = 256  # statements of models that a later tool may say back


def unheard(unit: Unit, answering: Run | None, found: Sequence[Passage]) -> list[Passage]:
    """What messages hold of tools that nobody heard run: before a pause, or as results that were kept.

    Where neither is known, and nothing else was found, it is whatever they hold. Nobody has to be told of it
    that holds what was ``found``, and what a model said is no evidence.
    """
    asked = {call for model in unit.models for call in results.calls(model.outputs)}
    answered = {call for tool in unit.tools for call in chat.answered_calls(tool.outputs)}
    any_call = _goes_on(unit.run) or not (found or unit.tools)
    if not any_call and asked <= answered:
        return []
    known = answered | _forms(unit, answering)
    told = {chat.tool_text(tool.outputs) for tool in unit.tools}  # one that was run by hand has no id

    def counts(call: str, said: str) -> bool:
        if call in known or said in told or not (any_call or call in asked):
            return False
        return not any(passage.text in said for passage in found)

    read = [] if answering is None else chat.messages(answering.inputs)
    said = said_by_tools(unit.run.outputs, counts) or _of_messages(read, counts)
    return _unsaid(said, unit)


def _unsaid(passages: Iterable[Passage], unit: Unit) -> list[Passage]:
    """The passages without what models of the unit said that had not been told them."""
    models = [*unit.models, *(run for run in unit.inner if run.kind is Kind.MODEL)]
    told = [(model, chat.prompt_text(model.inputs)) for model in models]
    kept = []
    for passage in passages:
        rest = beside(
            passage.text, results.said_in(model for model, read in told if passage.text not in read)
        )
        if rest.strip():
            kept.append(replace(passage, text=rest))
    return kept


def _goes_on(run: Run) -> bool:
    """Whether a graph was resumed, or given what a tool has said outside of it."""
    top = run
    while top.parent is not None and not resumes(top.inputs):
        top = top.parent
    if resumes(top.inputs):
        return True
    given = _since(chat.messages(top.inputs) or chat.messages(states.at(top.inputs, "messages")))
    return bool(given) and isinstance(given[-1], ToolMessage)


def resumes(given: Any) -> bool:
    """Whether this input lets a graph go on where it paused: a Command, or nothing new."""
    return given is None or type(given).__name__ == "Command"


def _forms(unit: Unit, answering: Run | None) -> set[str]:
    """The calls by which models gave a structured answer, whose form is a tool to them.

    What a model is told of an answer that did not fit its form is said by no tool.
    """
    if answering is None or states.at(states.state(unit.run.outputs), "structured_response") is None:
        return set()
    names = {name for name, _ in results.calls_by_tool(answering.outputs)}
    made = (call for model in unit.models for call in results.calls_by_tool(model.outputs))
    return {call for name, call in made if name in names}


def said_by_tools(outputs: Any, counts: Callable[[str, str], bool] | None = None) -> list[Passage]:
    """What tools said in a state's messages since the last human one, as far as it ``counts``.

    Up to the last answer: nobody has answered from what follows.
    """
    held = chat.messages(states.at(states.state(outputs), "messages"))
    last = max((i for i, message in enumerate(held) if message.type == "ai"), default=0)
    return _of_messages(held[:last], counts)


def _of_messages(conversation: list[BaseMessage], counts: Callable[[str, str], bool] | None) -> list[Passage]:
    found = (
        unechoed(said, given)
        for message, given in given_before(_since(conversation))
        if isinstance(message, ToolMessage) and (said := chat.tool_text(message))
        if counts is None or counts(message.tool_call_id, said)
    )
    return [Passage(text=said) for said in found if says_something(said)]


def given_before(messages: Iterable[BaseMessage]) -> Iterator[tuple[BaseMessage, list[str]]]:
    """Each message, and what models gave to the tool that it is from, or stated to those before it."""
    given, by_call = Given(), dict[str | None, list[str]]()
    for message in messages:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            by_call[call["id"]] = given.to(call["args"])
        yield message, by_call.get(getattr(message, "tool_call_id", None), given.before)
        if isinstance(message, ToolMessage):
            given.found.append(chat.tool_text(message) or "")


class Given:
    """What models gave to one tool after the other, and did not have from what an earlier one had found.

    What they stated ``before`` counts too, as far as it is kept: a tool may hold on to what another returns.
    """

    def __init__(self) -> None:
        self.found: list[str] = []
        self.before: list[str] = []

    def to(self, inputs: Any) -> list[str]:
        words = [*given_words(inputs)]
        own = [one for one in words if not any(one.strip() in text for text in self.found)]
        given = [*own, *self.before]
        kept = [*filter(is_statement, own), *edited(self.before, words)]
        self.before = [*self.before, *kept][-_MOST_KEPT:]
        return given


def _since(conversation: list[BaseMessage]) -> list[BaseMessage]:
    last = chat.last_turn(conversation)
    return conversation[0 if last is None else last + 1 :]
