"""An outcome as a notebook shows it: one small card, with its styles inline and every text escaped.

Colours are translucent, or bring their own background, so that they hold on light and on dark pages. What
an outcome took in seconds is left out: the same answer gives the same card.
"""

from __future__ import annotations

from html import escape

from groundwire.core.claim import Claim
from groundwire.core.grading import Level
from groundwire.core.span import Span
from groundwire.core.verdict import Abstention, Outcome
from groundwire.report.entries import foremost, shown_score
from groundwire.report.segments import cut
from groundwire.report.standing import Standing, standing
from groundwire.report.visible import clipped, marked, one_line, visible

_BADGE = {Level.LOW: "#1b6e38", Level.MEDIUM: "#835400", Level.HIGH: "#b3261e", None: "#5d4a8a"}
_LABEL = "color:#fff;border-radius:4px;padding:1px 8px;font-weight:600;font-size:85%"
_FRAME = (
    "border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:8px 12px;margin:4px 0;max-width:60em;"
    "line-height:1.5;overflow-wrap:anywhere"
)
_MARK = "background:rgba(217,83,74,.28);color:inherit;border-radius:3px;padding:0 2px"
_SOFT = "opacity:.75"
_MOST_CLAIMS = 12
_LONGEST = 600


def card(outcome: Outcome) -> str:
    """The outcome as HTML in one line, without scripts, style sheets, links or images."""
    if isinstance(outcome, Abstention):
        detail = escape(visible(outcome.detail))
        return _box(
            None, "NOT JUDGED", f"<code>{escape(str(outcome.why))}</code>", [_line(detail)] if detail else []
        )
    figures = f"score <b>{shown_score(outcome)}</b> · hallucinated from {outcome.threshold:.4g} on"
    head = f"{escape(one_line(outcome.wording.title))} <span style='{_SOFT}'>· {figures}</span>"
    lines = [_line(escape(visible(outcome.reason)))] if outcome.reason else []
    lines += [_claim(claim, standing(claim, outcome)) for claim in foremost(outcome.claims, _MOST_CLAIMS)]
    if (more := len(outcome.claims) - _MOST_CLAIMS) > 0:
        lines.append(_line(f"… and {more} more", style=_SOFT))
    return _box(outcome.level, one_line(outcome.wording.label), head, lines)


def _box(level: Level | None, label: str, head: str, lines: list[str]) -> str:
    badge = f"background:{_BADGE[level]};{_LABEL}"
    frame = f"{_FRAME};border-left:4px solid {_BADGE[level]}"
    top = f"<div><span style='{badge}'>{escape(label)}</span>&ensp;{head}</div>"
    return f"<div style='{frame}'>{top}{''.join(lines)}</div>"


def _line(content: str, *, style: str = "") -> str:
    return f"<div style='margin-top:4px;{style}'>{_breaks(content)}</div>"


def _claim(claim: Claim, stands: Standing) -> str:
    """A claim with its unsupported words marked, and below it what the passages say.

    Both run in their own direction, whichever way the page's words run.
    """
    text, left_out = clipped(claim.shown, _LONGEST)
    start = claim.span.start if claim.text else 0
    words = [(Span(word.start - start, word.end - start), True) for word in claim.words] if claim.text else []
    pieces = [
        f"<mark style='{_MARK}'>{escape(visible(piece.text))}</mark>"
        if piece.marks
        else escape(visible(piece.text))
        for piece in cut(text, words)
    ]
    said = f"<bdi>{''.join(pieces)}</bdi>" + (" …" if left_out else "")
    quotes = [
        f"passage {one.passage + 1}: “<bdi>{escape(visible(marked(one.quote, _LONGEST)))}</bdi>”"
        for one in claim.evidence
    ]
    under = "; ".join([escape(visible(claim.reason)), *quotes] if claim.reason else quotes)
    below = f"<div style='font-size:90%;{_SOFT}'>{_breaks(under)}</div>" if under else ""
    sign = f"<span title='{stands.word}' style='position:absolute;left:0'>{stands.sign}</span>"
    return (
        f"<div style='position:relative;margin-top:4px;padding-left:1.4em'>{sign}{_breaks(said)}{below}</div>"
    )


def _breaks(html: str) -> str:
    """The same in one line: a blank line would end the card where Markdown is around it."""
    return html.replace("\n", "<br>")
