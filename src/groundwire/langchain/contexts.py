"""Which texts the model that answered was given to answer from.

What the application declared comes first; then what the events show of the text the model really saw, with
the retrieved documents found again in it; then the documents themselves; then what tools brought.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from groundwire.core.interaction import Passage
from groundwire.host.echoes import unechoed
from groundwire.host.seen import beside, is_telling, told_of
from groundwire.langchain import chat, evidence, placing, results, states, values
from groundwire.langchain.conversation import unheard
from groundwire.langchain.questions import asked
from groundwire.langchain.sources import Quotes, Sources
from groundwire.langchain.speakers import found_texts, has_followed, holds_opening, said_by, words_beside
from groundwire.langchain.told import Told, readers
from groundwire.langchain.tools import Tools, placed
from groundwire.langchain.tree import Kind, Run, Unit

_ALIKE = 0.5  # a text holds reworded documents when so many of its words are theirs


def contexts(unit: Unit, key: str | None, answering: Run | None, said: str | None = None) -> list[Passage]:
    """The passages behind the answer of ``unit``, which the model run ``answering`` gave.

    Where code has put what was ``said`` together of several models' words, all that these were given.
    """
    if (declared := _declared(unit, key)) is not None:
        return declared
    sources = Sources(unit)
    retrieved = list(_retrieved(sources))  # a document that was found twice may stand in the prompt twice
    retrieved += _handed(sources, answering, retrieved)
    beside = words_beside(unit, said, answering)
    for model in beside:
        retrieved += _handed(sources, model, retrieved)
    tellers = [model for model in beside if _has_read(unit, model, retrieved)]
    tellers = tellers if answering is None else [answering, *tellers]
    told_to = _readers(sources, tellers, retrieved)
    shown = _shown(sources, retrieved, answering) if len(told_to) <= 1 else []
    shown = shown or _surviving(unit, retrieved, answering, told_to)
    brought: list[Passage] = []
    if unit.tools:
        brought = Tools(sources, Told(unit, tellers, asked(unit), shown)).brought(shown)
    found = _unique([*shown, *brought])
    return _unique([*unheard(unit, answering, found), *found])


def _declared(unit: Unit, key: str | None) -> list[Passage] | None:
    steps = [run for run in unit.retrievals if run.context]
    if steps:
        return [passage for step in steps for passage in evidence.passages(states.state(step.outputs))]
    if key is None:
        return None
    holders = [unit.run.outputs, unit.run.inputs, *(prompt.inputs for prompt in reversed(unit.prompts))]
    for holder in holders:
        held = states.at(states.state(holder), key)
        if held is not None:
            return placed(list(_retrieved(Sources(unit))), held)
    return None


def _retrieved(sources: Sources) -> Iterator[Passage]:
    """The documents that the unit returned as its sources, else those of its outermost retrievers."""
    unit = sources.unit
    outputs = states.state(unit.run.outputs)
    for _, held in states.known(outputs, evidence.CONTEXT_KEYS):
        if returned := evidence.documents(held):
            yield from sources.unmade(evidence.passages(returned), unit.retrievals)
            return
    for run in unit.retrievals:
        if run.scope.tool not in unit.tools:  # what a tool of the unit finds is read in the tool's words
            yield from sources.found(run)


def _handed(sources: Sources, answering: Run | None, known: Sequence[Passage]) -> list[Passage]:
    """Further documents that the step was given in which the model answered, as by a task that has kept them.

    None that a model has written.
    """
    unit = sources.unit
    for run in () if answering is None else (*answering.up_to(unit.run), unit.run):
        held = [run.inputs, *(one for _, one in states.known(run.inputs, states.names(run.inputs)))]
        if given := [document for one in held for document in evidence.documents(one)]:
            there = {passage.text for passage in known}
            said = "\0".join(results.said_in(model for model in unit.models if model is not answering))
            theirs = sources.unmade(evidence.passages(given), unit.retrievals)
            if unsaid := [one for one in theirs if one.text.strip() not in said]:
                return [one for one in unsaid if one.text not in there]
    return []


def _has_read(unit: Unit, model: Run, retrieved: Sequence[Passage]) -> bool:
    """Whether a model was given documents to read, as one that names a part of the answer is not."""
    view = chat.prompt_text(model.inputs)
    return holds_opening(unit, view) or any(text in view for one in retrieved if (text := one.text.strip()))


def _readers(sources: Sources, tellers: Sequence[Run], retrieved: Sequence[Passage]) -> list[Run]:
    """The models whose reading went into the answer: its tellers, and those whose words they were shown.

    A chain that condenses its documents first answers from all of them, though its last model saw none. What
    it was handed, and has not looked for, was there from the beginning.
    """
    if not tellers:
        return []
    unit = sources.unit
    later = [run for run in unit.models if has_followed(unit, run)] if unit.retrievals or retrieved else []
    told = list(tellers)
    if any(run not in tellers for run in later):  # else there are no others' words to be shown
        held = (variables.values() for variables in _variables(unit, tellers[0]) if len(unit.models) > 1)
        filled = {text.strip() for values_ in held for text in values_ if isinstance(text, str)}
        filled.update(_passed_on(unit, tellers[1:], later))
        documents = (
            found_texts(unit.retrievals) if unit.retrievals else (passage.text for passage in retrieved)
        )
        told = readers(tellers, later, filled, documents)
    if made := [pair for run in unit.retrievals for pair in sources.made(run)]:
        seen = "\n".join(chat.prompt_text(run.inputs) for run in told)
        told += {id(model): model for model, passage in made if passage.text.strip() in seen}.values()
    return told


def _passed_on(unit: Unit, tellers: Sequence[Run], later: Sequence[Run]) -> Iterator[str]:
    """What models have said that fills a variable of a prompt in what the ``tellers`` were given."""
    said = set(map(said_by, later)) if tellers else set()
    views = list(dict.fromkeys(chat.prompt_text(teller.inputs) for teller in tellers))
    for prompt in unit.prompts if said else ():
        held = _filled(prompt).values() if isinstance(prompt.inputs, dict) else ()
        words = said.intersection(text.strip() for text in held if isinstance(text, str)) - {""}
        if words and (text := chat.prompt_text(prompt.outputs)) and any(text in view for view in views):
            yield from words


def _surviving(
    unit: Unit, retrieved: list[Passage], answering: Run | None, told_to: Sequence[Run]
) -> list[Passage]:
    """What was retrieved, as far as the models were told of it by all that they read."""
    # What a model has said in an earlier turn may quote a document, and tells nobody of it.
    now = list(dict.fromkeys(chat.told_now(run.inputs) for run in told_to))
    views = list(dict.fromkeys([*now, *(chat.given_text(run.inputs) for run in told_to)]))
    if shown := placing.survivors(retrieved, views, asked(unit)):
        return shown
    told = views if unit.retrievals else now  # what nobody has looked for may be an earlier turn's
    may_know = not _emptied(unit, answering) and _were_told(retrieved, unit, answering, told)
    return retrieved if may_know else []


def _shown(sources: Sources, retrieved: list[Passage], answering: Run | None) -> list[Passage]:
    """The context as it stands in the prompt of the answering model, from the variable that holds it."""
    unit, quotes = sources.unit, Quotes(retrieved)
    for filled in _variables(unit, answering):
        inputs = {name: _not_made_up(held, unit, quotes, answering) for name, held in filled.items()}
        shown: list[Passage] = []
        for _, held in states.known(inputs, evidence.CONTEXT_KEYS):
            shown += placed(retrieved, held)
        if shown and len(shown) >= len(retrieved):
            return shown
        others = [
            _unasked(held, unit, quotes) for name, held in inputs.items() if name not in evidence.CONTEXT_KEYS
        ]
        for held in others:
            if len(shown) < len(retrieved) and (told := _as_text(held)):
                shown += placing.place(retrieved, told, mostly=True)
        if shown:
            return shown
        likely = max(others, key=lambda held: placing.likeness(retrieved, _as_text(held)), default="")
        if placing.likeness(retrieved, _as_text(likely)) >= _ALIKE:
            return evidence.passages(likely)
    return []


def _as_text(held: Any) -> str:
    """What a variable of a prompt holds as one text: a text, or a list of documents or texts."""
    if isinstance(held, str):
        return held
    return "\n\n".join(_texts_of(held))


def _texts_of(held: Any) -> list[str]:
    if isinstance(held, list) and all(isinstance(one, str) for one in held):
        return held
    return [document.page_content for document in evidence.documents(held)]


def _unasked(held: Any, unit: Unit, quotes: Quotes) -> Any:
    """A text of the prompt without the user's question, which may hold what no document says."""
    if not isinstance(held, str) or not is_telling(question := asked(unit)):
        return held
    if held.strip() != question and quotes.hold(question):
        return held
    return unechoed(held.replace(question, ""), [question])


