"""What the tools of a unit brought: the documents that they found, and else what they said.

What a model inside of one made of what it found is no evidence, since it may have made it up; neither is what
a model gave to one that says it back, nor what an agent complains of to its model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from groundwire.core.interaction import Passage
from groundwire.host.echoes import unechoed
from groundwire.host.notices import without
from groundwire.host.seen import beside, is_statement
from groundwire.langchain import chat, evidence, placing, results, states, values
from groundwire.langchain.conversation import Given
from groundwire.langchain.sources import Quotes, Sources
from groundwire.langchain.told import Told
from groundwire.langchain.tree import Run, Unit

# Which LangChain's older agents run in a tool's place, where a call could not be read or names no tool.
_COMPLAINTS = ("_Exception", "invalid_tool")
_WORD = re.compile(r"[^\W_]+")
_PASSES_ON = re.compile(
    r"assign|connect|delegat|escalat|forward|hand|pass(?:ed|ing)|redirect|rout(?:ed|ing)|switch|transfer|"
    r"übergeb|überg|weiter|transf|pasad|deriv|trasfer|passat|doorgest|overgedr"
)


class Tools:
    """What the tools of a unit brought, as far as models were ``told`` of it."""

    def __init__(self, sources: Sources, told: Told) -> None:
        self._sources = sources
        self._unit = unit = sources.unit
        self._told = told
        tools = [tool for tool in unit.tools if not _brings_nothing(tool)]
        self._given = _given(unit, tools)
        self._inside: dict[int, list[Run]] = {}
        for tool in tools:
            around = tool.scope.tool
            outermost = around is None or around is unit.run or around not in unit.tools
            self._inside.setdefault(0 if outermost else id(around), []).append(tool)

    def brought(self, shown: Sequence[Passage] = ()) -> list[Passage]:
        """What they brought beside what was shown in another way."""
        known = {passage.text for passage in shown}
        # What a tool tells the user itself is the answer, and no evidence for it.
        known.add(values.direct(states.state(self._unit.run.outputs)) or "")
        outer = (tool for tool in self._inside.get(0, ()) if tool is not self._unit.run)
        brought = [(tool, passage) for tool in outer for passage in self._of(tool)]
        known |= self._told.left_out([one for tool, one in brought if any(chat.answered_calls(tool.outputs))])
        return [passage for _, passage in brought if passage.text not in known]

    def _of(self, tool: Run) -> list[Passage]:
        """What one tool brought; where a model answered in it, what that one was told by the tools inside."""
        searches = [run for run in self._unit.retrievals if run.scope.tool is tool]
        makers = [model for run in searches for model, _ in self._sources.made(run)]
        found = self._found(tool, searches, handed_over=not makers)
        models = [*(model for model in self._unit.models if model.scope.tool is tool), *makers]
        if models and found:
            return found
        said = None if evidence.documents(tool.outputs) else chat.tool_text(tool.outputs)
        if said is None:
            return self._told.among(tool, found)
        if (instead := self._told.instead(tool)) is not None:
            said, found = instead, placing.survivors(found, [instead])
        said = without(said, tool.notices)
        quotes, rest = Quotes(found), beside(said, results.said_in(models))
        given = (words for words in self._given[id(tool)] if not quotes.hold(words))
        rest = unechoed(rest, given)
        return placed(found, rest) if rest.strip() else found

    def _found(self, tool: Run, searches: Sequence[Run], *, handed_over: bool) -> list[Passage]:
        """The documents found in a tool, else those ``handed_over``; and what the tools inside brought."""
        found = [passage for run in searches for passage in self._sources.found(run)]
        for documents in (tool.outputs, getattr(tool.outputs, "artifact", None)) if handed_over else ():
            found = found or [evidence.passage(document) for document in evidence.documents(documents)]
        return [*found, *(one for inner in self._inside.get(id(tool), ()) for one in self._of(inner))]


def _brings_nothing(tool: Run) -> bool:
    return states.at(tool.serialized, "name") in _COMPLAINTS or hands_over(tool.outputs)


def hands_over(result: Any) -> bool:
    """Whether a tool did nothing but hand over to another agent, and says so: its name, and a few words.

    Within one graph these have to tell of it: a tool may also find a fact, and say which step comes next.
    """
    to = getattr(result, "goto", None) if type(result).__name__ == "Command" else None
    if not isinstance(to, str) or not to:
        return False
    said, name = (chat.tool_text(result) or "").lower(), _WORD.findall(to.lower())
    rest = [word for word in _WORD.findall(said) if word not in name]
    if (
        not said
        or is_statement(said)
        or any(word not in said for word in name)
        or any(map(str.isdigit, "".join(rest)))
    ):
        return False
    return getattr(result, "graph", None) is not None or any(map(_PASSES_ON.match, rest))


def _given(unit: Unit, tools: Sequence[Run]) -> dict[int, list[str]]:
    """Of each tool what models gave to it, and to those before it.

    What was given by the application itself, such as documents to be sorted, no model has made up.
    """
    said = "\n".join(results.said_in(unit.models))
    given, to_tools = Given(), dict[int, list[str]]()
    for tool in sorted(tools, key=lambda run: run.started):
        is_theirs = all(text in said for text in values.texts(tool.inputs))
        to_tools[id(tool)] = given.to(tool.inputs) if is_theirs else given.before
        given.found.append(chat.tool_text(tool.outputs) or "")
    return to_tools


def placed(retrieved: Sequence[Passage], held: Any) -> list[Passage]:
    """A context value as passages; a text is taken apart where retrieved documents are found in it."""
    if isinstance(held, str) and (found := placing.place(retrieved, held)):
        return found
    return evidence.passages(held)
