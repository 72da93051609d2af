"""What a person reads in a terminal, with colour and without."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from groundwire import Grading, Interaction, Verdict
from groundwire.core.claim import Support
from groundwire.report import Entry, Tally
from groundwire.report.entries import shown_score
from groundwire.report.terminal import Block, Line, summary
from tests.report.answers import SPEC, claim, doubted, no_context, plain, refund, unread


def bags(count, *, score, last=None, others=0.1, grading=Grading(threshold=0.4)):  # noqa: B008 - it is frozen
    """An answer of so many supported claims, of which the last has the answer's score, or another."""
    said = [f"Bag {i}." for i in range(1, count + 1)]
    interaction = Interaction(contexts=["Bags."], answer=" ".join(said))
    scores = [others] * (count - 1) + [score if last is None else last]
    claims = tuple(
        claim(interaction, one, Support.SUPPORTED, score=own) for one, own in zip(said, scores, strict=True)
    )
    return Entry(
        interaction=interaction, outcome=Verdict.graded(score, grading, detector=SPEC, claims=claims)
    )


def printed(what, *, colour=False, width=90):
    out = io.StringIO()
    console = Console(
        file=out, force_terminal=colour, color_system="truecolor" if colour else None, width=width
    )
    console.print(what)
    return out.getvalue()


def test_an_answer_is_told_with_its_unsupported_words_and_evidence():
    """Level, score, question, marked answer, the flagged claim and why, and the quote with its source."""
    text = printed(Block(entry=refund(label=1)))
    assert "RED" in text
    assert "0.93" in text
    assert "labelled hallucinated" in text
    assert "Q What is the fee?" in text
    assert "A ⟦The fee is 75 EUR.⟧ Bags are free." in text
    assert "✗ contradicted 0.90  The fee is 75 EUR.  (another amount)" in text
    assert "[fees.md] “The fee is 25 EUR.”" in text
    assert "75 EUR is not 25 EUR" in text
    assert "✓" not in text


def test_everything_is_told_when_asked():
    """In full, the supported claims are listed too, each with its quote."""
    text = printed(Block(entry=refund(), full=True))
    assert "✓ supported 0.10  Bags are free." in text
    assert "[fees.md] “Bags are free.”" in text


def test_an_answer_in_doubt_shows_what_to_check():
    """What leaves it in doubt is said to be in doubt, and not that it is supported; all else is counted."""
    text = printed(Block(entry=doubted()))
    assert "! in doubt 0.38  Bags are free." in text
    assert "[passage 1] “Bags are free.”" in text
    assert "supported 0.38" not in text
    text = printed(Block(entry=bags(12, score=0.36)))
    assert "! in doubt 0.36  Bag 12." in text
    assert "Bag 1." not in text.partition("→")[2]
    assert "… 11 more, supported" in text


def test_of_many_doubtful_claims_the_rest_are_not_said_to_be_supported():
    text = printed(Block(entry=bags(12, score=0.36, others=0.3)))
    assert text.index("0.30  Bag 1.") < text.index("0.30  Bag 2.") < text.index("0.36  Bag 12.")
    assert "… 4 more, not flagged" in text


@pytest.mark.parametrize(
    ("supports", "told"),
    [
        ([Support.CONTRADICTED] + [Support.UNVERIFIED] * 11, "… 4 more unverified"),
        ([Support.UNSUPPORTED] * 10 + [Support.UNVERIFIED] * 2, "… 2 more unsupported, 2 more unverified"),
        ([Support.UNSUPPORTED] * 10 + [Support.SUPPORTED] * 2, "… 2 more unsupported"),
    ],
)
def test_claims_that_nobody_could_verify_are_not_counted_as_unsupported(supports, told):
    said = [f"Bag {i}." for i in range(1, 13)]
    interaction = Interaction(contexts=["Bags."], answer=" ".join(said))
    claims = tuple(
        claim(
            interaction,
            one,
            support,
            score={Support.UNVERIFIED: None, Support.SUPPORTED: 0.1}.get(support, 0.9),
        )
        for one, support in zip(said, supports, strict=True)
    )
    outcome = Verdict.graded(0.9, Grading(), detector=SPEC, claims=claims)
    lines = printed(Block(entry=Entry(interaction=interaction, outcome=outcome))).splitlines()
    assert [line.strip() for line in lines if "more un" in line] == [told]


