"""The queue: which answer comes next, and what is put off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from groundwire.monitor import Kept, Monitor, Queue
from groundwire.review import asked
from groundwire.review.app_state import (
    Settings,
    just_said,
    kept_of,
    monitor_of,
    reviewer_of,
    settings_of,
    sitting_of,
)
from groundwire.review.pages import draw

QUEUES: Mapping[Queue, tuple[str, str]] = {
    Queue.RANDOM: (
        "Random",
        "A fair sample; of everything, what precision and recall are reckoned from",
    ),
    Queue.FLAGGED: ("Flagged", "Hallucinations, by chance"),
    Queue.UNCERTAIN: ("Most uncertain", "Nearest to the threshold first"),
    Queue.DISAGREEING: ("Disagreeing", "The very same answer, about which two detectors differ"),
    Queue.NEWEST: ("Newest", "Latest first"),
}
"""What each queue is called, and what is in it."""


def queue(request: Request) -> Response:
    """Leads to the next answer of a queue, or tells that none is left."""
    wants = _in_a_queue(request)
    if not request.state.reviewer:
        return RedirectResponse(
            f"/reviewer?{urlencode({'back': f'/review{wants.query()}'})}", status_code=303
        )
    sitting, settings, monitor = sitting_of(request, wants), settings_of(request), monitor_of(request)
    found = _next(monitor, settings, request.state.reviewer, wants, sitting.put_off)
    if not found and sitting.put_off:  # nothing else is left: what was put off comes back
        sitting.put_off.clear()
        found = _next(monitor, settings, request.state.reviewer, wants, ())
    said = request.query_params.get("said")
    if found:
        return RedirectResponse(f"/answers/{found[0].id}{wants.query(said=said)}", status_code=303)
    return draw(
        request,
        "done.html.j2",
        section="Review",
        queues=QUEUES,
        asked=wants,
        back=sitting.before(""),
        last=just_said(request),
    )


def put_off(request: Request) -> Response:
    """Goes on without a review; the answer comes back when nothing else is left."""
    wants, reviewer, kept = asked.read(request.query_params), reviewer_of(request), kept_of(request)
    sitting_of(request, wants).pass_over(kept.id)
    monitor_of(request).release(kept.id, reviewer)
    return RedirectResponse(f"/review{wants.query()}", status_code=303)


def _next(
    monitor: Monitor, settings: Settings, reviewer: str, wants: asked.Asked, without: list[str] | tuple[()]
) -> list[Kept]:
    assert wants.queue is not None
    return monitor.next(
        reviewer,
        queue=wants.queue,
        wanted=wants.wanted,
        reserve=settings.reserve,
        reviewers=settings.reviewers,
        without=without,
    )


def _in_a_queue(request: Request) -> asked.Asked:
    """What is asked for; without a queue, of the fair one where the rest allows that."""
    wants = asked.read(request.query_params)
    if wants.queue is not None:
        return wants
    kind = Queue.RANDOM if wants.wanted.fair else Queue.NEWEST
    return replace(wants, queue=kind)


ROUTES: list[BaseRoute] = [
    Route("/review", queue),
    Route("/answers/{key}/later", put_off, methods=["POST"]),
]
