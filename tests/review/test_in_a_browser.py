"""The page in a real browser, by keyboard and by mouse."""

import re
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from groundwire import (
    Abstention,
    AbstentionReason,
    Claim,
    DetectorSpec,
    Evidence,
    Grading,
    Interaction,
    Passage,
    Role,
    Span,
    Support,
    Turn,
    Verdict,
)
from groundwire.monitor import StoreError
from groundwire.report.visible import visible
from tests.report.test_page import PAYLOADS
from tests.review.shown import ANSWER, SPEC, bags, keep, plain, unjudged

PHONE = {"viewport": {"width": 320, "height": 568}}
WIDE = {"viewport": {"width": 1280, "height": 900}}
GRAVE = {"serious", "critical"}


def keys(page, *pressed):
    for key in pressed:
        page.keyboard.press(key)


def opened(page, heading):
    """Wait until the page of this heading is there, and its scripts with it."""
    expect(page.locator("h1")).to_have_text(heading, timeout=15_000)
    page.wait_for_load_state()


def spans(store, key):
    (said,) = store.feedback(key)
    return [span.of(ANSWER) for span in said.spans]


def test_a_review_by_keyboard_alone(visit, store):
    """From the name to the last answer, without a mouse: opinion, kind, note, undo and the way back."""
    plain_key, key = keep(store, plain(0.2), bags())
    page = visit("/review?queue=newest", name=None)
    page.keyboard.type("Ann")
    keys(page, "Enter")
    opened(page, "What does a second bag cost?")
    expect(page.locator("#left")).to_have_text("2")

    keys(page, "Enter")  # without an opinion nothing is saved
    expect(page.locator("#said")).to_contain_text("Choose first")
    keys(page, "d", "a", "t")
    page.keyboard.type("partially")
    keys(page, "Escape", "Tab")
    page.keyboard.type("a d j: letters of a note")
    keys(page, "Control+Enter")
    opened(page, "Is it fine?")
    expect(page.locator("#left")).to_have_text("1")
    expect(page.locator("#flash")).to_contain_text("Saved: you agreed: hallucinated")
    (said,) = store.feedback(key)
    assert (str(said.opinion), str(said.kind), said.note) == (
        "agree",
        "partially correct",
        "a d j: letters of a note",
    )

    keys(page, "z")
    opened(page, "What does a second bag cost?")
    assert store.feedback(key) == ()
    keys(page, "u", "Enter")
    opened(page, "Is it fine?")
    keys(page, "k")
    opened(page, "What does a second bag cost?")
    expect(page.locator(".opinions")).to_contain_text("You were unsure")
    keys(page, "j")
    opened(page, "Is it fine?")
    keys(page, "a", "Enter")
    opened(page, "Nothing is left in this queue")
    assert store.feedback(plain_key)[0].hallucinated is False


def test_putting_off_by_keyboard(visit, store):
    keep(store, plain(0.2, question="First?"), plain(0.3, question="Second?"))
    page = visit("/review?queue=newest")
    opened(page, "Second?")
    keys(page, "j")
    opened(page, "First?")
    keys(page, "j")
    opened(page, "Second?")


def test_choosing_a_claim_brings_its_evidence_into_view(visit, store):
    """By key, by its button, and by its words in the answer; the quote is marked, and others are not."""
    (key,) = keep(store, bags())
    page = visit(f"/answers/{key}", reduced_motion="reduce")
    against, backing = page.locator("mark.against"), page.locator("mark.for")
    expect(against).not_to_be_in_viewport()
    keys(page, "c")
    expect(against).to_be_in_viewport()
    expect(against).to_have_class("against on")
    expect(backing).to_have_class("for")
    expect(page.locator("#said")).to_contain_text("Evidence: A second bag costs 25 EUR.")
    expect(page.locator(".claims [aria-pressed=true]")).to_contain_text("75 EUR")
    keys(page, "C")
    expect(backing).to_have_class("for on")
    expect(backing).to_be_in_viewport()
    page.locator(".claims button").nth(1).click()
    expect(page.locator("#said")).to_contain_text("No passage bears on this claim")
    page.locator("#answer").get_by_text("A second bag").click()
    expect(against).to_have_class("against on")
    expect(against).to_be_in_viewport()


