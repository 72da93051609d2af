"""What one unit says: its answer, and why that can't be judged.

Every function reads one part of a finished unit and knows nothing of the others. The question, the contexts
and the model that answered have modules of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundwire.core.verdict import AbstentionReason
from groundwire.host.notices import UNSAID
from groundwire.host.seen import EDITED, beside, is_made_of, is_telling, share
from groundwire.langchain import chat, results, states, values
from groundwire.langchain.declared import Block
from groundwire.langchain.speakers import (
    OPENING,
    fields_of,
    found_texts,
    has_followed,
    holds_opening,
    own_answer,
    said_by,
    sayers,
)
from groundwire.langchain.tree import Kind, Run, Unit

NOT_SEEN = (
    "a model answered and no documents were seen: no retriever, no tool, no context in its prompt. If they "
    "are found in another way, tag the step that returns them 'groundwire:context', or name the key that "
    "holds them in the run's metadata: {'groundwire': {'context_key': ...}}"
)
NOT_FOUND = "documents were looked for, and the model was given none"
GIVEN_UP = (
    "the answer was given up before its end: its stream was not read to the last token, or it was cancelled"
)
NOT_READ = (
    "no answer could be read from an output of type %s: tag the step that returns it 'groundwire:answer', or "
    "name the key that holds it in the run's metadata: {'groundwire': {'answer_key': ...}}"
)
UNCLEAR = (
    "the output holds what several models said, and nothing tells which of it is the answer: tag the step "
    "that returns it 'groundwire:answer', or name the key that holds it in the run's metadata: "
    "{'groundwire': {'answer_key': ...}}"
)

_STOPPED = "Agent stopped due to "  # what LangChain's older agents answer at a limit of calls or of time


def answer(unit: Unit, key: str | None) -> str | None:
    """The answer as the unit's output shows it, or the step that was declared to give it.

    Of a state with several of the usual keys, the first that was not there before; after a word or two that
    no model said, such as a status, the first that holds what a model said of what it had read. Documents,
    and what a model said before there were any, give way to what was made of them.
    """
    for run in reversed(unit.models):
        if run.answer:
            return own_answer(run)
    outputs = states.state(unit.run.outputs)
    if key is not None and (held := states.at(outputs, key)) is not None:
        given = values.answer(held)
        return (states.whole(held) or states.listed(held)) if given is None else given
    if unit.run.kind is Kind.MODEL:
        return own_answer(unit.run)
    if isinstance(outputs, str):
        return values.answer(outputs)
    found = dict(values.answers(outputs))
    if passed := _passed_on(unit):
        found["messages"] = passed
    if filled := _filled_in_since(unit, {said.strip() for said in found.values()}):
        found = {"structured_response": filled, **found}
    # A message, or nothing that is known, has none of the usual keys.
    return _among(unit, found) if found else values.answer(outputs)


def _passed_on(unit: Unit) -> str | None:
    """What one of several agents said, where a state ends with it in a human's place."""
    last = chat.messages(states.at(states.state(unit.run.outputs), "messages"))[-1:]
    if not last or not chat.by_human(last[0]):
        return None
    said = str(last[0].text)
    given = map(chat.text, chat.messages(states.at(unit.run.inputs, "messages")))
    return said if said not in given and any(said.strip() == said_by(run) for run in unit.models) else None


def _filled_in_since(unit: Unit, told: set[str]) -> str | None:
    """The structured response that a step of its own has made of what a model had said before.

    So do the agents of LangGraph's prebuilt package. One that is left from an earlier turn has no such step,
    and after one of an earlier step a model has said what is ``told``.
    """
    if (filled := values.form(states.state(unit.run.outputs))) is None:
        return None
    runs = (run for model in unit.models for run in model.up_to(unit.run))
    steps = [run for run in runs if states.names(states.state(run.outputs)) == {"structured_response"}]
    said_since = (said_by(run) for run in unit.models if all(map(run.follows, steps)))
    return filled if steps and told.isdisjoint(said_since) else None


