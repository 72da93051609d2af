"""An evaluator for LlamaIndex's own tools: BatchEvalRunner, RetryQueryEngine, and whatever else takes one.

Those retry for seconds and then give up a whole batch when an evaluator raises; so this one never does.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.response.schema import AsyncStreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.prompts.mixin import PromptDictType
from pydantic import Field

from groundwire.checker import Checker, checker_problems, default_checker
from groundwire.core.errors import ConfigurationError, InputError
from groundwire.core.interaction import Interaction, Passage
from groundwire.core.secrets import brief
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome, Verdict
from groundwire.host.actions import note
from groundwire.host.judging import ajudged, failure, judged
from groundwire.host.notices import WITHHELD, is_withheld
from groundwire.llama_index import findings, units, values
from groundwire.llama_index.output import notices
from groundwire.policy import AbstainedError

_WITHHELD = Abstention(why=AbstentionReason.NO_CLAIMS, detail=WITHHELD)
_NOTHING_SAID = Abstention(why=AbstentionReason.NO_CLAIMS, detail=units.NOTHING_SAID)


class HallucinationResult(EvaluationResult):
    """An evaluation with its claims.

    ``score`` is the hallucination score, from 0, fully grounded, to 1: lower is better, unlike the scores of
    LlamaIndex's own evaluators. ``hallucination`` is the whole verdict, as in a response's metadata.
    """

    hallucination: dict[str, Any] = Field(default_factory=dict, description="The verdict, as plain data")

    @property
    def claims(self) -> list[dict[str, Any]]:
        """Each statement of the answer: its support, score, reason, and the quotes that bear on it."""
        found: list[dict[str, Any]] = self.hallucination.get("claims", [])
        return found


class HallucinationEvaluator(BaseEvaluator):
    """Tells whether a response is supported by its contexts, claim by claim. It never raises.

    ``passing`` says that it is. What could not be judged has ``passing`` None, ``invalid_result`` True, and
    the reason in ``invalid_reason``. ``feedback`` names the unsupported claims. ``checker`` is the default
    one if left out. Raises ConfigurationError for what is no checker.

    >>> evaluator = HallucinationEvaluator()
    >>> evaluator.evaluate(contexts=["The fee is 25 EUR."], response="The fee is 75 EUR.").passing
    False
    """

    def __init__(self, checker: Checker | None = None) -> None:
        if problems := checker_problems(checker):
            raise ConfigurationError(*problems)
        self._checker = checker or default_checker()

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        """Nothing: what a detector says to a model is told to the detector."""

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> HallucinationResult:
        """Judge one response. Not by way of an event loop, which may be running here already."""
        del kwargs
        return self._evaluated(query, response, contexts)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        sleep_time_in_seconds: int = 0,
        **kwargs: Any,
    ) -> HallucinationResult:
        """Judge one response without holding the event loop, after ``sleep_time_in_seconds``."""
        del kwargs
        await asyncio.sleep(sleep_time_in_seconds)
        return await self._aevaluated(query, response, contexts)

    def evaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> HallucinationResult:
        """Judge a response object of any kind, against its nodes as the model saw them; reads a stream."""
        del kwargs
        try:
            _read(response)
            said, found = values.answer(response), _passages(response)
        except Exception as error:  # see the module's own words
            return _result(query, None, None, failure(error))
        if abstention := _no_answer(said, found, response):
            return _result(query, said, found, abstention)
        return self._evaluated(query, units.claimed(None, said, response), found)

    async def aevaluate_response(
        self,
        query: str | None = None,
        response: Any = None,
        sleep_time_in_seconds: int = 0,
        **kwargs: Any,
    ) -> HallucinationResult:
        """``evaluate_response`` for callers on an event loop."""
        del kwargs
        await asyncio.sleep(sleep_time_in_seconds)
        try:
            await _aread(response)
            said, found = values.answer(response), _passages(response)
        except Exception as error:  # as above
            return _result(query, None, None, failure(error))
        if abstention := _no_answer(said, found, response):
            return _result(query, said, found, abstention)
        return await self._aevaluated(query, units.claimed(None, said, response), found)

    def _evaluated(self, query: Any, said: Any, found: Any) -> HallucinationResult:
        try:
            outcome: Outcome = judged(self._checker, _interaction(query, said, found))
        except Exception as error:  # as above
            outcome = _unjudged(error)
        return _result(query, said, found, outcome)

    async def _aevaluated(self, query: Any, said: Any, found: Any) -> HallucinationResult:
        try:
            outcome: Outcome = await ajudged(self._checker, _interaction(query, said, found))
        except Exception as error:  # as above
            outcome = _unjudged(error)
        return _result(query, said, found, outcome)


def _unjudged(error: Exception) -> Abstention:
    """Why there is no verdict: a policy asks for an error, what was given can't be judged, or it failed."""
    if isinstance(error, AbstainedError):
        return error.abstention
    if isinstance(error, InputError):
        return Abstention(why=AbstentionReason.UNREADABLE_INPUT, detail=brief(error))
    return failure(error)


def _read(response: Any) -> None:
    """Read a stream to its end, but not one of a chat that an event loop writes: it may be this thread's."""
    if isinstance(response, values.STREAMS):
        str(response)
    elif isinstance(response, StreamingAgentChatResponse) and response.chat_stream is not None:
        deque(response.response_gen, maxlen=0)


async def _aread(response: Any) -> None:
    if isinstance(response, AsyncStreamingResponse):
        await response.get_response()
    elif isinstance(response, StreamingAgentChatResponse) and response.achat_stream is not None:
        async for _ in response.async_response_gen():
            pass
    else:
        _read(response)


def _passages(response: Any) -> list[Passage]:
    """A response's nodes; of an agent those of its tools, whose words may be a model's."""
    calls = (values.brought(call.tool_output, spoken=None) for call in values.tool_results(response))
    return values.passages(values.nodes(response)) or findings.unique(itertools.chain.from_iterable(calls))


def _no_answer(said: str | None, found: Sequence[Passage], response: Any) -> Abstention | None:
    """Why what was returned is no answer: a checked engine, or LlamaIndex, has put a text in its place."""
    if said is not None and is_withheld(said, notices(response) or ()):
        return _WITHHELD
    return _NOTHING_SAID if found and (said or "").strip() == values.NOTHING else None


def _interaction(query: Any, said: Any, found: Any) -> Interaction:
    return Interaction(question=values.question(query), contexts=found, answer=said)


def _result(query: Any, said: Any, found: Any, outcome: Outcome) -> HallucinationResult:
    abstained = isinstance(outcome, Abstention)
    return HallucinationResult(
        query=values.question(query),
        contexts=_texts(found),
        # RetryQueryEngine asks again with both of these, and refuses to without.
        response=said if isinstance(said, str) else "",
        feedback=_feedback(outcome),
        passing=None if abstained else outcome.grounded,
        score=outcome.score,
        invalid_result=abstained,
        invalid_reason=outcome.reason if abstained else None,
        hallucination=outcome.to_dict(),
    )


def _feedback(outcome: Outcome) -> str:
    if isinstance(outcome, Verdict):
        return outcome.reason or outcome.wording.title if outcome.grounded else note(outcome)
    return outcome.reason


def _texts(found: Any) -> list[str] | None:
    if isinstance(found, str):
        return [found]
    if not isinstance(found, Sequence):
        return None
    return [one.text if isinstance(one, Passage) else str(one) for one in found]
