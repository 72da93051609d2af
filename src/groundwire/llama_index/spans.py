"""Which spans of LlamaIndex mean something here, and what is remembered of one while it is open.

A span is a call of an instrumented method. What its parts add up to is decided in ``capture``.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.chat_engine.types import BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import BaseTool
from llama_index.core.workflow import Workflow

from groundwire.core.interaction import Passage

_EXCHANGES = 200  # of models that are remembered of one span at least,
_TOLD = 10_000_000  # and more where they hold no more characters: a summary may be made by hundreds
_DIALOGUES = (
    20  # of them, whose messages are: a memory may have a model of its own, to be asked after the answer
)

SKIP = "groundwire:skip"
"""In ``instrument_tags``: what runs under it is not looked at."""


class Kind(StrEnum):
    """What a span is to a capture. The first four give answers; a FLOW may, if nothing in it does.

    A SIFT is a postprocessor, a WRITER what writes a chat's stream to its memory; CHECKED is an engine of our
    own, which may have the one that it wraps answer again.
    """

    QUERY = "query"
    CHAT = "chat"
    SYNTHESIS = "synthesis"
    AGENT = "agent"
    FLOW = "flow"
    RETRIEVER = "retriever"
    SIFT = "sift"
    TOOL = "tool"
    MODEL = "model"
    WRITER = "writer"
    CHECKED = "checked"


ANSWERING = frozenset({Kind.QUERY, Kind.CHAT, Kind.SYNTHESIS, Kind.AGENT})


def _both(*names: str) -> frozenset[str]:
    """Methods by their names, and those that are the same for event loops."""
    return frozenset(f"{colour}{name}" for name in names for colour in ("", "a"))


_ASKING = _both("query", "chat", "stream_chat")
_KINDS: tuple[tuple[Kind, frozenset[str], Any], ...] = (
    (
        Kind.MODEL,
        _both("chat", "complete", "predict", "structured_predict")
        | _both("stream_chat", "stream_complete", "stream", "stream_structured_predict"),
        BaseLLM,
    ),
    (Kind.RETRIEVER, _both("retrieve"), BaseRetriever),
    (Kind.SYNTHESIS, _both("synthesize"), BaseSynthesizer),
    (Kind.QUERY, _both("query"), BaseQueryEngine),
    (Kind.CHAT, _both("chat", "stream_chat"), BaseChatEngine),
    (Kind.WRITER, _both("write_response_to_history"), StreamingAgentChatResponse),
    (
        Kind.SIFT,
        _both("postprocess_nodes") | {"_postprocess_nodes", "_apostprocess_nodes"},
        BaseNodePostprocessor,
    ),
    (Kind.TOOL, _both("call") | {"__call__"}, BaseTool),
    (Kind.AGENT, frozenset({"run"}), (AgentWorkflow, BaseWorkflowAgent)),
    (Kind.FLOW, frozenset({"run"}), Workflow),
)
_METHODS = frozenset().union(*(methods for _, methods, _ in _KINDS))
_UUID_LENGTH = 36


class Transparent:
    """Base of our own engines: what they wrap gives the answer, and the last one counts."""


def kind_of(span_id: str, instance: Any) -> Kind | None:
    """What a span is, by its id ("Class.method-uuid") and by whose method it is; None when it is nothing."""
    method = span_id[: -_UUID_LENGTH - 1].rpartition(".")[2]
    if method not in _METHODS:
        return None
    if isinstance(instance, Transparent):
        return Kind.CHECKED if method in _ASKING else None
    return next(
        (kind for kind, methods, type_ in _KINDS if method in methods and isinstance(instance, type_)), None
    )


def answers_itself(tool: Any) -> bool:
    """Whether an agent ends with what the tool returns: LlamaIndex's ``return_direct``."""
    return bool(getattr(getattr(tool, "metadata", None), "return_direct", False))


def form_of(tool: Any) -> type | None:
    """What a tool's arguments are the fields of; a form that a model is to fill is a tool that returns it."""
    form = getattr(getattr(tool, "metadata", None), "fn_schema", None)
    return form if isinstance(form, type) else None


def uuid_of(span_id: str) -> UUID:
    """The uuid at the end of a span's id; a new one where there is none."""
    try:
        return UUID(span_id[-_UUID_LENGTH:])
    except ValueError:
        return uuid4()


class Found(StrEnum):
    """How documents came to be found: by a retriever, by an engine that answered from them, or by a tool."""

    RETRIEVED = "retrieved"
    ANSWERED = "answered"
    BROUGHT = "brought"


