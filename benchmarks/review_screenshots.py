"""Pictures for the documentation: the demo's report and the review page, and a store to try the latter with.

    python -m benchmarks.review_screenshots [--into docs/images] [--store PATH] [--all]

The answers are those of the handbook example, judged by the built-in detector; those of the dashboard are
made up (``benchmarks.dashboard``). ``--store`` only fills a database, to be opened with ``groundwire review
--db sqlite:///PATH``. ``--all`` also takes what is looked at while the page is worked on: dark, on a phone,
without a verdict.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import dashboard
from examples.handbook.prepared import PAGES, Prepared, load_prepared
from groundwire import Abstention, AbstentionReason, Checker, Interaction, Passage
from groundwire.monitor import Monitor
from groundwire.review import Server, create_app
from groundwire.review.guard import cookie_name

ROOT = Path(__file__).parents[1]
TOKEN = "a-token-for-pictures"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync"]
PRODUCTION = 8_000  # made-up answers on the dashboard
_PASSAGES = 3
_COLOURS = 256
_SCROLLED = """
(one) => {
  const passages = one.closest(".evidence");
  passages.scrollTop += one.getBoundingClientRect().top - passages.getBoundingClientRect().top - 160;
  scrollTo(0, 0);
}
"""


def sections(page: str) -> list[Passage]:
    """A page of the handbook, a passage a section."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    title = text.partition("\n")[0].lstrip("# ")
    parts = [part.strip() for part in re.split(r"\n(?=## )", text)[1:]]
    return [
        Passage(
            text=part.partition("\n")[2].strip(),
            id=f"{page}.md",
            metadata={"title": title, "section": part.partition("\n")[0].lstrip("# ")},
        )
        for part in parts
    ]


def retrieved(one: Prepared) -> list[Passage]:
    """The sections with most words of the question and the answer, as a retriever would give them."""
    asked = set(re.findall(r"\w{3,}", f"{one.question} {one.answer}".lower()))
    found = [passage for page in one.pages for passage in sections(page)]
    shared = [len(asked & set(re.findall(r"\w{3,}", passage.text.lower()))) for passage in found]
    order = sorted(range(len(found)), key=lambda i: -shared[i])[:_PASSAGES]
    return [
        Passage(text=found[i].text, id=found[i].id, metadata=found[i].metadata, score=shared[i] / len(asked))
        for i in order
    ]


def fill(monitor: Monitor) -> None:
    """Keep every answer of the example with its outcome, and two that could not be judged."""
    checker = Checker(monitor=monitor)
    for number, one in enumerate(load_prepared()):
        metadata = {
            "route": ("/web", "/app")[number % 2],
            "prompt_version": 1 + number % 3,
            "tags": ["beta"] if number % 4 == 0 else [],
        }
        checker.check(
            Interaction(
                question=one.question,
                answer=one.answer,
                contexts=retrieved(one),
                metadata=metadata,
                id=one.id,
            )
        )
    late = next(one for one in load_prepared() if one.pages)
    monitor.keep(
        Interaction(question=late.question, answer=late.answer, contexts=retrieved(late)),
        Abstention(why=AbstentionReason.TIMEOUT, detail="the judge did not reply within 30 s"),
    )
    monitor.flush()


def picture(
    browser: Any,
    url: str,
    path: str,
    *,
    dark: bool = False,
    phone: bool = False,
    clicks: Sequence[str] = (),
    near: str = "",
    keys: str = "",
    part: str = "",
    whole: bool = False,
) -> bytes:
    """The page at a path, after clicks and keys: what a window shows, a ``part`` of it, or the whole.

    The passages are scrolled until what is ``near`` is in their upper part, and the page back to its top.
    """
    context = browser.new_context(
        base_url=url,
        viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 860},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    if path:
        cookies = {cookie_name(TOKEN): TOKEN, "groundwire-reviewer": "Ann"}
        context.add_cookies([{"name": key, "value": value, "url": url} for key, value in cookies.items()])
    page = context.new_page()
    page.goto(path or url, wait_until="networkidle")
    for click in clicks:
        page.locator(click).first.click()
    if near:
        page.locator(near).first.evaluate(_SCROLLED)
    for key in keys.split():
        page.keyboard.press(key)
    page.wait_for_timeout(400)
    taken: bytes = page.locator(part).screenshot() if part else page.screenshot(full_page=whole)
    context.close()
    return taken


