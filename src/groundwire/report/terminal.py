"""Judged answers and their summary in a terminal, for rich to print.

Words that are not supported are coloured and underlined, and bracketed ⟦so⟧ where there is no colour.
Every text from outside passes through ``visible``, and none of it is read as rich markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from groundwire.core.claim import Claim
from groundwire.core.grading import Level
from groundwire.core.interaction import Interaction
from groundwire.core.verdict import Abstention, Outcome, Verdict
from groundwire.report.entries import Entry, Group, foremost, passage_name, shown_score
from groundwire.report.segments import cut
from groundwire.report.standing import Standing, standing
from groundwire.report.tally import Tally
from groundwire.report.visible import clipped, one_line, visible

_STYLE: Mapping[Level | None, str] = {
    Level.LOW: "green",
    Level.MEDIUM: "yellow",
    Level.HIGH: "red",
    None: "magenta",
}
_CLAIM_STYLE: Mapping[Standing, str] = {
    Standing.SUPPORTED: "green",
    Standing.INFERRED: "green",
    Standing.DOUBTED: "yellow",
    Standing.UNSUPPORTED: "red",
    Standing.CONTRADICTED: "red",
    Standing.UNVERIFIED: "magenta",
}
_GROUP_STYLE: Mapping[Group, str] = {
    Group.HALLUCINATED: "red",
    Group.TO_CHECK: "yellow",
    Group.GROUNDED: "green",
    Group.NOT_JUDGED: "magenta",
}
_LONGEST_ANSWER = 2_000
_LONGEST_QUOTE = 240
_MOST_CLAIMS = 8


@dataclass(frozen=True, kw_only=True)
class Line:
    """One judged answer in one line: label, score, name and question."""

    entry: Entry

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        question = self.entry.interaction and (
            self.entry.interaction.question or self.entry.interaction.answer
        )
        text = _headline(self.entry)
        text.append(f"  {one_line(question or '')[: options.max_width]}", style="dim")
        text.no_wrap, text.overflow = True, "ellipsis"
        yield text


@dataclass(frozen=True, kw_only=True)
class Block:
    """One judged answer with its unsupported words, the claims to look at and their evidence.

    ``full`` lists the supported claims too.
    """

    entry: Entry
    full: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        outcome, interaction = self.entry.outcome, self.entry.interaction
        head = _headline(self.entry)
        if isinstance(outcome, Verdict):
            head.append(f"  {one_line(outcome.wording.title)}", style=_STYLE[outcome.level])
        yield head
        body = Table.grid(padding=(0, 1))
        body.add_column(width=2, justify="right", no_wrap=True)
        body.add_column(overflow="fold")
        if interaction is not None:
            if interaction.question:
                body.add_row(Text("Q", style="dim"), Text(one_line(interaction.question)))
            bracketed = console.no_color or console.color_system is None
            body.add_row(Text("A", style="dim"), marked_answer(interaction, outcome, bracketed=bracketed))
        # The headline names an abstention's code already.
        if reason := outcome.detail if isinstance(outcome, Abstention) else outcome.reason:
            body.add_row(Text("→", style="dim"), Text(one_line(reason), style="italic"))
        if interaction is not None:
            for sign, text in _claims(interaction, outcome, full=self.full):
                body.add_row(sign, text)
        yield Padding(body, (0, 0, 1, 2))


def marked_answer(interaction: Interaction, outcome: Outcome, *, bracketed: bool = False) -> Text:
    """The answer with its unsupported words marked, by colour or by brackets."""
    shown, left_out = clipped(interaction.answer, _LONGEST_ANSWER)
    text = Text()
    for segment in cut(shown, [(span, True) for span in outcome.spans]):
        piece = visible(segment.text)
        if not segment.marks:
            text.append(piece)
        elif bracketed:
            text.append(f"⟦{piece}⟧")
        else:
            text.append(piece, style="bold underline red")
    if left_out:
        text.append(f" … {left_out:,} more characters", style="dim")
    return text


def summary(tally: Tally, *, seconds: float, detector: str) -> Table:
    """How many of each kind, how long it took and how well it agrees with labels."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    rate = f", {tally.answers / seconds:,.0f} a second" if seconds > 0 and tally.answers > 1 else ""
    noun = "answer" if tally.answers == 1 else "answers"
    grid.add_row(
        Text(f"{tally.answers:,}", style="bold"),
        Text(noun, style="bold"),
        Text(f"in {seconds:.1f} s{rate}, by the {detector} detector", style="dim"),
    )
    thresholds = " or ".join(f"{threshold:g}" for threshold in sorted(tally.thresholds)[:3])
    notes = {
        Group.HALLUCINATED: f"score of {thresholds} or more" if thresholds else "",
        Group.TO_CHECK: "below that, but not clearly grounded",
        Group.NOT_JUDGED: ", ".join(f"{why} {count:,}" for why, count in tally.reasons.most_common()),
    }
    for group in Group:
        if count := tally[group]:
            grid.add_row(
                Text(f"{count:,}", style=_GROUP_STYLE[group]),
                Text(group, style=_GROUP_STYLE[group]),
                Text(notes.get(group, ""), style="dim"),
            )
    agreement = tally.agreement()
    if agreement is not None:
        skipped = f"; {agreement.not_judged:,} labelled but not judged" if agreement.not_judged else ""
        grid.add_row(
            Text(f"{agreement.answers:,}"),
            Text("labelled"),
            Text(f"{agreement.figures}; {agreement.hallucinated:,} labelled hallucinated{skipped}"),
        )
    return grid


