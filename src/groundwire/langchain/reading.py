"""What one wrapped call is judged on: its question, its documents, and the answer as the caller will see it.

Each call has a capture of its own, so nothing here has to find out which run belongs to which. Nothing is
judged here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.callbacks.base import BaseCallbackManager
from langchain_core.callbacks.manager import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import patch_config

from groundwire.core.interaction import Interaction, Passage
from groundwire.core.secrets import Traced
from groundwire.core.verdict import Abstention, AbstentionReason
from groundwire.host.notices import UNSAID, WITHHELD, is_withheld, without
from groundwire.langchain import chat, evidence, results, states, values
from groundwire.langchain.capture import Capture, Captured
from groundwire.langchain.conversation import resumes, said_by_tools
from groundwire.langchain.declared import UNIT
from groundwire.langchain.output import PAUSE, answer_text, is_boxed, opened
from groundwire.langchain.tree import Unit
from groundwire.langchain.units import NOT_FOUND, NOT_SEEN, UNCLEAR

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Keys:
    """Where question, documents and answer stand, as far as the user said so."""

    question_key: str | None = None
    context_key: str | None = None
    answer_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What to judge; ``abstention`` is there when it can't be, and says why.

    ``said`` is the answer as it stands in the output, with what checks inside have written into it.
    ``paused`` says that there is nothing to judge yet: a graph waits for a human.
    """

    interaction: Interaction
    said: str = ""
    abstention: Abstention | None = None
    paused: bool = False

    def about(self, question: str | None) -> Reading:
        """The same, judged as an answer to ``question``; None keeps its own."""
        if question is None:
            return self
        return replace(self, interaction=replace(self.interaction, question=question))


