"""The queue: what it hands out, what it keeps, the way back, and what it says to mistakes."""

import re

import pytest

from groundwire import Span
from groundwire.monitor import StoreError
from groundwire.review.app_state import Settings
from tests.report.html import parse
from tests.review.shown import ANSWER, bags, keep, plain, unjudged, unread


def go(client, path, **data):
    """Follow a page, or send a form and follow what comes; the path where that ends, and its tree."""
    answer = client.post(path, data=data) if data else client.get(path)
    while answer.status_code == 303:
        path = answer.headers["location"]
        answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return path, parse(answer.text)


def shown(path):
    """The id of the answer whose page it is."""
    return re.match(r"/answers/(\w{32})", path)[1]


def later(client, path):
    key = shown(path)
    return go(client, f"/answers/{key}/later?queue=newest", on="")


def left(root):
    return next(node for node in root.all("strong") if node.attrs.get("id") == "left").text


def flash(root):
    found = list(root.all("div", "flash"))
    return " ".join(found[0].text.split()) if found else None


def test_nobody_reviews_without_a_name(client, store):
    """The page asks once, and goes on where it was asked."""
    keep(store, bags())
    client.cookies.delete("groundwire-reviewer")
    path, root = go(client, "/review?queue=newest")
    assert path == "/reviewer?back=%2Freview%3Fqueue%3Dnewest"
    back = next(node for node in root.all("input") if node.attrs.get("name") == "back").attrs["value"]
    path, root = go(client, "/reviewer", reviewer="  Zoë   Ångström ", back=back)
    assert path.startswith("/answers/")
    assert root.one("a", "reviewer").one("bdi").text == "Zoë Ångström"
    assert client.post("/reviewer", data={"reviewer": "  "}).status_code == 400


def test_one_answer_after_another_until_none_is_left(client, store):
    first, second = keep(store, plain(0.2), bags())
    path, root = go(client, "/review?queue=newest")
    assert (shown(path), left(root)) == (second, "2")
    path, root = go(client, f"{path}&", opinion="agree", kind="partially correct", note=" So it is. ")
    assert (shown(path), left(root)) == (first, "1")
    assert flash(root).startswith("✓ Saved: you agreed: hallucinated, partially correct.")
    path, root = go(client, path, opinion="unsure")
    assert path.startswith("/review?")
    assert root.one("h1").text == "Nothing is left in this queue"
    (said,) = store.feedback(second)
    assert (said.reviewer, str(said.opinion), said.hallucinated) == ("Ann", "agree", True)
    assert (str(said.kind), said.note, said.spans, said.source) == (
        "partially correct",
        "So it is.",
        None,
        "page",
    )


def test_corrected_spans_are_kept_as_they_are_sent(client, store):
    (key,) = keep(store, bags())
    go(client, f"/answers/{key}", opinion="agree", corrected="1", span=["19:25", "41:53"])
    (said,) = store.feedback(key)
    assert [span.of(ANSWER) for span in said.spans] == ["75 EUR", ANSWER[41:53]]
    go(client, f"/answers/{key}", opinion="disagree", corrected="1")
    assert store.feedback(key)[0].spans == ()
    go(client, f"/answers/{key}", opinion="disagree")
    assert store.feedback(key)[0].spans is None


def test_an_answer_may_have_thousands_of_marks(client, store):
    """As a long one has where the detector marked every sentence, and a reviewer corrects one."""
    (key,) = keep(store, plain(0.9, answer="word " * 4000))
    marks = [f"{start}:{start + 4}" for start in range(0, 20_000, 5)]
    go(client, f"/answers/{key}", opinion="agree", corrected="1", span=marks)
    assert len(store.feedback(key)[0].spans) == 4000


def test_undo_brings_back_what_stood_before(client, store):
    """Nothing, where nothing was said before; else the earlier word."""
    (key,) = keep(store, bags())
    path, root = go(client, f"/answers/{key}?queue=newest", opinion="agree")
    assert "Saved" in flash(root)
    path, root = go(client, f"/answers/{key}/undo?queue=newest", on="")
    assert (shown(path), store.feedback(key)) == (key, ())
    assert "Taken back" in flash(root)

    store.review(key, "unsure", reviewer="Ann", note="earlier", spans=[(0, 1)], source="cli")
    go(client, f"/answers/{key}?queue=newest", opinion="agree")
    go(client, f"/answers/{key}/undo?queue=newest", on="")
    (said,) = store.feedback(key)
    assert (str(said.opinion), said.note, said.spans, said.source) == (
        "unsure",
        "earlier",
        (Span(0, 1),),
        "cli",
    )


