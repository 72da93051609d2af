"""The table of kept answers: narrowed down, page by page, and exported as it is narrowed down."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from groundwire.core.claim import Kind
from groundwire.core.errors import InputError
from groundwire.core.grading import Level
from groundwire.core.verdict import AbstentionReason
from groundwire.monitor import Filter, Monitor, Queue
from groundwire.report.visible import one_line
from groundwire.review import asked
from groundwire.review.app_state import monitor_of
from groundwire.review.pages import draw

ORDERS = {
    Queue.NEWEST: "Newest first",
    Queue.UNCERTAIN: "Most uncertain first",
    Queue.DISAGREEING: "Disagreeing detectors",
}
_AT_ONCE = 50
_CHUNK = 65_536  # characters sent at once
_FRESH = 60.0  # seconds for which the names in the store are remembered
_MEDIA = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


def answers(request: Request) -> Response:
    """A page of the table."""
    wants, monitor = asked.read(request.query_params), monitor_of(request)
    order = wants.queue or Queue.NEWEST
    if order not in ORDERS:
        raise InputError(f"answers are listed by {', '.join(ORDERS)}, not by {order}")
    page = monitor.page(
        wants.wanted, queue=order, limit=_AT_ONCE, after=request.query_params.get("after") or None
    )
    detectors, tags = _names(request, monitor)
    return draw(
        request,
        "answers.html.j2",
        section="Answers",
        asked=wants,
        order=order,
        orders=ORDERS,
        page=page,
        first=not request.query_params.get("after"),
        levels=list(Level),
        abstentions=list(AbstentionReason),
        kinds=list(Kind),
        detectors=detectors,
        tags=tags,
    )


def count(request: Request) -> Response:
    """How many answers there are of what is asked for. Asked by a script, for it may take a while."""
    wanted = asked.read(request.query_params).wanted
    return Response(f"{monitor_of(request).count(wanted):,}", media_type="text/plain")


def export(request: Request) -> Response:
    """All answers of what is asked for, as a file."""
    wants, form = asked.read(request.query_params), request.query_params.get("form", "csv")
    if form not in _MEDIA:
        raise InputError(f"form must be csv or jsonl, not {form!r:.60}")
    return StreamingResponse(
        _chunks(monitor_of(request), wants.wanted, form),
        media_type=_MEDIA[form],
        headers={"Content-Disposition": f'attachment; filename="answers.{form}"'},
    )


def _chunks(monitor: Monitor, wanted: Filter, form: str) -> Iterator[bytes]:
    waiting, size = [], 0
    for piece in monitor.exported(wanted, form=form):
        waiting.append(piece)
        size += len(piece)
        if size >= _CHUNK:
            yield "".join(waiting).encode("utf-8", "replace")
            waiting, size = [], 0
    yield "".join(waiting).encode("utf-8", "replace")


def _names(request: Request, monitor: Monitor) -> tuple[list[str], list[str]]:
    """The detectors and the tags that a reader may ask for, remembered for a minute."""
    state: Any = request.app.state
    known = getattr(state, "names", None)
    if known is None or known[0] is not monitor or time.monotonic() - known[1] > _FRESH:
        detectors = [one_line(group.name) for group in monitor.by("detector") if group.name]
        known = (monitor, time.monotonic(), detectors, [one_line(name) for name in monitor.tags()])
        state.names = known
    return known[2], known[3]


ROUTES: list[BaseRoute] = [
    Route("/answers", answers),
    Route("/answers/count", count),
    Route("/export", export),
]
