"""What models were told of what tools said: an application may cut it, or hand on a part of it."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from langchain_core.messages import ToolMessage

from groundwire.core.interaction import Passage
from groundwire.core.plain import plain
from groundwire.host.seen import beside, is_telling, those_told_of
from groundwire.langchain import chat, placing, results, values
from groundwire.langchain.tree import Kind, Run, Unit

_FIGURE = re.compile(r"\d[\d.]*\d")  # of one digit there are some in any text
_MOST_SOUGHT = 500_000  # characters that are looked through word by word, for each tool: a fifth of a second


class Told:
    """What the models of a unit were told of its tools, by what they were given to read.

    The ``tellers`` gave the answer to what was ``asked``, and are known to have been told what is ``shown``.
    """

    def __init__(
        self, unit: Unit, tellers: Sequence[Run] = (), asked: str = "", shown: Sequence[Passage] = ()
    ) -> None:
        self._unit = unit
        self._tellers = tellers
        self._asked = asked
        self._shown = [passage.text for passage in shown]
        self._read: dict[int, dict[str, str]] = {}
        self._said = [
            said for model in unit.models if (said := (results.model_text(model.outputs) or "").strip())
        ]
        self._handed: dict[int, list[Run]] = {}
        self._prompts: dict[int, str] = {}

    def instead(self, tool: Run) -> str | None:
        """What models were told instead of what a tool said; None where they were told that, or nothing.

        Of a tool that the application runs itself it is what that has handed on. Where a model made it of
        what the tool said, as in a summary, that one was told it all.
        """
        own = {message.tool_call_id: chat.tool_text(message) or "" for message in _of_tools(tool.outputs)}
        return self._of_calls(tool, own) if own else self._handed_on(tool)

    def _of_calls(self, tool: Run, own: Mapping[str, str]) -> str | None:
        told: dict[str, None] = {}
        first = tool.started
        for model in reversed(self._unit.models):
            read = self._by(model)
            if any(read.get(call) == said for call, said in own.items()):
                return None
            there = [read[call] for call in own if call in read]
            first = model.started if there else first
            told.update(dict.fromkeys(there))
        if not told:
            return None
        text = "\n\n".join(filter(None, told))
        makers = (model for model in self._unit.models if tool.started < model.started < first)
        rest = beside(text, results.said_in(makers))
        return None if text and not rest.strip() else text

    def _by(self, model: Run) -> dict[str, str]:
        if id(model) not in self._read:
            given = _of_tools(model.inputs)
            self._read[id(model)] = {one.tool_call_id: chat.tool_text(one) or "" for one in given}
        return self._read[id(model)]

    def _handed_on(self, tool: Run) -> str | None:
        if not self._is_by_hand(tool):
            return None
        parts = list(_parts(tool.outputs))
        told = self._told(tool, parts)
        if len(told) == len(parts):
            return None
        kept = [parts[i] for i in told]
        if all(isinstance(part, str) for part in kept):
            return "\n\n".join(kept)
        return json.dumps(plain(kept), ensure_ascii=False)

    def left_out(self, brought: Sequence[Passage]) -> set[str]:
        """What an agent's tools ``brought`` that was kept from the model that answered, as by a grader.

        It was told some of it in a prompt that is written by hand, and has no part of the rest; nor have the
        models whose words it was handed.
        """
        tellers = self._tellers
        if not self._are_models() or any(map(self._by, tellers)):
            return set()
        prompt = "\n\n".join(chat.prompt_text(teller.inputs) for teller in tellers)
        texts = {passage.text for passage in brought}
        if not any(text.strip() in prompt for text in texts):
            return set()
        handed = readers(tellers, self._unit.models, documents=texts)
        called = {call for tool in self._unit.tools for call in chat.answered_calls(tool.outputs)}
        noting = ((model, _noted(model, called)) for model in self._unit.models)
        handed += [model for model, fields in noting if any(said in prompt for said in fields)]
        view = "\n\n".join(dict.fromkeys(chat.prompt_text(model.inputs) for model in handed))
        missing = {text for text in texts if text.strip() not in view}
        if len(missing) * len(view) > _MOST_SOUGHT:
            return set()
        there = those_told_of([Passage(text=text) for text in missing], view, self._asked)
        away = missing.difference(passage.text for passage in there)
        return {text for text in away if not any(v in view and v not in self._asked for v in _values(text))}

    def among(self, tool: Run, found: list[Passage]) -> list[Passage]:
        """Those of a tool's documents that were handed on, where the application runs the tool itself."""
        if not self._is_by_hand(tool):
            return found
        return [found[i] for i in self._told(tool, [passage.text for passage in found])]

    def _is_by_hand(self, tool: Run) -> bool:
        if not self._are_models() or tool.scope.tool in self._unit.tools:
            return False
        return tool.ended is not None and not any(_of_tools(tool.outputs))

    def _are_models(self) -> bool:
        return bool(self._tellers) and all(teller.kind is Kind.MODEL for teller in self._tellers)

    def _told(self, tool: Run, parts: Sequence[Any]) -> list[int]:
        """Which parts models were told after the tool, but for those that are known to be shown.

        Parts are told by their own words, or by a fair part of them beside what others say; where none is, by
        their figures. Where the model that answered, and those whose words it was handed, were told none, any
        other may have been.
        Figures alone, and a word or two, are written in so many ways that nobody can miss them.
        """
        after = [model for model in self._unit.models if model.follows(tool)]
        own = [_telling_texts(part) for part in parts]
        told = {i for i, words in enumerate(own) if after and not words}
        texts = (text for words in own for text in words)
        for models in (self._readers(after, texts), after):
            views = [self._prompt(model) for model in models]
            stand = [i for i, words in enumerate(own) if _stands(words, views)]
            stand += self._reworded(own, stand, views)
            if stand := stand or self._figured(parts, views):
                told.update(i for i in stand if not _stands(own[i], self._shown))
                break
        return sorted(told)

    def _readers(self, after: Sequence[Run], texts: Iterable[str]) -> list[Run]:
        """Of the models ``after`` a tool, the latest, those which answered and those they were handed."""
        tellers, everything = [teller for teller in self._tellers if teller in after], "\0".join(texts)
        if not tellers:
            return []
        if any(said in everything for said in self._said):
            return readers(tellers, after, documents=everything.split("\0"))
        if len(after) not in self._handed:  # the same for each of hundreds of tools
            self._handed[len(after)] = readers(tellers, after)
        return self._handed[len(after)]

    def _prompt(self, model: Run) -> str:
        if id(model) not in self._prompts:
            self._prompts[id(model)] = chat.prompt_text(model.inputs)
        return self._prompts[id(model)]

    def _reworded(
        self, own: Sequence[Sequence[str]], stand: Sequence[int], views: Sequence[str]
    ) -> list[int]:
        view = "\n\n".join(views)
        for text in (text for i in stand for text in own[i]):
            view = view.replace(text.strip(), "\n")
        if not view.strip():
            return []
        left = {i: Passage(text="\n".join(own[i])) for i in range(len(own)) if own[i] and i not in stand}
        there = set(map(id, those_told_of(list(left.values()), view, self._asked)))
        return [i for i, whole in left.items() if id(whole) in there]

    def _figured(self, parts: Sequence[Any], views: Iterable[str]) -> list[int]:
        there = {figure for view in views for figure in _FIGURE.findall(view)}
        there.difference_update(_FIGURE.findall(self._asked))
        return [i for i, part in enumerate(parts) if not there.isdisjoint(_figures(part))]


