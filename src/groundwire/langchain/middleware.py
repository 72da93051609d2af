"""A middleware that judges what an agent answers before the agent hands it over.

An agent's state tells everything: the last turn's question, what its tools brought, and the answer; what its
prompt told of documents is noted there, too. So this reads the state alone, and keeps nothing between turns.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, NotRequired, TypeVar, Unpack
from uuid import UUID, uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage

from groundwire.core.errors import MissingExtraError
from groundwire.core.interaction import Interaction, Passage
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome
from groundwire.host.actions import Action, Decision, note
from groundwire.host.echoes import unechoed
from groundwire.host.judging import ajudged, judged
from groundwire.host.notices import UNSAID
from groundwire.host.options import Common, settle_common
from groundwire.host.seen import is_made_of, is_statement
from groundwire.langchain import chat, delegated, evidence, placing, states, values
from groundwire.langchain.capture import wrote
from groundwire.langchain.conversation import given_before
from groundwire.langchain.output import KEY, Attach, acted_on, answer_text, attached
from groundwire.langchain.said import Hearing
from groundwire.langchain.sources import Quotes
from groundwire.tracing.langsmith import annotate_current_run

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
    from langchain.agents.middleware.types import (
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
        OmitFromInput,
        PrivateStateAttr,
        ToolCallRequest,
    )
    from langgraph.config import get_config
    from langgraph.runtime import Runtime
    from langgraph.types import Command
except ImportError as error:
    raise MissingExtraError("HallucinationMiddleware", package="langchain", extra="langchain") from error

NOTHING_FOUND = (
    "no tool brought anything to judge the answer against since the user last spoke, and no documents were "
    "seen in the prompt. If a middleware searches without a retriever, tag the step that returns them "
    "'groundwire:context', or keep them in the agent's state"
)

T = TypeVar("T")
_NOTE = {"groundwire": "retry"}  # marks a message of ours among the user's
# A message without its calls, also as its provider has written them.
_UNCALLED: dict[str, Any] = {"tool_calls": [], "invalid_tool_calls": [], "additional_kwargs": {}}


class CheckedState(AgentState[Any]):
    """An agent's state that also holds the verdict on its last answer; None where that is not judged yet.

    What its model said last, too, and what its prompt told it then: what tools did is in their messages.
    """

    hallucination: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    groundwire_said: NotRequired[Annotated[list[str], PrivateStateAttr]]
    groundwire_told: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class HallucinationMiddleware(AgentMiddleware[CheckedState, Any, Any]):
    """Judges each answer of an agent against what its tools, and its prompt, told since the user last spoke.

    The verdict is in the result under ``hallucination``, and in the answer's ``response_metadata``. A retry
    sends the agent back to its model with the unsupported claims named; the draft and the note are taken out
    of the conversation once a later answer stands. A structured response is judged by its text, and handed
    over as the model gave it, or as None where it is replaced. The options are ``checker``,
    ``on_hallucination``, ``on_abstention``, ``replacement``, ``max_retries``, ``after_retries``, ``monitor``
    and ``sinks``; docs/langchain.md explains each. Raises ConfigurationError, naming every mistake at once.

    >>> agent = create_agent(model, tools, middleware=[HallucinationMiddleware()])  # doctest: +SKIP
    """

    state_schema = CheckedState

    def __init__(self, **options: Unpack[Common]) -> None:
        super().__init__()
        self._settings = settle_common(options)
        self.checker = self._settings.checker

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: CheckedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Judge the last turn's answer."""
        del runtime
        turn = _Turn(state)
        outcome = self._unjudged(turn) or judged(self.checker, turn.interaction)
        return self._update(turn, outcome)

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: CheckedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Judge the last turn's answer without holding the event loop."""
        del runtime
        turn = _Turn(state)
        outcome = self._unjudged(turn) or await ajudged(self.checker, turn.interaction)
        return self._update(turn, outcome)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ExtendedModelResponse[Any]:
        """Note what the model said, and that what stands for its structured response is no evidence."""
        with Hearing() as heard:
            response = handler(request)
        return _noted(response, request, heard)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """The same without holding the event loop."""
        with Hearing() as heard:
            response = await handler(request)
        return _noted(response, request, heard)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], T]) -> T:
        """Note what a tool found in which a model answers: its words are no evidence."""
        with delegated.Inside() as call:
            result = handler(request)
        return call.noted(result, request.state)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[T]]
    ) -> T:
        """The same without holding the event loop."""
        with delegated.Inside() as call:
            result = await handler(request)
        return call.noted(result, request.state)

    def _unjudged(self, turn: _Turn) -> Outcome | None:
        return turn.abstention if self.checker.policy.enabled else None

    def _update(self, turn: _Turn, outcome: Outcome) -> dict[str, Any]:
        attempt = len(turn.notes) + 1
        decision = self._settings.reactions.decide(turn.interaction, outcome, attempt=attempt)
        handlers, run_id = _own_run()
        marks = self._settings.sinks.locate(run_id)
        self._settings.keep(turn.interaction, outcome, decision, attempt, marks=marks)
        if run_id is not None:
            wrote(handlers, run_id, decision, turn.interaction.answer)
        if decision.action is Action.RETRY:
            again = HumanMessage(note(outcome), additional_kwargs=_NOTE)
            return {"jump_to": "model", "messages": [again], **turn.withdrawn}
        annotate_current_run(outcome, action=str(decision.action), attempts=attempt)
        if decision.error is not None:
            raise decision.error
        verdict = outcome.to_dict()
        taken = turn.withdrawn if decision.action is Action.REPLACE else {}
        return {KEY: verdict, "messages": turn.settled(decision, verdict), **taken}


