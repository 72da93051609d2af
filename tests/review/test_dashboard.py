"""The dashboard: its figures are the monitor's, it says what can't be known, and reads well with little."""

import datetime as dt
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from groundwire import AbstentionReason, DetectorSpec
from groundwire.monitor import Filter, Sampling
from groundwire.monitor.answer import microseconds
from groundwire.monitor.schema import answers
from groundwire.review import charts
from tests.monitor.told import abstention, interaction, keep, verdict
from tests.report.html import parse

DAY = dt.datetime(2026, 11, 2, 12, tzinfo=dt.UTC)
SCORES = [0.9, 0.7, 0.3, 0.1, 0.6, 0.2, None]


def spread(store, scores=SCORES, *, times=8):
    """Answers of two routes, an answer every six hours; their ids."""
    ids = []
    for route in ("/a", "/b"):
        some = scores if route == "/a" else [score and score / 2 for score in scores]
        ids += keep(store, *some * times, route=route, model="m<b>")
    with store._database.writing() as connection:
        for n, key in enumerate(ids):
            at = microseconds(DAY + dt.timedelta(hours=6 * n))
            connection.execute(answers.update().where(answers.c.id == key).values(at=at))
    return ids


def review(store, count=40, *, queue="random", reviewers=("ann",)):
    for reviewer in reviewers:
        for n, kept in enumerate(store.next(reviewer, queue=queue, limit=count, reviewers=len(reviewers))):
            if kept.outcome.hallucinated is not None:
                store.review(kept.id, "disagree" if n % 5 == 0 else "agree", reviewer=reviewer)
            else:
                store.review(kept.id, "unsure", reviewer=reviewer)


def read(client, path="/dashboard"):
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return parse(answer.text)


def tile(root, name):
    return next(one for one in root.all("div", "tile") if one.one("dt").text.startswith(name))


def named(root, name):
    return next(one for one in root.all() if one.attrs.get("id") == name)


def said(element):
    return " ".join(element.text.split())


def test_the_figures_are_the_monitors(client, store):
    """Every tile, and every row of the tables beside the charts, says what the monitor says."""
    spread(store)
    review(store)
    told, root = store.figures(), read(client, "/dashboard?by=route")
    quality = told.quality
    for name, rate in (
        ("Hallucinated", told.detection),
        ("Not judged", told.abstained),
        ("Precision", quality.precision),
        ("Recall", quality.recall),
    ):
        words = said(tile(root, name))
        assert charts.percent(rate.value) in words
        assert charts.between(rate) in words
        assert f"{rate.count} of {rate.of}" in words.replace(" of ", " of ")
    assert f"{told.median:.2f} s" in said(tile(root, "Time"))
    assert f"{told.calls} calls, {told.tokens:,} tokens" in said(tile(root, "Cost"))
    assert "No price is known" in said(tile(root, "Cost"))
    tables = {table.attrs["aria-label"]: table for table in root.all("div", "scroll")}
    days = [
        [said(cell) for cell in row.children] for row in tables["Figures over time"].one("tbody").all("tr")
    ]
    assert days == [
        [
            day.name,
            str(day.answers),
            charts.percent(day.detection.value),
            charts.between(day.detection),
            charts.percent(day.abstained.value),
        ]
        for day in reversed(store.over_time())
    ]
    routes = {row.attrs["data-name"]: row.attrs for row in tables["Figures by route"].one("tbody").all("tr")}
    assert {name: float(row["data-rate"]) for name, row in routes.items()} == {
        group.name: group.detection.value for group in store.by("route")
    }
    counts = [int(said(row.children[1])) for row in tables["Scores"].one("tbody").all("tr")]
    assert tuple(counts) == told.scores


def test_one_filter_in_the_address_holds_for_every_figure(client, store):
    spread(store)
    wanted = Filter(since=DAY + dt.timedelta(days=2), tags={"route": "/b"})
    told = store.figures(wanted)
    root = read(client, "/dashboard?since=2026-11-04T12:00&tag=route%3D/b&every=week&by=model")
    assert f"{told.answers} answers kept" in said(root.one("div", "title"))
    assert charts.percent(told.detection.value) in said(tile(root, "Hallucinated"))
    # It stays where the page leads, and each part of it can be left out.
    links = [link.attrs["href"] for link in root.all("a") if "/dashboard?" in link.attrs["href"]]
    kept = [link for link in links if "tag=route" in link and "since=2026-11-04" in link]
    assert len(kept) > len(links) / 2
    chips = list(root.one("p", "narrowed").all("a", "chip"))
    assert [said(chip).partition(" ×")[0] for chip in chips] == ["tag route=/b", "since 2026-11-04T12:00"]
    assert "tag=" not in chips[0].attrs["href"]
    assert "since=" not in chips[1].attrs["href"]