class Call:
    """Watches one call of a runnable. ``config`` is what that call must be made with."""

    def __init__(
        self,
        config: RunnableConfig,
        run_manager: CallbackManagerForChainRun | AsyncCallbackManagerForChainRun,
        keys: Keys,
    ) -> None:
        self._keys = keys
        self._id = str(run_manager.run_id)
        self._units: list[Captured] = []
        self._all: list[Captured] = []
        self._tell: Callable[[Interaction], None] | None = None
        self._top = _Top(run_manager.run_id)
        self.config = patch_config(config, callbacks=run_manager.get_child())
        callbacks = self.config["callbacks"]
        assert isinstance(callbacks, BaseCallbackManager)
        units, whole = _Units(self._units.append, **vars(keys)), _Whole(self._captured, **vars(keys))
        for handler in (units, whole, self._top):
            callbacks.add_handler(handler, inherit=True)

    @property
    def output(self) -> Any:
        """What the runnable itself reported at its end, however its stream was cut up; None if nothing."""
        return self._top.output

    def give_up(self, tell: Callable[[Interaction], None]) -> None:
        """Nobody reads the rest: ``tell`` what is known of the answer, now or once its runs have ended."""
        self._tell = tell
        self._told()

    def _captured(self, captured: Captured) -> None:
        self._all.append(captured)
        self._told()

    def _told(self) -> None:
        partial = (seen for seen in self._all if seen.problem is AbstentionReason.PARTIAL_ANSWER)
        found = next((seen.interaction for seen in partial if seen.interaction), None)
        if self._tell is not None and found is not None and self._top.asked:
            tell, self._tell = self._tell, None
            tell(replace(found, id=self._id))

    def read(self, given: Any, output: Any) -> Reading:
        """What was asked, found and answered in this call of ``given``, which has ended with ``output``."""
        try:
            return self._read(given, output)
        except (
            Exception
        ) as error:  # the answer is there and paid for: what can't be read of it is said beside it
            _LOG.warning("the output of a checked runnable could not be read (%s)", type(error).__name__)
            _LOG.debug("not read\n%s", Traced(error))
            detail = f"an output of type {type(output).__name__} could not be read: {type(error).__name__}"
            return _abstained(Interaction(answer="", id=self._id), AbstentionReason.UNREADABLE_INPUT, detail)

    def _read(self, given: Any, output: Any) -> Reading:
        boxed, (output, _) = output, opened(output)
        waits = boxed.interrupts if is_boxed(boxed) else states.at(output, PAUSE)
        if self._top.paused or waits:
            return Reading(interaction=Interaction(answer="", id=self._id), paused=True)
        units = [unit for seen in self._units if (unit := seen.interaction) and unit.has_context]
        whole = next((seen.interaction for seen in self._all if seen.interaction), None)
        notices = {notice for seen in (*self._units, *self._all) for notice in seen.notices}
        answer = self._answer(given, output, whole, notices)
        if answer is None and self._keys.answer_key is None and len(units) == 1:
            answer = units[0].answer
        interaction = Interaction(
            question=self._question(given, output, whole),
            contexts=self._contexts(given, output, units, whole, answer),
            answer=without(answer or "", notices),
            history=whole.history if whole else (),
            id=self._id,
            metadata=whole.metadata if whole else None,
        )
        if answer is None:
            return _unreadable(interaction, output, self._keys.answer_key)
        unsaid = (
            any(seen.detail == UNSAID for seen in self._all) and whole and interaction.answer == whole.answer
        )
        if unsaid or is_withheld(answer, notices):
            detail = UNSAID if unsaid else WITHHELD
            return replace(_abstained(interaction, AbstentionReason.NO_CLAIMS, detail), said=answer)
        if not interaction.has_context:
            return replace(_without_context(interaction, self._units), said=answer)
        return Reading(interaction=interaction, said=answer)

    def _answer(
        self, given: Any, output: Any, whole: Interaction | None, notices: Iterable[str]
    ) -> str | None:
        """What stands in the output for the answer, and not what only stood in the input there."""
        answer = answer_text(output, self._keys.answer_key)
        if self._keys.answer_key is not None:
            return answer
        if whole is None:
            return None if any(seen.detail == UNCLEAR for seen in self._all) else answer
        if answer is not None and without(answer, notices) == whole.answer:
            return answer
        if whole.answer in values.texts(output) or whole.answer == values.form(output):
            return whole.answer
        return None if any(answer == text for _, text in values.answers(given)) else answer

    def _question(self, given: Any, output: Any, whole: Interaction | None) -> str | None:
        keys = values.QUESTION_KEYS if self._keys.question_key is None else (self._keys.question_key,)
        if asked := values.question(given, keys) or (whole and whole.question):
            return asked
        return values.question(output, keys) if resumes(given) and chat.text(output) is None else None

    def _contexts(
        self, given: Any, output: Any, units: list[Interaction], whole: Interaction | None, answer: str | None
    ) -> list[Passage]:
        """Declared ones, else those of the one RAG unit seen, else the output's own, else all there were.

        An output made of several units' answers can only be held against everything they were given; where
        no unit was seen, because LangChain does not see the model, against everything that was found. What a
        graph remembers of an earlier turn counts only where a model was told of it in this one.
        """
        if self._keys.context_key is not None:
            held = (evidence.passages(states.at(part, self._keys.context_key)) for part in (output, given))
            return next((passages for passages in held if passages), [])
        if len(units) == 1:
            return list(units[0].contexts)
        if not units and any(seen.detail == NOT_FOUND for seen in self._units):
            return []  # whatever the output holds, the model that answered was told none of it
        past = [] if resumes(given) else evidence.passages(list(self._top.remembered.values()))
        is_heard = any(seen.detail == NOT_SEEN for seen in self._units) and answer in self._top.said
        for _, held in states.known(output, evidence.CONTEXT_KEYS):
            if is_heard and evidence.documents(held):
                continue  # they were looked for in what the model that answered was told
            if own := [passage for passage in evidence.passages(held) if passage not in past]:
                return own
        everything = units or ([whole] if whole else [])
        all_of_them = dict.fromkeys(passage for unit in everything for passage in unit.contexts)
        if found := [passage for passage in all_of_them if units or passage not in past]:
            return found
        # An answer that was given before a pause: nothing has been heard since.
        return [] if self._units else said_by_tools(output)