def _not_made_up(held: Any, unit: Unit, quotes: Quotes, answering: Run | None) -> Any:
    """A variable of the prompt without the words of earlier models, who may have made them up."""
    if isinstance(held, str):
        return _not_said(held, unit, quotes, answering)
    if not (texts := _texts_of(held)):
        return held
    kept = [_not_said(text, unit, quotes, answering) for text in texts]
    if kept == texts:
        return held
    documents = evidence.documents(held)
    if not documents:
        return [text for text in kept if text.strip()]
    return [
        document if document.page_content == text else document.model_copy(update={"page_content": text})
        for document, text in zip(documents, kept, strict=True)
        if text.strip()
    ]


def _not_said(held: str, unit: Unit, quotes: Quotes, answering: Run | None) -> str:
    """A text without the words of earlier models.

    Nobody has made up what the unit was given, what a retriever has found, what they were told themselves, or
    quoted from a document.
    """
    inner = (run for run in unit.inner if run.kind is Kind.MODEL)
    earlier = [run for run in (*unit.models, *inner) if run is not answering]
    if not earlier or quotes.hold(held) or any(held in given for given in values.texts(unit.run.inputs)):
        return held
    said = results.said_in(run for run in earlier if held not in chat.prompt_text(run.inputs))
    return beside(held, (words for words in said if not quotes.hold(words)))


