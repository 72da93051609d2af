"""A chat model that replays prepared answers, so that the demo runs offline and always the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from examples.handbook.prepared import Prepared, load_prepared

__all__ = ["Prepared", "ReplayingChatModel", "load_prepared", "replaying_model"]


class ReplayingChatModel(BaseChatModel):
    """Replies to a known question with its prepared answer, whole or word by word."""

    answers: dict[str, str]

    @property
    def _llm_type(self) -> str:
        return "replay"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del stop, run_manager, kwargs
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=self._answer(messages)))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        del stop, run_manager, kwargs
        for word in re.findall(r"\s*\S+", self._answer(messages)):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))

    def _answer(self, messages: list[BaseMessage]) -> str:
        question = messages[-1].text
        return self.answers.get(question, "I have no prepared answer to this question.")


def replaying_model() -> ReplayingChatModel:
    """The model that knows every prepared answer."""
    return ReplayingChatModel(answers={one.question: one.answer for one in load_prepared()})
