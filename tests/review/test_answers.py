"""The table: what it lists, what narrows it down, and what is exported."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from groundwire import AbstentionReason, DetectorSpec, Interaction
from tests.report.html import parse
from tests.review.shown import bags, keep, plain, unjudged

OTHER = DetectorSpec(name="other", version="1")


def listed(client, query=""):
    """The ids of the table's rows."""
    answer = client.get(f"/answers{query}")
    assert answer.status_code == 200, answer.text
    links = (row.one("a").attrs["href"] for row in parse(answer.text).all("td", "asked"))
    return [link.removeprefix("/answers/").partition("?")[0] for link in links]


@pytest.fixture
def ids(store):
    return keep(
        store,
        bags(route="/a", user="Zoë & Co"),
        plain(0.9, answer="Sure, 100%.", detector=OTHER, route="/b"),
        plain(0.35, question="Why?"),
        plain(0.1, route="/a"),
        unjudged(AbstentionReason.TIMEOUT),
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [4, 3, 2, 1, 0]),
        ("?outcome=hallucinated", [1, 0]),
        ("?outcome=grounded", [3, 2]),
        ("?outcome=unjudged", [4]),
        ("?abstention=TIMEOUT", [4]),
        ("?abstention=NO_CONTEXT", []),
        ("?level=medium", [2]),
        ("?level=medium&level=low", [3, 2]),
        ("?score_from=0.2&score_to=0.5", [2]),
        ("?score_from=0.9", [1, 0]),
        ("?detector=other", [1]),
        ("?tag=route%3D%2Fa", [3, 0]),
        ("?tag=route%3D%2Fa&tag=user%3DZo%C3%AB+%26+Co", [0]),
        ("?text=SURE", [1]),
        ("?text=100%25", [1]),
        ("?text=why", [2]),
        ("?reviewed=yes", [2]),
        ("?reviewed=no", [4, 3, 1, 0]),
        ("?kind=partially+correct", [0]),
        ("?queue=uncertain", [2, 0, 1, 3]),
        ("?text=&outcome=&score_from=", [4, 3, 2, 1, 0]),
    ],
)
def test_the_table_is_narrowed_down(client, store, ids, query, expected):
    store.review(ids[2], "agree", reviewer="Bob")
    found = listed(client, query)
    if "uncertain" in query:  # margins .15, .4, .4, .4: which of the equal comes first does not matter
        assert (found[0], set(found)) == (ids[2], {ids[n] for n in expected})
    else:
        assert found == [ids[n] for n in expected]
    assert client.get(f"/answers/count{query.replace('queue', 'q')}").text == str(
        len(expected) if "uncertain" not in query else 5
    )


def test_the_table_is_narrowed_down_by_time(client, ids):
    today = datetime.now(UTC).date()
    assert len(listed(client, f"?since={today - timedelta(days=1)}")) == 5
    assert listed(client, f"?until={today - timedelta(days=1)}") == []


def test_pages_follow_each_other_without_a_gap(client, store):
    """Each answer once, however many share a score."""
    ids = keep(store, *(plain(0.5, answer=f"Fine {n}.") for n in range(120)))
    for order in ("newest", "uncertain"):
        seen, path, pages = [], f"/answers?queue={order}&outcome=hallucinated", 0
        while path:
            seen += listed(client, path.removeprefix("/answers"))
            found = [
                node.attrs["href"]
                for node in parse(client.get(path).text).all("a")
                if node.attrs.get("id") == "next"
            ]
            path, pages = found[0] if found else None, pages + 1
        assert (sorted(seen), pages) == (sorted(ids), 3)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?outcome=good", "outcome must be one of hallucinated"),
        ("?reviewed=maybe", "reviewed must be one of"),
        ("?level=awful", "awful"),
        ("?abstention=TIRED", "TIRED"),
        ("?score_from=2", "score_from must be a number from 0 to 1"),
        ("?score_from=x", "score_from must be a number from 0 to 1"),
        ("?score_from=nan", "score_from must be a number from 0 to 1"),
        ("?score_from=0.9&score_to=0.1", "a lowest and a highest"),
        ("?tag=route", "tag must be NAME=VALUE"),
        ("?since=yesterday", "since must be a date"),
        ("?text=a&text=b", "text is given 2 times"),
        ("?queue=random", "answers are listed by newest"),
        ("?after=nowhere", "no page begins after"),
        ("?after=NQ==", "no page begins after"),  # 5
        (
            "?after=Wzk5OTk5OTk5OTk5OTk5OTk5OTk5LCAiYSJd",
            "no page begins after",
        ),  # [1e20, "a"]
        ("?tag=route%3D%2Fa&tag=route%3D%2Fb", "the tag 'route' is given two values"),
    ],
)
def test_what_can_not_be_read_is_named(client, store, query, said):
    answer = client.get(f"/answers{query}")
    assert (answer.status_code, said in parse(answer.text).text) == (400, True)


