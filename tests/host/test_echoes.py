"""What a tool says back of what it was given."""

import json

import pytest

from groundwire.host.echoes import edited, given_words, unechoed

PAGE = "Second checked bag\n\nA second checked bag costs 25 EUR on all flights, and is paid at the desk."
THOUGHT = "A second bag costs 75 EUR and gold members bring a third one free of charge."
ASKED = "What is the price of a second bag on flights to Oslo?"
QUERY = 'Why does a second bag cost "75 EUR" now?'
SEARCHED = (
    f'{{"query": %s, "results": [{{"content": {json.dumps(PAGE)}}}, {{"content": "Flights to Oslo."}}]}}'
)
NOTES = f"# Notes\n\n- A bag is free.\n- {THOUGHT}"
CHANGED = "- Gold members bring a third one, which costs 12 EUR on the way back."
WRITES = {"file_path": "/fees.md", "content": NOTES}
NAMES = "First bag to Oslo, cabin\nSecond bag to Oslo, hold\nThird bag to Oslo, hold"
PRICED = "First bag to Oslo, cabin\n5\nSecond bag to Oslo, hold\n25\nThird bag to Oslo, hold\n35"
TODOS = {"todos": [{"content": "Find it.", "status": "done"}, {"content": THOUGHT, "status": "pending"}]}


def numbered(text, form="{n:6}\t"):
    """A text as a tool shows a file."""
    return "\n".join(form.format(n=n) + line for n, line in enumerate(text.split("\n"), start=1))