def _headline(entry: Entry) -> Text:
    outcome = entry.outcome
    text = Text()
    style = _STYLE[outcome.level]
    label = one_line(outcome.wording.label) if isinstance(outcome, Verdict) else "NOT JUDGED"
    text.append(f"{label:<10}", style=f"bold {style}")
    text.append(f" {shown_score(outcome) or ' -  '}", style=style)
    if isinstance(outcome, Abstention):
        text.append(f"  {outcome.why}", style=style)
    if entry.shown_name:
        text.append(f"  {one_line(entry.shown_name)}", style="bold")
    if entry.label is not None:
        text.append(f"  labelled {'hallucinated' if entry.label else 'grounded'}", style="dim")
    return text


def _claims(interaction: Interaction, outcome: Outcome, *, full: bool) -> Iterator[tuple[Text, Text]]:
    """A sign and a text for each claim worth reading, and for each quote under it."""
    telling = [claim for claim in outcome.claims if not standing(claim, outcome).fine]
    # An answer may be in doubt though none of its claims is: then the likeliest are to be looked at.
    unplaced = not telling and outcome.level not in (Level.LOW, None)
    listed = list(outcome.claims) if full or unplaced else telling
    if not full:
        listed = foremost(listed, _MOST_CLAIMS)
    for claim in listed:
        stands = standing(claim, outcome)
        yield Text(stands.sign, style=_CLAIM_STYLE[stands]), _claim(claim, stands)
        for evidence in claim.evidence:
            quote, left_out = clipped(one_line(evidence.quote), _LONGEST_QUOTE)
            source = one_line(passage_name(interaction, evidence.passage))
            text = Text.assemble("  ", (f"[{source}] ", "cyan"))
            text.append(f"“{quote}{'…' if left_out else ''}”", style="dim")
            yield Text(), text
    hidden = Counter(standing(claim, outcome) for claim in outcome.claims)
    hidden.subtract(standing(claim, outcome) for claim in listed)
    if hidden.total():
        yield Text(), Text(f"… {_hidden(hidden, unplaced=unplaced)}", style="dim")


def _hidden(hidden: Counter[Standing], *, unplaced: bool) -> str:
    """What the claims are that are not listed, or only those of them that are to be looked at first."""
    unsupported = hidden[Standing.UNSUPPORTED] + hidden[Standing.CONTRADICTED]
    unverified = hidden[Standing.UNVERIFIED]
    if unsupported or unverified:
        counts = ((unsupported, "unsupported"), (unverified, "unverified"))
        return ", ".join(f"{count} more {word}" for count, word in counts if count)
    doubted = hidden[Standing.DOUBTED]
    return f"{hidden.total()} more, {'not flagged' if doubted or unplaced else 'supported'}"


def _claim(claim: Claim, stands: Standing) -> Text:
    score = "" if claim.score is None else f" {claim.score:.2f}"
    text = Text.assemble((f"{stands.word}{score}  ", _CLAIM_STYLE[stands]))
    said, left_out = clipped(one_line(claim.shown), _LONGEST_QUOTE)
    text.append(said + ("…" if left_out else ""))
    if claim.reason:
        text.append(f"  ({one_line(claim.reason)})", style="italic")
    return text