@pytest.mark.parametrize(
    ("query", "why"),
    [("every=year", "every must be"), ("sort=worst", "sort must be"), ("tag=x", "tag must be"),
     ("by=kind&before=a&after=b", "compared by a tag"), ("since=soon", "since must be")],
)  # fmt: skip
def test_what_can_not_be_asked_for_is_named(client, store, query, why):
    answer = client.get(f"/dashboard?{query}")
    assert (answer.status_code, why in answer.text) == (400, True)


def test_an_empty_store_says_how_to_fill_it(client, store):
    assert "Nothing is kept yet" in said(read(client).one("main"))
    keep(store, 0.1)
    assert "No answer meets this" in said(read(client, "/dashboard?tag=route%3D/none").one("main"))


def test_what_can_not_be_known_is_said_and_why(client, store):
    """No review, then only flagged ones, then only chosen ones: never a number that is not one."""
    ids = keep(store, 0.9, 0.8, 0.2, 0.1)
    root = read(client)
    assert "no flagged answer was reviewed" in said(tile(root, "Precision"))
    assert "no answer of the random sample was reviewed" in said(tile(root, "Recall"))
    assert "No reviewed answer tells yet" in said(root.one("main"))
    for kept in store.next("ann", queue="flagged", limit=2):
        store.review(kept.id, "agree", reviewer="ann")
    root = read(client)
    assert "recall is not known" in said(root.one("div", "what-if"))
    assert [said(one) for one in root.one("dl", "rates").all("strong")][:3] == [
        "100 %",
        "not known",
        "not known",
    ]
    store.review(ids[2], "agree", reviewer="ann")
    assert "?" in said(tile(read(client), "Recall"))


def test_all_abstentions_one_answer_and_a_constant_score_read_well(client, store):
    for why in (AbstentionReason.TIMEOUT, AbstentionReason.NO_CONTEXT, AbstentionReason.TIMEOUT):
        store.keep(interaction(), abstention(why), durable=True)
    root = read(client)
    assert "No answer could be judged" in said(tile(root, "Hallucinated"))
    assert "100 %" in said(tile(root, "Not judged"))
    assert "Timeout" in said(root.one("main"))
    keep(store, *[0.5] * 20)
    review(store, 30)
    root = read(client)
    assert "none has come" not in said(root.one("main"))
    assert charts.percent(20 / 23) not in said(tile(root, "Hallucinated"))
    assert "100 %" in said(tile(root, "Hallucinated"))


def test_one_answer_is_a_dashboard_too(client, store):
    keep(store, 0.9)
    root = read(client)
    assert "1 answer kept" in said(root.one("main"))
    assert "20.7 to 100.0 %" in said(tile(root, "Hallucinated"))


def test_without_a_random_sample_no_rate_is_told(client, store, app, opened_with):
    app.state.monitor = other = opened_with(sampling=Sampling(rate=0, flagged=True))
    keep(other, 0.9, 0.8, 0.1)
    root = read(client)
    assert "No answer was kept by chance alone" in said(tile(root, "Hallucinated"))
    assert "no answer was kept by chance alone" in said(tile(root, "Recall"))


@pytest.fixture
def opened_with(tmp_path):
    from groundwire.monitor import Monitor

    made = []

    def open_one(**options):
        made.append(Monitor(f"sqlite:///{tmp_path}/other.db", drift=None, **options))
        return made[-1]

    yield open_one
    for monitor in made:
        monitor.close()