def test_where_no_claim_tells_why_an_answer_is_in_doubt_all_are_shown():
    text = printed(Block(entry=bags(3, score=0.36, last=0.1)))
    assert "✓ supported 0.10  Bag 1." in text
    assert "✓ supported 0.10  Bag 3." in text


def test_a_claim_in_doubt_stands_beside_one_that_is_not_supported():
    """A low cut point of one's own counts, too: no claim of the answer's own score is called supported."""
    entry = refund()
    (wrong, right) = entry.outcome.claims
    outcome = replace(entry.outcome, claims=(wrong, replace(right, score=0.4)))
    text = printed(Block(entry=replace(entry, outcome=outcome)))
    assert "✗ contradicted 0.90" in text
    assert "! in doubt 0.40  Bags are free." in text
    text = printed(Block(entry=bags(2, score=0.15, grading=Grading(threshold=0.5, medium=0.1))))
    assert "! in doubt 0.15  Bag 2." in text


def test_colour_takes_the_place_of_brackets():
    """With colour the words are red and underlined; brackets would only disturb."""
    text = printed(Block(entry=refund()), colour=True)
    assert "⟦" not in text
    assert "\x1b[1;4;31mThe fee is 75 EUR." in text


def test_what_could_not_be_judged_has_no_score_and_says_why():
    """An abstention never looks like a clean answer."""
    for entry, code, detail in (
        (unread(), "UNREADABLE_INPUT", "line 7: not JSON"),
        (no_context(), "NO_CONTEXT", ""),
    ):
        text = printed(Block(entry=entry))
        assert text.startswith("NOT JUDGED")
        assert code in text
        assert detail in text
        assert "0." not in text


def test_text_from_outside_commands_no_terminal():
    """Escape sequences, rich markup and bidirectional overrides in any field are shown, not obeyed."""
    bad = "\x1b]0;owned\x07[red]x[/red] :warning: \u202e\ud800"
    entry = Entry(
        interaction=Interaction(question=bad, answer=bad, contexts=bad, id=bad),
        outcome=Verdict.graded(0.9, Grading(), detector=refund().outcome.detector, reason=bad),
    )
    for view in (Block(entry=entry, full=True), Line(entry=entry)):
        text = printed(view, width=300)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "[red]x[/red] :warning:" in text
        text.encode("utf-8")


@pytest.mark.parametrize("width", [40, 90])
def test_a_line_stays_one_line(width):
    """A long or wide question is cut off at the terminal's edge."""
    text = printed(Line(entry=plain(0.1, question="手荷物の料金はいくらですか " * 20)), width=width)
    assert text.count("\n") == 1
    assert text.startswith("GREEN")


def test_a_very_long_answer_says_what_is_left_out():
    """5 MB are neither printed nor silently dropped."""
    text = printed(Block(entry=plain(0.9, answer="word " * 1_000_000)))
    assert len(text) < 10_000
    assert "4,998,000 more characters" in text


def test_a_score_never_seems_on_the_wrong_side_of_the_threshold():
    """0.4996 isn't hallucinated at 0.5, so it isn't shown as 0.50."""
    assert shown_score(plain(0.4996).outcome) == "0.4996"
    assert shown_score(plain(0.5).outcome) == "0.50"
    assert shown_score(plain(0.123).outcome) == "0.12"


def test_the_summary_counts_every_kind_and_compares_with_labels():
    """Counts by kind, why some could not be judged, speed, and AUROC and F1 where labels are known."""
    tally = Tally()
    for entry in (refund(label=1), plain(0.4), plain(0.1, label=0), unread()):
        tally.add(entry)
    text = printed(summary(tally, seconds=2.0, detector="lexical"))
    assert "4 answers" in text
    assert "2 a second" in text
    assert "1 hallucinated" in text
    assert "1 to check" in text
    assert "1 grounded" in text
    assert "1 not judged   UNREADABLE_INPUT 1" in text
    assert "AUROC 1.000, F1 1.000" in text
