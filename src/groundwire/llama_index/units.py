"""What was asked, found and told in one answering span, read from what happened inside it.

The answer's own nodes come first, for they are what the model saw; what was found on the way counts where the
answer has none. Which span is judged is decided in ``capture``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import NodeWithScore
from llama_index.core.workflow import StartEvent, StopEvent

from groundwire.core.interaction import Passage, Turn
from groundwire.core.verdict import AbstentionReason
from groundwire.host.seen import EDITED, given_words, is_statement, is_telling, share, told_of
from groundwire.llama_index import values
from groundwire.llama_index.spans import ANSWERING, Exchange, Finding, Found, Kind, Part

_BY_HAND = "groundwire.check(question=..., contexts=..., answer=...)"
NOT_SEEN = (
    "no nodes were seen: nothing was retrieved that a LlamaIndex retriever, tool or response tells of; "
    f"judge such answers with {_BY_HAND}"
)
NOT_FOUND = "nodes were looked for, and the model was given none"
GIVEN_UP = (
    "the answer was given up before its end: its stream was not read to the last token, or it was cancelled"
)
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

_ASKED = {Kind.QUERY: "str_or_query_bundle", Kind.SYNTHESIS: "query", Kind.CHAT: "message"}
_OPENING = 200
_LATEST = 200  # findings of a part in which is looked for what was said


def hear(part: Part, span_id: str, arguments: Mapping[str, Any]) -> None:
    """Note what a model was told inside of ``part``, and of whatever stands around it."""
    # LlamaIndex's decorators of a model's methods hide the names of what is given by position.
    given = [arguments.get("messages"), arguments.get("prompt"), *arguments.get("args", ())]
    prompt = next((one for one in given if isinstance(one, str)), None)
    messages = next((one for one in given if isinstance(one, list | tuple) and one), None)
    condensed = (arguments.get("prompt_args") or {}).get("chat_history")
    contents = (m.content for m in messages or () if isinstance(m, ChatMessage) and m.content)
    exchange = Exchange(span_id=span_id, told="\n".join(contents) or prompt or "")
    if part.searching:
        part.searches.append(exchange)
        return
    above: Part | None = part
    while above is not None:
        if messages is not None:
            above.dialogue = list(messages)
        if exchange.told:
            above.exchanges.append(exchange)
        if isinstance(condensed, str):
            above.condensed = condensed
        above = above.parent


def note_made(part: Part, result: Any) -> None:
    """Note which nodes that ``part`` has ended with hold what an engine or a model has said, and of what."""
    for finding in part.found:
        if finding.response is result:  # a circle would keep a stream that is given up open
            finding.response = None
    if part.kind is Kind.RETRIEVER or part.kind in ANSWERING:
        part.made.update(_made(part, values.nodes(result)))


def report(part: Part, result: Any) -> None:
    """Tell the part around ``part``, which has ended, what was found in it."""
    around = part.parent
    if around is None:
        return
    if part.kind is not Kind.RETRIEVER and part.searching:
        around.searches += part.searches
    around.made.update(part.made)
    if part.kind is Kind.RETRIEVER:
        around.found.append(Finding(how=Found.RETRIEVED, nodes=_retrieved(around, result)))
    elif part.kind is Kind.SIFT:
        _sift(around, part, result)
    elif part.kind is Kind.TOOL:
        around.found.append(_brought(around, part, result))
    elif part.kind in ANSWERING and (finding := answered(part, result)):
        around.found.append(finding)
    else:
        around.found += part.found
        around.answered |= part.answered
    around.spoken += part.spoken
    around.streamed |= part.streamed
    if part.kind in ANSWERING:
        _spoke(around, values.answer(result))


def answered(part: Part, result: Any) -> Finding | None:
    """What an engine answered from; None where that is not known."""
    nodes = _unmade(part, values.nodes(result))
    return Finding(how=Found.ANSWERED, nodes=nodes, response=result) if nodes else None


def _retrieved(around: Part, result: Any) -> list[NodeWithScore]:
    """What a retriever found; the tools that an agent looked up for itself tell nothing of a question."""
    found = _unmade(around, values.nodes(result))
    return [node for node in found if not (around.kind is Kind.AGENT and values.is_tool(node))]


def _made(part: Part, nodes: Sequence[NodeWithScore]) -> dict[str, Sequence[NodeWithScore]]:
    """Those of the nodes that nobody found, and that hold what an engine or a model said, by their ids.

    The engine may have been asked inside of ``part`` or before it, the model inside. Beside each is what that
    one had answered from, or else all that was found inside.
    """
    left = {node.node.node_id: text for node in nodes if (text := node.node.get_content().strip())}
    answers: list[Finding] = []
    above: Part | None = part
    while above is not None and left:
        for finding in above.found[-_LATEST:]:
            for node in finding.nodes:
                left.pop(node.node.node_id, None)
            answers.append(finding)
        above = above.parent
    made: dict[str, Sequence[NodeWithScore]] = {}
    for key, text in left.items():
        told = (one for one in answers if (said := _said(one)) and _holds(text, said))
        if (source := next(told, None)) is not None:
            made[key] = source.nodes
        elif any(_is_written(text, exchange) for exchange in part.searches):
            made[key] = [one for finding in part.found for one in finding.nodes]
    return made


def _said(finding: Finding) -> str:
    return (values.answer(finding.response) or "").strip()


def _holds(text: str, said: str) -> bool:
    return text.endswith(said) or (is_telling(said) and said in text)


def _is_written(text: str, exchange: Exchange) -> bool:
    """Whether a model has written this, and had not been told it."""
    said = (exchange.said or "").strip()
    return (text == said or (is_telling(text) and text in said)) and text not in exchange.told


def _unmade(part: Part, found: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """The nodes, but what they were made from for those that hold what was said inside of a retriever."""
    nodes = list(found)
    above: Part | None = part
    while above is not None:
        nodes = values.unmade(nodes, above.made)
        above = above.parent
    return nodes


def _brought(around: Part, part: Part, result: Any) -> Finding:
    """What a tool brought beside what it, or one before it, was given: one may keep what another returns.

    A model may have made that up, unless it is in what was found before.
    """
    known = passages(around.found)
    own = [
        words for words in given_words(part.arguments) if not any(words.strip() in one.text for one in known)
    ]
    said = values.tool_words(result)
    # A tool may be called by way of another that is the same to an agent.
    inside = passages([found for found in part.found if not part.direct or found.direct != said])
    spoken = None if part.streamed else part.spoken
    brought = values.brought(result, inside, spoken=spoken, given=[*own, *around.given], made=part.made)
    around.given.extend(filter(is_statement, own))
    direct = said if part.direct and not inside else None
    return Finding(how=Found.BROUGHT, passages=brought, direct=direct)


def heard(part: Part, span_id: str, result: Any) -> None:
    """Note what a model has said inside of ``part``. Of a stream nothing tells but its reader."""
    said = values.stated(result)
    for exchange in (*part.exchanges, *part.searches):
        if exchange.span_id == span_id:
            exchange.said = said
    if part.kind in {Kind.TOOL, Kind.FLOW}:
        _spoke(part, said)
        part.streamed |= isinstance(result, Iterator | AsyncIterator)


def _spoke(part: Part, said: str | None) -> None:
    """Note what a model, or an engine, said inside of ``part``, which a tool may pass off as found."""
    if said and said.strip():
        part.spoken.append(said.strip())


def _sift(around: Part, part: Part, result: Any) -> None:
    """Replace the nodes that a postprocessor was given by those that it let pass."""
    told = values.nodes(part.arguments.get("nodes"))
    given = {node.node.node_id for node in (*told, *_unmade(around, told))}
    for finding in around.found:
        if finding.how is Found.RETRIEVED:
            finding.nodes = [node for node in finding.nodes if node.node.node_id not in given]
    around.found.append(Finding(how=Found.RETRIEVED, nodes=_retrieved(around, result)))


def is_answer(part: Part, result: Any) -> bool:
    """Whether a workflow in which no engine answered did so itself: a model's text, from what it found."""
    return bool(part.exchanges) and _answers(part, result)


