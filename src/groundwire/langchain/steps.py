"""Whether a unit is an answer or only a step towards one, and which model went on from it.

What a unit says is read in ``units``; here it is looked for in what later models were given, and in what the
topmost run returned.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from groundwire.host.seen import EDITED, has_part, is_telling, shares
from groundwire.langchain import chat, results, states, values
from groundwire.langchain.questions import asked
from groundwire.langchain.speakers import (
    DISTINCT,
    answering_model,
    found_texts,
    has_followed,
    holds_opening,
    said_by,
    sayers,
)
from groundwire.langchain.told import is_handed_on
from groundwire.langchain.tree import Run, Unit
from groundwire.langchain.units import answer


def is_step(unit: Unit, model: Run, supplied: Sequence[Run]) -> bool:
    """Whether the unit's answer was given to a later model to read, or its documents to one without others.

    What the model itself said earlier in a conversation is not given: it stands there as a turn of its own.
    """
    given = chat.given_text(model.inputs)
    if not supplied and holds_opening(unit, given):
        return True
    if _is_told_by_tool(unit, model):
        return True
    handed = [said for said in _sayings(unit) if _is_distinct(said) and said in given]
    documents = list(found_texts([*unit.retrievals, *supplied])) if handed else []
    return any(is_handed_on(said, _own_prompt(unit, said), given, documents) for said in handed)


def _own_prompt(unit: Unit, said: str) -> str:
    model = answering_model(unit, said)
    return "" if model is None else chat.given_text(model.inputs)


def _is_told_by_tool(unit: Unit, model: Run) -> bool:
    """Whether the model was given what a tool said, in whatever form, in which the unit answered."""
    tool = unit.run.scope.tool
    if tool is None or tool.ended is None or model.within(tool):
        return False
    calls = set(chat.answered_calls(tool.outputs))
    text = chat.tool_text(tool.outputs)
    return any(
        getattr(message, "tool_call_id", None) in calls or chat.told(message) == text
        for message in chat.tool_messages(model.inputs)
    )


def told_of(unit: Unit, tools: Sequence[Run]) -> list[Run]:
    """Those of the ``tools``, which ran outside of the unit, whose results its models were told in this turn.

    As where an agent hands a conversation over to another, or a step of a graph looks up what a later one
    writes into its prompt.
    """
    read = [(model, chat.told_now(model.inputs), _calls_told(model)) for model in unit.models]
    return [tool for tool in tools if any(_is_told(tool, *one) for one in read)]


def _is_told(tool: Run, model: Run, told: str, calls: Container[str]) -> bool:
    if not model.follows(tool):
        return False
    if any(call in calls for call in chat.answered_calls(tool.outputs)):
        return True
    text = chat.tool_text(tool.outputs)
    return text is not None and text.strip() in told and is_telling(text)


def _calls_told(model: Run) -> set[str]:
    conversation = chat.messages(model.inputs)
    return set(chat.answered_calls(conversation[chat.last_turn(conversation) or 0 :]))


def is_another_s(unit: Unit, key: str | None, others: Sequence[Unit]) -> bool:
    """Whether a model of one of the ``others`` gave what the unit answers, and none of its own.

    Two may answer the same, each in a form out of which code takes the answer.
    """
    said = (answer(unit, key) or "").strip() if others else ""
    if not said or _has_said(unit, said):
        return False
    return any(said in _sayings(other) and _has_said(other, said) for other in others)


def _has_said(unit: Unit, said: str) -> bool:
    words = (" ".join(results.model_words(model.outputs)) for model in unit.models)
    return any(like >= EDITED for like in shares(said, words))


def is_shown(unit: Unit, top: Run, others: Sequence[Unit]) -> bool:
    """Whether the topmost run's output holds the unit's answer, and it is none of the others'."""
    said = _sayings(unit)
    if not said or any(said[0] in _sayings(other)[:1] for other in others):
        return False
    return _stand_in(said, list(values.texts(states.state(top.outputs))))


def built_on(
    run: Run, key: str | None, models: Sequence[Run], waiting: Sequence[Unit]
) -> tuple[Run, list[Unit]] | None:
    """The one of the ``models`` that gave the chain's answer, where ``waiting`` units below it gave theirs.

    Beside it, those of the units whose answers it was told. None where the answer is one of theirs, or put
    together of them, or where nothing that a model said is shown. Nor, unless it was told, is what stands
    under no usual key, or was edited, or says the same as a unit.
    """
    theirs = [model for unit in waiting for model in unit.models]
    retrievals = [retrieval for unit in waiting for retrieval in unit.retrievals]
    everyone = sorted([*models, *theirs], key=lambda model: model.started)
    said = answer(Unit(run=run, models=everyone, retrievals=retrievals), key)
    held = {text.strip() for text in ([said] if said else values.texts(states.state(run.outputs)))} - {""}
    ended = [model for model in reversed(everyone) if model.ended is not None]
    shown = [model for model in ended if said_by(model) in held]
    is_exact = bool(said and shown)
    if not is_exact and any(_stand_in(_sayings(unit), list(held)) for unit in waiting):
        return None
    is_said_before = is_exact and any(said_one in held for unit in waiting for said_one in _sayings(unit))
    if said and not shown:
        shown = sayers(said, ended)
    own = [model for model in (shown[:1] if said else shown) if model in models]
    for builder in own:
        told = [unit for unit in waiting if _was_told(builder, unit)]
        if told and (builder is own[0] or builder.beside(own[0])):
            return builder, told
    return (own[0], []) if own and is_exact and not is_said_before else None


def _was_told(model: Run, unit: Unit) -> bool:
    """Whether the model was told of the unit's answer: by a tool, or in a run of its words."""
    if not model.follows(unit.run):
        return False
    if any(reader is model for reader in unit.read_by) or _is_told_by_tool(unit, model):
        return True
    given = chat.prompt_text(model.inputs)
    return any(is_telling(said) and has_part(given, said, asked(unit)) for said in _sayings(unit))


def _stand_in(sayings: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether one of the sayings is one of the texts, or stands in one where that can't be chance."""
    return any(
        said == text.strip() or (_is_distinct(said) and said in text) for said in sayings for text in texts
    )


def _is_distinct(said: str) -> bool:
    """Whether words can be looked for at all: two of them, or a long one."""
    return len(said) >= DISTINCT or len(said.split()) > 1


def _sayings(unit: Unit) -> tuple[str, ...]:
    """In which words the unit's answer may be handed on: as its output has it, and as its model said it.

    Where the output shows none, what any of its models has made of the documents may be.
    """
    if unit.sayings is None:
        said = answer(unit, None)
        tellers = [answering_model(unit, said)]
        if said is None:
            tellers = [model for model in reversed(unit.models) if has_followed(unit, model)]
        told = [said or "", *(said_by(model) for model in tellers if model is not None)]
        unit.sayings = tuple(dict.fromkeys(filter(None, map(str.strip, told))))
    return unit.sayings
