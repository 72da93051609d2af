"""A chat engine that asks another, judges its answer, and returns the response with the verdict on it.

An answer that is withheld, refused or redone is not left in the conversation either: the inner engine's
memory is put right. What is done about a hallucination is said in ``groundwire.host.actions``.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Unpack

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine.types import AgentChatResponse, BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.memory import BaseMemory

from groundwire.host.actions import Action
from groundwire.llama_index import checking, values
from groundwire.llama_index.checking import Answered, Ending, Finished, Plan, Step
from groundwire.llama_index.options import Options, settle
from groundwire.llama_index.output import keep_notices, notices
from groundwire.llama_index.reading import Call
from groundwire.llama_index.spans import Transparent

_LOG = logging.getLogger(__name__)


class CheckedChatEngine(Transparent, BaseChatEngine):
    """Asks ``engine`` and judges what it answers; the verdict is in ``response.metadata["hallucination"]``.

    A streaming response passes as it comes, and has its verdict once ``response_gen`` or
    ``async_response_gen`` is read to the end; until then the verdict's status is "pending". Where an answer
    may yet be replaced, refused or redone, it is judged before it is returned, and comes in one piece.
    Attributes are those of ``engine``, options those of CheckedQueryEngine. Raises ConfigurationError,
    naming every mistake at once.

    >>> checked = CheckedChatEngine(index.as_chat_engine())  # doctest: +SKIP
    >>> checked.chat("And a second bag?").metadata["hallucination"]["level"]  # doctest: +SKIP
    'low'
    """

    def __init__(self, engine: BaseChatEngine, **options: Unpack[Options]) -> None:
        retries = options.get("on_hallucination") == Action.RETRY
        problems = [_memoryless(engine)] if retries and _memory(engine) is None else []
        self._settings = settle(engine, options, kind=BaseChatEngine, problems=problems)
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_engine":  # asked for by copies that are not built yet
            raise AttributeError(name)
        return getattr(self._engine, name)

    @property
    def chat_history(self) -> list[ChatMessage]:
        """The conversation, as the inner engine remembers it."""
        return self._engine.chat_history

    def reset(self) -> None:
        """Forget the conversation."""
        self._engine.reset()

    # -- what is asked -----------------------------------------------------------------------------------

    def chat(self, message: str, chat_history: list[ChatMessage] | None = None, **kwargs: Any) -> Any:
        return checking.performed(self._plan(message, chat_history, kwargs), self._settings.checker)

    async def achat(self, message: str, chat_history: list[ChatMessage] | None = None, **kwargs: Any) -> Any:
        return await checking.aperformed(self._plan(message, chat_history, kwargs), self._settings.checker)

    def stream_chat(self, message: str, chat_history: list[ChatMessage] | None = None, **kwargs: Any) -> Any:
        if self._settings.reactions.gating:
            ended = _ended_stream(self.chat(message, chat_history, **kwargs))
            ended.put_in_queue(ended.response)
            return ended
        with Call() as call:
            response = self._engine.stream_chat(message, chat_history, **kwargs)
        return self._passing(message, Answered(response=response, call=call))

    async def astream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None, **kwargs: Any
    ) -> Any:
        if self._settings.reactions.gating:
            ended = _ended_stream(await self.achat(message, chat_history, **kwargs))
            ended._ensure_async_setup()  # noqa: SLF001 - what its own engines' writers do first
            ended.aput_in_queue(ended.response)
            return ended
        with Call() as call:
            response = await self._engine.astream_chat(message, chat_history, **kwargs)
        return self._passing(message, Answered(response=response, call=call))

    # -- what that means ---------------------------------------------------------------------------------

    def _plan(self, message: str, given: list[ChatMessage] | None, options: Mapping[str, Any]) -> Plan:
        settings, memory = self._settings, _memory(self._engine)
        gating = settings.reactions.gating and memory is not None
        # Copied, for some hand out the list they keep.
        before = list((yield _recall(memory))) if gating and memory is not None else []
        engine, asked = self._engine, message
        for attempt in itertools.count(1):
            answered: Answered = yield _ask(engine, asked, given, options)
            reading = answered.call.read(message, answered.response, values.answer(answered.response))
            outcome = checking.unjudged(settings, reading) or (yield reading.interaction)
            decision = settings.reactions.decide(reading.interaction, outcome, attempt=attempt)
            if decision.action is Action.RETRY:
                if memory is not None:
                    settings.keep(reading.interaction, outcome, decision, attempt)
                    yield _rewrite(memory, before)
                    engine, asked = settings.retry.again(engine, asked, outcome)
                    continue
                _LOG.warning("an answer can't be asked for again: %s", _memoryless(self._engine))
                decision = settings.reactions.given_up(reading.interaction, outcome)
            if decision.action is Action.RAISE and memory is not None:
                yield _rewrite(memory, before)  # nobody has got this answer
            elif memory is not None and (decision.action is Action.REPLACE or asked != message):
                kept = yield _recall(memory)
                said = decision.text if decision.action is Action.REPLACE else None
                yield _rewrite(memory, _put_right(kept, message, asked, said))
            response = checking.concluded(
                settings, answered, reading.interaction, outcome, decision, attempt=attempt
            )
            yield Finished(response=response)
            return

    def _passing(self, message: str, answered: Answered) -> Any:
        """The same stream, that ends with the warning, where there is one, and then has its verdict."""
        response, ending = answered.response, Ending(self._settings, answered, message)
        if isinstance(response, _CheckedStream):  # by an engine inside, which judges it first
            response._endings.append(ending)  # noqa: SLF001 - a class of this module
            return response
        response._endings = [ending]  # noqa: SLF001 - of the class it now gets
        # Its writer goes on with the same object.
        response.__class__ = _checked(type(response))  # type: ignore[arg-type]  # a class can be hashed
        return response


class _CheckedStream:
    """What a checked stream does more than the one it was: judge once it is read to its end."""

    _endings: list[Ending]
    response: str
    unformatted_response: str
    is_done: bool
    is_function: bool | None

    def __str__(self) -> str:
        said = super().__str__()
        if not self.is_done or self.is_function:
            return said
        for ending in self._endings:
            warning = ending.complete(self.response)
            self.response += "" if self.response.endswith(warning) else warning
        return self.response

    @property
    def response_gen(self) -> Generator[str, None, None]:
        try:
            yield from super().response_gen  # type: ignore[misc]  # of the response's own class
        except BaseException:
            self._give_up()
            raise
        for ending in self._endings:
            if warning := ending.complete(self.response):
                yield warning
                self.response += warning

    async def async_response_gen(self) -> AsyncGenerator[str, None]:
        try:
            async for token in super().async_response_gen():  # type: ignore[misc]  # as above
                yield token
        except BaseException:
            self._give_up()
            raise
        for ending in self._endings:
            if warning := await ending.acomplete(self.response):
                yield warning
                self.response += warning

    def _give_up(self) -> None:
        for ending in self._endings:
            ending.give_up(self.unformatted_response)


@lru_cache(maxsize=64)
def _checked(kind: type) -> type:
    return type(f"Checked{kind.__name__}", (_CheckedStream, kind), {})


def _ask(
    engine: BaseChatEngine, message: str, given: list[ChatMessage] | None, options: Mapping[str, Any]
) -> Step:
    def do() -> Answered:
        with Call() as call:
            response = engine.chat(message, given, **options)
        return Answered(response=response, call=call)

    async def ado() -> Answered:
        with Call() as call:
            response = await engine.achat(message, given, **options)
        return Answered(response=response, call=call)

    return Step(do=do, ado=ado)


def _recall(memory: BaseMemory) -> Step:
    return Step(do=memory.get_all, ado=memory.aget_all)


def _rewrite(memory: BaseMemory, messages: Sequence[ChatMessage]) -> Step:
    kept = list(messages)  # some keep the list that they are given
    return Step(do=lambda: memory.set(kept), ado=lambda: memory.aset(kept))


def _memory(engine: object) -> BaseMemory | None:
    """Where an engine keeps its conversation. LlamaIndex has no public name for it, only this usual one."""
    found = getattr(engine, "_memory", None)
    return found if isinstance(found, BaseMemory) else None


def _memoryless(engine: object) -> str:
    return (
        f"a retry puts an engine's memory back, and {type(engine).__qualname__} has none that can be seen: "
        "retry in its query engine instead, with CheckedQueryEngine"
    )


def _put_right(kept: Sequence[ChatMessage], message: str, asked: str, said: str | None) -> list[ChatMessage]:
    """The conversation with the user's own question, and the answer that was really given."""
    messages = list(kept)
    for role, old, new in ((MessageRole.USER, asked, message), (MessageRole.ASSISTANT, None, said)):
        for place in reversed(range(len(messages))):
            one = messages[place]
            if one.role == role and (old is None or one.content == old):
                if new is not None:
                    messages[place] = ChatMessage(role=role, content=new)
                break
    return messages


def _ended_stream(response: AgentChatResponse) -> Any:
    """A whole response as a stream that has ended: whoever asked for one expects it, with a token to read."""
    stream = StreamingAgentChatResponse(
        response=response.response,
        sources=response.sources,
        source_nodes=response.source_nodes,
        is_function=False,
    )
    stream.is_done = True
    stream.metadata = response.metadata  # type: ignore[attr-defined]  # it has no such field, but takes it
    keep_notices(stream, notices(response))
    return stream
