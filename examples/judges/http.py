"""JSON over HTTP with the standard library, as much as these examples need."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.request import Request, urlopen


def post(url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
    """The reply's JSON. An HTTPError tells the status, by which the judge knows what to try again."""
    data = json.dumps(body).encode()
    told = {"Content-Type": "application/json", **(headers or {})}
    request = Request(url, data=data, headers=told)  # noqa: S310 - the address is the reader's own
    with urlopen(request, timeout=120) as reply:  # noqa: S310
        return json.load(reply)
