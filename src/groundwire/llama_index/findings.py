"""What is found and said inside of open spans, as it is noted when they and their parts end.

What a model or an engine said is no evidence, wherever it stands; what it was said from is. What all this
adds up to in an answer is told in ``units``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import NodeWithScore

from groundwire.core.interaction import Passage
from groundwire.host.echoes import edited, given_words
from groundwire.host.seen import folded, is_statement, is_telling, unspoken
from groundwire.llama_index import values, words
from groundwire.llama_index.made import LATEST, kept, made, unmade
from groundwire.llama_index.output import notices
from groundwire.llama_index.showing import shown_in
from groundwire.llama_index.spans import ANSWERING, Exchange, Finding, Found, Kind, Part


def hear(part: Part, span_id: str, arguments: Mapping[str, Any]) -> None:
    """Note what a model was told inside of ``part``, and of whatever stands around it."""
    # LlamaIndex's decorators of a model's methods hide the names of what is given by position.
    given = [arguments.get("messages"), arguments.get("prompt"), *arguments.get("args", ())]
    prompt = next((one for one in given if isinstance(one, str)), None)
    messages = next((one for one in given if isinstance(one, list | tuple) and one), None)
    condensed = (arguments.get("prompt_args") or {}).get("chat_history")
    contents = filter(None, (values.shown_text(m) for m in messages or () if isinstance(m, ChatMessage)))
    filled = (
        arguments.get("prompt_args") if "output_cls" in arguments else None
    )  # a form's, for some by itself
    told = "\n".join(contents) or prompt or "\n".join(values.texts(filled))
    exchange = Exchange(span_id=span_id, told=told, read=any(one.found for one in part.outward))
    if part.searching:
        part.searches.append(exchange)
        return
    above: Part | None = part
    while above is not None:
        if above.kind is Kind.TOOL:
            messages = None  # none of whoever calls it
        if messages is not None:
            _note_dialogue(above, messages)
        if exchange.told:
            above.exchanges.append(exchange)
        if isinstance(condensed, str):
            above.condensed = condensed
        above = above.parent


def _note_dialogue(part: Part, messages: Sequence[Any]) -> None:
    """Note the messages that a model was given. Those of a single turn, as of notes, push no others out."""
    if part.dialogues and _is_single(messages) and _is_single(part.dialogues[-1]):
        part.dialogues.pop()
    part.dialogues.append(list(messages))


def _is_single(messages: Sequence[Any]) -> bool:
    return len(messages) <= 2 and len(values.turns(messages)) <= 1  # instructions may stand before it


def heard(part: Part, span_id: str, result: Any) -> None:
    """Note what a model has said inside of ``part``. Of a stream nothing tells but its reader."""
    is_stream = isinstance(result, Iterator | AsyncIterator)
    said = None if is_stream else values.whole(result) or ""
    called = words.calls(result)
    latest = chain(reversed(part.exchanges), reversed(part.searches))
    for exchange in (one for one in latest if one.span_id == span_id):
        exchange.said, exchange.calls = said, called
        break
    if part.kind in {Kind.TOOL, Kind.FLOW}:
        for one in (said, *called):
            _spoke(part, one)
        part.streamed |= is_stream


def _spoke(part: Part, said: str | None) -> None:
    """Note what a model, or an engine, said inside of ``part``, which a tool may pass off as found."""
    if said and said.strip():
        part.spoken.append(said.strip())


def note_made(part: Part, result: Any) -> None:
    """Note which nodes that ``part`` has ended with hold what an engine or a model has said, and of what."""
    for finding in part.found:
        if finding.response is result:  # a circle would keep a stream that is given up open
            finding.response = None
    part.made.update(made(part, result))


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
        for exchange in part.searches:
            around.searches.append(exchange)
    around.made.update(part.made)
    if part.kind is Kind.RETRIEVER:
        around.sought = around.sought or values.question(next(iter(part.arguments.values()), None))
        around.found.append(Finding(how=Found.RETRIEVED, nodes=_retrieved(around, result)))
    elif part.kind is Kind.SIFT:
        _sift(around, part, result)
    elif part.kind is Kind.TOOL:
        if _is_form(part, result):
            around.filled = True
        else:
            around.found.append(_brought(around, part, result))
    elif part.kind in ANSWERING and (finding := answered(part, result)):
        around.found.append(finding)
    else:
        around.found += part.found
        around.answered |= part.answered
    around.spoken += part.spoken
    around.streamed |= part.streamed
    if part.kind in ANSWERING:
        said = values.whole(result)
        _spoke(around, said)
        around.streamed |= not said and isinstance(result, values.STREAMING)


def answered(part: Part, result: Any) -> Finding | None:
    """What an engine answered from; None where that is not known."""
    nodes = unmade(part, values.nodes(result))
    return Finding(how=Found.ANSWERED, nodes=kept(nodes), response=result) if nodes else None


def passages(found: Sequence[Finding]) -> list[Passage]:
    """All that was found. What an engine answered from, a retriever found no second time."""
    answered = {node.node.node_id for f in found if f.how is Found.ANSWERED for node in f.nodes}
    return unique(
        passage for finding in found for passage in (*finding.passages, *_unless(finding, answered))
    )


def _retrieved(around: Part, result: Any) -> list[NodeWithScore]:
    """What a retriever found; the tools that an agent looked up for itself tell nothing of a question."""
    found = unmade(around, values.nodes(result))
    return kept(node for node in found if not (around.kind is Kind.AGENT and values.is_tool(node)))


def _sift(around: Part, part: Part, result: Any) -> None:
    """Replace the nodes that a postprocessor was given by those that it let pass."""
    told = values.nodes(part.arguments.get("nodes"))
    given = {node.node.node_id for node in (*told, *unmade(around, told))}
    latest = [finding for finding in reversed(around.found) if finding.how is Found.RETRIEVED]
    # The latest search fed it, and no other where that one found all of them: what an earlier one has let
    # pass may have been found a second time.
    for finding in sorted(latest, key=lambda one: one.sifted):
        if given.isdisjoint(held := {node.node.node_id for node in finding.nodes}):
            continue
        finding.nodes = [node for node in finding.nodes if node.node.node_id not in given]
        if given <= held:
            break
    nodes = _retrieved(around, result)
    around.found.append(Finding(how=Found.RETRIEVED, nodes=nodes, sifted=True))


def _is_form(part: Part, result: Any) -> bool:
    """Whether a tool is a form that a model has filled: it brings nothing, be it as short as it may.

    One that returns more fields than it was given has looked them up.
    """
    filled = values.tool_output(result)
    if part.form is None or not isinstance(filled, part.form):
        return False
    given = {**part.arguments}
    by_place = given.pop("args", ())
    count = len(given) + sum(len(one) if isinstance(one, Mapping) else 1 for one in by_place)
    return len(getattr(filled, "model_fields_set", ())) <= count


def _brought(around: Part, part: Part, result: Any) -> Finding:
    """What a tool brought beside what it, or one before it, was given: one may keep what another returns.

    A model may have made that up, unless it is in what was found before.
    """
    known = passages(around.found)
    words = [*given_words(part.arguments)]
    own = [text for text in words if not any(text.strip() in one.text for one in known)]
    said = values.tool_words(result)
    inside = _found_inside(part, said)
    spoken = None if part.streamed else [*_fields(part.spoken), *_said_before(around, said or "", known)]
    brought = values.brought(
        result, inside, spoken=spoken, given=[*own, *around.given], notices=part.added, made=part.made
    )
    around.given.extend([*filter(is_statement, own), *edited(around.given, words)])
    direct = said if part.direct and not inside else None
    return Finding(how=Found.BROUGHT, passages=brought, words=said or "", direct=direct)


def _found_inside(part: Part, said: str | None) -> list[Passage]:
    """What was found inside a tool; where code alone has made its words of that, what they show of it.

    Code drops what it doesn't need. Where it shows nothing, somebody may have said all of it in other words.
    """
    # A tool may be called by way of another that is the same to an agent.
    found = [one for one in part.found if not part.direct or one.direct != said]
    inside = passages(found)
    by_code = not part.spoken and not part.streamed and all(one.how is Found.RETRIEVED for one in found)
    if not inside or not by_code:
        return inside
    return shown_in(said or "", inside, "\n".join(given_words(part.arguments))) or inside


def _said_before(around: Part, told: str, known: Sequence[Passage]) -> list[str]:
    """What was said in earlier tools and stands in what one has ``told``: it may have been kept for it.

    A document that is known may say it, too.
    """
    said = [
        one for one in _fields(around.spoken[-LATEST:]) if is_telling(one) and unspoken(told, [one]) != told
    ]
    return [one for one in said if not any(folded(one) in folded(passage.text) for passage in known)]


def _fields(spoken: Iterable[str]) -> list[str]:
    return [one for said in spoken for one in words.fields(said)]


def _unless(finding: Finding, answered: set[str]) -> Iterable[Passage]:
    nodes, read = finding.read
    if nodes is not finding.nodes:  # hundreds of agents may be handed of hundreds of findings
        read = values.passages(finding.nodes)
        finding.read = finding.nodes, read
    if finding.how is not Found.RETRIEVED:
        return read
    return [passage for passage in read if passage.id not in answered]


def unique(found: Iterable[Passage]) -> list[Passage]:
    """Each passage once."""
    seen: dict[Any, Passage] = {}
    for passage in found:
        seen.setdefault((passage.id, passage.text), passage)
    return list(seen.values())