def test_words_are_marked_by_keyboard(visit, store):
    """It begins with the detector's marks; between them is an emoji of several characters."""
    (key,) = keep(store, bags())
    page = visit(f"/answers/{key}")
    keys(page, "e")
    expect(page.locator("#marks q")).to_have_text(["75 EUR", "8 kg"])
    keys(page, "Enter")  # the word 75, where the marks begin
    expect(page.locator("#marks q")).to_have_text([" EUR", "8 kg"])
    keys(page, "Enter", *["ArrowRight"] * 6, "Shift+ArrowRight", "Enter", "Escape", "d", "Enter")
    page.wait_for_url("**said=**")
    assert spans(store, key) == ["75 EUR", "👩‍🚀 gear", "8 kg"]


def test_letters_are_marked_by_keyboard(visit, store):
    (key,) = keep(store, bags())
    page = visit(f"/answers/{key}")
    keys(page, "e", "Enter", "Control+ArrowRight", "Control+ArrowRight", "Control+Shift+ArrowRight", "Enter")
    keys(page, "Escape", "d", "Enter")
    page.wait_for_url("**said=**")
    assert spans(store, key) == [" ", "R", "8 kg"]


def test_words_are_marked_by_mouse(visit, store):
    """What is selected is marked; what is marked, and selected again, is not."""
    (key,) = keep(store, bags())
    page = visit(f"/answers/{key}")
    page.locator("#mark").click()
    page.locator("#unmark").click()
    expect(page.locator("#own")).to_be_hidden()
    page.locator("#mark").click()

    def select(words):
        """Drag from the first to the last of some words, as a reader does."""
        at = page.evaluate(
            """(words) => {
                const places = new groundwire.Places(document.getElementById("answer"));
                const whole = places.root.textContent;
                const start = [...whole.slice(0, whole.indexOf(words))].length;
                const boxes = [...places.range(start, start + [...words].length).getClientRects()];
                const [first, last] = [boxes[0], boxes[boxes.length - 1]];
                const middle = (box) => box.top + box.height / 2;
                return [first.left + 1, middle(first), last.right - 1, middle(last)];
            }""",
            words,
        )
        page.mouse.move(at[0], at[1])
        page.mouse.down()
        page.mouse.move(at[2], at[3], steps=4)
        page.mouse.up()

    select("gear of up")
    expect(page.locator("#marks q")).to_have_text(["75 EUR", "gear of up", "8 kg"])
    select("of")
    expect(page.locator("#marks q")).to_have_text(["75 EUR", "gear ", " up", "8 kg"])
    page.get_by_label("Unmark 75 EUR").click()
    page.locator("#answer").get_by_text("Bags are free.").click(position={"x": 4, "y": 8})  # one word
    expect(page.locator("#marks q")).to_have_text(["gear ", " up", "8 kg", "Bags"])
    page.locator("[value=agree]").click()
    page.locator("#save").click()
    page.wait_for_url("**said=**")
    assert spans(store, key) == ["gear ", " up", "8 kg", "Bags"]


def test_nothing_is_said_of_spans_that_nobody_corrected(visit, store):
    (key,) = keep(store, bags())
    page = visit(f"/answers/{key}")
    keys(page, "e")
    page.locator("#unmark").click()
    keys(page, "a", "Enter")
    page.wait_for_url("**said=**")
    assert store.feedback(key)[0].spans is None


def test_what_a_reviewer_wrote_stays_as_it_was_when_it_is_saved_again(visit, store):
    """Also where it holds marks that are not seen, as names and notes from right to left do."""
    (key,) = keep(store, bags())
    name, note = "\u200fדנה", "\u200fلا\u200f, soft\u00adhyphen"
    store.review(key, "agree", reviewer=name, note=note)
    page = visit(f"/reviewer?back=/answers/{key}", name=name)
    page.get_by_role("textbox").press("Enter")
    opened(page, "What does a second bag cost?")
    keys(page, "d", "Enter")
    page.wait_for_url("**said=**")
    (said,) = store.feedback(key)
    assert (said.reviewer, said.note, said.opinion) == (name, note, "disagree")