def test_two_values_of_a_tag_are_compared(client, store):
    for n in range(12):
        store.keep(interaction(n, prompt="1"), verdict(0.9), durable=True)
        store.keep(interaction(n, prompt="2"), verdict(0.1 if n else 0.9), durable=True)
    told = store.compare(Filter(tags={"prompt": "1"}), Filter(tags={"prompt": "2"}))
    words = said(read(client, "/dashboard?by=prompt&before=1&after=2").one("div", "compared"))
    assert "12 questions answered on both sides: 11 flagged before and no longer, 0 flagged only now" in words
    assert f"p {told.p:.2g} (McNemar)" in words
    assert "Chance alone seldom does this." in words
    words = said(read(client, "/dashboard?by=prompt&before=1&after=3").one("div", "compared"))
    assert words.startswith("No question was answered")


def test_drift_is_shown_and_its_alarms_stand_on_the_chart(client, store):
    store._drift = None
    keep(store, *[0.1, 0.2, 0.15, 0.12] * 130)
    few = said(named(read(client), "drift"))
    assert "none has come since" not in few
    assert "No alarm was raised" not in few
    assert "Alarms are looked for once there are more." in few
    keep(store, *[0.8, 0.9] * 80)
    told, root = store.standing(), read(client)
    section = said(named(root, "drift"))
    assert len(told.alarms) == len(list(root.one("ol", "alarms").all("li"))) == 1
    assert told.alarms[0].message in section
    assert "drifted" in section
    drawn = [mark.one("title").text for mark in root.all("g", "alarm")]
    assert drawn == [f"Alarm 1: {told.alarms[0].message}"] * 2  # on the wide chart, and on the narrow one


def test_names_and_values_from_outside_are_shown_and_run_nothing(client, store):
    evil = '"><script>alert(1)</script>'
    for n in range(2):
        store.keep(interaction(n, **{evil: f"{n}{evil}", "\u202eroute": "x"}), verdict(0.9), durable=True)
    text = client.get("/dashboard", params={"by": evil}).text
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert not re.search(r"\s(style|on\w+)=", text)


def test_reviewers_and_patterns_are_told(client, store):
    ids = keep(store, *[0.9] * 12, route="/odd") + keep(store, *[0.9] * 30, route="/even")
    for n, key in enumerate(ids):
        store.review(key, "disagree" if n < 10 else "agree", reviewer="ann")
        store.review(key, "agree" if n % 2 else "disagree", reviewer="b<b>ob")
    (pair,) = store.agreement()
    words = said(
        next(d for d in read(client).all("div") if d.attrs.get("aria-label") == "Agreement of reviewers")
    )
    assert f"ann and b<b>ob{pair.agreed} of {pair.answers}{pair.kappa:.2f}" in words
    part = client.get("/dashboard/patterns?part=1").text
    assert part.lstrip().startswith("<")
    assert "<html" not in part
    found = store.patterns()[0]
    assert found.name in said(parse(part))
    assert found.name in said(read(client, "/dashboard/patterns").one("main"))


# -- charts ----------------------------------------------------------------------------------------------


def test_a_line_does_not_cross_what_nobody_knows(store):
    ids = keep(store, *[0.9, 0.1] * 4)
    for n, key in enumerate(ids):
        day = (0, 1, 5, 6)[n // 2]
        with store._database.writing() as connection:
            at = microseconds(DAY + dt.timedelta(days=day))
            connection.execute(answers.update().where(answers.c.id == key).values(at=at))
    wide, narrow = charts.over_time(store.over_time(), "day", ())
    assert wide.count('class="rate"') == narrow.count('class="rate"') == 2
    assert wide.count('class="period"') == 4


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.5, "50 %"),
        (0.1234, "12.3 %"),
        (13 / 16, "81.3 %"),  # as a browser rounds it
        (0.9996, "> 99.9 %"),
        (0.0003, "< 0.1 %"),
    ],
)
def test_a_share_reads_as_people_read_it(share, words):
    assert charts.percent(share) == words


# -- in a browser ----------------------------------------------------------------------------------------


def rates(page):
    return {
        name: (page.text_content(f"[data-rate={name}]"), page.text_content(f"[data-interval={name}]"))
        for name in ("precision", "recall", "f1", "flagged")
    }


