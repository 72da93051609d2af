"""What was asked, found and told in one answering span, read from what happened inside it.

The answer's own nodes come first, for they are what the model saw; what was found on the way counts where the
answer has none. Which span is judged is decided in ``capture``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, takewhile
from typing import Any

from llama_index.core.schema import NodeWithScore
from llama_index.core.workflow import StartEvent, StopEvent

from groundwire.core.interaction import Interaction, Passage, Turn
from groundwire.core.verdict import AbstentionReason
from groundwire.host.echoes import given_words
from groundwire.host.notices import WITHHELD, is_withheld, without
from groundwire.host.seen import EDITED, folded, has_part, is_statement, is_telling, shares, unspoken
from groundwire.llama_index import findings, values
from groundwire.llama_index.handed import answers, handed
from groundwire.llama_index.made import said_in, unmade
from groundwire.llama_index.output import notices
from groundwire.llama_index.showing import beside_shown, opening, shown_in
from groundwire.llama_index.spans import Exchange, Finding, Found, Kind, Part
from groundwire.llama_index.words import behind, filled

_BY_HAND = "groundwire.check(question=..., contexts=..., answer=...)"
NOT_SEEN = (
    "no nodes were seen: nothing was retrieved that a LlamaIndex retriever, tool or response tells of; "
    f"judge such answers with {_BY_HAND}"
)
NOT_FOUND = "nodes were looked for, and the model was given none"
NO_TEXT = "the nodes that the model was given hold no text: nothing here reads images"
GIVEN_UP = (
    "the answer was given up before its end: its stream was not read to the last token, failed, or was "
    "cancelled"
)
NOTHING_SAID = f"the model said nothing: LlamaIndex put {values.NOTHING!r} in its answer's place"
_BULLET = " \t\r-*•"
NOT_READ = "no answer could be read from a result of type %s"
_UNHEARD = (
    "found nodes and gave an answer, and no model was heard, so groundwire judges nothing there: "
    f"answer in it with a LlamaIndex LLM, or judge with {_BY_HAND}"
)
_MADE_FURTHER = (
    "had a model make its answer of what engines in it had answered: groundwire judges theirs, and not what "
    f"was made of them; judge that with {_BY_HAND}"
)
_STREAMED = (
    "found nodes and a model streamed its answer, which groundwire does not read: return its text as the "
    f"result, or judge it with {_BY_HAND}"
)

_UNREAD = (
    "found nodes, told a model of them, and returned nothing that the model said, so groundwire judges "
    'nothing there: return the answer as the result, or under a key such as "answer", or judge it with '
    f"{_BY_HAND}"
)

_RESUMED = (
    "went on from a saved Context and returned what a model said: groundwire sees nothing of what was "
    f"retrieved before that, so it judges nothing there; judge what is said of documents with {_BY_HAND}"
)

_ASKED = {Kind.QUERY: "str_or_query_bundle", Kind.SYNTHESIS: "query", Kind.CHAT: "message"}


def is_answer(part: Part, result: Any) -> bool:
    """Whether a workflow in which no engine answered did so itself: a model's text, from what it found."""
    if not part.exchanges or not _answers(part, result):
        return False
    return not part.steps or _is_made_of_steps(part, result)


def _is_made_of_steps(part: Part, result: Any) -> bool:
    """Whether a model has said what a workflow ends with, and not the workflow itself, as a status."""
    said = answer(part, result) or ""
    if values.is_named_answer(result) and said.strip() in part.spoken:
        return True  # be it as short as a grade
    return is_telling(said) and (part.streamed or _have_part(said, part.spoken))


def untold(part: Part, result: Any) -> str | None:
    """What to tell of such a workflow that answered, and of which nothing, or only a part, is judged."""
    if _is_unheard(part, result):
        return _UNHEARD
    if part.answered and _is_made_further(part, result):
        return _MADE_FURTHER
    if _is_streamed(part, result):
        return _STREAMED
    if _is_resumed(part) and not (part.found or part.answered) and _told_in(part, result):
        return _RESUMED
    return _UNREAD if _is_unread(part, result) else None


def _is_made_further(part: Part, result: Any) -> bool:
    """Whether a model said what is told after engines had answered, or streamed where they did not say it."""
    said = None if _form(part, result) else (values.stated(result) or "").strip()
    answers = [said_in(finding) for finding in part.found if finding.how is Found.ANSWERED]
    beside = _told_in(part, result)
    if said in part.spoken if said else bool(beside):
        return True
    is_status = said and not values.is_named_answer(result) and not _have_part(said, answers)
    if is_status:
        makers = [one for one in part.exchanges if not beside.isdisjoint(map(str.strip, one.words))]
        if any(has_part(one.told, own) for one in makers for own in answers):
            return True
    told = [said] if said else values.texts(result)
    return part.streamed and any(is_telling(unspoken(text, answers)) for text in told)