def readers(
    tellers: Sequence[Run], models: Sequence[Run], filled: Container[str] = (), documents: Iterable[str] = ()
) -> list[Run]:
    """The models that answered, and those of the ``models`` whose words they were handed, or another was.

    Be these a word or two, where they have ``filled`` a variable of a prompt.
    """
    others = [model for model in reversed(models) if model not in tellers]
    if not others:
        return list(tellers)
    prompts, documents = dict.fromkeys(chat.prompt_text(one.inputs) for one in tellers), list(documents)
    found, seen, known = list(tellers), "\n\n".join(prompts), set(prompts)
    everything = "\0".join(documents)
    # A long text is not looked through for each of hundreds of graders, which say the same, or other words.
    there, unseen = set(seen.split()), {""}
    for model in others:
        said = (results.model_text(model.outputs) or "").strip()
        if said in unseen:
            continue
        if not there.issuperset(said.split()[1:-1]) or said not in seen:
            unseen.add(said)
            continue
        own = chat.prompt_text(model.inputs)
        given = documents if said in everything else ()
        if said in filled or (is_telling(said) and is_handed_on(said, own, seen, given)):
            found.append(model)
            if own not in known:  # many may have been given the same to read
                seen += own
                known.add(own)
                there.update(own.split())
                unseen = {""}
    return found


def is_handed_on(said: str, own: str, told: str, documents: Iterable[str]) -> bool:
    """Whether a model was ``told`` what another has said, and not just what that one's ``own`` prompt held.

    One of the documents that both were given may hold the words, and so may the template of both prompts.
    """
    for text in documents:
        if said in text:
            own, told = own.replace(text, ""), told.replace(text, "")
    return told.count(said) > own.count(said)


def _noted(model: Run, called: set[str]) -> list[str]:
    """What a model has filled a form with, whose fields may stand in a prompt one by one.

    What it gave to tools that were ``called`` is none.
    """
    words = (
        list(results.model_words(model.outputs)) if called.isdisjoint(results.calls(model.outputs)) else []
    )
    with suppress(ValueError, RecursionError):
        words += values.texts(json.loads(results.model_text(model.outputs) or ""))
    return [said.strip() for said in words if is_telling(said)]


def _of_tools(value: Any) -> Iterator[ToolMessage]:
    return (message for message in chat.tool_messages(value) if isinstance(message, ToolMessage))


def _parts(value: Any) -> Iterator[Any]:
    """What a tool returned, result by result where it is a list of them, be it as JSON or in a field."""
    if isinstance(value, str) and value.lstrip()[:1] in {"[", "{"}:
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, Mapping):
        lists = [held for held in value.values() if isinstance(held, list) and held]
        value = lists[0] if len(lists) == 1 else value
    yield from value if isinstance(value, list | tuple) else [value]


def _telling_texts(part: Any) -> list[str]:
    """The texts in a part of what a tool returned that tell it from others."""
    return [text for text in values.texts(part) if is_telling(text)]


def _figures(part: Any) -> Iterator[str]:
    """The numbers in a part of what a tool returned that are values of their own."""
    if isinstance(part, int | float):
        yield from _FIGURE.findall(str(part))
    elif isinstance(part, Mapping):
        for held in part.values():
            yield from _figures(held)


def _values(record: str) -> Iterator[str]:
    """The values of what is a record, of which an application may tell a single one; of no other text."""
    waiting = [part for part in _parts(record) if not isinstance(part, str)]
    while waiting:
        held = waiting.pop()
        if isinstance(held, Mapping | list):
            waiting.extend(held.values() if isinstance(held, Mapping) else held)
        elif len(value := str(held).strip()) > 1 and not isinstance(held, bool | None):
            yield value


def _stands(leaves: Sequence[str], views: Sequence[str]) -> bool:
    if any(leaf.strip() in view for leaf in leaves for view in views):
        return True
    return bool(placing.survivors([Passage(text=leaf) for leaf in leaves], views))
