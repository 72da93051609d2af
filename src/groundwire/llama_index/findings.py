"""What is found and said inside of open spans, as it is noted when they and their parts end.

What a model or an engine said is no evidence, wherever it stands; what it was said from is. What all this
adds up to in an answer is told in ``units``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import NodeWithScore

from groundwire.core.interaction import Passage
from groundwire.host.notices import without
from groundwire.host.seen import given_words, is_statement, is_telling
from groundwire.llama_index import values
from groundwire.llama_index.output import notices
from groundwire.llama_index.spans import ANSWERING, Exchange, Finding, Found, Kind, Part

LATEST = 200
"""How many findings of a part are looked through for what was said."""


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


def note_made(part: Part, result: Any) -> None:
    """Note which nodes that ``part`` has ended with hold what an engine or a model has said, and of what."""
    for finding in part.found:
        if finding.response is result:  # a circle would keep a stream that is given up open
            finding.response = None
    if part.kind is Kind.RETRIEVER or part.kind in ANSWERING:
        part.made.update(_made(part, values.nodes(result)))


def note_notices(part: Part, result: Any) -> None:
    """Note what ``part``, an engine of our own, has written or may yet write into the answer inside it."""
    if (written := notices(result)) is None:
        return
    above: Part | None = part
    while above is not None:
        above.notices.append(written)  # itself: a stream's grows
        above = above.parent


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
    nodes = unmade(part, values.nodes(result))
    return Finding(how=Found.ANSWERED, nodes=nodes, response=result) if nodes else None


def unmade(part: Part, found: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """The nodes, but what they were made from for those that hold what a model or an engine said."""
    nodes = list(found)
    above: Part | None = part
    while above is not None:
        nodes = values.unmade(nodes, above.made)
        above = above.parent
    return nodes


def passages(found: Sequence[Finding]) -> list[Passage]:
    """All that was found. What an engine answered from, a retriever found no second time."""
    answered = {node.node.node_id for f in found if f.how is Found.ANSWERED for node in f.nodes}
    return unique(
        passage
        for finding in found
        for passage in (*finding.passages, *values.passages(_unless(finding, answered)))
    )


def _made(part: Part, nodes: Sequence[NodeWithScore]) -> dict[str, Sequence[NodeWithScore]]:
    """Those of the nodes that nobody found, and that hold what an engine or a model said, by their ids.

    Beside each is what that one had answered from, or else all that was found inside; nothing where a check
    has withheld what it said. What a retriever brings
    may be made of anything that was said inside of it. An engine may be given nodes of what others said
    before it, but documents that say the same come from somewhere.
    """
    inside = part.kind is Kind.RETRIEVER
    left = {node.node.node_id: node for node in nodes}
    answers: list[Finding] = []
    above: Part | None = part
    while above is not None and left:
        for finding in above.found[-LATEST:]:
            for node in finding.nodes:
                left.pop(node.node.node_id, None)
            answers.append(finding)
        above = None if inside else above.parent
    made: dict[str, Sequence[NodeWithScore]] = {}
    for key, node in left.items() if answers or part.searches else ():
        content = node.node.get_content().strip()
        if not content or not (inside or values.is_from_nowhere(node)):
            continue
        written = _written(part)
        text = without(content, written)
        told = (one for one in answers if (said := said_in(one)) and _holds(text, said))
        if (source := next(told, None)) is not None:
            made[key] = source.nodes
        elif any(_is_written(text, exchange) for exchange in part.searches):
            made[key] = [one for finding in part.found for one in finding.nodes]
        elif key not in part.made and any(_holds(content, notice) for notice in written):
            made[key] = []
    return made


def _written(part: Part) -> set[str]:
    return {notice for written in part.notices for notice in written}


def said_in(finding: Finding) -> str:
    """What an engine answered; of a stream, once it is read as a whole."""
    return (values.answer(finding.response) or "").strip()


def _holds(text: str, said: str) -> bool:
    return text.endswith(said) or (is_telling(said) and said in text)


def _is_written(text: str, exchange: Exchange) -> bool:
    """Whether a model has written this, and had not been told it."""
    said = (exchange.said or "").strip()
    return (text == said or (is_telling(text) and text in said)) and text not in exchange.told


def _retrieved(around: Part, result: Any) -> list[NodeWithScore]:
    """What a retriever found; the tools that an agent looked up for itself tell nothing of a question."""
    found = unmade(around, values.nodes(result))
    return [node for node in found if not (around.kind is Kind.AGENT and values.is_tool(node))]


def _sift(around: Part, part: Part, result: Any) -> None:
    """Replace the nodes that a postprocessor was given by those that it let pass."""
    told = values.nodes(part.arguments.get("nodes"))
    given = {node.node.node_id for node in (*told, *unmade(around, told))}
    for finding in around.found:
        if finding.how is Found.RETRIEVED:
            finding.nodes = [node for node in finding.nodes if node.node.node_id not in given]
    around.found.append(Finding(how=Found.RETRIEVED, nodes=_retrieved(around, result)))


def _brought(around: Part, part: Part, result: Any) -> Finding:
    """What a tool brought beside what it, or one before it, was given: one may keep what another returns.

    A model may have made that up, unless it is in what was found before.
    """
    known = passages(around.found)
    own = [
        words for words in given_words(part.arguments) if not any(words.strip() in one.text for one in known)
    ]
    said = values.tool_words(result)
    written = _written(part)
    # A tool may be called by way of another that is the same to an agent.
    inside = passages([found for found in part.found if not part.direct or found.direct != said])
    spoken = None if part.streamed else part.spoken
    brought = values.brought(
        result, inside, spoken=spoken, given=[*own, *around.given], notices=written, made=part.made
    )
    around.given.extend(filter(is_statement, own))
    direct = said if part.direct and not inside else None
    return Finding(how=Found.BROUGHT, passages=brought, direct=direct)


def _unless(finding: Finding, answered: set[str]) -> Iterable[NodeWithScore]:
    if finding.how is not Found.RETRIEVED:
        return finding.nodes
    return [node for node in finding.nodes if node.node.node_id not in answered]


def unique(found: Iterable[Passage]) -> list[Passage]:
    """Each passage once."""
    seen: dict[Any, Passage] = {}
    for passage in found:
        seen.setdefault((passage.id, passage.text), passage)
    return list(seen.values())
