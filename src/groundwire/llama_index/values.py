"""Reading what LlamaIndex passes around: questions, nodes, responses of every kind, conversations.

Each function takes any value at all and says None, or nothing, where it finds nothing. Which value of a run
is looked at is decided in ``capture``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, ToolCallResult
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CitableBlock,
    CompletionResponse,
    MessageRole,
    TextBlock,
)
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import ToolOutput
from llama_index.core.workflow import StopEvent
from pydantic import BaseModel

from groundwire.core.interaction import Passage, Role, Turn
from groundwire.core.plain import plain
from groundwire.host.echoes import says_something, unechoed
from groundwire.host.forms import own_answer
from groundwire.host.notices import without
from groundwire.host.seen import beside
from groundwire.llama_index import indexed

ANSWER_KEYS = ("answer", "final_answer", "response", "result", "output", "text")
_SURE_KEYS = ("answer", "final_answer")  # the others may hold a status, too
QUESTION_KEYS = ("query", "question", "user_msg", "input", "message", "query_str", "user_query", "prompt")

NOTHING = "Empty Response"
"""What LlamaIndex puts in an answer's place where the model said nothing, and where there are no nodes."""

STREAMS = (StreamingResponse, AsyncStreamingResponse)
STREAMING = (*STREAMS, StreamingAgentChatResponse)
_RESPONSES = (Response, PydanticResponse, *STREAMS, AgentChatResponse, StreamingAgentChatResponse)

# How each part of what the response mode "accumulate" writes begins.
_PART = re.compile(rf"(?:^-+\n)?^Response (?P<number>\d++): (?:{NOTHING}$)?", re.MULTILINE)
# What SubQuestionQueryEngine and MultiStepQueryEngine make of the answers to their own questions.
_SYNTHETIC = re.compile(r"Sub question: .*\nResponse: |\nQuestion: .*\nAnswer: ", re.DOTALL)

# What a ``Memory`` writes before the user's words, where it is told to put its blocks there.
_MEMORY = re.compile(r"\s*<memory>\n.*?\n</memory>\s*", re.DOTALL)

_HANDOFF = "handoff"  # the tool by which AgentWorkflow passes a conversation on: it finds nothing

_ROLES = {
    MessageRole.USER: Role.USER,
    MessageRole.ASSISTANT: Role.ASSISTANT,
    MessageRole.CHATBOT: Role.ASSISTANT,
    MessageRole.MODEL: Role.ASSISTANT,
    MessageRole.SYSTEM: Role.SYSTEM,
    MessageRole.DEVELOPER: Role.SYSTEM,
    MessageRole.TOOL: Role.TOOL,
    MessageRole.FUNCTION: Role.TOOL,
}


def question(value: Any) -> str | None:
    """What was asked: a text, a query bundle, a message, or the last user message of a conversation."""
    if isinstance(value, QueryBundle):
        value = value.query_str
    elif isinstance(value, ChatMessage):
        value = _words(value)
    elif isinstance(value, list | tuple):
        said = [m for m in messages(value) if m.role == MessageRole.USER]
        value = _words(said[-1]) if said else None
    return str(value) if isinstance(value, str) and value.strip() else None


def answer(value: Any) -> str | None:
    """The text of what was answered. Of a form the field that is its answer, else all of it as JSON."""
    said = stated(value)
    return whole(value) if said is None else said


def whole(value: Any) -> str | None:
    """All that was answered: a text, or a structure as JSON."""
    leaf = _leaf(value)
    return json.dumps(plain(leaf), ensure_ascii=False) if isinstance(leaf, Mapping) else leaf


def stated(value: Any) -> str | None:
    """What was answered, where it stands as a text; None for other structures, which may be no answers."""
    leaf = _leaf(value)
    if isinstance(leaf, Mapping) and _is_form(value):
        return own_answer(leaf, ANSWER_KEYS)
    if isinstance(leaf, Mapping):
        held = (_leaf(leaf.get(key)) for key in ANSWER_KEYS)  # a text, or a response of any kind
        leaf = next((said for said in held if isinstance(said, str)), None)
    return None if leaf is None else str(leaf)


def is_named_answer(value: Any) -> bool:
    """Whether what was answered stands under a key that is given to nothing else."""
    leaf = _leaf(value)
    return isinstance(leaf, Mapping) and any(leaf.get(key) is not None for key in _SURE_KEYS)


def _is_form(value: Any) -> bool:
    """Whether a model has filled all of a structure, as its answer."""
    if isinstance(value, StopEvent):
        value = value.result
    return isinstance(value, PydanticResponse) or (
        isinstance(value, AgentOutput) and value.structured_response is not None
    )


def unheaded(said: str) -> str:
    """An answer without what ``accumulate`` writes before and between its parts; offsets still hold."""
    parts, at, number = list[str](), 0, 1
    for heading in _PART.finditer(said):
        if heading["number"] != str(number):
            continue
        if number == 1 and heading.start():
            return said
        parts += said[at : heading.start()], re.sub(r"[^\n]", " ", heading[0])
        at, number = heading.end(), number + 1
    return "".join([*parts, said[at:]])