class _Units(Capture):
    """Captures each RAG unit of a call.

    A block of separate calls around it has an end of its own, which this call can't wait for. What a check
    inside has withheld is not what is handed out.
    """

    def _enter_block(self) -> None:
        return None

    def instead(self, unit: Unit, whole: str) -> str:
        del unit, whole
        return ""


class _Whole(_Units):
    """Captures a call as one unit, whatever stands in it; the tag that says so is seen by nobody else."""

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, run_type: str | None = None, **event: Any
    ) -> None:
        if not self.live_runs:
            event["tags"] = [*(event.get("tags") or ()), UNIT]
        super().on_chain_start(serialized, inputs, run_id=run_id, run_type=run_type, **event)


class _Top(BaseCallbackHandler):
    """Keeps what the run right below the wrapper's reported at its end, and whether a node paused it.

    Not every stream of a graph shows that it paused. Kept as well are whether a model was ``asked``, what
    models have ``said``, and which documents a graph ``remembered``: its first node was given them, the graph
    itself was not, and no node has found others.
    """

    run_inline = True

    def __init__(self, parent: UUID) -> None:
        self.output: Any = None
        self.paused = self.asked = False
        self.said: set[str | None] = set()
        self.remembered: dict[str, Any] = {}
        self._parent = parent
        self._id: UUID | None = None
        self._begun: dict[UUID | None, Any] = {}  # what runs were given that have started no node yet
        self._nodes: set[UUID] = set()

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        name: str | None = None,
        **_: Any,
    ) -> None:
        del serialized
        if parent_run_id == self._parent:
            self._id, self.paused = run_id, False
        self._begun[run_id] = inputs
        # By name, since a chain needs no LangGraph.
        if name != "__start__" and any(tag.startswith("graph:step:") for tag in tags or ()):
            self._nodes.add(run_id)
            given = self._begun.pop(parent_run_id, inputs)
            known = states.known(inputs, evidence.CONTEXT_KEYS)
            self.remembered.update((key, held) for key, held in known if states.at(given, key) is None)

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:
        self._begun.pop(run_id, None)
        if parent_run_id == self._id and "GraphInterrupt" in (kind.__name__ for kind in type(error).__mro__):
            self.paused = True

    def on_chain_end(
        self, outputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:
        self._begun.pop(run_id, None)
        if parent_run_id == self._parent:
            self.output = outputs
        if run_id in self._nodes:
            for key, held in states.known(states.state(outputs), evidence.CONTEXT_KEYS):
                if self.remembered.get(key) is not held:
                    self.remembered.pop(key, None)

    def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
        del serialized, messages
        self.asked = True

    def on_llm_start(self, serialized: Any, prompts: Any, **_: Any) -> None:
        del serialized, prompts
        self.asked = True

    def on_llm_end(self, response: Any, **_: Any) -> None:
        self.said.add(results.model_text(response))


def _unreadable(interaction: Interaction, output: Any, key: str | None) -> Reading:
    looked = f"nothing under {key!r}" if key is not None else f"none of {', '.join(values.ANSWER_KEYS)}"
    detail = (
        f"no answer was found in an output of type {type(output).__name__}: {looked}; "
        "name the key that holds it with answer_key"
    )
    return _abstained(interaction, AbstentionReason.NO_CLAIMS, detail)


def _without_context(interaction: Interaction, captured: list[Captured]) -> Reading:
    nowhere = (
        "no retriever was seen in the wrapped runnable and its output holds no documents; "
        "name the key that holds them with context_key"
    )
    told = (seen.detail for seen in captured if seen.problem is AbstentionReason.NO_CONTEXT)
    return _abstained(interaction, AbstentionReason.NO_CONTEXT, next(told, nowhere))


def _abstained(interaction: Interaction, why: AbstentionReason, detail: str) -> Reading:
    return Reading(interaction=interaction, abstention=Abstention(why=why, detail=detail, id=interaction.id))
