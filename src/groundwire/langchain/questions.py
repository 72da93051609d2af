"""What was asked in one unit, and what was said before that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import PromptValue

from groundwire.core.interaction import Passage, Turn
from groundwire.host.seen import is_statement, is_telling
from groundwire.langchain import chat, evidence, results, states, values
from groundwire.langchain.speakers import found_texts
from groundwire.langchain.tree import Run, Unit


def question(unit: Unit, key: str | None, answering: Run | None, found: Sequence[Passage] = ()) -> str | None:
    """What the user asked: of the unit itself, else of what it is part of, else of what it asked.

    What a step or the model was given to read is no part of that: the documents ``found``, and what other
    models said.
    """
    run = _as_asked(unit.run)
    filled = [prompt.inputs for prompt in reversed(unit.prompts)]
    if key is not None:
        for holder in (run.inputs, states.state(run.outputs), *_around(run), *filled):
            if asked := values.question(states.at(holder, key)):
                return asked
    # An output that is a text or a message is the answer: only a state repeats the question.
    repeated = None if chat.text(run.outputs) is not None else states.state(run.outputs)
    for holder in (run.inputs, *_around(run), repeated):
        if asked := values.question(holder):
            return asked
    searched = [retrieval.inputs for retrieval in unit.retrievals]
    sought = {asked.strip() for asked in map(values.question, searched) if asked}
    # A list of questions may hold the very one that was looked for.
    given = (passage.text.strip() for passage in found)
    read = [text for text in given if text not in sought and is_telling(text)]
    if (only := _only_text(run.inputs)) and _unread(only, read):
        return only
    handed = [] if answering is None or searched else [above.inputs for above in answering.up_to(run)]
    states_of_steps = [held for held in reversed(handed[1:]) if states.names(held)]
    for asked_in in (filled, states_of_steps, searched):
        if asked := next((one for one in map(values.question, asked_in) if one and _unread(one, read)), None):
            return asked
    told = [*map(_only_text, states_of_steps), *map(values.question, handed[:1])]
    drafts = [model for model in unit.models if model is not answering and _was_told(model, read)]
    read += filter(is_telling, map(str.strip, results.said_in(drafts)))
    return next(filter(None, (_unread(text, read) for text in told if text)), None)


def _was_told(model: Run, read: Iterable[str]) -> bool:
    """Whether a model's words are of what was given to read; others may be the question itself, rewritten."""
    prompt = chat.prompt_text(model.inputs)
    return any(one in prompt for one in read)


def _unread(text: str, read: Iterable[str]) -> str:
    """What a text says beside what was given to read; empty where that has no words."""
    for one in sorted(read, key=len, reverse=True):
        text = text.replace(one, "")
    return text.strip() if any(map(str.isalnum, text)) else ""


def _only_text(given: Any) -> str | None:
    """The one text in a dict that is no context."""
    held = given.items() if isinstance(given, dict) else ()
    texts = [
        text
        for name, text in held
        if isinstance(text, str) and text.strip() and name not in evidence.CONTEXT_KEYS
    ]
    return str(texts[0]) if len(texts) == 1 else None


def asked(unit: Unit) -> str:
    """What the user asked, to be told from what was found; empty where it isn't known."""
    with suppress(Exception):  # what can't be read is told of where the question is looked for
        return (question(unit, None, None) or "").strip()
    return ""


def _as_asked(run: Run) -> Run:
    """The run whose input is the user's own: that of a retry adds to it."""
    above: Run | None = run
    while above is not None:
        run, above = above if above.redone else run, above.parent
    return run


def _around(run: Run) -> Iterator[Any]:
    above = run.parent
    while above is not None:
        yield above.inputs
        above = above.parent


def history(unit: Unit, asked: str | None, answered: str, answering: Run | None) -> tuple[Turn, ...]:
    """The turns before the question, oldest first.

    A memory that the application fills itself may hold the one already in which this was ``asked`` and
    ``answered``.
    """
    turns = _noted(unit, asked, answering)
    last = [turn.text.strip() for turn in turns[-2:]]
    return turns[:-2] if last == [(asked or "").strip(), answered.strip()] else turns


def _noted(unit: Unit, asked: str | None, answering: Run | None) -> tuple[Turn, ...]:
    steps = [] if answering is None else [run.inputs for run in answering.up_to(unit.run)]
    if earlier := _before(unit, asked, steps):
        return chat.turns(earlier)
    for holder in (unit.run.inputs, *(prompt.inputs for prompt in reversed(unit.prompts))):
        whole = chat.messages(holder)
        if earlier := whole[: chat.last_turn(whole) or 0]:
            return chat.turns(earlier)
        for key, held in states.known(holder, values.HISTORY_KEYS):
            if key not in values.QUESTION_KEYS:
                if past := chat.past(held):
                    return past
            elif conversation := chat.messages(held):  # the question itself is among them
                return chat.turns(conversation[: chat.last_turn(conversation) or 0])
    # A memory may be that of a step alone, as of the chain that fills a prompt.
    noted = (states.known(given, values.PAST_KEYS) for given in steps)
    if past := next((past for held in noted for _, one in held if (past := chat.past(one))), ()):
        return past
    return () if answering is None or unit.prompts else _told_before(unit, answering, asked)


def _told_before(unit: Unit, answering: Run, asked: str | None) -> tuple[Turn, ...]:
    """What the model was told of a conversation that the application keeps by itself.

    Not where a template tells it, which may hold examples; nor documents and drafts of models in it, as no
    user has said these.
    """
    conversation = chat.messages(answering.inputs)
    last = chat.last_turn(conversation) or 0
    if not last or conversation[last].text != asked:
        return ()
    read = [*found_texts(unit.retrievals), *(chat.tool_text(tool.outputs) or "" for tool in unit.tools)]
    read += [(results.model_text(model.outputs) or "").strip() for model in unit.models]
    read = list(filter(is_statement, read))
    said = (message for message in conversation[:last] if message.type != "system")
    return chat.turns(
        [one for one in said if one.type != "human" or not any(text in one.text for text in read)]
    )


def _before(unit: Unit, asked: str | None, steps: Sequence[Any]) -> list[BaseMessage]:
    """The messages before the question in a graph's state, or in what its ``steps`` were given of it.

    A graph may have taken them out once it had answered, as where it sums them up. A prompt that a step was
    given, such as a model's with a retry, is no state: its template may hold examples.
    """
    outputs = chat.messages(states.at(states.state(unit.run.outputs), "messages"))
    earlier = outputs[: _asked_at(outputs, asked)]
    for given in steps:
        held = [] if isinstance(given, PromptValue) else chat.messages(states.at(given, "messages"))
        last = chat.last_turn(held) or 0
        if last > len(earlier) and held[last].text == asked:
            earlier = held[:last]
    return earlier


def _asked_at(conversation: Sequence[BaseMessage], asked: str | None) -> int:
    """Where the user has ``asked``: an agent may have written a task in a human's place since."""
    humans = (i for i, message in enumerate(conversation) if chat.by_human(message) and message.text == asked)
    return max(humans, default=chat.last_turn(conversation) or 0)