def _among(unit: Unit, found: dict[str, str]) -> str | None:
    """Which of the texts ``found`` under usual keys the answer is; None if all of them were there before."""
    fresh = [(name, said) for name, said in found.items() if not _was_there(unit, name, said)]
    said = [(name, text) for name, text in fresh if text]
    if not said and len(found) == 1 and not values.answer(unit.run.inputs):
        return next(iter(found.values()))  # what answers without a model may say the same each time
    if not said:
        return None if len(fresh) < len(found) else ""
    (name, first), *others = said
    if _led_there(unit, name, first):
        others = [(name, text) for name, text in others if not _led_there(unit, name, text)]
        made = (
            text
            for name, text in others
            if (_may_answer(unit, text) if _was_said(unit, name, text) else is_telling(text))
        )
        return next(made, None if _is_said_elsewhere(unit, found) else first)
    if _was_said(unit, name, first) or is_telling(first):
        return first
    told = (text for name, text in others if _was_said(unit, name, text) and _may_answer(unit, text))
    return next(told, first)


def _led_there(unit: Unit, key: str, said: str) -> bool:
    """Whether this is what an answer may have been made of: documents, or a plan from before there were any.

    What a model said under a key that is named for the answer is no plan.
    """
    if not _was_said(unit, key, said):
        tools = filter(None, (chat.tool_text(tool.outputs) for tool in unit.tools))
        return is_telling(said) and not beside(said, [*found_texts(unit.retrievals), *tools]).strip()
    if key in values.NAMED:
        return False
    told = sayers(said, [run for run in reversed(unit.models) if run.ended is not None])
    return bool(told) and not any(has_followed(unit, run) for run in told)


def _is_said_elsewhere(unit: Unit, found: Mapping[str, str]) -> bool:
    """Whether a model that had read what was found says something in the output that is not ``found``."""
    there = {text.strip() for text in found.values()}
    held = {text.strip() for text in values.texts(states.state(unit.run.outputs))} - {"", *there}
    later = (run for run in unit.models if run.ended is not None and has_followed(unit, run))
    return any(said in held and _may_answer(unit, said) for said in map(said_by, later))


def _was_there(unit: Unit, key: str, said: str) -> bool:
    """Whether a state held this before any model of the unit was asked, and nothing has said it since.

    As where the input is handed on, or where a graph remembers the last turn's answer. Where no model was
    heard that may have read what was found, whatever answers instead may just hand it on.
    """
    if not said or not any(has_followed(unit, run) for run in unit.models):
        return False
    if key == "structured_response" and states.at(states.state(unit.run.outputs), "messages"):
        return False  # the last message of a model has been seen to be what it was made of
    if any(said.strip() in map(str.strip, fields_of(run)) for run in unit.models):
        return False
    earliest = min((*unit.models, *unit.retrievals), key=lambda run: run.started)
    if not any(_holds(run.inputs, key, said) for run in (unit.run, *earliest.up_to(unit.run))):
        return False
    ended = {id(run): run for one in (*unit.models, *unit.retrievals) for run in one.up_to(unit.run)}
    return not any(_wrote(run, key, said, run is unit.run) for run in (unit.run, *ended.values()))


def _holds(state: Any, key: str, said: str) -> bool:
    return (key, said) in values.answers(state, (key,))


def _wrote(run: Run, key: str, said: str, is_top: bool) -> bool:
    """Whether a run has said this under the key, as a graph's node does; not if it hands its input on."""
    outputs = states.state(run.outputs)
    if not _holds(outputs, key, said):
        return False
    if not _holds(run.inputs, key, said):
        return not is_top  # the topmost may remember it
    return not states.names(run.inputs) <= states.names(outputs)


def _was_said(unit: Unit, key: str, said: str) -> bool:
    """Whether the models have said this, or most of it; yes of a structure, which has other words."""
    if not said or values.answer(states.at(states.state(unit.run.outputs), key)) is None:
        return bool(said)
    told = [one for one in results.said_in(unit.models) if one]
    return any(said.strip() == one.strip() for one in told) or share(said, "\n".join(told)) >= EDITED