def texts(value: Any, depth: int = 4) -> Iterator[str]:
    """The texts anywhere in what was returned."""
    if isinstance(value, StopEvent) and value.result is not None:
        value = value.result
    leaf = _leaf(value)
    if isinstance(leaf, str):
        yield leaf
    elif depth:
        held = value if leaf is None else list(leaf.values())
        for one in held if isinstance(held, list | tuple) else ():  # a stream is read by nobody but its owner
            yield from texts(one, depth - 1)


def forms(value: Any, depth: int = 4) -> Iterator[Mapping[str, Any]]:
    """The structures anywhere in what was returned, the outermost first."""
    if isinstance(value, StopEvent) and value.result is not None:
        value = value.result
    leaf = _leaf(value)
    if isinstance(leaf, Mapping):
        yield leaf
        value = list(leaf.values())
    for one in value if depth and isinstance(value, list | tuple) else ():
        yield from forms(one, depth - 1)


def form_answer(form: Mapping[str, Any]) -> str:
    """What a form that a model has filled answers: the field that is its answer, else all of it as JSON."""
    own = own_answer(form, ANSWER_KEYS)
    return json.dumps(plain(form), ensure_ascii=False) if own is None else own


def _leaf(value: Any) -> str | Mapping[str, Any] | None:
    """The text, or the fields, that a response of any kind was wrapped around."""
    if isinstance(value, StopEvent):  # one of a user's own kind has fields of its own instead of a result
        value = value.model_dump() if value.result is None else value.result
    if isinstance(value, AgentOutput):
        said = value.response.content or ""
        value = said if value.structured_response is None else value.structured_response
    if isinstance(value, StreamingResponse | AsyncStreamingResponse):
        value = value.response_txt
    elif isinstance(value, Response | PydanticResponse | AgentChatResponse | StreamingAgentChatResponse):
        value = value.response
    elif isinstance(value, ChatResponse):
        value = value.message.content
    elif isinstance(value, ChatMessage):
        value = value.content
    elif isinstance(value, CompletionResponse):
        value = value.text
    if isinstance(value, BaseModel):
        return value.model_dump()
    return value if isinstance(value, str | Mapping) else None


def nodes(value: Any) -> list[NodeWithScore]:
    """The nodes that a value holds or says it was made from, without those that a model wrote."""
    if isinstance(value, StopEvent):
        return nodes(value.result)
    if isinstance(value, AgentOutput):
        return nodes(value.raw)
    if isinstance(value, ToolOutput):
        return nodes(value.raw_output)
    if isinstance(value, _RESPONSES):
        found = list(value.source_nodes or ())
        if not found and isinstance(value, AgentChatResponse | StreamingAgentChatResponse):
            # Core overlooks the nodes of an asynchronous stream that a chat engine got from its query engine.
            found = [node for source in value.sources for node in nodes(source)]
    elif isinstance(value, list | tuple):
        found = [_scored(item) for item in value if isinstance(item, NodeWithScore | BaseNode)]
    else:
        return []
    return [node for node in found if not _synthetic(node)]


def unmade(
    found: Iterable[NodeWithScore], made: Mapping[str, Sequence[NodeWithScore]]
) -> list[NodeWithScore]:
    """The nodes, but for those that were ``made`` what they were made from."""
    return [one for node in found for one in made.get(node.node.node_id, (node,))]


def passages(found: Iterable[NodeWithScore]) -> list[Passage]:
    """Nodes as the answering model saw them: their text with the metadata that is meant for models.

    A node that was found twice counts once.
    """
    seen: dict[tuple[str | None, str], Passage] = {}
    for node in found:
        text = indexed.shown(node.node)
        one = Passage(text=text, id=node.node.node_id, metadata=node.node.metadata, score=node.score)
        seen.setdefault((one.id, one.text), one)
    return list(seen.values())


def as_nodes(found: Iterable[Passage]) -> list[NodeWithScore]:
    """Passages as nodes that say the same."""
    return [
        NodeWithScore(
            node=TextNode(
                text=one.text,
                metadata=dict(one.metadata),
                excluded_llm_metadata_keys=list(one.metadata),
                **({} if one.id is None else {"id_": one.id}),
            ),
            score=one.score,
        )
        for one in found
    ]


