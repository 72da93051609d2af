"""What one unit says: its question, its earlier turns, its answer, and which model gave it.

Every function reads one part of a finished unit and knows nothing of the others. The contexts have a module
of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from groundwire.core.interaction import Turn
from groundwire.core.verdict import AbstentionReason
from groundwire.host.seen import EDITED, is_telling, share
from groundwire.langchain import values
from groundwire.langchain.declared import Block
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

_TELLING = 8  # a shorter word than this stands in many a prompt by chance
_OPENING = 200


def question(unit: Unit, key: str | None, answering: Run | None) -> str | None:
    """What the user asked: of the unit itself, else of what it is part of, else of what it asked."""
    run = _as_asked(unit.run)
    filled = [prompt.inputs for prompt in reversed(unit.prompts)]
    if key is not None:
        for holder in (run.inputs, values.state(run.outputs), *_around(run), *filled):
            if asked := values.question(values.at(holder, key)):
                return asked
    # An output that is a text or a message is the answer: only a state repeats the question.
    repeated = None if values.text(run.outputs) is not None else values.state(run.outputs)
    for holder in (run.inputs, *_around(run), repeated):
        if asked := values.question(holder):
            return asked
    if isinstance(run.inputs, dict):
        texts = [held for held in run.inputs.values() if isinstance(held, str) and held.strip()]
        if len(texts) == 1:
            return str(texts[0])
    searched = [retrieval.inputs for retrieval in unit.retrievals]
    asked_model = [] if answering is None or searched else [answering.inputs]
    return next(filter(None, map(values.question, [*filled, *searched, *asked_model])), None)


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


def history(unit: Unit) -> tuple[Turn, ...]:
    """The turns before the question, oldest first."""
    outputs = values.messages(values.at(values.state(unit.run.outputs), "messages"))
    if earlier := outputs[: values.last_turn(outputs) or 0]:
        return values.turns(earlier)
    for holder in (unit.run.inputs, *(prompt.inputs for prompt in reversed(unit.prompts))):
        whole = values.messages(holder)
        if earlier := whole[: values.last_turn(whole) or 0]:
            return values.turns(earlier)
        for key, held in values.known(holder, values.HISTORY_KEYS):
            if past := values.messages(held):
                if key in values.QUESTION_KEYS:  # the question itself is among them
                    past = past[: values.last_turn(past) or 0]
                return values.turns(past)
    return ()


def answer(unit: Unit, key: str | None) -> str | None:
    """The answer as the unit's output shows it, or the step that was declared to give it."""
    for run in reversed(unit.models):
        if run.answer:
            return _of(run)
    outputs = values.state(unit.run.outputs)
    if key is not None and (held := values.at(outputs, key)) is not None:
        given = values.answer(held)
        return values.whole(held) if given is None else given
    return _of(unit.run)


def _of(run: Run) -> str | None:
    if run.kind is Kind.MODEL:
        return values.model_text(run.outputs)
    return values.answer(values.state(run.outputs))


def answering_model(unit: Unit, said: str | None) -> Run | None:
    """The model run that gave the answer: the last that said exactly it, else the one whose words it is like.

    Where it is like none's, it is the last that was given documents, else the one started last: what follows
    an answer may be a check of it, a title or a translation. Where the output has no usual key, it is the
    last whose words stand in it. None if that one was shown no documents and another was: then an answer and
    what was made of it stand there side by side, such as questions that might follow, and nothing tells which
    is which.
    """
    ended = [run for run in reversed(unit.models) if run.ended is not None]
    if said is not None:
        told = [run for run in ended if said.strip() and _words(run) == said.strip()] or _most_like(
            said, ended
        )
    else:
        held = {text.strip() for text in values.texts(values.state(unit.run.outputs))} - {""}
        told = [run for run in ended if _words(run) in held]
        reading = [_read_documents(unit, run) for run in told]
        if any(reading) and not reading[0]:
            return None
    if not told and len(ended) > 1:
        told = [run for run in ended if _read_documents(unit, run)]
    return next(iter(told), None) or max(unit.models, key=lambda run: run.started, default=None)


def _most_like(said: str, ended: Sequence[Run]) -> list[Run]:
    """The model whose words were edited into the answer, where one's were; the ``ended`` ones, last first.

    Not where a later one may have given it as well: one of which no word is known.
    """
    if len(ended) < 2:
        return []
    told = (" ".join(values.model_words(run.outputs)).strip() for run in ended)
    shares = [share(said, words) for words in takewhile(bool, told)]
    most = max(shares, default=0.0)
    return [ended[shares.index(most)]] if most >= EDITED else []