def _were_told(retrieved: list[Passage], unit: Unit, answering: Run | None, views: Sequence[str]) -> bool:
    """Whether the models may have read what was retrieved, in other words; yes where that isn't known."""
    if answering is None or answering.kind is not Kind.MODEL or not any(views):
        return True
    if any(passage.text.strip() and passage.text in view for passage in retrieved for view in views):
        return True
    return told_of(retrieved, "\n".join(views), asked(unit))


def _emptied(unit: Unit, answering: Run | None) -> bool:
    """Whether the model was handed an empty context, as where a grader has thrown out all that was found."""
    if answering is None:
        return False
    holders: list[Any] = [*_variables(unit, answering), answering.inputs]
    given = answering.parent
    if given is not None and not any(run.within(given) for run in unit.retrievals):
        holders.append(given.inputs)  # of a graph's node: the state, as those before it have left it
    for holder in (*holders, states.state(unit.run.outputs)):
        if held := [held for _, held in states.known(holder, evidence.CONTEXT_KEYS)]:
            return not any(map(evidence.passages, held))
    return False


def _variables(unit: Unit, answering: Run | None) -> Iterator[dict[str, Any]]:
    """What the answering model's prompt was filled with; of several such prompts the nearest first."""
    if answering is None:
        return
    before = [
        p for p in reversed(unit.prompts) if p.started < answering.started and isinstance(p.inputs, dict)
    ]
    view = chat.prompt_text(answering.inputs)
    filled = [p for p in before if (said := chat.prompt_text(p.outputs)) and said in view]
    yield from (_filled(p) for p in filled or before if filled or p.parent is answering.parent)
    # Chains of the older kind fill their prompts without telling; their model's parent has the variables.
    parent = answering.parent
    if parent is not None and isinstance(parent.inputs, dict):
        yield {name: held for name, held in parent.inputs.items() if isinstance(held, str) and held in view}


def _filled(prompt: Run) -> dict[str, Any]:
    """What stands in a prompt: it is often given a whole state, of which its template fills in a part."""
    template = states.at(prompt.serialized, "kwargs")
    kinds = ("input_variables", "optional_variables", "partial_variables")  # the last have defaults
    named = {name for kind in kinds for name in states.at(template, kind) or ()}
    return {name: held for name, held in prompt.inputs.items() if not named or name in named}


def _unique(passages: Sequence[Passage]) -> list[Passage]:
    return list({(passage.id, passage.text): passage for passage in passages}.values())