def _have_part(said: str, others: Iterable[str]) -> bool:
    """Whether what was said has a part of one of the others, or one of them a part of it."""
    return any(has_part(said, one) or has_part(one, said) for one in others)


def _is_resumed(part: Part) -> bool:
    """Whether a run began in the midst of its steps: with a state to go on from, and no event to start it."""
    return part.arguments.get("init_state") is not None and part.arguments.get("start_event") is None


def _is_unread(part: Part, result: Any) -> bool:
    """Whether something is told that no document says, or nothing, and a model was told of documents."""
    if part.answered or not part.exchanges:
        return False
    found = findings.passages(part.found)
    told = "\n".join(one.told for one in part.exchanges)
    if not any(opening(passage) in told for passage in found):
        return False
    if result is None or (type(result) is StopEvent and result.result is None):
        return True  # the answer may have gone elsewhere, as an event
    texts = (text for text in values.texts(result) if is_telling(text))
    return any(all(text.strip() not in passage.text for passage in found) for text in texts)


def _is_unheard(part: Part, result: Any) -> bool:
    """Whether no model was heard. A text that holds a node's is no answer but what was found."""
    if part.exchanges or not _answers(part, result):
        return False
    said = values.stated(result) or ""
    return not any(opening(passage) in said for passage in findings.passages(part.found))


def _is_streamed(part: Part, result: Any) -> bool:
    """Whether it returned a stream, which its owner reads, or may have read itself."""
    told = result.result if isinstance(result, StopEvent) else result
    if part.answered or not part.found:
        return False
    return isinstance(told, Iterator | AsyncIterator) or (part.streamed and any(values.texts(result)))


def _answers(part: Part, result: Any) -> bool:
    told = values.stated(result) is not None or bool(_told_in(part, result))
    return told and bool(part.found) and not part.answered


def _told_in(part: Part, result: Any) -> set[str]:
    """What models said inside of ``part`` and its result holds, in whatever form, else as a form."""
    texts = set(part.spoken).intersection(text.strip() for text in values.texts(result))
    return texts or {values.form_answer(form) for form in filled(values.forms(result), part.spoken)}


def _form(part: Part, result: Any) -> Mapping[str, Any] | None:
    """The form that a workflow's result is, where a model has filled it."""
    return next(iter(filled(islice(values.forms(result), 1), part.spoken)), None)


def interaction(
    part: Part | None, asked: str | None, found: Sequence[Passage], answer: str | None, identity: str
) -> Interaction:
    """What is judged. Its history is told by the part's own question, to which a retry has added a note."""
    earlier = () if part is None else history(part, _named(part) or _prompt(part))
    return Interaction(question=asked, contexts=found, answer=answer or "", history=earlier, id=identity)


def answer(part: Part, result: Any) -> str | None:
    """What was answered; where a workflow's result has no usual key, what a model said that stands in it."""
    if part.kind is not Kind.FLOW:
        return values.answer(result)
    if form := _form(part, result):
        return values.form_answer(form)
    said, told = values.stated(result), _told_in(part, result)
    if said is not None and (values.is_named_answer(result) or not _is_beside(part, said, told)):
        return said
    return told.pop() if len(told) == 1 else None


def _is_beside(part: Part, said: str, told: set[str]) -> bool:
    """Whether a text under a usual key, such as "ok", is none of a model's, and the answer stands beside it.

    That is the only text of a model's there, which that one gave from documents.
    """
    if len(told) != 1 or said.strip() in told:
        return False
    (own,) = told
    if not is_telling(own) or _have_part(said, [own]):
        return False
    begun = [opening(passage) for passage in findings.passages(part.found)]
    answering = (one for one in part.exchanges if own in map(str.strip, one.words))
    return any(begin in one.told for one in answering for begin in begun)


def claimed(part: Part | None, answer: str | None, response: Any) -> str | None:
    """An answer as far as it is one: without what checks inside, and response modes, have written into it."""
    return None if answer is None else values.unheaded(without(answer, _written(part, response)))