def test_what_was_stopped_while_it_was_saved_can_be_saved_again(visit, store):
    """A click must not be lost for good where a connection hung, and somebody stopped waiting."""
    (key,) = keep(store, bags())
    page = visit()
    page.clock.install()
    page.goto(f"/answers/{key}")
    page.route("**/answers/*", lambda route: route.abort("aborted"))
    page.locator("#note").fill("written before")
    page.locator(".choice.agree").click()
    page.locator("#save").click()
    expect(page.locator("#save")).to_be_disabled()
    page.unroute("**/answers/*")
    page.clock.run_for(6000)
    page.locator("#save").click()
    page.wait_for_url("**said=**")
    assert store.feedback(key)[0].note == "written before"


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        ("store", "Reload this page to send it again."),
        ("session", "Sign in in another tab, then reload this page to send it again."),
    ],
)
def test_what_could_not_be_saved_is_told_how_to_be_sent_again(visit, store, monkeypatch, lost, told):
    """Nobody writes a note, or marks words, twice. Whoever only reads has nothing to send."""
    (key,) = keep(store, bags())
    page = visit(f"/answers/{key}")
    known = page.context.cookies()
    page.locator("#note").fill("written before")
    page.locator("#mark").click()
    page.locator(".choice.agree").click()
    with monkeypatch.context() as away:
        if lost == "session":
            page.context.clear_cookies(name=re.compile("groundwire-[0-9a-f]+"))
        else:
            away.setattr(store, "get", _away)
        unsent = page.context.new_page()
        assert unsent.goto(f"/answers/{key}").status in {401, 503}
        assert unsent.get_by_text("not saved").count() == 0
        page.locator("#save").click()
        expect(page.get_by_text("not saved")).to_have_text(f"Your review is not saved. {told}")
    page.context.add_cookies(known)
    page.reload()
    page.wait_for_url("**said=**")
    assert store.feedback(key)[0].note == "written before"
    assert spans(store, key)


def _away(*_, **__):
    raise StoreError("sqlite:///answers.db can't be used now")