class _Turn:
    """The last turn of a conversation: all since the user last spoke, as far as it is still there."""

    def __init__(self, state: CheckedState) -> None:
        messages = state["messages"]
        begin = _begin(messages)
        # A turn that was summed up midway has lost its question; the summary tells what came before.
        is_asked = begin >= 0 and chat.by_human(messages[begin])
        asked = chat.last_turn(messages[: begin + 1]) if is_asked else None
        self._messages = messages[begin + 1 :]
        self.notes = [i for i, m in enumerate(self._messages) if _is_note(m)]
        said = [i for i, m in enumerate(self._messages) if isinstance(m, AIMessage)]
        last = self._messages[said[-1] :] if said else []
        read = self._messages
        direct = values.direct(state) is not None
        text = values.structured(state) if said else None
        self._last, self._structured = last, text is not None
        self.answer: BaseMessage | None = self._messages[-1] if direct else next(iter(last), None)
        if self._structured:
            # The message that stands for the form, if there is one, follows the model's own.
            self.answer, read = last[:2][-1], read[: said[-1]]
        elif self.answer is not None:
            text = answer_text(self.answer)
        held = state.get("structured_response") is not None  # be it of an earlier turn
        self.withdrawn = {"structured_response": None} if held else {}
        told = [] if direct else _told(state)
        found = list(_found(read, self.answer if direct else None))
        brought = {passage.text for passage in found}
        self.interaction = Interaction(
            question=None if asked is None else _without(str(messages[asked].text), told),
            contexts=[*(passage for passage in told if passage.text not in brought), *found],
            answer=text or "",
            history=chat.turns(messages[: begin + 1 if asked is None else asked]),
        )
        self.abstention = self._why_not(text, state.get("groundwire_said"))

    def settled(self, decision: Decision, verdict: dict[str, Any]) -> list[BaseMessage]:
        """What to write over the conversation: the answer with its verdict, and no trace of its drafts."""
        gone = [message for i in self.notes for message in self._draft(i)]
        answer = self.answer
        if self._structured and decision.action is Action.REPLACE:
            answer, *form = self._last
            gone += form
            answer = answer.model_copy(update=_UNCALLED)
        changes: list[BaseMessage] = [RemoveMessage(id=message.id) for message in gone if message.id]
        if answer is not None:
            changes.append(attached(acted_on(answer, decision), verdict, Attach.AUTO))
        return changes

    def _draft(self, end: int) -> Sequence[BaseMessage]:
        """The answer before a note, as far as it is still there, with what stands for it, and the note."""
        models = [i for i in range(end) if isinstance(self._messages[i], AIMessage)]
        return self._messages[max(models, default=end) : end + 1]

    def _why_not(self, text: str | None, said: Sequence[str] | None) -> Abstention | None:
        if not text:
            detail = "the agent's last message holds no text, and there is no structured response"
            return Abstention(why=AbstentionReason.NO_CLAIMS, detail=detail, id=uuid4().hex)
        if not self.interaction.has_context:
            detail = NOTHING_FOUND
            return Abstention(why=AbstentionReason.NO_CONTEXT, detail=detail, id=uuid4().hex)
        by_model = isinstance(self.answer, AIMessage) and not self._structured
        if by_model and said is not None and not is_made_of(text, said):
            return Abstention(why=AbstentionReason.NO_CLAIMS, detail=UNSAID, id=uuid4().hex)
        return None


