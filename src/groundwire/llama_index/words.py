"""What models said, in their texts and in the calls that they made, and what stood behind it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from llama_index.core.base.llms.types import ChatResponse
from pydantic import BaseModel

from groundwire.core.plain import plain
from groundwire.host.seen import is_telling
from groundwire.llama_index import values
from groundwire.llama_index.spans import Exchange


def calls(result: Any) -> list[str]:
    """The arguments of the calls in what a model returned: a form that it filled says all it has to say."""
    if not isinstance(result, ChatResponse):
        return []
    message = result.message
    blocks = [getattr(block, "tool_kwargs", None) for block in message.blocks]
    as_sent = message.additional_kwargs.get("tool_calls")  # as its provider writes them
    held = [*blocks, *(as_sent if isinstance(as_sent, list | tuple) else ())]
    return [one if isinstance(one, str) else _as_json(one) for one in held if one]


def _as_json(call: Any) -> str:
    told = call.model_dump() if isinstance(call, BaseModel) else call
    return json.dumps(plain(told), ensure_ascii=False)


def fields(said: str) -> Iterator[str]:
    """What was said, and where that is JSON, be it in a fence or after a word, the texts in it."""
    yield said
    if "{" not in said and "[" not in said:  # as of nearly all, of which there may be hundreds
        return
    with suppress(ValueError, RecursionError):
        for text in list(values.texts(_structure(said))):
            yield from fields(text)


def filled(forms: Iterable[Mapping[str, Any]], spoken: Iterable[str]) -> list[Mapping[str, Any]]:
    """Those forms that a model has filled: all of what it said stands there, and beside it nothing."""
    said = []
    for one in spoken:
        with suppress(ValueError, RecursionError):
            said.append(_structure(one))
    said = [one for one in said if one and isinstance(one, dict)]
    return [form for form in forms if any(_is_filled(form, one) for one in said)] if said else []


def _is_filled(form: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    if not said.keys() <= form.keys():  # as of nearly all, which may be the rows of a table
        return False
    same = plain({key: form[key] for key in said}) == said
    return same and not any(plain(form[key]) for key in form.keys() - said.keys())


def _structure(said: str) -> Any:
    """What is written as JSON in what was said. Raises ValueError or RecursionError where nothing is."""
    begin = min((at for mark in "{[" if (at := said.find(mark)) >= 0), default=len(said))
    return json.loads(said[begin : max(map(said.rfind, "}]")) + 1], strict=False)


def behind(answering: Sequence[Exchange], exchanges: Sequence[Exchange]) -> str:
    """What models were told, and those before them whose words they were given."""
    told = [one.told for one in answering]  # not one text, which would be copied for each of hundreds
    last = max(map(exchanges.index, answering))
    for one in reversed(exchanges[:last]):
        if one not in answering and any(
            _stands(said.strip(), told) and is_telling(said) for word in one.words for said in fields(word)
        ):
            told.append(one.told)
    return "\n".join(told)


def _stands(said: str, told: Sequence[str]) -> bool:
    return any(said in one for one in told)