def test_undo_of_a_second_thought_brings_back_the_first(client, store):
    """The last review is undone, and not all that was said here; one that is sent twice is one review."""
    (key,) = keep(store, bags())
    go(client, f"/answers/{key}?queue=newest", opinion="agree", note="a careful note")
    for _ in range(2):
        go(client, f"/answers/{key}?queue=newest", opinion="disagree", note="by mistake")
    go(client, f"/answers/{key}/undo?queue=newest", on="")
    (said,) = store.feedback(key)
    assert (str(said.opinion), said.note) == ("agree", "a careful note")


def test_undo_takes_nothing_back_twice(client, store):
    """A key that is pressed twice must not cost what stood before; the page says that nothing is left."""
    (key,) = keep(store, bags())
    store.review(key, "unsure", reviewer="Ann", note="earlier")
    go(client, f"/answers/{key}?queue=newest", opinion="agree")
    go(client, f"/answers/{key}/undo?queue=newest", on="")
    _, root = go(client, f"/answers/{key}/undo?queue=newest", on="")
    assert "nothing more to take back" in flash(root)
    assert store.feedback(key)[0].note == "earlier"


def test_lines_of_a_note_count_as_they_are_typed(client, store):
    """A browser sends two characters for each end of a line."""
    (key,) = keep(store, bags())
    note = "\n".join(["x" * 99] * 100)
    go(client, f"/answers/{key}?queue=newest", opinion="agree", note=note.replace("\n", "\r\n"))
    assert store.feedback(key)[0].note == note


def test_what_is_put_off_comes_back_at_the_end(client, store):
    """And meanwhile others may have it."""
    ids = keep(store, plain(0.1), plain(0.2), plain(0.3))
    path, _ = go(client, "/review?queue=newest")
    assert shown(path) == ids[2]
    path, root = later(client, path)
    assert (shown(path), left(root)) == (ids[1], "3")
    assert [one.id for one in store.next("Bob", queue="newest")] == [ids[2]]
    store.release(ids[2], "Bob")
    path, _ = later(client, path)
    assert shown(path) == ids[0]
    path, _ = go(client, path, opinion="agree")
    assert shown(path) == ids[2]


def test_the_way_back_and_forth(client, store):
    """Back leads to what was shown before, and from there Next leads on, without a review."""
    ids = keep(store, plain(0.1), plain(0.2), plain(0.3))
    path, root = go(client, "/review?queue=newest")
    assert "back" not in {node.attrs.get("id") for node in root.all("a")}
    path, root = go(client, path, opinion="agree")
    back = next(node for node in root.all("a") if node.attrs.get("id") == "back")
    path, root = go(client, back.attrs["href"])
    assert shown(path) == ids[2]
    assert root.one("ul", "opinions").one("li").text.split()[:2] == ["You", "agreed:"]
    following = next(node for node in root.all("a") if node.attrs.get("id") == "next")
    path, _ = go(client, following.attrs["href"])
    assert shown(path) == ids[1]


def test_a_review_is_of_whom_the_page_spoke_to(client, store):
    """Somebody else may have given a name since, in another tab of the same browser."""
    (key,) = keep(store, bags())
    _, root = go(client, f"/answers/{key}?queue=newest")
    form = root.one("form", "reviewbar")
    sent = {
        one.attrs["name"]: one.attrs["value"] for one in form.all("input") if one.attrs["type"] == "hidden"
    }
    client.cookies.set("groundwire-reviewer", "Bob")
    go(client, f"/answers/{key}?queue=newest", opinion="agree", **sent)
    assert [said.reviewer for said in store.feedback(key)] == ["Ann"]


def test_two_people_are_given_two_answers(client, store):
    ids = keep(store, plain(0.1), plain(0.2))
    path, _ = go(client, "/review?queue=newest")
    client.cookies.set("groundwire-reviewer", "Bob")
    other, _ = go(client, "/review?queue=newest")
    assert {shown(path), shown(other)} == set(ids)


def test_others_are_heard_after_ones_own_word(client, app, store):
    """Blind by default; where opinions are open they are there from the start."""
    (key,) = keep(store, bags())
    store.review(key, "disagree", reviewer="Bob", note="the page says 75")
    _, root = go(client, f"/answers/{key}")
    assert "the page says 75" not in root.text
    assert "once you have said something yourself" in root.text
    _, root = go(client, f"/answers/{key}", opinion="agree")
    assert "Bob disagreed: grounded" in flash(root)
    assert "the page says 75" in root.one("ul", "opinions").text
    app.state.settings = Settings(blind=False, reviewers=1, reserve=600.0)
    client.cookies.set("groundwire-reviewer", "Cy")
    assert "the page says 75" in go(client, f"/answers/{key}")[1].text


