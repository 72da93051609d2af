"""A LlamaIndex model that replays prepared answers, so that the demo runs offline and always the same."""

from __future__ import annotations

import re
from typing import Any

from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.llms import CustomLLM

from examples.handbook.prepared import load_prepared


class ReplayingLLM(CustomLLM):
    """Completes a prompt that asks a known question with its prepared answer, whole or word by word."""

    answers: dict[str, str]

    @property
    def metadata(self) -> LLMMetadata:
        """The model's name; its context window is LlamaIndex's usual one."""
        return LLMMetadata(model_name="replay")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        del formatted, kwargs
        return CompletionResponse(text=self._answer(prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        del formatted, kwargs

        def words() -> CompletionResponseGen:
            said = ""
            for word in re.findall(r"\s*\S+", self._answer(prompt)):
                said += word
                yield CompletionResponse(text=said, delta=word)

        return words()

    def _answer(self, prompt: str) -> str:
        known = (answer for question, answer in self.answers.items() if question in prompt)
        return next(known, "I have no prepared answer to this question.")


def replaying_model() -> ReplayingLLM:
    """The model that knows every prepared answer."""
    return ReplayingLLM(answers={one.question: one.answer for one in load_prepared()})
