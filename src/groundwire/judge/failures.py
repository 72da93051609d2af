"""What a failed call is told as: the error's own words, without the prompt, without secrets, with a hint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from groundwire.core.plan import Failed
from groundwire.core.secrets import without_secrets
from groundwire.core.verdict import AbstentionReason, Usage
from groundwire.judge.limits import LONGEST_WAIT

_FAILED, _THROTTLED, _BROKEN, _LAST = 400, 429, 500, 599  # HTTP statuses
_OF_THE_REQUEST = frozenset({400, 413, 422})
# What Bedrock breaks a stream off with has a name and no status: that was sent before, and was 200.
_IN_A_STREAM = {
    "throttlingException": 429,
    "internalServerException": 500,
    "serviceUnavailableException": 503,
    "validationException": 400,
}
_LONGEST = 400
_WINDOW = 24  # characters in a row that an error may share with the prompt
_BLOCK = _WINDOW // 2
_SECONDS = re.compile(r"\d+(\.\d+)?", re.ASCII)
# For what a call is denied, where its error doesn't name the action.
_PERMISSIONS = {
    "ApplyGuardrail": "bedrock:ApplyGuardrail",
    "ConverseStream": "bedrock:InvokeModelWithResponseStream",
    "InvokeModelWithResponseStream": "bedrock:InvokeModelWithResponseStream",
}
_ACTION = re.compile(r"not authorized to perform: (bedrock:\w{1,60})")
_ID = "model identifier"
READ = 4_000
"""Characters of an error's message that are looked at."""


def failed(error: BaseException, *, model: str, said: Iterable[str], attempts: int = 1) -> Failed:
    """MODEL_FAILED, with the last error's type and message. What was ``said`` to the model is left out."""
    # Secrets first: what tells that one follows may stand in the prompt, too.
    message = without_prompt(without_secrets(str(error)[:READ]), said)
    message = " ".join(message.split())
    if len(message) > _LONGEST:
        message = message[:_LONGEST].rstrip() + " …"
    detail = f"{type(error).__qualname__}: {message}" if message else type(error).__qualname__
    tried = f" (after {attempts} attempts)" if attempts > 1 else ""
    return Failed(
        reason=AbstentionReason.MODEL_FAILED,
        detail=detail + tried + _hint(error, model),
        usage=Usage(calls=1),
    )


def transient(error: BaseException) -> bool:
    """Whether the server said that it had too much to do, or failed: the same call may succeed later."""
    statuses = [_status(one) for one in _causes(error)]
    return any(status == _THROTTLED or status >= _BROKEN for status in statuses)


def of_the_request(error: BaseException) -> bool:
    """Whether the server called the request a mistake, which says nothing of how the server is."""
    return any(_status(one) in _OF_THE_REQUEST for one in _causes(error))


def wait_asked(error: BaseException) -> float:
    """The seconds that the server asks to be left alone for in ``Retry-After``; 0 where it says nothing."""
    told = (_header(one, "retry-after") for one in _causes(error))
    return next((_seconds(value) for value in told if value), 0.0)


def _seconds(told: str) -> float:
    """What a ``Retry-After`` comes to: it is a number, or a date. 0 for what is neither."""
    if _SECONDS.fullmatch(told):
        return float(told)
    try:
        until = parsedate_to_datetime(told)
    except (ValueError, OverflowError):
        return 0.0
    # Such dates are in UTC; one that says "-0000" is read without a zone.
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _header(error: BaseException, name: str) -> str:
    response = getattr(error, "response", None)
    headers: Any
    if isinstance(response, Mapping):  # as below
        headers = _of_botocore(response, "HTTPHeaders")
    else:
        headers = getattr(response, "headers", None) or getattr(error, "headers", None)
    items = headers.items() if hasattr(headers, "items") else ()
    return next((str(value).strip() for key, value in items if str(key).lower() == name), "")


def _of_botocore(response: Mapping[str, Any], name: str) -> Any:
    metadata = response.get("ResponseMetadata")
    return metadata.get(name) if isinstance(metadata, Mapping) else None


def _code(error: BaseException) -> str:
    """The name that botocore has for an error; "" for any other client's."""
    response = getattr(error, "response", None)
    told = response.get("Error") if isinstance(response, Mapping) else None
    return str(told.get("Code", "")) if isinstance(told, Mapping) else ""


def _status(error: BaseException) -> int:
    """The HTTP status that a client's error tells, 0 where it tells none."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # botocore
        told = _of_botocore(response, "HTTPStatusCode") or _IN_A_STREAM.get(_code(error))
    else:  # httpx, requests and the clients made with them; urllib
        places = ((error, "status_code"), (response, "status_code"), (error, "code"))
        told = next((v for one, name in places if isinstance(v := getattr(one, name, None), int)), None)
    return told if isinstance(told, int) and _FAILED <= told <= _LAST else 0


def without_prompt(message: str, said: Iterable[str]) -> str:
    """The message with every longer run of characters that also stands in the prompt taken out."""
    for text in said:
        # Every window holds a whole block, and few blocks stand in a text that may be very long.
        blocks = {i for i in range(0, len(message), _BLOCK) if message[i : i + _BLOCK] in text}
        kept: list[str] = []
        at = 0
        while at < len(message):
            end = at + _WINDOW
            block = -(-at // _BLOCK) * _BLOCK
            if end > len(message) or block not in blocks or message[at:end] not in text:
                kept.append(message[at])
                at += 1
                continue
            while end < len(message) and message[at : end + 1] in text:
                end += 1
            kept.append("[…]")
            at = end
        message = "".join(kept)
    return message


def _hint(error: BaseException, model: str) -> str:
    if (asked := wait_asked(error)) > LONGEST_WAIT:
        return f"; the server asks to be left alone for {asked:.0f} seconds, longer than a retry waits"
    for one in _causes(error):
        code = _code(one)
        if code == "AccessDeniedException":
            named = _ACTION.search(str(one)[:READ])
            usual = _PERMISSIONS.get(getattr(one, "operation_name", ""), "bedrock:InvokeModel")
            permission = named[1] if named else usual
            return (
                f"; the credentials need the permission {permission} for {model!r}, "
                "and the account needs access to it in this region"
            )
        if code == "ResourceNotFoundException" or (code == "ValidationException" and _ID in str(one)):
            return (
                f"; {model!r} is not known, or not enabled for this account, in this region: ask for access "
                "in the Bedrock console, or name a region or an inference profile that has it"
            )
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__