@pytest.mark.parametrize(
    ("given", "text", "expected"),
    [
        (THOUGHT, THOUGHT, ""),
        (THOUGHT, f"Noted: {THOUGHT}", ""),
        (THOUGHT, f"The thought was kept: {json.dumps({'thought': THOUGHT})}", ""),
        (TODOS, f"Updated todo list to {TODOS['todos']}", ""),
        (TODOS, f"The list is now: {json.dumps(TODOS)}", ""),
        # A file is shown with its lines' numbers, or with one of them edited.
        ({"path": "a.md", "content": NOTES}, numbered(NOTES), ""),
        ({"path": "a.md", "content": NOTES}, numbered(NOTES, "{n}: "), ""),
        ({"content": NOTES, "new": CHANGED}, f"{NOTES}\n{CHANGED}", ""),
        (NOTES, numbered(f"{NOTES}\nMade at the desk."), "     5\tMade at the desk."),
        (NOTES, numbered(f"# Notes\n{PAGE}"), numbered(f"# Notes\n{PAGE}")),
        (NOTES, "12\n250\n", "12\n250\n"),
        # So are notes that it was written, and where in it stands what was shown.
        (WRITES, "Updated file /fees.md", ""),
        (WRITES, "File written successfully to /fees.md.", ""),
        (WRITES, "Successfully replaced 1 instance(s) of the string in '/fees.md'", ""),
        (WRITES, f"@@ lines 1-3 of 3 @@\n{NOTES}", ""),
        (WRITES, f"/fees.md:\n  3: - {THOUGHT}", ""),
        ({"path": "fees.md", "text": NOTES}, "Wrote 98 characters to fees.md", ""),
        (WRITES, f"@@ lines 1-3 of 3 @@\n{PAGE}", f"@@ lines 1-3 of 3 @@\n{PAGE}"),
        ({"path": "notes/fees.md", "text": NOTES}, "Saved to notes/fees.md", ""),
        ({"path": "/fees.md"}, "/fees.md: 25", "/fees.md: 25"),
        ("bag 42", "Created at 12/05/2026", "Created at 12/05/2026"),
        ("bag 42", "Saved: 25 EUR/month", "Saved: 25 EUR/month"),
        ("25.50", "25.50 EUR was updated", "25.50 EUR was updated"),
        (NAMES, PRICED, PRICED),
        (NAMES, f"{NAMES}\n5\n25\n35", "5\n25\n35"),
        ("It costs 75 EUR", "Thought recorded: It costs 75 EUR.", ""),
        (THOUGHT, f"Reflection recorded: {THOUGHT}", ""),
        ("It costs 75 EUR", "Reflection recorded: It costs 75 EUR.", ""),
        ({"thought": "It costs 75 EUR", "next": "Tell them so"}, "Noted: it costs 75 EUR. Tell them so", ""),
        ("Ann pays 75 EUR", "Stored memory: Ann pays 75 EUR", ""),
        ("Ann pays 75 EUR", "Added to the user's memory: Ann pays 75 EUR.", ""),
        ("Ann pays 75 EUR", "I'll remember that Ann pays 75 EUR.", ""),
        # What was kept may go without saying, where it was a statement.
        ({"notes": THOUGHT, "title": "Bags"}, "Notes recorded.", ""),
        (THOUGHT, "Report written.", ""),
        (THOUGHT, '{"status": "saved"}', ""),
        (THOUGHT, "Notes received.", ""),
        ([THOUGHT, "bag 42"], "Status: received", "Status: received"),
        (THOUGHT, "Note saved; the desk closes at 6 pm.", "Note saved; the desk closes at 6 pm."),
        ("bag 42", "Your item has been stored.", "Your item has been stored."),
        ("What Ann pays", "Memory: What Ann pays: 25 EUR", "Memory: What Ann pays: 25 EUR"),
        ({"labels": ["open", "lost in Vienna"]}, "Result: lost in Vienna", "Result: lost in Vienna"),
        ("second bag price", "Second bag price noted: 25", "Second bag price noted: 25"),
        # A search that repeats its query is kept for the rest, be it short.
        (ASKED, f"Results for {ASKED}: 25 EUR", "Results for ?: 25 EUR"),
        (ASKED, f"Q: {ASKED}\nA: With a receipt only.", "Q: ?\nA: With a receipt only."),
        # A document may say what was asked for; one that says more is left as it is.
        (ASKED, f"# {ASKED}\n{PAGE}", f"# {ASKED}\n{PAGE}"),
        # A tool chooses among what it was given.
        ({"labels": ["open", "lost in Vienna"]}, "lost in Vienna", "lost in Vienna"),
        ("25 EUR", "25 EUR.", "25 EUR."),
        (ASKED, json.dumps({"query": ASKED, "cost": 25}), '{"query": " ?", "cost": 25}'),
        # A search may say what it was asked for in a field of its own, be it much less than what it found.
        (QUERY, SEARCHED % json.dumps(QUERY), SEARCHED % '""'),
        ({"query": QUERY}, str({"q": QUERY, "found": [PAGE]}), str({"q": "", "found": [PAGE]})),
        ("Кто платит 75 EUR?", SEARCHED % '"Кто платит 75 EUR?"', SEARCHED % '""'),
        ("second bag", SEARCHED % '"second bag"', SEARCHED % '"second bag"'),
        (
            "A second bag price",
            SEARCHED % '"A second bag price: 25 EUR"',
            SEARCHED % '"A second bag price: 25 EUR"',
        ),
        # Whoever found nothing says what was sought, and that is all.
        ("second bag 75 EUR", "No results found for: second bag 75 EUR", "No results found for:"),
        (
            QUERY,
            f"Sorry, I couldn't find any documents about '{QUERY}'.",
            "Sorry, I couldn't find any documents about ' \" \" ?'.",
        ),
        (
            "bag 75 EUR",
            'Nothing found for "bag 75 EUR" in this database.',
            'Nothing found for " " in this database.',
        ),
        (
            "bag 75 EUR",
            "No results found for 'bag 75 EUR'. Try other words.",
            "No results found for ' '. Try other words.",
        ),
        (QUERY, f"Nothing matched {QUERY}\n{PAGE} {PAGE}", f'Nothing matched " " ?\n{PAGE} {PAGE}'),
        (
            "bag 25 EUR",
            f"Nothing matched in fees.\nbag 25 EUR\n{PAGE}",
            f"Nothing matched in fees.\nbag 25 EUR\n{PAGE}",
        ),
        (
            {"query": "bag to Oslo", "note": THOUGHT},
            f"No results found for: bag to Oslo. Note kept: {THOUGHT}",
            "No results found for: . Note kept: .",
        ),
        ("pets", "No pets.", "No pets."),
        ("pets", "No pets found in cabins for free.", "No pets found in cabins for free."),
        # A name, a number, a few words stand in what was found for them.
        ("second checked bag", PAGE, PAGE),
        ("second bag price", "Second bag price: 25 EUR", "Second bag price: 25 EUR"),
        ("25 EUR", "A second bag costs 25 EUR.", "A second bag costs 25 EUR."),
        (THOUGHT, PAGE, PAGE),
        (f"{THOUGHT} {ASKED}", f"{ASKED} {PAGE}", f"{ASKED} {PAGE}"),
        ("", PAGE, PAGE),
        (THOUGHT, "---", "---"),
        ("行李的费用", "第二件行李的费用是二十五欧元。", "第二件行李的费用是二十五欧元。"),
    ],
)
def test_what_a_tool_was_given_is_no_evidence(given, text, expected):
    """Its own words are, be they few; a document that holds the words of a query is not torn."""
    rest = unechoed(text, given_words(given))
    assert "75 EUR" not in rest
    assert " ".join(rest.split()) == " ".join(expected.split())


@pytest.mark.parametrize(
    ("given", "words", "expected"),
    [
        (
            [NOTES, PAGE],
            ["/a.md", "75 EUR", "99 EUR"],
            ["- A bag is free.\n" + NOTES.splitlines()[3].replace("75", "99")],
        ),
        (["a\nb\nc\nd\ne"], ["c", "x\ny"], ["b\nx\ny\nd"]),
        (["a\nb\nc"], ["a\n", ""], ["b"]),
        (["old: 1", "new: 1"], ["1", "2"], ["new: 2"]),
        ([NOTES], ["/a.md", "what is not there", "99 EUR"], []),
        ([NOTES], ["", "99 EUR"], []),
        ([], ["a", "b"], []),
        ([NOTES], [" ", "long" * 10_000], []),
        ([NOTES], [THOUGHT] * 9, []),
    ],
)
def test_an_edit_makes_other_words_of_what_was_given_before(given, words, expected):
    """Of the latest text with the words that are replaced; nothing grows without bounds."""
    assert [*edited(given, words)] == expected