def _may_answer(unit: Unit, said: str) -> bool:
    """Whether a model said this that had read documents, or another's words, or was asked before all that.

    Not a title that is made of the question alone.
    """
    told = sayers(said, [run for run in reversed(unit.models) if run.ended is not None])
    for run in told:
        given = chat.given_text(run.inputs)
        others = (said_by(other) for other in unit.models if other is not run)
        told_of = any(one in given for one in others if is_telling(one[:OPENING]))
        if not has_followed(unit, run) or told_of or holds_opening(unit, given):
            return True
    return not told


def spoken(unit: Unit, answering: Run | None) -> str | None:
    """The answer where the output doesn't show it: the model's own words, else a list or a structure."""
    if answering is None and unit.models:
        return None
    words = None if answering is None else own_answer(answering)
    outputs = states.state(unit.run.outputs)
    named = (states.listed(held) for _, held in states.known(outputs, values.NAMED))
    return (
        words or next(filter(None, named), None) or states.listed(outputs) or states.whole(outputs) or words
    )


def on_the_way(unit: Unit, said: str | None, answering: Run | None) -> bool:
    """Whether this is no answer but a step towards one: a bare tool call, or a pause to ask a human."""
    calls = answering is not None and results.calls_tools(answering.outputs)
    if unit.interrupted:
        return calls or not said
    return calls and unit.run.kind is Kind.MODEL and not said


def answered_unheard(unit: Unit, key: str | None) -> bool:
    """Whether an answer was made of documents by something that no event shows, such as a provider's SDK.

    A text counts where a prompt was filled before, and not where it holds a document; else what a state has
    under ``key``, or under one of the usual ones.
    """
    outputs = states.state(unit.run.outputs)
    said = answer(unit, key) or ""
    if unit.interrupted or not said.strip() or not any(found_texts(unit.retrievals)):
        return False
    if chat.text(outputs) is None:
        return True
    return bool(unit.prompts) and not holds_opening(unit, said)


def problem(
    unit: Unit, answer: str | None, answering: Run | None, *, has_context: bool
) -> tuple[AbstentionReason | None, str]:
    """Why the answer can't be judged, in a word and in a sentence; None when it can."""
    if unit.abandoned or (answering is not None and any(answering is run for run in unit.unfinished)):
        return AbstentionReason.PARTIAL_ANSWER, GIVEN_UP
    if answer is None:
        detail = NOT_READ % type(unit.run.outputs).__name__
        return AbstentionReason.NO_CLAIMS, detail if answering or not unit.models else UNCLEAR
    if _is_unsaid(unit, answer):
        return AbstentionReason.NO_CLAIMS, UNSAID
    if not has_context:
        return AbstentionReason.NO_CONTEXT, NOT_FOUND if unit.retrievals or unit.tools else NOT_SEEN
    return None, ""


def _is_unsaid(unit: Unit, said: str) -> bool:
    """Whether a conversation ends with words of the application's own, such as those of a limit.

    Its model is one that is heard: it called the tools, or the message was its own before. Where an older
    agent returns no conversation, LangChain's own words tell.
    """
    if said.startswith(_STOPPED):
        return not any(said.strip() == one.strip() for one in results.said_in(unit.models))
    conversation = chat.messages(states.at(states.state(unit.run.outputs), "messages"))
    shown = bool(conversation) and chat.by_model(conversation[-1]) and values.answer(conversation[-1]) == said
    if not shown or any(run.answer for run in unit.models):
        return False
    asked = chat.last_turn(conversation) or 0
    own = {results.message_id(run.outputs) for run in unit.models} - {None}
    heard = any(message.id in own for message in conversation[asked:] if chat.by_model(message))
    return heard and not is_made_of(said, list(results.said_in(unit.models)))


def answering_run(unit: Unit, answering: Run | None) -> Run:
    """The run that answered; of a block of separate calls, which is no run of the host, the call that did."""
    run = unit.run
    if not isinstance(run.inputs, Block):
        return run
    inner = answering or next(iter([*unit.models, *unit.retrievals, *unit.tools]), run)
    while inner.parent is not None and inner.parent is not run:
        inner = inner.parent
    return inner
