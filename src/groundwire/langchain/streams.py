"""A stream on its way through the wrapper: what passes, what adds up, and how the end carries the verdict.

Nothing is judged here, and nothing waits but the one chunk that must carry the verdict itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessageChunk
from langchain_core.runnables import Runnable
from langchain_core.runnables.utils import AddableDict

from groundwire.langchain import states
from groundwire.langchain.output import (
    KEY,
    PAUSE,
    Attach,
    answer_holder,
    answer_text,
    attached,
    enveloped,
    extended,
    is_boxed,
)


class Sum:
    """Chunks added up as LangChain does: where they don't add, the latest counts."""

    def __init__(self) -> None:
        self.whole: Any = None

    def add(self, chunk: Any) -> Any:
        """The chunk itself, once it is counted."""
        if self.whole is None:
            self.whole = chunk
        else:
            try:
                self.whole = self.whole + chunk
            except TypeError:
                self.whole = chunk
        return chunk


class OutputStream:
    """What to pass on for each chunk of a stream, and what to end it with.

    Chunks that add up (text, message chunks, AddableDict, lists) pass at once, and the last chunk brings the
    verdict, so that their sum is what ``invoke`` returns. Of chunks that each replace the one before, which
    is how LangChain reads a plain dict or any other object, the latest is held back until the next arrives,
    so that the last can carry the verdict.
    """

    def __init__(self, attach: Attach, key: str | None) -> None:
        self._attach = attach
        self._key = key
        self._sum = Sum()
        self._held: list[Any] = []

    def feed(self, chunk: Any) -> Iterator[Any]:
        """What to pass on now that ``chunk`` has come."""
        for replaced in self._held:
            yield self._outer(replaced, dict)
        chunk = _without_verdict(chunk)
        if isinstance(chunk, str | BaseMessageChunk | AddableDict | list):
            self._held = []
            yield self._outer(self._sum.add(chunk), AddableDict)
        else:
            self._held = [chunk]

    def whole(self, reported: Any) -> Any:
        """All of the output, now that it has ended; ``reported`` is what the run itself says it was."""
        del reported
        return self._held[0] if self._held else self._sum.whole

    def rest(self) -> Iterator[Any]:
        """What is still held back, where there is no verdict to end with."""
        return (self._outer(chunk, dict) for chunk in self._held)

    def close(self, verdict: Mapping[str, Any], warning: str, said: str) -> Iterator[Any]:
        """The end: the warning after what was ``said``, where there is one, then the verdict."""
        if self._held:
            output = extended(self._held[0], warning, self._key, said) if warning else self._held[0]
            yield attached(output, verdict, self._attach)
            return
        whole = self._sum.whole
        if said.endswith(warning):
            warning = ""
        if warning and (addition := _addition(whole, warning, self._key, said)) is not None:
            yield self._outer(addition, AddableDict)
        if self._attach is Attach.NONE:
            return
        if isinstance(whole, BaseMessageChunk) and not enveloped(whole, self._attach):
            yield _closing_message(whole.id, verdict)
        else:
            yield AddableDict({KEY: dict(verdict)})

    def _outer(self, chunk: Any, envelope: type[dict[str, Any]]) -> Any:
        if self._attach is not Attach.NONE and enveloped(chunk, self._attach):
            return envelope({"answer": chunk})
        return chunk


class GraphStream(OutputStream):
    """A LangGraph graph's stream: parts of its work, in the mode asked for, that never add up to its output.

    They pass untouched. The verdict comes last, in the same form, and brings the warning in its own words.
    ``asked`` is what the graph was asked for.
    """

    def __init__(self, attach: Attach, key: str | None, asked: Mapping[str, Any]) -> None:
        super().__init__(attach, key)
        self._asked = asked
        self._typed = asked.get("version") == "v2"
        self._messages = asked.get("stream_mode") in ("messages", ["messages"])

    def feed(self, chunk: Any) -> Iterator[Any]:
        """What to pass on: the chunk itself."""
        self._last = chunk
        yield chunk

    def whole(self, reported: Any) -> Any:
        """The graph's final state, which it reports alike in every mode."""
        return reported

    def close(self, verdict: Mapping[str, Any], warning: str, said: str) -> Iterator[Any]:
        """The verdict: as a message in a stream of messages, as a mode of its own among several modes."""
        del warning, said
        if self._attach is Attach.NONE:
            return
        data: Any
        if self._messages and (self._typed or not _has_modes(self._asked)):
            mode, data = "messages", (_closing_message(self._last_id(), verdict), {})
        else:
            mode, data = KEY, dict(verdict)
        if self._typed:
            yield {"type": mode, "ns": (), "data": data}
        else:
            is_alone = mode == KEY and not _has_modes(self._asked)
            yield _in_form(self._asked, mode, AddableDict({KEY: data}) if is_alone else data)

    def _last_id(self) -> str | None:
        """The id of the message that passed last, whatever stands around it."""
        last = getattr(self, "_last", None)
        if last is None:
            return None
        part = last["data"] if self._typed else last[-1] if self._asked.get("subgraphs") else last
        return getattr(part[0], "id", None)


