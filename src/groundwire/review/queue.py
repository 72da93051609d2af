"""The queue: one answer at a time, what is said of it, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from groundwire.core.claim import Kind
from groundwire.core.errors import InputError
from groundwire.monitor import Feedback, Kept, Monitor, Queue
from groundwire.report import Entry
from groundwire.report.cards import card
from groundwire.review import asked
from groundwire.review.app_state import Settings, monitor_of, settings_of, sitting_of
from groundwire.review.pages import draw

QUEUES: Mapping[Queue, tuple[str, str]] = {
    Queue.RANDOM: ("Random", "A fair sample of everything: what precision and recall are reckoned from"),
    Queue.FLAGGED: ("Flagged", "Hallucinations, by chance"),
    Queue.UNCERTAIN: ("Most uncertain", "Nearest to the threshold first"),
    Queue.DISAGREEING: ("Disagreeing", "The very same answer, about which two detectors differ"),
    Queue.NEWEST: ("Newest", "Latest first"),
}
"""What each queue is called, and what is in it."""

_OF_A_VERDICT = {
    True: ("it is hallucinated", "it is grounded"),
    False: ("it is grounded", "it is hallucinated"),
    None: ("can't be judged", "can be judged"),
}
KEYS = (
    ("a d u", "agree, disagree, unsure"),
    ("Enter", "save, and go on"),
    ("j k", "later or next, and back"),
    ("c C", "next and previous claim, with its evidence"),
    ("e", "correct the marks; again, or Esc, to end"),
    ("n", "write a note; Ctrl and Enter save from there"),
    ("t", "choose the kind"),
    ("z", "undo the last review"),
    ("?", "these keys"),
)
"""What each key does on the page of an answer."""

MOST_LEFT = 1000
_LONGEST_NOTE = 10_000


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
        last=_last(request, said),
    )


def answer(request: Request) -> Response:
    """One answer whole, and the form to review it."""
    wants, monitor, settings = asked.read(request.query_params), monitor_of(request), settings_of(request)
    reviewer, kept = request.state.reviewer, _kept(request)
    sitting = sitting_of(request, wants)
    if wants.queue is not None:
        sitting.show(kept.id)
    said = monitor.feedback(kept.id, seen_by=reviewer, blind=settings.blind)
    own = next((one for one in said if one.reviewer == reviewer), None)
    left = None
    if wants.queue is not None and reviewer:
        left = monitor.left(
            reviewer, queue=wants.queue, wanted=wants.wanted, reviewers=settings.reviewers, most=MOST_LEFT
        )
    return draw(
        request,
        "answer.html.j2",
        section="Answers" if wants.queue is None else "Review",
        asked=wants,
        queues=QUEUES,
        kept=kept,
        card=card(Entry(interaction=kept.interaction, outcome=kept.outcome), 0),
        own=own,
        others=[one for one in said if one is not own],
        kinds=list(Kind),
        left=left,
        most_left=MOST_LEFT,
        back=sitting.before(kept.id),
        forward=sitting.after(kept.id),
        last=_last(request, request.query_params.get("said")),
        opinions=_opinions(kept.outcome.hallucinated),
        keys=KEYS,
        back_here=urlencode({"back": f"{request.url.path}{wants.query()}"}),
        asked_for_tag=lambda name, value: f"?{urlencode({'tag': f'{name}={value}'})}",
        undone=request.query_params.get("undone") == kept.id,
        settings=settings,
    )


async def review(request: Request) -> Response:
    """Keeps what the reviewer says, and goes on."""
    form = await request.form()
    return await run_in_threadpool(_review, request, form)


def _review(request: Request, form: FormData) -> Response:
    wants, monitor, reviewer = asked.read(request.query_params), monitor_of(request), _reviewer(request)
    kept = _kept(request)
    earlier = _own(monitor, kept.id, reviewer)
    note = _text(form, "note").strip()
    if len(note) > _LONGEST_NOTE:
        raise InputError(f"a note may have {_LONGEST_NOTE:,} characters, not {len(note):,}")
    monitor.review(
        kept.id,
        _text(form, "opinion"),
        reviewer=reviewer,
        hallucinated=_truth(_text(form, "hallucinated")),
        kind=_text(form, "kind") or None,
        spans=[_span(str(span)) for span in form.getlist("span")] if _text(form, "corrected") else None,
        note=note,
        source="page",
    )
    sitting_of(request, wants).reviewed(kept.id, earlier)
    where = f"/answers/{kept.id}" if wants.queue is None else "/review"
    return RedirectResponse(f"{where}{wants.query(said=kept.id)}", status_code=303)


def undo(request: Request) -> Response:
    """Takes a review back: what the reviewer had said before stands again."""
    wants, monitor, reviewer = asked.read(request.query_params), monitor_of(request), _reviewer(request)
    kept = _kept(request)
    before = sitting_of(request, wants).earlier.pop(kept.id, None)
    if before is None:
        monitor.retract(kept.id, reviewer)
    else:
        monitor.review(
            kept.id,
            before.opinion,
            reviewer=reviewer,
            hallucinated=before.hallucinated,
            kind=before.kind,
            spans=before.spans,
            note=before.note,
            source=before.source,
        )
    return RedirectResponse(f"/answers/{kept.id}{wants.query(undone=kept.id)}", status_code=303)


def put_off(request: Request) -> Response:
    """Goes on without a review; the answer comes back when nothing else is left."""
    wants, reviewer, kept = asked.read(request.query_params), _reviewer(request), _kept(request)
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
    return asked.Asked(wanted=wants.wanted, given=wants.given, queue=kind)


def _opinions(hallucinated: bool | None) -> list[tuple[str, str, str, str]]:
    """Each opinion with its key, its name, and what it says of this outcome."""
    agree, disagree = _OF_A_VERDICT[hallucinated]
    return [
        ("agree", "a", "Agree", agree),
        ("disagree", "d", "Disagree", disagree),
        ("unsure", "u", "Unsure", "can't tell"),
    ]


def _kept(request: Request) -> Kept:
    try:
        return monitor_of(request).get(request.path_params["key"])
    except InputError as error:
        raise HTTPException(404, str(error)) from error


def _reviewer(request: Request) -> str:
    if not request.state.reviewer:
        raise InputError("nobody has said who reviews: give a name under /reviewer first")
    return str(request.state.reviewer)


def _own(monitor: Monitor, key: str, reviewer: str) -> Feedback | None:
    return next((one for one in monitor.feedback(key) if one.reviewer == reviewer), None)


def _last(request: Request, key: str | None) -> tuple[Feedback, list[Feedback]] | None:
    """The review just given, with what others said of the same answer."""
    if not key or not request.state.reviewer:
        return None
    try:
        said = monitor_of(request).feedback(key, seen_by=request.state.reviewer, blind=True)
    except InputError:
        return None
    own = next((one for one in said if one.reviewer == request.state.reviewer), None)
    return None if own is None else (own, [one for one in said if one is not own])


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def _truth(text: str) -> bool | None:
    known = {"": None, "yes": True, "no": False}
    if text not in known:
        raise InputError(f"hallucinated must be yes, no or nothing, not {text!r:.60}")
    return known[text]


def _span(text: str) -> tuple[int, int]:
    start, colon, end = text.partition(":")
    if not colon or not (start.isascii() and start.isdigit() and end.isascii() and end.isdigit()):
        raise InputError(f"span must be START:END in characters, not {text!r:.60}")
    return int(start), int(end)


ROUTES: list[BaseRoute] = [
    Route("/review", queue),
    Route("/answers/{key}", answer, methods=["GET"]),
    Route("/answers/{key}", review, methods=["POST"]),
    Route("/answers/{key}/undo", undo, methods=["POST"]),
    Route("/answers/{key}/later", put_off, methods=["POST"]),
]
