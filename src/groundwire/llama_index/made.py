"""Which nodes hold what a model or an engine has said, and what those had said it from.

A model may have made it up, whoever passes it on: a retriever, a postprocessor, an engine, or a step that
makes nodes of notes. What it was told is the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from llama_index.core.schema import NodeWithScore

from groundwire.host.notices import without
from groundwire.host.seen import MOST, beside, folded, is_telling, unspoken
from groundwire.llama_index import values
from groundwire.llama_index.spans import ANSWERING, Exchange, Finding, Kind, Part
from groundwire.llama_index.words import behind, fields

LATEST = 200
"""How many findings of a part are looked through for what was said."""

_PASSING = frozenset({Kind.RETRIEVER, Kind.SIFT})  # what they return is made of what happens inside of them
_ASKED = ("str_or_query_bundle", "query_bundle", "query_str", "query", "message")
_ITEM = re.compile(r"(?:[-*•]|\d+[.)])\s+")
_HEAD = 200


def made(part: Part, result: Any) -> dict[str, Sequence[NodeWithScore]]:
    """Those nodes of a result that nobody found, and that hold what an engine or a model said, by their ids.

    Beside each is what that one had answered from or was told, or else all that was found; nothing where a
    check has withheld what it said. What a retriever or a postprocessor brings may be made of anything that
    was said inside of it. An engine may be given nodes of what others said before it, but documents that say
    the same come from somewhere.
    """
    inside = part.kind in _PASSING
    if not inside and part.kind not in ANSWERING:
        return {}
    parts = [part] if inside else list(part.outward)
    looked = [finding for one in parts for finding in one.found[-LATEST:]]
    heard = list(dict.fromkeys(one for at in parts for one in (*at.exchanges, *at.searches)))
    if not looked and not heard:
        return {}
    given = values.nodes(part.arguments.get("nodes")) if part.kind is Kind.SIFT else []
    found = [node for finding in looked for node in finding.nodes]
    known = {(node.node.node_id, node.node.get_content()) for node in (*given, *found)}
    done = {made_id for at in part.outward for made_id in at.made}
    left = [
        node
        for node in values.nodes(result)
        if (node.node.node_id, node.node.get_content()) not in known and node.node.node_id not in done
    ]
    if not left:
        return {}
    sources = _Sources(part, [*unmade(part, given), *found], heard)
    written = part.added
    origins: dict[str, Sequence[NodeWithScore]] = {}
    for node in left:
        content = node.node.get_content().strip()
        if not content or not (inside or sources.may_be_behind(node)):
            continue
        text = without(content, written)
        engine = next((one for one in looked if _passes_on(text, one)), None)
        if engine is not None:
            origins[node.node.node_id] = engine.nodes
        elif (of := sources.of(node, text)) is not None:
            origins[node.node.node_id] = of
        elif any(_holds(content, notice) for notice in written):
            origins[node.node.node_id] = []
    return origins


class _Sources:
    """What may stand behind a node that a model has written: what was found, and what models were told."""

    def __init__(self, part: Part, nodes: Sequence[NodeWithScore], heard: Sequence[Exchange]) -> None:
        self._kind = part.kind
        self._nodes = nodes
        self._heard = heard
        self._words = {one: {piece: folded(piece) for piece in _pieces(one)} for one in heard}
        asked = [values.question(at.arguments.get(key)) for at in part.outward for key in _ASKED]
        self._asked = {folded(one) for one in asked if one and is_telling(one)}
        self._folded = [(words, one) for one in heard for words in self._words[one].values()]
        self._by_id: dict[str, list[NodeWithScore]] = {}
        for node in nodes:
            self._by_id.setdefault(node.node.node_id, []).append(node)
        self._heads = [node.node.get_content().strip()[:_HEAD] for node in nodes]
        self._metadata = [node.node.metadata for node in nodes if node.node.metadata]

    def may_be_behind(self, node: NodeWithScore) -> bool:
        """Whether a node is one of these in other words, or says nothing of where it comes from."""
        if node.node.node_id in self._by_id or values.is_from_nowhere(node):
            return True
        return not node.node.relationships and node.node.metadata in self._metadata

    def of(self, node: NodeWithScore, text: str) -> Sequence[NodeWithScore] | None:
        """What a model had been told that has written a node; None where none has."""
        writers = [one for one in self._may_write(text) if self._has_written(one, text)]
        if not writers:
            return self._nodes if self._may_be_streamed(node, text) else None
        same = self._by_id.get(node.node.node_id)
        if same or not self._nodes:
            return same or self._rest(node, text, writers)
        told = behind(writers, self._heard)
        pairs = zip(self._nodes, self._heads, strict=True)
        return [one for one, head in pairs if head in told] or self._nodes

    def _may_write(self, text: str) -> Iterable[Exchange]:
        """Those whose words stand in a text, or it in them: to look closely at many takes long."""
        if len(text) > MOST:
            return self._heard
        there = folded(text)
        return dict.fromkeys(one for said, one in self._folded if said in there or there in said)

    def _has_written(self, exchange: Exchange, text: str) -> bool:
        """Whether a model has written this, and did not take it from what it was told beside the question."""
        words = self._words[exchange]
        if not words or unspoken(text, words) == text:
            return False
        told = folded(exchange.told)
        for asked in self._asked:
            told = told.replace(asked, " ")
        if folded(text) in told:
            return False
        own = [piece for piece, one in words.items() if one not in told]
        if not self._nodes:  # it may have been found by a query, or a guess, that says the same
            return not beside(text, own)
        return unspoken(text, own) != text

    def _may_be_streamed(self, node: NodeWithScore, text: str) -> bool:
        """Whether a model's stream, which nobody hears but its reader, may have written a node."""
        streamed = any(one.said is None for one in self._heard)
        if self._kind not in _PASSING or not streamed or not self.may_be_behind(node):
            return False
        words = folded(text)
        return bool(self._nodes) and not any(words in folded(one.node.get_content()) for one in self._nodes)

    def _rest(self, node: NodeWithScore, text: str, writers: Sequence[Exchange]) -> list[NodeWithScore]:
        """What a node says beside its writers, where it comes from elsewhere, such as a query's result."""
        rest = unspoken(text, (one for writer in writers for one in self._words[writer]))
        if self._kind is not Kind.RETRIEVER or not is_telling(rest):
            return []
        (left,) = kept([node])
        left.node.set_content(rest)
        return [left]