def _words(model: Run) -> str:
    return (_of(model) or "").strip()


def _read_documents(unit: Unit, model: Run) -> bool:
    """Whether the model was given documents of the unit to read, and not just an answer that quotes one."""
    _, *openings = _telling(unit)
    given = values.given_text(model.inputs)
    for words in filter(is_telling, map(_words, unit.models)):
        given = given.replace(words, "")
    return any(opening in given for opening in openings)


def spoken(unit: Unit, answering: Run | None) -> str | None:
    """The answer where the output doesn't show it: the model's own words, else the output as a structure."""
    if answering is None and unit.models:
        return None
    words = None if answering is None else _of(answering)
    return words or values.whole(values.state(unit.run.outputs)) or words


def is_step(unit: Unit, model: Run, supplied: Sequence[Run]) -> bool:
    """Whether the unit's answer was given to a later model to read, or its documents to one without others.

    What the model itself said earlier in a conversation is not given: it stands there as a turn of its own.
    Nor is an answer in a document's words, where the model was only given that document.
    """
    said, *openings = _telling(unit)
    given = values.given_text(model.inputs)
    if not supplied and any(opening in given for opening in openings):
        return True
    if not said or said not in given:
        return False
    quoted = [text for text in _found([*unit.retrievals, *supplied]) if said in text]
    for text in quoted:
        given = given.replace(text, "")
    return not quoted or said in given


def is_shown(unit: Unit, top: Run, others: Sequence[Unit]) -> bool:
    """Whether the topmost run's output holds the unit's answer, and it is none of the others'."""
    said, *_ = _telling(unit)
    if not said or any(said == _telling(other)[0] for other in others):
        return False
    return any(said in text for text in values.texts(values.state(top.outputs)))


def _telling(unit: Unit) -> tuple[str, ...]:
    """The unit's answer, and how each of its documents begins; empty where that is too short to tell."""
    if unit.telling is None:
        said = (answer(unit, None) or "").strip()
        openings = (text[:_OPENING] for text in _found(unit.retrievals))
        told = said if len(said) >= _TELLING or len(said.split()) > 1 else ""
        unit.telling = (told, *(opening for opening in openings if len(opening) >= _TELLING))
    return unit.telling


def _found(retrievals: Iterable[Run]) -> Iterator[str]:
    return (passage.text.strip() for run in retrievals for passage in values.passages(run.outputs))


def on_the_way(unit: Unit, said: str | None, answering: Run | None) -> bool:
    """Whether this is no answer but a step towards one: a bare tool call, or a pause to ask a human."""
    calls = answering is not None and values.calls_tools(answering.outputs)
    if unit.interrupted:
        return calls or not said
    return calls and unit.run.kind is Kind.MODEL and not said


def answered_unheard(unit: Unit, key: str | None) -> bool:
    """Whether an answer was made of documents by something that no event shows, such as a provider's SDK.

    A text counts where a prompt was filled before, and not where it holds a document; else what a state has
    under ``key``, or under one of the usual ones.
    """
    outputs = values.state(unit.run.outputs)
    said = answer(unit, key) or ""
    if unit.interrupted or not said.strip():
        return False
    if values.text(outputs) is None:
        return True
    _, *openings = _telling(unit)
    return bool(unit.prompts) and not any(opening in said for opening in openings)


def problem(
    unit: Unit, answer: str | None, answering: Run | None, *, has_context: bool
) -> tuple[AbstentionReason | None, str]:
    """Why the answer can't be judged, in a word and in a sentence; None when it can."""
    if unit.abandoned or (answering is not None and any(answering is run for run in unit.unfinished)):
        return AbstentionReason.PARTIAL_ANSWER, GIVEN_UP
    if answer is None:
        detail = NOT_READ % type(unit.run.outputs).__name__
        return AbstentionReason.NO_CLAIMS, detail if answering or not unit.models else UNCLEAR
    if not has_context:
        return AbstentionReason.NO_CONTEXT, NOT_FOUND if unit.retrievals or unit.tools else NOT_SEEN
    return None, ""


def answering_run(unit: Unit, answering: Run | None) -> Run:
    """The run that answered; of a block of separate calls, which is no run of the host, the call that did."""
    run = unit.run
    if not isinstance(run.inputs, Block):
        return run
    inner = answering or next(iter([*unit.models, *unit.retrievals, *unit.tools]), run)
    while inner.parent is not None and inner.parent is not run:
        inner = inner.parent
    return inner