def untold(part: Part, result: Any) -> str | None:
    """What to tell of such a workflow that answered, and of which nothing, or only a part, is judged."""
    if _is_unheard(part, result):
        return _UNHEARD
    said = (values.stated(result) or "").strip()
    if part.answered and (said in part.spoken if said else bool(_told_in(part, result))):
        return _MADE_FURTHER
    return _STREAMED if _is_streamed(part, result) else None


def _is_unheard(part: Part, result: Any) -> bool:
    """Whether no model was heard. A text that holds a node's is no answer but what was found."""
    if part.exchanges or not _answers(part, result):
        return False
    said = values.stated(result) or ""
    return not any(_opening(passage) in said for passage in passages(part.found))


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
    """What models said inside of ``part`` and its result holds, in whatever form."""
    return set(part.spoken).intersection(text.strip() for text in values.texts(result))


def answer(part: Part, result: Any) -> str | None:
    """What was answered; where a workflow's result has no usual key, what a model said that stands in it."""
    if part.kind is Kind.FLOW and values.stated(result) is None:
        told = _told_in(part, result)
        return told.pop() if len(told) == 1 else None
    return values.answer(result)


def question(part: Part) -> str | None:
    """What the user asked; of a workflow, where no usual name tells, the only text that it was given."""
    if part.kind in _ASKED:
        return values.question(part.arguments.get(_ASKED[part.kind]))
    given = _given(part)
    likely = [given.get(key) for key in (*values.QUESTION_KEYS, "chat_history")]
    said = [one for one in given.values() if isinstance(one, str)] if part.kind is Kind.FLOW else []
    likely += [*(said if len(said) == 1 else ()), part.dialogue]
    return next(filter(None, map(values.question, likely)), None)