def report(browser: Any, folder: str) -> Iterator[tuple[str, bytes]]:
    """The picture of the page that the demo writes: its name and bytes."""
    page = Path(folder) / "handbook.html"
    demo = [sys.executable, "-m", "examples.handbook", "--quiet", "--html", str(page)]
    subprocess.run(demo, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    asked = next(one.question for one in load_prepared() if one.id == "refund-deadline")
    contradicted = f"article:has-text({asked!r})"
    clicks = (".card summary", f"{contradicted} summary", f"{contradicted} .claims button")
    yield "report.png", picture(browser, page.as_uri(), "", clicks=clicks, near="mark.against.on")


def dashboards(browser: Any, url: str, *, everything: bool) -> Iterator[tuple[str, bytes]]:
    """Pictures of the dashboard of made-up answers: each one's name and bytes."""
    take = partial(picture, browser, url)
    yield "dashboard.png", take("/dashboard?by=route")
    yield "dashboard-threshold.png", take("/dashboard", part="#threshold")
    if everything:
        yield "dashboard-whole.png", take("/dashboard?by=prompt_version&before=1&after=2", whole=True)
        yield "dashboard-dark.png", take("/dashboard?by=route", dark=True, whole=True)
        yield "dashboard-phone.png", take("/dashboard?by=route", phone=True, whole=True)
        yield "dashboard-empty.png", take("/dashboard?tag=route%3Dnone")


def pictures(browser: Any, url: str, monitor: Monitor, *, everything: bool) -> Iterator[tuple[str, bytes]]:
    """Each picture's name and bytes."""
    shown = {one.id: one for one in monitor.page(limit=100).lines}
    by_question = {line.question: line.id for line in shown.values()}
    prepared = {one.id: one for one in load_prepared()}
    refund = by_question[prepared["refund-deadline"].question]
    for number, (key, line) in enumerate(shown.items()):
        if line.hallucinated is not None and number % 3 == 0:
            monitor.review(key, "agree" if number % 2 else "disagree", reviewer="Bob")

    take = partial(picture, browser, url)
    yield "review.png", take(f"/answers/{refund}?queue=uncertain", keys="c a")
    yield "review-answers.png", take("/answers?outcome=hallucinated")
    if everything:
        long = by_question[prepared["extra-bag-prices"].question]
        unjudged = next(key for key, line in shown.items() if line.abstention == "TIMEOUT")
        yield "review-dark.png", take(f"/answers/{refund}?queue=uncertain", dark=True, keys="c a")
        yield "review-marks.png", take(f"/answers/{refund}?queue=uncertain", keys="e Shift+ArrowRight")
        yield "review-marks-dark.png", take(f"/answers/{refund}?queue=uncertain", keys="e", dark=True)
        yield "review-phone.png", take(f"/answers/{refund}?queue=uncertain", phone=True, keys="a")
        yield "review-long.png", take(f"/answers/{long}?queue=newest")
        yield "review-unjudged.png", take(f"/answers/{unjudged}?queue=newest")
        yield "review-keys.png", take(f"/answers/{refund}?queue=newest", keys="?")
        yield "review-reviewed.png", take(f"/answers/{refund}?queue=uncertain&said={refund}", keys="a Enter")
        yield "answers-dark.png", take("/answers", dark=True)
        yield "answers-phone.png", take("/answers", phone=True)
        yield "done.png", take("/review?queue=disagreeing")
        yield "reviewer.png", take("/reviewer")
        yield "login.png", take("/nothing", dark=True)


def fewer_colours(picture: bytes) -> bytes:
    """The same picture in 256 colours, which takes a third of the room.

    They are the most frequent ones that can be told apart. Pillow's own choices tint what is white, or have a
    rare green turn grey.
    """
    from PIL import Image  # noqa: PLC0415 - it comes with what charts are drawn with

    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), dtype=int)
    shape = pixels.shape[:2]
    colours, places, counts = np.unique(
        pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    frequent = colours[np.argsort(-counts)]
    chosen = next(few for step in range(1, 256) if len(few := _apart(frequent, step)) <= _COLOURS)
    nearest = np.array([np.abs(chosen - colour).sum(axis=1).argmin() for colour in colours], dtype=np.uint8)
    drawn = Image.fromarray(nearest[places.reshape(shape)], "P")
    drawn.putpalette(chosen.astype(np.uint8).tobytes())
    small = io.BytesIO()
    drawn.save(small, "PNG", optimize=True)
    return small.getvalue()


def _apart(colours: np.ndarray, step: int) -> np.ndarray:
    """The first of these colours, and each that is a step or more from those before it: too many, or all."""
    found: list[np.ndarray] = []
    while len(colours) and len(found) <= _COLOURS:
        found.append(colours[0])
        colours = colours[np.abs(colours - colours[0]).max(axis=1) >= step]
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--into", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    if given.store is not None:
        with Monitor(f"sqlite:///{given.store.absolute()}", drift=None) as monitor:
            fill(monitor)
            print(f"{monitor.count()} answers: groundwire review --db sqlite:///{given.store.absolute()}")
        return
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only for pictures

    with (
        tempfile.TemporaryDirectory() as folder,
        Monitor(f"sqlite:///{folder}/kept.db", drift=None) as monitor,
        ExitStack() as waiting,
    ):
        fill(monitor)
        production = waiting.enter_context(Monitor(f"sqlite:///{folder}/production.db", drift=None))
        dashboard.fill(production, PRODUCTION)
        servers = [Server(create_app(one, token=TOKEN), port=0) for one in (monitor, production)]
        answers, figures = (waiting.enter_context(server) for server in servers)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
            given.into.mkdir(parents=True, exist_ok=True)
            for name, taken in (
                *report(browser, folder),
                *pictures(browser, answers.url, monitor, everything=given.all),
                *dashboards(browser, figures.url, everything=given.all),
            ):
                small = fewer_colours(taken)
                (given.into / name).write_bytes(small)
                print(f"{given.into / name}: {len(small) // 1000} kB")
            browser.close()


if __name__ == "__main__":
    main()
