"""How the pages look on paper and on a phone, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.review.shown import bags, keep

PHONE = {"viewport": {"width": 375, "height": 812}}
PAPER = {"viewport": {"width": 718, "height": 1000}, "color_scheme": "dark"}
STYLE = "(one, name) => getComputedStyle(one)[name]"
SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""


def test_an_answer_is_printed_whole_and_without_what_only_a_screen_can_do(visit, store):
    """The form would cover the text of every sheet; nobody can scroll through the passages on paper."""
    (key,) = keep(store, bags())
    page = visit(f"/answers/{key}?queue=newest", **PAPER)
    page.emulate_media(media="print", color_scheme="dark")
    for gone in (".reviewbar", ".sections", ".steps", "#mark", ".queues a:not([aria-current])"):
        expect(page.locator(gone).first).to_be_hidden()
    expect(page.locator(".queues [aria-current]")).to_be_visible()
    assert page.locator("h1").evaluate(STYLE, "color") == "rgb(28, 29, 31)"
    assert page.locator("body").evaluate(STYLE, "backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".evidence").evaluate(STYLE, "maxHeight") == "none"
    assert page.locator("mark").first.evaluate(STYLE, "printColorAdjust") == "exact"


def test_the_table_and_the_dashboard_are_printed_without_their_forms(visit, store):
    keep(store, bags())
    for path in ("/answers", "/dashboard"):
        page = visit(path, **PAPER)
        page.emulate_media(media="print", color_scheme="dark")
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator("form.filters")).to_be_hidden()
        assert page.evaluate("document.documentElement.scrollWidth") <= PAPER["viewport"]["width"]


@pytest.mark.parametrize("path", ["/answers", "/dashboard"])
def test_a_printed_sheet_tells_to_what_it_is_narrowed(visit, store, path):
    """Otherwise the rate of one tenant passes for that of all."""
    keep(store, bags())
    page = visit(f"{path}?outcome=hallucinated&tag=tenant%3Dacme", **PAPER)
    page.emulate_media(media="print", color_scheme="dark")
    said = page.locator(".narrowed")
    expect(said).to_be_visible()
    assert said.inner_text().split() == ["Only", "outcome", "hallucinated", "tag", "tenant=acme"]
    expect(page.locator("form.filters button")).to_be_hidden()


@pytest.mark.parametrize("queue", ["random", "flagged", "uncertain", "disagreeing", "newest"])
def test_the_chosen_queue_is_in_sight_on_a_phone(visit, store, queue):
    """The row of queues is wider than a phone."""
    (key,) = keep(store, bags())
    page = visit(f"/answers/{key}?queue={queue}", **PHONE)
    expect(page.locator(".queues [aria-current]")).to_be_in_viewport(ratio=1)


def test_nothing_moves_once_it_is_shown(visit, store):
    (key,) = keep(store, bags())
    page = visit(**PHONE)
    page.add_init_script(SHIFTS)
    page.goto(f"/answers/{key}?queue=newest")
    expect(page.locator("#help")).to_be_visible()
    page.wait_for_timeout(300)
    assert page.evaluate("window.shifted") < 0.01