def brought(
    output: Any,
    inside: Sequence[Passage] = (),
    *,
    spoken: Sequence[str] | None = (),
    given: Sequence[str] = (),
    notices: Iterable[str] = (),
    made: Mapping[str, Sequence[NodeWithScore]] = MappingProxyType({}),
) -> list[Passage]:
    """What a tool brought: its nodes, else those that were found ``inside`` it, else its words.

    Of nodes that were ``made`` it is what those were made from.

    A failure brings nothing, and neither do words that a model or an engine has ``spoken`` inside, that the
    tool was ``given``, or that are ``notices`` of checks: they are no evidence. None says that one spoke
    inside, and that its words are not known.
    """
    if not isinstance(output, ToolOutput) or output.is_error or output.tool_name == _HANDOFF:
        return []
    own = nodes(output.raw_output)
    found = passages(unmade(own, made)) or list(inside)
    content = "" if own else shown_text(output)
    if found or isinstance(output.raw_output, (*_RESPONSES, AgentOutput)) or not content.strip():
        return found
    rest = "" if spoken is None else unechoed(beside(without(content, notices), spoken), given)
    return [Passage(text=rest)] if says_something(rest) else []


def tool_output(output: Any) -> Any:
    """What a tool returned, as it did."""
    return output.raw_output if isinstance(output, ToolOutput) else None


def tool_words(output: Any) -> str | None:
    """What a tool said."""
    return shown_text(output).strip() if isinstance(output, ToolOutput) else None


def shown_text(held: ChatMessage | ToolOutput) -> str:
    """All the text that a message, or what a tool returned, shows a model, that which it may cite as well."""
    blocks = (one.content if isinstance(one, CitableBlock) else [one] for one in held.blocks)
    return "\n".join(one.text for one in chain.from_iterable(blocks) if isinstance(one, TextBlock))


def tool_results(value: Any) -> list[ToolCallResult]:
    """The calls of tools that an agent says it has made, with what came of them."""
    if isinstance(value, StopEvent):
        return tool_results(value.result)
    calls = value.tool_calls if isinstance(value, AgentOutput) else []
    return [call for call in calls if isinstance(call, ToolCallResult)]


def is_tool(node: NodeWithScore) -> bool:
    """Whether a node describes a tool that an agent may call, as LlamaIndex writes it into an index."""
    opening = f"Tool name: {node.node.metadata.get('name')}\nTool description: "
    return node.node.get_content().startswith(opening)


def messages(value: Any) -> list[ChatMessage]:
    """The messages of a conversation: LlamaIndex's own, or as providers' clients write them."""
    return [one for item in value if (one := _message(item))] if isinstance(value, list | tuple) else []


def _message(item: Any) -> ChatMessage | None:
    if isinstance(item, Mapping):
        role, said = item.get("role"), item.get("content")
        is_one = isinstance(role, str) and role in _ROLES and isinstance(said, str)
        return ChatMessage(role=role, content=said) if is_one else None
    return item if isinstance(item, ChatMessage) else None


def turns(conversation: Any) -> tuple[Turn, ...]:
    """A conversation as turns; what holds no text is left out.

    So is what a system's message holds: instructions, documents, or what a memory has had a model write of
    earlier turns.
    """
    if isinstance(conversation, str):
        return spoken(conversation)
    said = ((_ROLES.get(message.role, Role.USER), _words(message)) for message in messages(conversation))
    return tuple(Turn(role=role, text=text) for role, text in said if _is_turn(role, text))


def _is_turn(role: Role, text: str) -> bool:
    return role is not Role.SYSTEM and bool(text.strip())


def _words(message: ChatMessage) -> str:
    """What a message says, without what a memory has put before the user's words: those are others'."""
    said = message.content or ""
    return _own(said) if message.role == MessageRole.USER else said


def _own(said: str) -> str:
    remembered = _MEMORY.match(said)
    return said[remembered.end() :] if remembered else said


def before(conversation: Any, asked: str | None) -> tuple[Turn, ...]:
    """The turns before the message that asks ``asked``."""
    said = messages(conversation)
    for place in reversed(range(len(said))):
        message = said[place]
        if message.role == MessageRole.USER and _words(message).strip() == (asked or "").strip():
            return turns(said[:place])
    return ()


def spoken(history: str) -> tuple[Turn, ...]:
    """The turns in a conversation that LlamaIndex has written into one text for a model."""
    parts = re.split(r"^(user|assistant|tool|system): ", history, flags=re.MULTILINE)
    said = zip(map(Role, parts[1::2]), parts[2::2], strict=False)
    words = ((role, (_own(text) if role is Role.USER else text).strip()) for role, text in said)
    return tuple(Turn(role=role, text=text) for role, text in words if _is_turn(role, text))


def _scored(item: NodeWithScore | BaseNode) -> NodeWithScore:
    return item if isinstance(item, NodeWithScore) else NodeWithScore(node=item)


def is_from_nowhere(node: NodeWithScore) -> bool:
    """Whether a node says nothing of where it comes from, as one that was made of a mere text."""
    return not node.node.metadata and not node.node.relationships


def _synthetic(node: NodeWithScore) -> bool:
    """Whether a model wrote this node: nothing retrieved it, and it reads as one would."""
    if node.score is not None or not is_from_nowhere(node):
        return False
    return _SYNTHETIC.match(node.node.get_content()) is not None
