"""One answer: shown with its claims, evidence and opinions, and reviewed."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from groundwire.core.claim import Kind
from groundwire.core.errors import InputError
from groundwire.monitor import Feedback, Monitor
from groundwire.report import Entry
from groundwire.report.cards import card
from groundwire.review import asked
from groundwire.review.app_state import (
    just_said,
    kept_of,
    monitor_of,
    reviewer_of,
    settings_of,
    sitting_of,
)
from groundwire.review.pages import draw
from groundwire.review.queue import QUEUES

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
_MOST_FIELDS = 100_000  # each mark is one; how many bytes a form may have is for the guard


def answer(request: Request) -> Response:
    """One answer whole, and the form to review it."""
    wants, monitor, settings = asked.read(request.query_params), monitor_of(request), settings_of(request)
    reviewer, kept = request.state.reviewer, kept_of(request)
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
        last=just_said(request),
        opinions=_opinions(kept.outcome.hallucinated),
        keys=KEYS,
        back_here=urlencode({"back": f"{request.url.path}{wants.query()}"}),
        asked_for_tag=lambda name, value: f"?{urlencode({'tag': f'{name}={value}'})}",
        undone=request.query_params.get("undone"),
        settings=settings,
    )


async def review(request: Request) -> Response:
    """Keeps what the reviewer says, and goes on."""
    form = await request.form(max_fields=_MOST_FIELDS)
    return await run_in_threadpool(_review, request, form)


def _review(request: Request, form: FormData) -> Response:
    # Whoever the page spoke to: another name may have been given since, in another tab.
    request.state.reviewer = _text(form, "reviewer") or request.state.reviewer
    wants, monitor, reviewer = asked.read(request.query_params), monitor_of(request), reviewer_of(request)
    kept = kept_of(request)
    earlier = _own(monitor, kept.id, reviewer)
    note = _text(form, "note").replace("\r\n", "\n").strip()  # as a form sends what was one character
    if len(note) > _LONGEST_NOTE:
        raise InputError(f"a note may have {_LONGEST_NOTE:,} characters, not {len(note):,}")
    said = monitor.review(
        kept.id,
        _text(form, "opinion"),
        reviewer=reviewer,
        hallucinated=_truth(_text(form, "hallucinated")),
        kind=_text(form, "kind") or None,
        spans=[_span(str(span)) for span in form.getlist("span")] if _text(form, "corrected") else None,
        note=note,
        source="page",
    )
    sitting_of(request, wants).reviewed(said, earlier)
    where = f"/answers/{kept.id}" if wants.queue is None else "/review"
    return RedirectResponse(f"{where}{wants.query(said=kept.id)}", status_code=303)


def undo(request: Request) -> Response:
    """Takes a review back: what the reviewer had said before stands again."""
    wants, monitor, reviewer = asked.read(request.query_params), monitor_of(request), reviewer_of(request)
    kept = kept_of(request)
    earlier = sitting_of(request, wants).earlier
    if kept.id not in earlier:  # pressed twice, or the page was started anew: what stood before is not known
        return RedirectResponse(f"/answers/{kept.id}{wants.query(undone='')}", status_code=303)
    before = earlier.pop(kept.id)
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


def _opinions(hallucinated: bool | None) -> list[tuple[str, str, str, str]]:
    """Each opinion with its key, its name, and what it says of this outcome."""
    agree, disagree = _OF_A_VERDICT[hallucinated]
    return [
        ("agree", "a", "Agree", agree),
        ("disagree", "d", "Disagree", disagree),
        ("unsure", "u", "Unsure", "can't tell"),
    ]


def _own(monitor: Monitor, key: str, reviewer: str) -> Feedback | None:
    return next((one for one in monitor.feedback(key) if one.reviewer == reviewer), None)


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
    Route("/answers/{key}", answer, methods=["GET"]),
    Route("/answers/{key}", review, methods=["POST"]),
    Route("/answers/{key}/undo", undo, methods=["POST"]),
]
