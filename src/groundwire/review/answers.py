"""The table of kept answers: narrowed down, page by page, and exported as it is narrowed down."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
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
    )


def count(request: Request) -> Response:
    """How many answers there are of what is asked for. Asked by a script, for it may take a while."""
    wanted = asked.read(request.query_params).wanted
    return Response(f"{monitor_of(request).count(wanted):,}", media_type="text/plain")


def names(request: Request) -> Response:
    """The detectors and the tags that may be asked for. Asked by a script, as well."""
    monitor = monitor_of(request)
    detectors = [one_line(group.name) for group in monitor.by("detector") if group.name]
    return JSONResponse({"detectors": detectors, "tags": [one_line(name) for name in monitor.tags()]})


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


ROUTES: list[BaseRoute] = [
    Route("/answers", answers),
    Route("/answers/count", count),
    Route("/answers/names", names),
    Route("/export", export),
]
