"""A chat model that replays prepared answers, so that the demo runs offline and always the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

QUESTIONS = Path(__file__).parent / "questions.json"


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A question, the answer that is replayed to it, and what is wrong with that answer, if anything."""

    id: str
    question: str
    answer: str
    kind: str
    grounded: bool
    unsupported: tuple[str, ...]
    pages: tuple[str, ...]
    note: str


def load_prepared() -> list[Prepared]:
    """The prepared questions and answers, in the order they are asked."""
    rows = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    return [
        Prepared(**{**row, "unsupported": tuple(row["unsupported"]), "pages": tuple(row["pages"])})
        for row in rows
    ]


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