def test_an_abstention_is_shown_as_one(client, store):
    """Why, without a score; agreeing says nothing of the answer, unless the reviewer says it."""
    (key,) = keep(store, unjudged())
    _, root = go(client, f"/answers/{key}")
    told = root.one("div", "verdict").text
    assert "NOT JUDGED" in told
    assert "Could not be judged: NO_CONTEXT" in told
    assert "nothing was retrieved" in told
    assert not list(root.all("svg", "meter"))
    assert re.search(r"\d\.\d\d", told) is None
    go(client, f"/answers/{key}", opinion="agree")
    assert store.feedback(key)[0].hallucinated is None
    go(client, f"/answers/{key}", opinion="disagree", hallucinated="yes")
    assert store.feedback(key)[0].hallucinated is True


def test_what_could_not_be_read_can_be_looked_at_and_reviewed(client, store):
    (key,) = keep(store, unread())
    _, root = go(client, f"/answers/{key}")
    assert "line 7: not JSON" in root.text
    go(client, f"/answers/{key}", opinion="agree")
    assert len(store.feedback(key)) == 1


def test_an_answer_shows_all_of_its_verdict(client, store):
    (key,) = keep(store, bags(route="/fares", prompt_version=3))
    _, root = go(client, f"/answers/{key}")
    assert root.one("h1").text == "What does a second bag cost?"
    assert [mark.text for mark in root.one("div", "answer").all("mark", "contradicted")] == ["75 EUR"]
    assert root.one("div", "answer").text == ANSWER
    assert [quote.text for quote in root.all("mark", "against")] == ["A second bag costs 25 EUR."]
    assert [" ".join(tag.text.split()) for tag in root.one("ul", "tags").all("li")] == [
        "prompt_version 3",
        "route /fares",
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"opinion": "maybe"}, "opinion must be one of"),
        ({"opinion": ""}, "opinion must be one of"),
        ({"opinion": "agree", "kind": "odd"}, "kind must be one of"),
        ({"opinion": "agree", "hallucinated": "no"}, "says hallucinated=True"),
        ({"opinion": "agree", "hallucinated": "perhaps"}, "must be yes, no or nothing"),
        ({"opinion": "agree", "corrected": "1", "span": "9"}, "START:END"),
        ({"opinion": "agree", "corrected": "1", "span": "-1:4"}, "START:END"),
        ({"opinion": "agree", "corrected": "1", "span": "5:5"}, "inside the answer"),
        ({"opinion": "agree", "corrected": "1", "span": "0:9999"}, "inside the answer"),
        ({"opinion": "agree", "note": "x" * 10_001}, "10,000 characters"),
    ],
)
def test_a_wrong_review_is_refused_and_named(client, store, data, said):
    (key,) = keep(store, bags())
    answer = client.post(f"/answers/{key}", data=data)
    assert (answer.status_code, said in parse(answer.text).text) == (400, True)
    assert store.feedback(key) == ()


def test_unknown_answers_and_queues_are_named(client, store):
    """As one that a retention has deleted while it was looked at."""
    for answer in (client.get("/answers/gone"), client.post("/answers/gone", data={"opinion": "agree"})):
        assert answer.status_code == 404
        assert "no answer with the id &#39;gone&#39; is kept" in answer.text
        assert "or it was deleted" in answer.text
    assert "There is no such page." in client.get("/nowhere").text
    answer = client.get("/review?queue=best")
    assert (answer.status_code, "uncertain, flagged" in answer.text) == (400, True)
    answer = client.get("/review?queue=random&outcome=hallucinated")
    assert (answer.status_code, "fair sample" in answer.text) == (400, True)
    assert client.delete("/answers").status_code == 405


def test_a_selection_is_reviewed_by_itself(client, store):
    """What narrows the table down narrows the queue down, which is then no random one."""
    ids = keep(store, bags(route="/a"), plain(0.9, route="/b"), plain(0.1, route="/a"))
    path, _ = go(client, "/review?tag=route%3D%2Fa&outcome=hallucinated")
    assert (shown(path), "queue=newest" in path) == (ids[0], True)
    path, root = go(client, path, opinion="agree")
    assert root.one("h1").text == "Nothing is left in this queue"
    path, _ = go(client, "/review?tag=route%3D%2Fa")
    assert (shown(path), "queue=random" in path) == (ids[2], True)


def test_the_queue_wants_as_many_reviewers_as_it_is_told(client, app, store):
    app.state.settings = Settings(blind=True, reviewers=2, reserve=600.0)
    (key,) = keep(store, bags())
    store.review(key, "agree", reviewer="Bob")
    path, root = go(client, "/review?queue=flagged")
    assert (shown(path), left(root)) == (key, "1")
    app.state.settings = Settings(blind=True, reviewers=1, reserve=600.0)
    assert left(go(client, "/review?queue=flagged")[1]) == "0"


def test_a_store_that_is_away_is_said(client, store, monkeypatch):
    def away(*args, **kwargs):
        raise StoreError("sqlite:///answers.db can't be used now: OperationalError")

    monkeypatch.setattr(type(store), "page", away)
    answer = client.get("/answers")
    assert (answer.status_code, "be used now" in answer.text) == (503, True)