@dataclass(kw_only=True)
class Finding:
    """What one part of an answer found.

    ``words`` are what a tool said, ``direct`` too where it may answer the user itself, ``response`` what an
    engine answered with from the nodes. ``sifted`` says that a postprocessor has let the nodes pass.
    """

    how: Found
    nodes: Sequence[NodeWithScore] = ()
    passages: Sequence[Passage] = ()
    words: str = ""
    direct: str | None = None
    response: Any = None
    sifted: bool = False
    read: tuple[Sequence[NodeWithScore], Sequence[Passage]] = ((), ())  # the nodes, once they were read


@dataclass(eq=False, kw_only=True)
class Exchange:
    """What a model was told, and what it said: None until it has, and where it streams.

    ``calls`` are the arguments of the calls that it made, as JSON: the words of a form, or of a query.
    ``read`` says that something had been found before, which it may have been given to read.
    """

    span_id: str
    told: str
    read: bool = False
    said: str | None = None
    calls: Sequence[str] = ()

    @property
    def words(self) -> Sequence[str]:
        """All that the model said."""
        return (*filter(None, (self.said,)), *self.calls)


class Exchanges(deque[Exchange]):
    """The latest exchanges of a span, which may go on for days."""

    def __init__(self) -> None:
        super().__init__()
        self._told = 0

    def append(self, exchange: Exchange) -> None:
        super().append(exchange)
        self._told += len(exchange.told)
        while self._told > _TOLD and len(self) > _EXCHANGES:
            self._told -= len(self.popleft().told)


@dataclass(eq=False, kw_only=True)
class Part:
    """An open span that matters, with what has happened inside of it."""

    span_id: str
    kind: Kind
    arguments: Mapping[str, Any]
    parent: Part | None
    root: UUID
    direct: bool = False  # a tool that may answer the user itself
    form: type | None = None  # what a tool's arguments are the fields of

    found: list[Finding] = field(default_factory=list)
    # Nodes that hold what an engine or a model said, by their ids, and what they were made of.
    made: dict[str, Sequence[NodeWithScore]] = field(default_factory=dict)
    filled: bool = False  # a form was, by a model's call of it
    notices: deque[list[str]] = field(default_factory=lambda: deque(maxlen=_EXCHANGES))  # by checks inside
    answered: bool = False  # an answer inside was captured
    last: Any = None  # what was, of an engine of our own
    steps: list[Any] = field(default_factory=list)  # what was, of a workflow's tools, till it has ended

    exchanges: Exchanges = field(default_factory=Exchanges)
    searches: Exchanges = field(default_factory=Exchanges)  # in retrievers
    # The messages that models were given, the last one's last.
    dialogues: deque[Sequence[Any]] = field(default_factory=lambda: deque(maxlen=_DIALOGUES))
    condensed: str = ""  # the conversation that a model was to condense
    sought: str | None = None  # what a retriever was asked first
    handed: list[Passage] | None = None  # by the workflow around it, once it has ended
    spoken: list[str] = field(default_factory=list)  # by models and engines directly inside,
    streamed: bool = False  # unless they streamed
    given: deque[str] = field(default_factory=lambda: deque(maxlen=_EXCHANGES))  # at length, to tools

    said: list[str] = field(default_factory=list)  # by a chat's stream so far
    written: bool = False  # all of it to the chat's memory
    broken: bool = False  # the writing, by an error or whoever cancelled it
    exited: bool = False  # the chat's call, whose stream goes on
    where: Any = None  # what ``mark`` said of it

    @property
    def run_id(self) -> UUID:
        return uuid_of(self.span_id)

    @property
    def added(self) -> set[str]:
        """What checks inside of it have written into answers."""
        return {notice for written in self.notices for notice in written}

    @property
    def outward(self) -> Iterator[Part]:
        """The part itself, and those around it."""
        part: Part | None = self
        while part is not None:
            yield part
            part = part.parent

    @property
    def outer(self) -> Part | None:
        """The nearest answering part around this one."""
        above = self.parent
        while above is not None and above.kind not in ANSWERING:
            above = above.parent
        return above

    @property
    def checked(self) -> Part | None:
        """The nearest engine of our own around this."""
        above = self.parent
        while above is not None and above.kind is not Kind.CHECKED:
            above = above.parent
        return above

    @property
    def flow(self) -> Part | None:
        """The workflow whose tool this stands in: one that calls tools may be an agent, and this a step."""
        *inside, top = self.outward
        tools = any(part.kind is Kind.TOOL for part in inside)
        return top if tools and top.kind is Kind.FLOW else None

    @property
    def searching(self) -> bool:
        """Whether this stands inside a retriever, whose models only rewrite the query."""
        return any(part.kind is Kind.RETRIEVER for part in self.outward)


def arguments_of(bound: inspect.BoundArguments) -> Mapping[str, Any]:
    """The arguments of a call by name, those of its ``**kwargs`` among them."""
    named = dict(bound.arguments)
    extra = named.pop("kwargs", None) if isinstance(named.get("kwargs"), Mapping) else None
    return {**named, **(extra or {})}
