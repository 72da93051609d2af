"""A query engine that asks another, judges its answer, and returns the response with the verdict on it.

What is done about a hallucination is said in ``groundwire.host.actions``, and where the verdict is put in
``groundwire.llama_index.output``.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Sequence
from inspect import isawaitable
from typing import Any, Unpack

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from groundwire.host.actions import Action
from groundwire.llama_index import checking, values
from groundwire.llama_index.checking import Answered, Ending, Finished, Plan, Step
from groundwire.llama_index.options import Options, settle
from groundwire.llama_index.output import keep_notices, notices
from groundwire.llama_index.reading import Call
from groundwire.llama_index.spans import Transparent
from groundwire.llama_index.streams import follow


class CheckedQueryEngine(Transparent, BaseQueryEngine):
    """Asks ``engine`` and judges what it answers; the verdict is in ``response.metadata["hallucination"]``.

    A streaming response passes as it comes, and has its verdict once it is read to the end; until then the
    verdict's status is "pending". Where an answer may yet be replaced, refused or redone, it is read and
    judged before it is returned. Prompts and attributes are those of ``engine``. The options are ``checker``,
    ``on_hallucination``, ``on_abstention``, ``replacement``, ``retry``, ``max_retries``, ``after_retries``,
    ``attach``, ``monitor`` and ``sinks``; docs/llama-index.md explains each. Raises ConfigurationError,
    naming every mistake at once.

    >>> checked = CheckedQueryEngine(index.as_query_engine())  # doctest: +SKIP
    >>> response = checked.query("What does a second bag cost?")  # doctest: +SKIP
    >>> response.metadata["hallucination"]["level"]  # doctest: +SKIP
    'low'
    """

    def __init__(self, engine: BaseQueryEngine, **options: Unpack[Options]) -> None:
        self._settings = settle(engine, options, kind=BaseQueryEngine, problems=[])
        self._engine = engine
        super().__init__(engine.callback_manager)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_engine":  # asked for by copies that are not built yet
            raise AttributeError(name)
        return getattr(self._engine, name)

    # -- what is asked -----------------------------------------------------------------------------------

    def _query(self, query_bundle: QueryBundle) -> Any:
        return checking.performed(self._plan(query_bundle), self._settings.checker)

    async def _aquery(self, query_bundle: QueryBundle) -> Any:
        return await checking.aperformed(self._plan(query_bundle), self._settings.checker)

    def _plan(self, query: QueryBundle) -> Plan:
        settings = self._settings
        engine, asked = self._engine, query
        for attempt in itertools.count(1):
            answered: Answered = yield _ask(engine, asked, whole=settings.reactions.gating)
            if isinstance(answered.response, values.STREAMS):  # it ends with the warning, and has its verdict
                follow(answered.response, Ending(settings, answered, query.query_str))
                yield Finished(response=answered.response)
                return
            said = values.answer(answered.response)
            reading = answered.call.read(query.query_str, answered.response, said)
            outcome = checking.unjudged(settings, reading) or (yield reading.interaction)
            decision = settings.reactions.decide(reading.interaction, outcome, attempt=attempt)
            if decision.action is Action.RETRY:
                settings.keep(reading.interaction, outcome, decision, attempt)
                engine, question = settings.retry.again(engine, asked.query_str, outcome)
                if question != asked.query_str:
                    searched = query.custom_embedding_strs or [query.query_str]
                    asked = QueryBundle(question, custom_embedding_strs=searched)
                continue
            response = checking.concluded(
                settings, answered, reading.interaction, outcome, decision, attempt=attempt
            )
            yield Finished(response=_as_stream(response, answered.stream))
            return

    # -- what it looks like from outside -----------------------------------------------------------------

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._engine.retrieve(query_bundle)

    def synthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> Any:
        return self._engine.synthesize(query_bundle, nodes, additional_source_nodes)

    async def asynthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> Any:
        return await self._engine.asynthesize(query_bundle, nodes, additional_source_nodes)

    def _get_prompts(self) -> PromptDictType:
        return self._engine._get_prompts()  # noqa: SLF001 - as its own, for two levels of names can't be updated

    def _get_prompt_modules(self) -> PromptMixinType:
        return self._engine._get_prompt_modules()  # noqa: SLF001 - as above

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        self._engine._update_prompts(prompts_dict)  # noqa: SLF001 - as above


def _ask(engine: BaseQueryEngine, query: QueryBundle, *, whole: bool) -> Step:
    """Ask an engine by its public method, for some have no other; ``whole`` says to read its stream."""

    def do() -> Answered:
        with Call() as call:
            response, stream = engine.query(query), None
            if whole and isinstance(response, StreamingResponse):
                response, stream = response.get_response(), StreamingResponse
        return Answered(response=response, call=call, stream=stream)

    async def ado() -> Answered:
        with Call() as call:
            response, stream = await engine.aquery(query), None
            if whole and isinstance(response, values.STREAMS):
                read, stream = response.get_response(), type(response)
                response = await read if isawaitable(read) else read
        return Answered(response=response, call=call, stream=stream)

    return Step(do=do, ado=ado)


def _as_stream(response: Any, kind: type | None) -> Any:
    """A response that was read from a stream, as a stream again: whoever asked for one expects it."""
    if kind is None:
        return response
    text = response.response or ""
    tokens = _one(text) if kind is AsyncStreamingResponse else iter([text])
    stream = kind(tokens, source_nodes=response.source_nodes, metadata=response.metadata)
    keep_notices(stream, notices(response))
    return stream


async def _one(text: str) -> AsyncGenerator[str, None]:
    yield text