def kept(nodes: Iterable[NodeWithScore]) -> list[NodeWithScore]:
    """The nodes as they are now: a later step may write another text into them."""
    return [node.model_copy(update={"node": node.node.model_copy()}) for node in nodes]


def unmade(part: Part, found: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """The nodes, but what they were made from for those that hold what a model or an engine said."""
    nodes = list(found)
    for one in part.outward:
        nodes = values.unmade(nodes, one.made)
    return nodes


def said_in(finding: Finding) -> str:
    """What an engine answered; of a stream, once it is read as a whole."""
    return (values.answer(finding.response) or "").strip()


def _passes_on(text: str, finding: Finding) -> bool:
    """Whether a node holds what an engine answered, or a field of that."""
    said = (values.whole(finding.response) or "").strip()
    return bool(said) and (_holds(text, said) or any(_holds(text, one) for one in _telling(fields(said))))


def _holds(text: str, said: str) -> bool:
    return text.endswith(said) or (is_telling(said) and folded(said) in folded(text))


def _pieces(exchange: Exchange) -> Iterator[str]:
    """What a model said, and the fields and lines of it that tell it from others."""
    for said in exchange.words:
        yield said
        for field in fields(said):
            yield from _telling((field, *(_unmarked(line) for line in field.splitlines())))


def _unmarked(line: str) -> str:
    """A line without what makes it an item of a list."""
    told = line.lstrip()
    mark = _ITEM.match(told)
    return told[mark.end() :] if mark else line


def _telling(texts: Iterable[str]) -> Iterator[str]:
    return (text for text in texts if is_telling(text))