def _written(part: Part | None, response: Any) -> set[str]:
    """What checks have written inside of ``part``, around it alone, and into the ``response``."""
    lists = [notices(response) or []]
    above = part
    while above is not None and (above is part or above.kind is Kind.CHECKED):
        lists += above.notices
        above = above.parent
    return {notice for written in lists for notice in written}


def question(part: Part) -> str | None:
    """What the user asked; where nothing names it, what a model was told last but for what it was to read."""
    if asked := _named(part):
        return _unhanded(part, asked)
    prompt = _prompt(part)
    if part.kind is not Kind.FLOW:
        return prompt
    if prompt is None:
        return part.sought if _is_passed(part, part.sought) else None
    drafts = [said.strip() for one in part.exchanges if one.read for said in one.words]
    return _unread(prompt, findings.passages(part.found), drafts)


def _unhanded(part: Part, asked: str) -> str | None:
    """What an agent was asked beside what it was handed, which is nothing that the user says."""
    read = handed(part)
    if not read:
        return asked
    for said in answers(part):
        asked = asked.replace(said, "\n")
    return _unread(beside_shown(asked, [one for one in read if is_telling(opening(one))]), read, ())


def _prompt(part: Part) -> str | None:
    """What the user says in the messages that a model was given last."""
    return values.question(part.dialogues[-1]) if part.dialogues else None


def _unread(prompt: str, found: Sequence[Passage], drafts: Iterable[str]) -> str | None:
    """What a prompt says beside documents, and beside what models have said of those; None of no word.

    A few words, as a title or a name, may be the question's own, and go where they are all of a line.
    """
    read = [passage.text.strip() for passage in found]
    read += sorted(filter(_is_draft, drafts), key=len, reverse=True)  # one may be a part of another
    for text in filter(is_statement, read):
        prompt = prompt.replace(text, "\n")
    prompt = beside_shown(prompt, [passage for passage in found if is_statement(passage.text)])
    few = set(filter(is_telling, read))
    lines = (line for line in prompt.split("\n") if any(map(str.isalnum, line)))
    return "\n".join(line for line in lines if line.strip(_BULLET) not in few).strip() or None


def _is_draft(said: str) -> bool:
    """Whether what a model said may be of documents: a question may be the user's in other words."""
    return not said.endswith(("?", "？"))


def _named(part: Part) -> str | None:
    """What the user asked by a usual name; of a workflow also the only text that it passed to a model."""
    if part.kind in _ASKED:
        # An engine of one's own may call it otherwise, and then it is the first that reads as a question.
        usual = map(part.arguments.get, (_ASKED[part.kind], *values.QUESTION_KEYS))
        return next(filter(None, map(values.question, (*usual, *part.arguments.values()))), None)
    given = _given(part)
    likely = [given.get(key) for key in (*values.QUESTION_KEYS, "chat_history")]
    passed = [one for one in given.values() if part.kind is Kind.FLOW and _is_passed(part, one)]
    likely += passed if len(passed) == 1 else ()
    return next(filter(None, map(values.question, likely)), None)


def _is_passed(part: Part, given: Any) -> bool:
    """Whether a model was told what a call was given."""
    is_text = isinstance(given, str) and is_telling(given)
    return is_text and any(given in exchange.told for exchange in part.exchanges)


def history(part: Part, asked: str | None) -> tuple[Turn, ...]:
    """The turns before the question, oldest first: as the model saw them, else as the call was given them."""
    told = (values.before(dialogue, asked) for dialogue in reversed(part.dialogues))
    if earlier := next(filter(None, told), None):
        return earlier
    if given := _given(part).get("chat_history"):
        return values.before(given, asked) or values.turns(given)
    return values.spoken(part.condensed) if part.kind is Kind.CHAT else ()


def _given(part: Part) -> Mapping[str, Any]:
    """What a call was given by name, and what the event holds that a workflow was started with."""
    start = part.arguments.get("start_event")
    held = {**vars(start), **start.to_dict()} if isinstance(start, StartEvent) else {}
    return {**part.arguments, **held}


def contexts(part: Part, result: Any) -> list[Passage]:
    """The passages behind the answer that ``part`` ended with, those that it was handed among them."""
    return findings.unique([*_own(part, result), *handed(part)])


def answered_from(part: Part, result: Any) -> Finding | None:
    """What an agent has answered from, for whoever is handed its answer."""
    found = contexts(part, result) if part.kind is Kind.AGENT else []
    return Finding(how=Found.ANSWERED, nodes=values.as_nodes(found), response=result) if found else None


