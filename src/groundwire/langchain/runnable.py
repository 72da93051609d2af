"""A wrapper that runs any LangChain runnable, judges its answer, and returns both.

The wrapper owns the run: it captures one call at a time, so question, documents and answer can't be mixed up
however many calls are in flight. What is done about a hallucination is said in ``groundwire.host.actions``,
and where the verdict is put in ``groundwire.langchain.output``.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from langchain_core.callbacks.manager import (
    AsyncCallbackManagerForChainRun,
    BaseRunManager,
    CallbackManagerForChainRun,
)
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langchain_core.utils.pydantic import TypeBaseModel
from pydantic import ConfigDict, PrivateAttr

from groundwire.core.interaction import Interaction
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome
from groundwire.host.actions import Action, Decision
from groundwire.host.judging import ajudged, judged
from groundwire.langchain.capture import redone, wrote
from groundwire.langchain.options import Options, Settings, settle
from groundwire.langchain.output import (
    Attach,
    acted_on,
    attached,
    opened,
    output_schema,
    output_type,
    parted,
    reachable,
)
from groundwire.langchain.reading import Call, Keys, Reading
from groundwire.langchain.retry import restored
from groundwire.langchain.streams import GraphStream, OutputStream, Sum, held_back, is_graph
from groundwire.langchain.tree import as_id
from groundwire.langchain.units import GIVEN_UP
from groundwire.tracing.langsmith import annotate_current_run

_LOG = logging.getLogger(__name__)


def with_hallucination_check(
    runnable: Runnable[Any, Any], **options: Unpack[Options]
) -> RunnableWithHallucinationCheck:
    """A runnable that does what ``runnable`` does and judges each of its answers.

    The options are ``checker``, ``on_hallucination``, ``on_abstention``, ``replacement``, ``retry``,
    ``max_retries``, ``after_retries``, ``question_key``, ``context_key``, ``answer_key``, ``attach``,
    ``monitor`` and ``sinks``; docs/langchain.md explains each. Raises ConfigurationError, naming every
    mistake at once.

    >>> checked = with_hallucination_check(chain, on_hallucination="warn")  # doctest: +SKIP
    >>> checked.invoke("What does a second bag cost?")["hallucination"]["level"]  # doctest: +SKIP
    'low'
    """
    return RunnableWithHallucinationCheck(runnable, **options)


class RunnableWithHallucinationCheck(RunnableSerializable[Any, Any]):
    """Runs ``bound`` and judges what it answers, in every way a runnable can be run.

    A dict gets the key ``hallucination``, a message the key in its ``response_metadata``, a pydantic model
    its field of that name; anything else comes back as ``{"answer": ..., "hallucination": ...}``. Streams
    pass through as they come and end with the verdict, unless an answer may yet be replaced, refused or
    redone: then the whole answer is held back until it is judged. Where a graph waits for a human, what came
    of it so far is passed on as it is.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    # As they were given: LangChain rebuilds a runnable with configurable fields from these.
    bound: Runnable[Any, Any]
    checker: Any = None
    monitor: Any = None
    sinks: Any = None
    on_hallucination: Any = Action.ANNOTATE
    on_abstention: Any = Action.ANNOTATE
    replacement: str | None = None
    retry: Any = None
    max_retries: int = 1
    after_retries: Any = Action.ANNOTATE
    question_key: str | None = None
    context_key: str | None = None
    answer_key: str | None = None
    attach: Any = Attach.AUTO

    _settings: Settings = PrivateAttr()
    _told: set[str] = PrivateAttr(default_factory=set)

    # Not derived from RunnableBindingBase: that hands batch, transform and astream_events straight to
    # what it binds, past the check.

    def __init__(
        self, bound: Runnable[Any, Any], *, name: str | None = None, **options: Unpack[Options]
    ) -> None:
        settings = settle(bound, options)
        fields: dict[str, Any] = {"bound": bound, "name": name, **options}
        super().__init__(**fields)
        self._settings = settings

    # -- what is run -------------------------------------------------------------------------------------

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        return self._call_with_config(self._run, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        return await self._acall_with_config(self._arun, input, config, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        yield from self.transform(iter([input]), config, **kwargs)

    async def astream(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        async def one() -> AsyncIterator[Any]:
            yield input

        async for chunk in self.atransform(one(), config, **kwargs):
            yield chunk

    def transform(
        self,
        input: Iterator[Any],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        transformer = self._gated_stream if self._gates() else self._passing_stream
        yield from self._transform_stream_with_config(input, transformer, config, **kwargs)

    async def atransform(
        self,
        input: AsyncIterator[Any],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        transformer = self._agated_stream if self._gates() else self._apassing_stream
        async for chunk in self._atransform_stream_with_config(input, transformer, config, **kwargs):
            yield chunk

    # -- what that means ---------------------------------------------------------------------------------

    def _plan(self, given: Any) -> Generator[_Ask | Interaction | _Finished, Any, None]:
        """Ask, judge, and perhaps ask again: written once, performed in two colours below."""
        runnable, asked, question = self.bound, given, None
        for attempt in itertools.count(1):
            answered: _Answered = yield _Ask(runnable=runnable, given=asked)
            if answered.reading.paused:
                yield _Finished(output=answered.put_back(restored(answered.output, given, asked)))
                return
            reading = answered.reading.about(question)
            question = reading.interaction.question
            outcome = self._unjudged(reading) or (yield reading.interaction)
            decision = self._settings.reactions.decide(reading.interaction, outcome, attempt=attempt)
            if decision.action is Action.RETRY:
                if (again := self._settings.retry.again(runnable, asked, outcome)) is not None:
                    self._keep(reading.interaction, outcome, decision, attempt)
                    redone(answered.run_manager)
                    runnable, asked = again
                    continue
                decision = self._settings.reactions.given_up(reading.interaction, outcome)
            self._report(reading.interaction, outcome, decision, attempt)
            run = answered.run_manager
            wrote(run.handlers, run.run_id, decision, reading.interaction.answer)
            said = reading.said
            self._tell_unwarned(answered.output, decision, said)
            output = restored(acted_on(answered.output, decision, self.answer_key, said), given, asked)
            output = attached(output, outcome.to_dict(), self._settings.attach)
            yield _Finished(output=answered.put_back(output))
            return

    def _run(
        self, given: Any, run_manager: CallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> Any:
        plan = self._plan(given)
        step = next(plan)
        while not isinstance(step, _Finished):
            if isinstance(step, _Ask):
                call = Call(config, run_manager, self._keys)
                output = step.runnable.invoke(step.given, call.config, **kwargs)
                step = plan.send(_answered(call, step.given, output, run_manager))
            else:
                step = plan.send(judged(self._settings.checker, step))
        return step.output

    async def _arun(
        self, given: Any, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> Any:
        plan = self._plan(given)
        step = next(plan)
        while not isinstance(step, _Finished):
            if isinstance(step, _Ask):
                call = Call(config, run_manager, self._keys)
                output = await step.runnable.ainvoke(step.given, call.config, **kwargs)
                step = plan.send(_answered(call, step.given, output, run_manager))
            else:
                step = plan.send(await ajudged(self._settings.checker, step))
        return step.output

    def _passing_stream(
        self,
        inputs: Iterator[Any],
        run_manager: CallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Iterator[Any]:
        call, passing, given = Call(config, run_manager, self._keys), self._passing(kwargs), Sum()
        try:
            for chunk in self.bound.transform(map(given.add, inputs), call.config, **kwargs):
                yield from passing.feed(chunk)
        except GeneratorExit:
            call.give_up(self._given_up)
            raise
        output = passing.whole(call.output)
        reading = call.read(given.whole, output)
        if reading.paused:
            yield from passing.rest()
            return
        outcome = self._unjudged(reading) or judged(self._settings.checker, reading.interaction)
        yield from self._ended(passing, output, reading, outcome, run_manager)

    async def _apassing_stream(
        self,
        inputs: AsyncIterator[Any],
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        call, passing, given = Call(config, run_manager, self._keys), self._passing(kwargs), Sum()
        noted = (given.add(chunk) async for chunk in inputs)
        try:
            async for chunk in self.bound.atransform(noted, call.config, **kwargs):
                for passed in passing.feed(chunk):
                    yield passed
        except (GeneratorExit, asyncio.CancelledError):
            call.give_up(self._given_up)
            raise
        output = passing.whole(call.output)
        reading = call.read(given.whole, output)
        if reading.paused:
            for held in passing.rest():
                yield held
            return
        try:
            outcome = self._unjudged(reading) or await ajudged(self._settings.checker, reading.interaction)
        except asyncio.CancelledError:  # the answer was given, and nobody waits for its verdict
            self._given_up(reading.interaction)
            raise
        for last in self._ended(passing, output, reading, outcome, run_manager):
            yield last

    def _gated_stream(
        self,
        inputs: Iterator[Any],
        run_manager: CallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Iterator[Any]:
        given = Sum()
        for chunk in inputs:
            given.add(chunk)
        output = self._run(given.whole, run_manager, config, **_for_invoke(kwargs))
        yield held_back(self.bound, output, kwargs, self.answer_key)

    async def _agated_stream(
        self,
        inputs: AsyncIterator[Any],
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        given = Sum()
        async for chunk in inputs:
            given.add(chunk)
        output = await self._arun(given.whole, run_manager, config, **_for_invoke(kwargs))
        yield held_back(self.bound, output, kwargs, self.answer_key)

    @property
    def _keys(self) -> Keys:
        return Keys(question_key=self.question_key, context_key=self.context_key, answer_key=self.answer_key)

    def _passing(self, asked: Mapping[str, Any]) -> OutputStream:
        if is_graph(self.bound):
            return GraphStream(self._settings.attach, self.answer_key, asked)
        return OutputStream(self._settings.attach, self.answer_key)

    def _gates(self) -> bool:
        """Whether a stream must be held back; the first time that one is, the log says so."""
        if self._settings.reactions.gating:
            self._tell_once(
                logging.INFO,
                "streams of %s are held back until the whole answer is judged: it may yet be replaced, "
                "refused or redone; 'annotate' and 'warn' let them pass",
                self.get_name(),
            )
        return self._settings.reactions.gating

    def _unjudged(self, reading: Reading) -> Outcome | None:
        # A policy that is switched off has its own outcome to give, whatever there was to judge.
        return reading.abstention if self._settings.checker.policy.enabled else None

    def _tell_unwarned(self, output: Any, decision: Decision, said: str) -> None:
        """Say once in the log where an output has no text that the warning could be added to."""
        if decision.action is Action.WARN and not reachable(output, self.answer_key, said):
            self._tell_once(
                logging.WARNING,
                "the warning could not be added to the answer of %s: no text was found in an output of type "
                "%s. Name the key that holds it with answer_key, or show the warning of the verdict",
                self.get_name(),
                type(output).__name__,
            )

    def _tell_once(self, level: int, message: str, *args: object) -> None:
        if message not in self._told:
            self._told.add(message)
            _LOG.log(level, message, *args)

    def _ended(
        self, passing: OutputStream, output: Any, reading: Reading, outcome: Outcome, run: BaseRunManager
    ) -> Iterator[Any]:
        decision = self._settings.reactions.decide(reading.interaction, outcome, attempt=1)
        self._report(reading.interaction, outcome, decision, attempt=1)
        wrote(run.handlers, run.run_id, decision, reading.interaction.answer)
        said = reading.said
        self._tell_unwarned(output, decision, said)
        return passing.close(outcome.to_dict(), parted(decision.text), said)

    def _given_up(self, interaction: Interaction) -> None:
        """Keep that a stream was not read to its end: there is nothing to judge, and nobody to warn."""
        outcome: Outcome = Abstention(why=AbstentionReason.PARTIAL_ANSWER, detail=GIVEN_UP, id=interaction.id)
        if not self._settings.checker.policy.enabled:
            outcome = judged(self._settings.checker, interaction)  # that it is switched off
        self._keep(interaction, outcome, Decision(action=Action.ANNOTATE), attempt=1)

    def _report(self, interaction: Interaction, outcome: Outcome, decision: Decision, attempt: int) -> None:
        """Keep the outcome, put it on the trace of this very run, then raise what was asked for."""
        self._keep(interaction, outcome, decision, attempt)
        annotate_current_run(outcome, action=str(decision.action), attempts=attempt)
        if decision.error is not None:
            raise decision.error

    def _keep(self, interaction: Interaction, outcome: Outcome, decision: Decision, attempt: int) -> None:
        # A reading's id is that of the wrapper's own run.
        run_id = None if interaction.id is None else as_id(interaction.id)
        marks = self._settings.sinks.locate(run_id)
        self._settings.keep(interaction, outcome, decision, attempt, marks=marks)

    # -- what it looks like from outside -----------------------------------------------------------------

    @property
    def InputType(self) -> Any:  # noqa: N802
        return self.bound.InputType

    @property
    def OutputType(self) -> Any:  # noqa: N802
        return output_type(self.bound, self._settings.attach)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        return self.bound.config_specs

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        given = name or self.name
        return super().get_name(suffix, name=given or f"HallucinationCheck<{self.bound.get_name()}>")

    def get_input_schema(self, config: RunnableConfig | None = None) -> TypeBaseModel:
        return self.bound.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> TypeBaseModel:
        return output_schema(self.bound, self._settings.attach, name=self.get_name("Output"), config=config)

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return self.bound.get_graph(config)


@dataclass(frozen=True, kw_only=True)
class _Ask:
    runnable: Runnable[Any, Any]
    given: Any


@dataclass(frozen=True, kw_only=True)
class _Answered:
    output: Any
    put_back: Callable[[Any], Any]
    reading: Reading
    run_manager: BaseRunManager


def _answered(call: Call, given: Any, output: Any, run_manager: BaseRunManager) -> _Answered:
    reading = call.read(given, output)
    state, put_back = opened(output)
    return _Answered(output=state, put_back=put_back, reading=reading, run_manager=run_manager)


@dataclass(frozen=True, kw_only=True)
class _Finished:
    output: Any


def _for_invoke(kwargs: dict[str, Any]) -> dict[str, Any]:
    # A graph told to stream its parts would return them as a list; the gate wants the final state.
    return {name: value for name, value in kwargs.items() if name not in ("stream_mode", "subgraphs")}