def _noted(
    response: ModelResponse[Any], request: ModelRequest[Any], heard: Hearing
) -> ExtendedModelResponse[Any]:
    noted = replace(response, result=delegated.form_noted(response.result, request.tools))
    found = delegated.written(heard.told(_held(request), response.result))
    told = {"turn": _turn(request.state["messages"]), "found": found}
    update: dict[str, Any] = {"groundwire_said": heard.said(response.result), "groundwire_told": told}
    if request.state.get(KEY) is not None:
        # That of an earlier answer, which a pause or an error would leave standing beside this one.
        update[KEY] = None
    return ExtendedModelResponse(noted, Command(update=update))


def _told(state: CheckedState) -> list[Passage]:
    """What a model's prompt told it of documents in this turn; none where none was asked since it began."""
    noted = state.get("groundwire_told") or {}
    return delegated.read(noted.get("found")) if noted.get("turn") == _turn(state["messages"]) else []


def _held(request: ModelRequest[Any]) -> list[Passage]:
    """The documents in the agent's state; none where a model in a tool may have written them."""
    state = request.state
    if delegated.answered_in(state["messages"], request.tools):
        return []
    held = states.known(state, states.names(state) - {"messages"})
    return [passage for _, one in held for passage in evidence.passages(evidence.documents(one))]


def _own_run() -> tuple[Sequence[object], UUID | None]:
    """Who hears the run that the middleware is called in, and that run, as tracers know it."""
    try:
        callbacks = get_config().get("callbacks")
    except RuntimeError:  # called by itself, outside of any graph
        return (), None
    run_id = getattr(callbacks, "parent_run_id", None)
    return getattr(callbacks, "handlers", ()), run_id if isinstance(run_id, UUID) else None


def _without(question: str, told: Sequence[Passage]) -> str:
    """The user's message without the documents that the application has written into it.

    A document that is all of it, as a question in a list of them may be, is what the user has asked.
    """
    rest = question
    for passage in told:
        if is_statement(passage.text):
            rest = rest.replace(passage.text, "")
    return rest.strip() or question


def _begin(messages: Sequence[BaseMessage]) -> int:
    """Where the last turn begins; -1 where nobody has spoken."""
    return max((i for i, message in enumerate(messages) if _begins_turn(message)), default=-1)


def _turn(messages: Sequence[BaseMessage]) -> str | None:
    """The id of the message with which the last turn begins."""
    begin = _begin(messages)
    return messages[begin].id if begin >= 0 else None


def _begins_turn(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and not _is_note(message)


def _is_note(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and message.additional_kwargs.items() >= _NOTE.items()


def _found(messages: Sequence[BaseMessage], answer: BaseMessage | None) -> Iterator[Passage]:
    """What the tools of a turn found; their words are no evidence where they are the ``answer``.

    Nor are those that the model gave them itself.
    """
    for message, given in given_before(messages):
        if isinstance(message, ToolMessage) and message.status != "error":
            noted = delegated.found(message)
            yield from _brought(message, given, answers=message is answer) if noted is None else noted


def _brought(message: ToolMessage, given: Sequence[str], *, answers: bool) -> list[Passage]:
    """What a tool found: its text, its documents looked up in it, else those; as the answer, those alone."""
    own = evidence.passages(evidence.documents(message.artifact))
    if answers:
        return own
    quotes = Quotes(own)
    told = unechoed(chat.told(message), (words for words in given if not quotes.hold(words)))
    return placing.place(own, told) or own or evidence.passages(told)