TEXTS = [
    "plain text",
    "😀 one 👩‍🚀 two 🇩🇪 three é e\u0301",
    "line one\r\nline two\n\n| a | b |\n|---|---|\n| 😀 | 2 |\nend\r",
    "\u202eright to left\u202c, zero\u200bwidth, \ufeffmark, \x1b[31mred",
    "\U000e0041\U000e0042 tags, soft\u00adhyphen, \ud800 alone",
    "مرحبا بالعالم 25 שלום 漢字かな交じり文 ไทย",
    "\n\n  leading and trailing  \n",
    "<b>&amp;</b> \" ' `",
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_every_place_of_a_text_is_the_same_for_python_and_the_browser(visit, store, text):
    """Any two characters' range shows what Python slices, and leads back to the same two characters."""
    interaction, _ = plain(answer=text)
    (key,) = keep(store, (interaction, Verdict.graded(0.9, Grading(), detector=SPEC)))
    kept = store.get(key).interaction.answer
    page = visit(f"/answers/{key}")
    found = page.evaluate(
        """(length) => {
            const places = new groundwire.Places(document.getElementById("answer"));
            const found = [];
            for (let start = 0; start < length; start += 1) {
                for (let end = start + 1; end <= length; end += 1) {
                    const range = places.range(start, end);
                    found.push([start, end, range.toString(),
                        places.character(range.startContainer, range.startOffset),
                        places.character(range.endContainer, range.endOffset)]);
                }
            }
            return [places.length, found];
        }""",
        len(kept),
    )
    assert found[0] == len(kept)
    inside = {place + 1 for place in range(len(kept)) if kept.startswith("\r\n", place)}  # of one line's end
    for start, end, shown, first, last in found[1]:
        if not {start, end} & inside:
            assert (first, last) == (start, end)
            assert shown == visible(kept[start:end])


def test_spans_are_joined_split_and_taken_away(visit, store):
    """Marking adds characters and unmarking takes them away, whatever is marked already."""
    (key,) = keep(store, bags())
    page = visit(f"/answers/{key}")
    before = [[2, 5], [9, 12]]
    expected = {
        (0, 1): [[0, 1], [2, 5], [9, 12]],
        (5, 9): [[2, 12]],
        (0, 20): [[0, 20]],
        (2, 5): [[9, 12]],
        (3, 4): [[2, 3], [4, 5], [9, 12]],
        (2, 3): [[3, 5], [9, 12]],
        (4, 10): [[2, 12]],
    }
    for span, after in expected.items():
        assert (
            page.evaluate("([spans, one]) => groundwire.toggled(spans, one)", [before, list(span)]) == after
        )


def test_the_keys_are_shown_and_can_be_switched_off(visit, store):
    """Who speaks to a computer, or has tremor, must be able to do without single letters."""
    (key,) = keep(store, bags())
    page = visit(f"/answers/{key}")
    keys(page, "?")
    dialog = page.locator("#keys")
    expect(dialog).to_be_visible()
    told = dialog.inner_text()
    for pressed in ("a", "d", "u", "j", "k", "c", "e", "n", "t", "z", "Enter"):
        assert pressed in re.findall(r"\w+", told), pressed
    keys(page, "a")  # not while a dialog is open
    page.get_by_label("Single letters are commands").uncheck()
    keys(page, "Escape", "d")
    assert page.locator("[name=opinion]:checked").count() == 0
    page.reload()
    keys(page, "d")
    assert page.locator("[name=opinion]:checked").count() == 0


def test_the_table_by_keyboard(visit, store):
    keep(store, bags(), plain(0.2))
    page = visit("/answers")
    expect(page.locator("#count")).to_have_text("2 answers")
    keys(page, "/")
    page.keyboard.type("bag")
    keys(page, "Enter")
    expect(page.locator("#count")).to_have_text("1 answer")
    assert page.url.endswith("?text=bag&queue=newest")
    page.wait_for_load_state()
    keys(page, "j", "Enter")
    opened(page, "What does a second bag cost?")


def test_tags_and_detectors_are_offered(visit, store):
    keep(store, bags(route="/a"))
    page = visit("/answers")
    page.locator("[name=tag]").focus()
    expect(page.locator("#tag-names option")).to_have_attribute("value", "route=")
    expect(page.locator("#detector-names option")).to_have_attribute("value", "shown")


def hostile(payload):
    """An answer, judged and unjudged, with a payload in every field that comes from outside."""
    spec = DetectorSpec(name=payload, version=payload)
    interaction = Interaction(
        question=payload,
        contexts=[Passage(text=payload, id=payload, metadata={payload: payload, "source": payload})],
        answer=payload,
        history=[Turn(role=Role.USER, text=payload)],
        id=payload,
        metadata={payload: payload, "tags": [payload]},
    )
    whole = Span(0, len(payload))
    claims = (
        Claim(
            text=payload,
            span=whole,
            support=Support.CONTRADICTED,
            score=0.9,
            reason=payload,
            evidence=(Evidence(passage=0, span=whole, quote=payload),),
        ),
    )
    verdict = Verdict.graded(0.9, Grading(), detector=spec, claims=claims, reason=payload)
    late = Abstention(why=AbstentionReason.TIMEOUT, detail=payload, detector=spec)
    return (interaction, verdict), (interaction, late)


@pytest.mark.parametrize("payload", [" ".join(PAYLOADS[:3]), " ".join(PAYLOADS[3:])], ids=["tags", "others"])
def test_no_payload_runs(visit, store, payload):
    """In question, answer, passage, file name, tags, note, reviewer and address, on every page."""
    judged, late = keep(store, *hostile(payload))
    for key in (judged, late):
        store.review(key, "disagree", reviewer=payload, note=payload)
        store.review(key, "agree", reviewer="Ann", note=payload)
    page = visit(name=payload)
    for path in (
        f"/answers/{judged}?queue=newest&said={judged}",
        f"/answers/{late}",
        "/answers",
        f"/answers?text={quote(payload)}&tag={quote('a=' + payload)}",
        f"/answers?score_from={quote(payload)}",
        f"/review?queue={quote(payload)}",
        f"/reviewer?back={quote('/' + payload)}",
        f"/login?token={quote(payload)}",
        "/dashboard",
    ):
        page.goto(path)
        if "queue=newest" in path:
            keys(page, "c", "e", "Enter", "Escape")
        assert page.title().endswith("· groundwire"), path  # what runs would call the page "owned"
        assert page.locator("main img, main script").count() == 0, path
        assert page.evaluate("document.querySelectorAll('[onerror], [onmouseover], [ontoggle]').length") == 0


PAGES = {
    "an answer": "/answers/{0}?queue=newest",
    "an answer that was reviewed": "/answers/{2}?queue=newest&said={2}",
    "an abstention": "/answers/{1}?queue=newest",
    "nothing left": "/review?queue=disagreeing",
    "the table": "/answers?score_from=0.1",
    "an empty table": "/answers?text=nowhere",
    "the name": "/reviewer",
    "a refusal": "/answers?score_from=2",
    "not found": "/nothing",
}

MOST = ["an answer that was reviewed", "an abstention", "the table"]


@pytest.mark.parametrize(
    ("scheme", "size", "pages"),
    [("light", WIDE, list(PAGES)), ("dark", WIDE, MOST), ("light", PHONE, MOST), ("dark", PHONE, MOST[:1])],
    ids=["light", "dark", "light phone", "dark phone"],
)
def test_axe_finds_nothing_serious(visit, store, scheme, size, pages):
    """Contrast, names, landmarks, labels, focus: on every page, as it opens and with everything open."""
    ids = keep(store, bags(route="/a"), unjudged(), plain(0.35, question="Reviewed?"))
    store.review(ids[2], "agree", reviewer="Ann", note="Yes.", spans=[(0, 4)])
    store.review(ids[2], "unsure", reviewer="Bob")
    page = visit(color_scheme=scheme, reduced_motion="reduce", **size)
    found = {}
    for name in pages:
        page.goto(PAGES[name].format(*ids))
        found[name] = grave(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"
    page.goto(f"/answers/{ids[0]}?queue=newest")
    keys(page, "c", "e")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    found["an answer, chosen and marked"] = grave(page)
    if scheme == "light":
        keys(page, "Escape", "?")
        found["the keys"] = grave(page)
    if pages is not MOST:
        page.context.clear_cookies()
        page.goto("/answers")
        found["signing in"] = grave(page)
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize("path", ["/dashboard", "/answers?since=2026-11-01"])
@pytest.mark.parametrize("width", [320, 360, 390])
def test_no_field_of_a_filter_covers_another_on_a_phone(visit, store, width, path):
    """A date has a width of its own, which two of them side by side don't find there."""
    keep(store, bags())
    page = visit(path, viewport={"width": width, "height": 740})
    boxes = page.evaluate(
        """() => [...document.querySelectorAll("form.filters > .field > :is(input, select)")]
            .map((one) => [one.getBoundingClientRect(), one.closest(".field").getBoundingClientRect()])
            .map(([own, field]) => [own.left - field.left, field.right - own.right])"""
    )
    assert boxes
    assert min(room for both in boxes for room in both) >= -0.5


def grave(page):
    violations = Axe().run(page).response["violations"]
    return [
        (one["id"], [(node["target"], node["failureSummary"]) for node in one["nodes"]][:3])
        for one in violations
        if one["impact"] in GRAVE
    ]


def test_the_focus_can_be_seen_and_is_never_covered(visit, store):
    """Every stop of the Tab key has an outline, and lies above the form at the bottom."""
    (key,) = keep(store, bags())
    page = visit(
        f"/answers/{key}?queue=newest", viewport={"width": 1280, "height": 500}, reduced_motion="reduce"
    )
    stops = 0
    for _ in range(40):
        keys(page, "Tab")
        seen = page.evaluate(
            """() => {
                const at = document.activeElement;
                if (at === document.body) return null;
                const ringed = at.closest(".choice") || at;
                const box = at.getBoundingClientRect();
                const bar = document.getElementById("review").getBoundingClientRect();
                return {
                    what: at.outerHTML.slice(0, 80),
                    outline: getComputedStyle(ringed).outlineStyle,
                    covered: !at.closest("#review") && !at.closest(".evidence") && box.top >= bar.top - 1,
                };
            }"""
        )
        if seen is None:
            break
        stops += 1
        assert seen["outline"] != "none", seen
        assert not seen["covered"], seen
    assert stops > 12


@pytest.mark.parametrize(("width", "height"), [(320, 256), (844, 390), (1280, 900)])
def test_what_is_judged_can_be_read_in_a_low_window(visit, store, width, height):
    """At 400 % of a small screen, and on a phone held sideways, too: nothing stays in front of it."""
    (key,) = keep(store, bags())
    page = visit(
        f"/answers/{key}?queue=newest", viewport={"width": width, "height": height}, reduced_motion="reduce"
    )
    for part in ("h1", ".verdict strong", "#answer mark", ".claims button", "#save", ".passage summary"):
        assert page.evaluate(
            """(part) => {
                const one = document.querySelector(part);
                one.scrollIntoView({ block: "center" });
                const [box] = one.getClientRects();
                return one.contains(document.elementFromPoint(box.left + 4, box.top + box.height / 2));
            }""",
            part,
        ), part
    page.evaluate("scrollTo(0, 0)")
    keys(page, "a")
    told = page.locator("#said" if height < 500 else ".choice.agree")
    expect(told).to_contain_text("hallucinated")
    expect(told).to_be_in_viewport()
