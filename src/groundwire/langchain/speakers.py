"""Which model said what is answered, and what it had been given of the documents to read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile

from groundwire.host.seen import EDITED, is_telling, shares
from groundwire.langchain import chat, evidence, results, states, values
from groundwire.langchain.tree import Kind, Run, Unit

DISTINCT = 8  # a shorter word than this stands in many a prompt by chance
OPENING = 200


def answering_model(unit: Unit, said: str | None) -> Run | None:
    """The model run that gave the answer: the last that said exactly it, else the one whose words it is like.

    Where it is like none's, it is the last that was given documents, else the one started last: what follows
    an answer may be a check of it, a title or a translation. Where the output has no usual key, it is the
    last whose words stand in it. None if another went on beside that one, or if that one was shown no
    documents and another was: then an answer and what was made of it stand there side by side, such as
    questions that might follow, and nothing tells which is which.
    """
    ended = [run for run in reversed(unit.models) if run.ended is not None]
    if said is not None:
        told = sayers(said, ended)
    else:
        held = {text.strip() for text in values.texts(states.state(unit.run.outputs))} - {""}
        told = [run for run in ended if said_by(run) in held]
        if any(run.beside(told[0]) and said_by(run) != said_by(told[0]) for run in told[1:]):
            return None
        reading = (_read_documents(unit, run) for run in told)
        if not next(reading, True) and any(reading):
            return None
        if any(_answers_beside(unit, run, told[0]) for run in told[1:]):
            return None
    read = (run for run in ended if len(ended) > 1 and _read_documents(unit, run))
    return (
        (_rereader(unit, _likeliest(unit, told), ended) if told else None)
        or next(read, None)
        or max(unit.models, key=lambda run: run.started, default=None)
    )


def _rereader(unit: Unit, model: Run, ended: Iterable[Run]) -> Run:
    """Who had read documents and said the ``model``'s draft from before them again, else the model itself."""
    said = said_by(model)
    if has_followed(unit, model) or not is_telling(said):
        return model
    again = (
        run for run in ended if any(said in one for one in fields_of(run)) and _read_documents(unit, run)
    )
    return next(again, model)


def _likeliest(unit: Unit, told: Sequence[Run]) -> Run:
    """The first of those that said the same, or of those beside it one that was given documents to read."""
    alike = [run for run in told if run is told[0] or run.beside(told[0])]
    return next((run for run in alike if len(alike) > 1 and _read_documents(unit, run)), told[0])


def words_beside(unit: Unit, said: str | None, answering: Run | None) -> list[Run]:
    """The models whose words an answer holds beside those of the ``answering`` one, put together by code.

    Where that one's are the whole, those that said the same at once: either may have been meant.
    """
    if answering is None or not said:
        return []
    if said_by(answering) == said.strip():
        return [run for run in unit.models if run.beside(answering) and said_by(run) == said.strip()]
    own, rest, beside = said_by(answering), said, []
    ended = (run for run in unit.models if run.ended is not None and run is not answering)
    likely = [run for run in ended if (words := said_by(run)) in said and is_telling(words)]
    for run in sorted([answering, *likely], key=lambda run: len(said_by(run)), reverse=True):
        words = said_by(run)  # a grader's may be a part of what others said
        if words in rest and (own in said or words not in own):
            rest = rest.replace(words, "\n", 1)
            beside.append(run)
    return sorted((run for run in beside if run is not answering), key=lambda run: run.started)


def _answers_beside(unit: Unit, model: Run, last: Run) -> bool:
    """Whether a model has answered from documents as the ``last`` one did, which was not told of that."""
    said = said_by(model)
    if not is_telling(said) or said == said_by(last) or not _read_documents(unit, model):
        return False
    return said not in chat.prompt_text(last.inputs)


def sayers(said: str, ended: Sequence[Run]) -> list[Run]:
    """Those of the ``ended`` models, last first, that said exactly this, else the one it is most like."""
    return [run for run in ended if said.strip() and said_by(run) == said.strip()] or _most_like(said, ended)


def _most_like(said: str, ended: Sequence[Run]) -> list[Run]:
    """The model whose words were edited into the answer, where one's were; the ``ended`` ones, last first.

    Not where a later one may have given it as well: one of which no word is known. Of several that it is as
    much like, no check that was told it, and says it once more.
    """
    if len(ended) < 2:
        return []
    told = (" ".join(results.model_words(run.outputs)).strip() for run in ended)
    like = shares(said, takewhile(bool, told))
    most = max(like, default=0.0)
    if most < EDITED:
        return []
    alike = [run for run, one in zip(ended, like, strict=False) if one == most]
    return [next((run for run in alike if not _repeats(run, alike)), alike[0])]


def _repeats(model: Run, others: Sequence[Run]) -> bool:
    """Whether a model was told what one of the ``others`` had said before, or a field of it."""
    earlier = [run for run in others if run.started < model.started]
    given = chat.given_text(model.inputs) if earlier else ""
    return any(is_telling(said) and said in given for run in earlier for said in fields_of(run))


def said_by(model: Run) -> str:
    """What a model said, without the white space around it."""
    return (own_answer(model) or "").strip()


def own_answer(run: Run) -> str | None:
    """What a model, or a step that was declared to give the answer, says as an answer."""
    if run.kind is Kind.MODEL:
        return results.model_text(run.outputs)
    return values.answer(states.state(run.outputs))


def fields_of(run: Run) -> Iterator[str]:
    """All that a model said, in parts: its text, or where that is JSON the texts in it."""
    yield from results.model_words(run.outputs)
    with suppress(ValueError, RecursionError):
        yield from values.texts(json.loads(said_by(run)))


def _read_documents(unit: Unit, model: Run) -> bool:
    """Whether the model was given documents of the unit to read, and not just an answer that quotes one."""
    given = chat.given_text(model.inputs)
    if not holds_opening(unit, given):
        return False
    if unit.telling is None:
        told = dict.fromkeys(map(said_by, unit.models))
        unit.telling = tuple(said for said in told if is_telling(said[:OPENING]))
    for said in unit.telling:
        given = given.replace(said, "")
    return holds_opening(unit, given)


def holds_opening(unit: Unit, text: str) -> bool:
    """Whether a document of the unit begins in a text, be it there as JSON or in one line."""
    begun = _openings(unit)
    there = _evened(text) if begun else ""
    return any(opening in there for opening in begun)


def _openings(unit: Unit) -> tuple[str, ...]:
    """How each document of the unit begins, where that is enough to know it by."""
    if unit.openings is None:
        begun = (_evened(text[:OPENING]) for text in found_texts(unit.retrievals))
        unit.openings = tuple(opening for opening in begun if len(opening) >= DISTINCT)
    return unit.openings


def _evened(text: str) -> str:
    """A text in one line, whether its line breaks and quotes are escaped or not."""
    return " ".join(text.replace("\\n", " ").replace('\\"', '"').split())


def has_followed(unit: Unit, run: Run) -> bool:
    """Whether a model was asked when one of the unit's retrievers had found its documents, or none has."""
    return not unit.retrievals or any(map(run.follows, reversed(unit.retrievals)))


def found_texts(retrievals: Iterable[Run]) -> Iterator[str]:
    """The documents that were found, as texts."""
    return (passage.text.strip() for run in retrievals for passage in evidence.passages(run.outputs))