def _own(part: Part, result: Any) -> list[Passage]:
    said = claimed(part, answer(part, result), result)
    if own := unmade(part, values.nodes(result)):
        return values.passages([*own, *_behind(part, own, said)])
    if part.found or part.filled:
        found = [finding for finding in part.found if not _is_said(finding, said)]
        return _shown(part, found, said)
    return findings.unique(
        passage
        for call in values.tool_results(result)
        for passage in values.brought(call.tool_output, given=list(given_words(call.tool_kwargs)))
    )


def _behind(part: Part, own: Sequence[NodeWithScore], said: str | None) -> list[NodeWithScore]:
    """What engines inside had answered from beside the answer's own nodes, where the model was told what."""
    known = {node.node.node_id for node in own}
    others = [
        finding
        for finding in part.found
        if finding.how is Found.ANSWERED and any(node.node.node_id not in known for node in finding.nodes)
    ]
    if not others or not part.exchanges:
        return []
    told = _answering(list(part.exchanges), (said or "").strip(), ()).told
    shown = "\n".join(node.node.get_content() for node in own)  # a document may say the same
    behind: list[NodeWithScore] = []
    for finding in others:
        one = said_in(finding)
        if is_telling(one) and one in told and one not in shown:
            behind += finding.nodes
    return behind


def _is_said(finding: Finding, said: str | None) -> bool:
    """Whether a tool has answered the user itself: its own words are no evidence for them."""
    words = all(passage.id is None for passage in finding.passages)
    return words and finding.direct is not None and finding.direct == (said or "").strip()


def _shown(part: Part, noted: Sequence[Finding], said: str | None) -> list[Passage]:
    """Those that stand in what the answering model was told; all, where it was told in other words."""
    found = findings.passages(noted)
    if part.kind is Kind.AGENT or not part.exchanges:
        return found  # what tools brought is told in words of their own
    told = _told(list(part.exchanges), said, found)
    shown = (*shown_in(told, found, question(part) or ""), *_brought(noted, told))
    known = {(one.id, one.text) for one in shown}
    return [one for one in found if (one.id, one.text) in known]


def _brought(noted: Sequence[Finding], told: str) -> Iterator[Passage]:
    """All behind what tools said, where a model was ``told`` that, be it as JSON or in other white space."""
    telling = [one for one in noted if is_telling(one.words)]
    there = "" if all(one.words in told for one in telling) else folded(told)
    said = (one.passages for one in telling if one.words in told or folded(one.words) in there)
    return chain.from_iterable(said)


def _told(exchanges: list[Exchange], said: str | None, found: Sequence[Passage]) -> str:
    """What the answering models were told, and those whose words they were given.

    They are several where code has put the answer together, as of one for each document.
    """
    stated = (said or "").strip()
    answering, there = _answering(exchanges, stated, found), folded(stated)
    parts = [one for one in exchanges if any(is_telling(w) and folded(w) in there for w in one.words)]
    return behind([answering, *(one for one in parts if one is not answering)], exchanges)


def _answering(exchanges: list[Exchange], said: str, found: Sequence[Passage]) -> Exchange:
    """The exchange that gave the answer: by its words, else the last that was told of a node, else the last.

    What follows an answer may be a check of it, a title or a translation. Words like it tell nothing where a
    later exchange may have said it as well: of a stream nobody knows.
    """
    last_first = exchanges[::-1]
    known = list(takewhile(lambda one: one.said is not None, last_first))
    theirs = shares(said, ("\n".join(one.words) for one in known))
    if max(theirs, default=0.0) >= EDITED:
        return known[theirs.index(max(theirs))]
    shown = (one for one in last_first if said and any(opening(passage) in one.told for passage in found))
    return next(shown, last_first[0])


def problem(
    part: Part | None, answer: str | None, found: Sequence[Passage], response: Any
) -> tuple[AbstentionReason | None, str]:
    """Why the answer can't be judged, in a word and in a sentence; None when it can."""
    if answer is None:
        return AbstentionReason.NO_CLAIMS, NOT_READ % type(response).__name__
    if is_withheld(answer, _written(part, response)):
        return AbstentionReason.NO_CLAIMS, WITHHELD
    if not any(passage.text.strip() for passage in found):
        missing = NOT_FOUND if part and part.found else NOT_SEEN
        return AbstentionReason.NO_CONTEXT, NO_TEXT if found else missing
    if answer.strip() == values.NOTHING:
        return AbstentionReason.NO_CLAIMS, NOTHING_SAID
    return None, ""