def history(part: Part, asked: str | None) -> tuple[Turn, ...]:
    """The turns before the question, oldest first: as the model saw them, else as the call was given them."""
    if earlier := values.before(part.dialogue, asked):
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
    """The passages behind the answer that ``part`` ended with."""
    said = answer(part, result)
    if own := _unmade(part, values.nodes(result)):
        return values.passages([*own, *_behind(part, own, said)])
    if part.found:
        found = [finding for finding in part.found if not _is_said(finding, said)]
        return _shown(part, passages(found), said)
    return _unique(
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
    return [
        node
        for finding in others
        if is_telling(one := _said(finding)) and one in told
        for node in finding.nodes
    ]


def _is_said(finding: Finding, said: str | None) -> bool:
    """Whether a tool has answered the user itself: its own words are no evidence for them."""
    words = all(passage.id is None for passage in finding.passages)
    return words and finding.direct is not None and finding.direct == (said or "").strip()


def passages(found: Sequence[Finding]) -> list[Passage]:
    """All that was found. What an engine answered from, a retriever found no second time."""
    answered = {node.node.node_id for f in found if f.how is Found.ANSWERED for node in f.nodes}
    return _unique(
        passage
        for finding in found
        for passage in (*finding.passages, *values.passages(_unless(finding, answered)))
    )


def _unless(finding: Finding, answered: set[str]) -> Iterable[NodeWithScore]:
    if finding.how is not Found.RETRIEVED:
        return finding.nodes
    return [node for node in finding.nodes if node.node.node_id not in answered]


def _shown(part: Part, found: list[Passage], said: str | None) -> list[Passage]:
    """Those that stand in what the answering model was told; all, where it was told in other words."""
    if part.kind is Kind.AGENT or not part.exchanges:
        return found  # what tools brought is told in words of their own
    told = _told(list(part.exchanges), said, found)
    shown = [passage for passage in found if _opening(passage) in told]
    return shown or (found if told_of(found, told, question(part) or "") else [])


def _told(exchanges: list[Exchange], said: str | None, found: Sequence[Passage]) -> str:
    """What the answering model was told, and those whose words it was given."""
    answering = _answering(exchanges, (said or "").strip(), found)
    told = answering.told
    for one in reversed(exchanges[: exchanges.index(answering)]):
        if one.said and is_telling(one.said) and one.said.strip() in told:
            told += f"\n{one.told}"
    return told


def _answering(exchanges: list[Exchange], said: str, found: Sequence[Passage]) -> Exchange:
    """The exchange that gave the answer: by its words, else the last that was told of a node, else the last.

    What follows an answer may be a check of it, a title or a translation. Words like it tell nothing where a
    later exchange may have said it as well: of a stream nobody knows.
    """
    last_first = exchanges[::-1]
    known = list(takewhile(lambda one: one.said is not None, last_first))
    shares = [share(said, one.said or "") for one in known]
    if max(shares, default=0.0) >= EDITED:
        return known[shares.index(max(shares))]
    shown = (one for one in last_first if said and any(_opening(passage) in one.told for passage in found))
    return next(shown, last_first[0])


def _opening(passage: Passage) -> str:
    # Without the metadata, which an application that fills its own prompt may have left out.
    head, _, rest = passage.text.partition("\n\n")
    return (passage.metadata and rest.strip()[:_OPENING]) or head.strip()[:_OPENING]


def problem(
    part: Part | None, answer: str | None, found: Sequence[Passage], response: Any
) -> tuple[AbstentionReason | None, str]:
    """Why the answer can't be judged, in a word and in a sentence; None when it can."""
    if answer is None:
        return AbstentionReason.NO_CLAIMS, NOT_READ % type(response).__name__
    if not any(passage.text.strip() for passage in found):
        return AbstentionReason.NO_CONTEXT, NOT_FOUND if part and part.found else NOT_SEEN
    return None, ""


def _unique(found: Iterable[Passage]) -> list[Passage]:
    seen: dict[Any, Passage] = {}
    for passage in found:
        seen.setdefault((passage.id, passage.text), passage)
    return list(seen.values())