def test_a_row_opens_its_answer_and_leads_back(client, ids):
    """The way back remembers what the table was narrowed down to."""
    answer = client.get("/answers?tag=route%3D%2Fa")
    link = next(parse(answer.text).all("td", "asked")).one("a").attrs["href"]
    opened = parse(client.get(link).text)
    back = [node.attrs.get("href") for node in opened.all("a") if node.text == "All answers"]
    assert back == ["/answers?tag=route%3D%2Fa"]


def test_what_was_asked_for_stays_in_the_form(client, ids):
    root = parse(client.get("/answers?text=%22quoted%22&outcome=hallucinated&score_from=0.5&drafts=1").text)
    inputs = {node.attrs.get("name"): node for node in root.all("input")}
    assert inputs["text"].attrs["value"] == '"quoted"'
    assert inputs["score_from"].attrs["value"] == "0.5"
    assert "checked" in inputs["drafts"].attrs
    assert [option.attrs["value"] for option in root.all("option") if "selected" in option.attrs] == [
        "hallucinated",
        "",
        "newest",
    ]


def test_what_is_shown_is_exported(client, store, ids):
    """The same rows as the table's, oldest first; nothing in a cell is a formula."""
    keep(store, plain(0.95, answer="=HYPERLINK(0)", question="@SUM(1)"))
    answer = client.get("/export?outcome=hallucinated&form=csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="answers.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["id"] for row in rows[:2]] == ids[:2]
    assert (rows[2]["answer"], rows[2]["question"]) == ("'=HYPERLINK(0)", "'@SUM(1)")
    lines = client.get("/export?form=jsonl&tag=route%3D%2Fa").text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [ids[0], ids[3]]
    assert client.get("/export?form=xls").status_code == 400
    assert client.get("/export?outcome=odd").status_code == 400


def test_an_answer_without_words_is_not_called_unreadable(client, store):
    """A model that said nothing was read as well as any other."""
    store.keep(Interaction(question="Who?", contexts="Ann.", answer=""), unjudged()[1], durable=True)
    (row,) = parse(client.get("/answers").text).all("span", "excerpt")
    assert row.text == "No answer"


def test_an_empty_store_says_how_to_fill_it(client, store):
    empty = client.get("/answers").text
    assert "Nothing is kept yet" in empty
    assert "Monitor" in empty
    assert "No answer meets this" in client.get("/answers?text=x").text


@pytest.mark.parametrize(
    ("query", "leads"),
    [
        ("?queue=newest&tag=route%3D%2Fa", "/review?tag=route%3D%2Fa"),
        ("?queue=uncertain", "/review?queue=uncertain"),
        ("?outcome=grounded&queue=disagreeing", "/review?outcome=grounded&queue=disagreeing"),
    ],
)
def test_what_is_listed_is_reviewed_in_the_order_that_was_chosen(client, ids, query, leads):
    """The newest are listed where nobody chooses; a fair sample is then the better one to review."""
    buttons = parse(client.get(f"/answers{query}").text).all("a", "button")
    assert leads in [one.attrs["href"] for one in buttons if one.text == "Review these"]
