"""A query engine that asks another, judges its answer, and returns the response with the verdict on it.

What is done about a hallucination is said in ``groundwire.host.actions``, and where the verdict is put in
``groundwire.llama_index.output``.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from groundwire.core.interaction import Interaction
from groundwire.host.actions import Action
from groundwire.host.judging import ajudged, judged
from groundwire.llama_index import values
from groundwire.llama_index.checking import Answered, Ending, Finished, report, unjudged
from groundwire.llama_index.options import Options, settle
from groundwire.llama_index.output import acted_on, attached
from groundwire.llama_index.reading import Call
from groundwire.llama_index.spans import Transparent
from groundwire.llama_index.streams import afollowed, followed


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
        plan = self._plan(query_bundle)
        step = next(plan)
        while not isinstance(step, Finished):
            if isinstance(step, _Ask):
                with Call() as call:
                    # Its public method: some engines have no other.
                    response, stream = step.engine.query(step.query), None
                    if step.whole and isinstance(response, StreamingResponse):
                        response, stream = response.get_response(), StreamingResponse
                step = plan.send(Answered(response=response, call=call, stream=stream))
            else:
                step = plan.send(judged(self._settings.checker, step))
        return step.response

    async def _aquery(self, query_bundle: QueryBundle) -> Any:
        plan = self._plan(query_bundle)
        step = next(plan)
        while not isinstance(step, Finished):
            if isinstance(step, _Ask):
                with Call() as call:
                    response = await step.engine.aquery(step.query)
                    stream: type | None = None
                    if step.whole and isinstance(response, AsyncStreamingResponse):
                        response, stream = await response.get_response(), AsyncStreamingResponse
                    elif step.whole and isinstance(response, StreamingResponse):
                        response, stream = response.get_response(), StreamingResponse
                step = plan.send(Answered(response=response, call=call, stream=stream))
            else:
                step = plan.send(await ajudged(self._settings.checker, step))
        return step.response

    def _plan(self, query: QueryBundle) -> Generator[_Ask | Interaction | Finished, Any, None]:
        """Ask, judge, and perhaps ask again: written once, performed in two colours above."""
        settings = self._settings
        engine, asked = self._engine, query
        for attempt in itertools.count(1):
            answered: Answered = yield _Ask(engine=engine, query=asked, whole=settings.reactions.gating)
            if isinstance(answered.response, values.STREAMS):
                yield Finished(response=self._passing(query, answered))
                return
            said = values.answer(answered.response)
            reading = answered.call.read(query.query_str, answered.response, said)
            outcome = unjudged(settings, reading) or (yield reading.interaction)
            decision = settings.reactions.decide(reading.interaction, outcome, attempt=attempt)
            if decision.action is Action.RETRY:
                settings.keep(reading.interaction, outcome, decision, attempt)
                engine, question = settings.retry.again(engine, asked.query_str, outcome)
                if question != asked.query_str:
                    searched = query.custom_embedding_strs or [query.query_str]
                    asked = QueryBundle(question, custom_embedding_strs=searched)
                continue
            report(settings, reading.interaction, outcome, decision, attempt)
            response = attached(acted_on(answered.response, decision), outcome.to_dict(), settings.attach)
            yield Finished(response=_as_stream(response, answered.stream))
            return

    def _passing(self, query: QueryBundle, answered: Answered) -> Any:
        """The same stream, that ends with the warning, where there is one, and then has its verdict."""
        response = answered.response
        ending = Ending(self._settings, answered, query.query_str)
        follow = afollowed if isinstance(response, AsyncStreamingResponse) else followed
        response.response_gen = follow(response.response_gen, ending)
        return response

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


@dataclass(frozen=True, kw_only=True)
class _Ask:
    engine: BaseQueryEngine
    query: QueryBundle
    whole: bool


def _as_stream(response: Any, kind: type | None) -> Any:
    """A response that was read from a stream, as a stream again: whoever asked for one expects it."""
    if kind is None:
        return response
    text = response.response or ""
    tokens = _one(text) if kind is AsyncStreamingResponse else iter([text])
    return kind(tokens, source_nodes=response.source_nodes, metadata=response.metadata)


async def _one(text: str) -> AsyncGenerator[str, None]:
    yield text