def is_graph(runnable: Runnable[Any, Any]) -> bool:
    """Whether this is a compiled LangGraph graph."""
    pregel = sys.modules.get("langgraph.pregel")  # who holds a graph has imported it
    return pregel is not None and isinstance(runnable, pregel.Pregel)


def as_chunk(output: Any) -> Any:
    """A whole output in the form that a stream of such outputs would bring it."""
    if is_boxed(output):
        return {"type": "values", "ns": (), "data": output.value, "interrupts": output.interrupts}
    if isinstance(output, AIMessage) and not isinstance(output, AIMessageChunk):
        return AIMessageChunk(**output.model_dump(exclude={"type"}))
    return AddableDict(output) if isinstance(output, dict) else output


def held_back(
    runnable: Runnable[Any, Any], output: Any, asked: Mapping[str, Any], key: str | None = None
) -> Any:
    """A whole output as the one part of a stream that was held back, in the form that was ``asked`` for.

    Of a graph it is the final state; where messages alone were asked for, the answer as one.
    """
    chunk = as_chunk(output)
    if not is_graph(runnable) or is_boxed(output) or asked.get("version") == "v2":
        return chunk
    said = None if states.at(output, PAUSE) else answer_text(output, key)
    if asked.get("stream_mode") == "messages" and said is not None:
        verdict = states.at(output, KEY)
        chunk = AIMessageChunk(content=said, response_metadata={} if verdict is None else {KEY: verdict}), {}
    return _in_form(asked, "values", chunk)


def _has_modes(asked: Mapping[str, Any]) -> bool:
    """Whether each part of a graph's stream comes with its mode."""
    return isinstance(asked.get("stream_mode"), list)


def _in_form(asked: Mapping[str, Any], mode: str, data: Any) -> Any:
    """A part of a graph's stream with what comes before it: the graph that it is of, and its mode."""
    namespace = ((),) if asked.get("subgraphs") else ()
    modes = (mode,) if _has_modes(asked) else ()
    return (*namespace, *modes, data) if namespace or modes else data


def _without_verdict(chunk: Any) -> Any:
    """The chunk without what a wrapper further inside has put on it: two verdicts don't add up to one."""
    if isinstance(chunk, AddableDict) and KEY in chunk:
        return AddableDict({name: value for name, value in chunk.items() if name != KEY})
    if isinstance(chunk, BaseMessageChunk) and KEY in chunk.response_metadata:
        metadata = {name: value for name, value in chunk.response_metadata.items() if name != KEY}
        return chunk.model_copy(update={"response_metadata": metadata})
    return chunk


def _closing_message(identity: str | None, verdict: Mapping[str, Any]) -> AIMessageChunk:
    return AIMessageChunk(content="", id=identity, response_metadata={KEY: dict(verdict)})


def _addition(whole: Any, text: str, key: str | None, said: str) -> Any:
    """A chunk that adds ``text`` to the answer inside ``whole``; None where adding can't reach it."""
    if isinstance(whole, str):
        return text
    if isinstance(whole, BaseMessageChunk):
        in_blocks = isinstance(whole.content, list)
        return AIMessageChunk(content=[{"type": "text", "text": text}] if in_blocks else text, id=whole.id)
    if isinstance(whole, AddableDict) and (holder := answer_holder(whole, key, said)) is not None:
        inner = _addition(whole[holder], text, None, said)
        return None if inner is None else AddableDict({holder: inner})
    return None