def test_the_slider_says_at_every_threshold_what_the_monitor_says(store, visit):
    """The browser reckons what ``Reviewed.at`` reckons: counts, rates and intervals."""
    spread(store, times=12)
    review(store, 80)
    page = visit("/dashboard")
    (told,) = store.thresholds()
    cuts = sorted({n / 100 for n in range(101)} | {told.threshold})
    for at in (0, 10, 30, 31, 45, 60, 90, 100):
        page.eval_on_selector(
            "input[type=range]", "(one, at) => { one.value = at; one.dispatchEvent(new Event('input')); }", at
        )
        effect = told.at(cuts[at])
        cells = {
            name: int(page.text_content(f"[data-cell={name}]"))
            for name in ("hit", "missed", "false", "passed")
        }
        assert cells == {name: getattr(effect, name) for name in cells}
        shown = rates(page)
        for name in ("precision", "recall", "f1"):
            rate = getattr(effect, name)
            assert shown[name] == (
                ("not known", "") if rate is None else (charts.percent(rate.value), charts.between(rate))
            )
        assert shown["flagged"] == (
            charts.percent(effect.flagged.value),
            f"{effect.flagged.count} of {effect.flagged.of} judged",
        )


def test_the_slider_is_moved_by_keyboard_and_tells_it(store, visit):
    spread(store)
    review(store)
    page = visit("/dashboard")
    slider = page.get_by_label("Threshold", exact=True)
    slider.focus()
    before = page.text_content("output")
    page.keyboard.press("ArrowRight")
    assert page.text_content("output") == str(float(before) + 0.01)
    assert "precision" in slider.get_attribute("aria-valuetext")
    page.get_by_role("button", name="Best F1").click()
    best = page.text_content("[data-rate=f1]")
    (told,) = store.thresholds()
    assert best == charts.percent(max(told.at(n / 100).f1.value for n in range(101)))
    page.get_by_role("button", name="As now").click()
    assert page.text_content("output") == before


def test_each_detector_has_its_own_slider(store, visit):
    ids = keep(store, 0.9, 0.1)
    other = DetectorSpec(name="other", version="2", parameters={})
    ids.append(store.keep(interaction(9), verdict(0.8, detector=other), durable=True))
    for key in ids:
        store.review(key, "agree", reviewer="ann")
    page = visit("/dashboard")
    assert page.locator(".what-if:visible").count() == 1
    page.locator("[data-detector]").select_option("1")
    assert page.locator(".what-if:visible").get_attribute("aria-label") == "Threshold of other"


def test_a_table_is_put_in_order_and_its_address_keeps_it(store, visit):
    """What none of was judged has no rate, and stands behind all that have one, in either."""
    spread(store)
    keep(store, None, route="/none")
    page = visit("/dashboard?by=route")
    names = "[...document.querySelectorAll('.where tbody tr')].map(row => row.dataset.name)"
    page.get_by_role("link", name="Hallucinated", exact=True).click()
    assert page.evaluate(names) == ["/a", "/b", "/none"]
    page.reload()
    assert page.evaluate(names) == ["/a", "/b", "/none"]
    assert "sort=rate" in page.url
    page.get_by_role("link", name="Hallucinated", exact=True).click()
    assert page.evaluate(names) == ["/none", "/b", "/a"]
    page.reload()
    assert page.get_by_role("columnheader", name="Hallucinated").get_attribute("aria-sort") == "descending"


def test_patterns_come_after_the_page(store, visit):
    ids = keep(store, *[0.9] * 12, route="/odd") + keep(store, *[0.9] * 30, route="/even")
    for n, key in enumerate(ids):
        store.review(key, "disagree" if n < 10 else "agree", reviewer="ann")
    page = visit("/dashboard")
    page.wait_for_selector(".patterns li")
    assert "route /odd" in page.text_content(".patterns")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_nobody_is_kept_out(store, visit, scheme, width):
    """axe finds nothing serious, in light and dark, and nothing is wider than a phone."""
    spread(store, times=2)
    review(store, reviewers=("ann", "bob"))
    page = visit(
        "/dashboard?by=route&before=/a&after=/b",
        color_scheme=scheme,
        viewport={"width": width, "height": 800},
    )
    page.wait_for_selector("[data-patterns] :not(.waiting)")
    assert page.locator("[aria-label='Agreement of reviewers'] td").last.is_visible()
    for details in page.locator("details").all():
        details.evaluate("one => { one.open = true; }")
    found = Axe().run(page).response["violations"]
    assert [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found
        if one["impact"] in {"serious", "critical"}
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
