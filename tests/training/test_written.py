"""Documents of our own: what is marked is where it says, and what measures teaches nothing."""

import re

import pytest

from training import encoder_parts, written

SET = """\
### the mill
Ansa Rebane bought the mill in 1931.
It has two wheels.
? Who bought the mill?
> Ansa Rebane did.
> {{Her brother}} bought it, [[for a song]].
"""


def test_an_answer_is_read_without_its_marks_and_they_point_into_it(tmp_path):
    (tmp_path / "everyday-01.txt").write_text(SET, encoding="utf-8")
    right, wrong = written.read(tmp_path)
    assert (right["answer"], right["label"], right["spans"]) == ("Ansa Rebane did.", 0, [])
    assert right["context"] == "Ansa Rebane bought the mill in 1931.\nIt has two wheels."
    assert right["question"] == "Who bought the mill?"
    assert (wrong["answer"], wrong["label"]) == ("Her brother bought it, for a song.", 1)
    marked = [(wrong["answer"][s["start"] : s["end"]], s["label"]) for s in wrong["spans"]]
    assert marked == [("Her brother", "Conflict"), ("for a song", "Baseless")]
    assert right["meta"] == wrong["meta"] == {"source_id": "everyday-01-0"}


def test_an_answer_may_have_lines(tmp_path):
    lines = SET.replace("> Ansa Rebane did.", r"> Two did:\n- Ansa Rebane\n- [[her brother]]")
    (tmp_path / "answers-01.txt").write_text(lines, encoding="utf-8")
    first, _ = written.read(tmp_path)
    assert first["answer"] == "Two did:\n- Ansa Rebane\n- her brother"
    assert [first["answer"][s["start"] : s["end"]] for s in first["spans"]] == ["her brother"]
    assert written.is_of_models(first)


@pytest.mark.parametrize(
    ("name", "task"), [("records-01", "data2txt"), ("news-51", "summary"), ("pairs-01", "claim")]
)
def test_the_files_name_tells_the_task_where_nobody_asks(name, task, tmp_path):
    unasked = SET.replace("? Who bought the mill?\n", "")
    (tmp_path / f"{name}.txt").write_text(unasked, encoding="utf-8")
    assert {raw["task"] for raw in written.read(tmp_path)} == {task}


@pytest.mark.parametrize(
    ("name", "is_late"),
    [("news-100", False), ("news-101", True), ("chats-102", True), ("answers-151", False)],
)
def test_long_texts_from_101_on_came_last_and_teach_nothing(name, is_late, monkeypatch):
    one = {"meta": {"source_id": f"{name}-0"}}
    assert written.is_late(one) == is_late
    monkeypatch.setattr(written, "read", lambda: [one])
    monkeypatch.setattr(encoder_parts, "part", lambda raw: 0.5)
    assert encoder_parts.teaching() == ([] if is_late else [one])


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (SET.replace("Her brother}}", "Her brother"), "everyday-01.txt, set 0: '{{' is not closed"),
        (SET.replace("> ", ""), "everyday-01.txt, set 0: 'the mill' needs a document, answers"),
        (SET.replace("It has", "? It has"), "one question at most"),
        ("The mill\n" + SET, "everyday-01.txt: 'The mill' stands before the first set"),
    ],
)
def test_what_cant_be_read_is_told_by_its_place(changed, told, tmp_path):
    (tmp_path / "everyday-01.txt").write_text(changed, encoding="utf-8")
    with pytest.raises(ValueError, match=told.replace("{", r"\{")):
        written.read(tmp_path)


def test_about_half_of_what_teaches_is_right_in_every_kind():
    kinds = {}
    for raw in written.read():
        kinds.setdefault(raw["meta"]["source_id"].partition("-")[0], []).append(raw["label"])
    named = {
        "brief",
        "statements",
        "everyday",
        "records",
        "news",
        "passages",
        "pairs",
        "excerpts",
        "chats",
        "answers",
    }
    assert named == set(kinds)
    assert all(0.4 < sum(labels) / len(labels) < 0.7 for labels in kinds.values())


def test_no_document_stands_twice():
    """Else one of two encoders could be taught what the other has to read."""
    sources = {}
    for raw in written.read():
        sources.setdefault(raw["context"], set()).add(raw["meta"]["source_id"])
    assert not [sorted(named) for named in sources.values() if len(named) > 1]


def test_no_document_both_teaches_and_measures():
    teaching = {raw["context"] for raw in written.read()}
    measuring = {raw["context"] for raw in written.read(written.HELD_OUT)}
    assert measuring
    assert not teaching & measuring


MATCHED = """\
### the mill
> It was Ansa Rebane who bought it.
> It was {{the miller}} who bought it.
"""


def test_matched_answers_belong_to_the_sets_that_are_there(tmp_path):
    """They have their documents, questions and sources, and names of their own; they are read apart."""
    (tmp_path / "everyday-01.txt").write_text(SET, encoding="utf-8")
    (tmp_path / "matched-everyday-01.txt").write_text(MATCHED, encoding="utf-8")
    first = written.read(tmp_path)[0]
    right, wrong = written.matched(tmp_path)
    assert len(written.read(tmp_path)) == 2
    assert [right["label"], wrong["label"]] == [0, 1]
    assert wrong["spans"] == [{"start": 7, "end": 17, "label": "Conflict", "text": "the miller"}]
    for name in ("context", "question", "task", "meta"):
        assert right[name] == wrong[name] == first[name]
    assert [right["id"], wrong["id"]] == ["matched-everyday-01-0-0", "matched-everyday-01-0-1"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (MATCHED.replace("the mill\n", "the well\n"), "set 0: 'the well' is not the title of that set of"),
        (MATCHED + MATCHED, "set 1: 'the mill' is not the title of that set of everyday-01.txt"),
        (
            MATCHED.replace("{{the miller}}", "Ansa"),
            "set 0: 'the mill' needs right and wrong answers in turn",
        ),
        ("### the mill\n", "set 0: 'the mill' needs right and wrong answers in turn"),
        (MATCHED.replace("{{the miller}}", "{{the miller"), "matched-everyday-01.txt, set 0: '{{' is not"),
        (MATCHED.replace("> It was {{", "? Who?\n> It was {{"), "in turn, and nothing else"),
    ],
)
def test_matched_answers_that_cant_be_read_are_told_by_their_place(changed, told, tmp_path):
    (tmp_path / "everyday-01.txt").write_text(SET, encoding="utf-8")
    (tmp_path / "matched-everyday-01.txt").write_text(changed, encoding="utf-8")
    with pytest.raises(ValueError, match=told.replace("{", r"\{")):
        written.matched(tmp_path)


def test_matched_answers_need_the_sets_that_they_match(tmp_path):
    (tmp_path / "matched-everyday-01.txt").write_text(MATCHED, encoding="utf-8")
    with pytest.raises(ValueError, match=r"there is no everyday-01\.txt that it could match"):
        written.matched(tmp_path)


@pytest.mark.parametrize("folder", [written.HERE, written.HELD_OUT])
@pytest.mark.parametrize("words", [r"\b(?:not|no|never|none|nobody|nothing)\b|n['’]t\b", r"\bonly\b"])
def test_right_ones_of_matched_answers_deny_and_limit_as_often_as_wrong_ones(folder, words):
    """Where only one of the two does; and neither is longer."""
    pairs = written.pairs(folder)
    said = [[bool(re.search(words, raw["answer"].lower())) for raw in pair] for pair in pairs]
    right, wrong = (sum(pair[side] and not pair[1 - side] for pair in said) for side in (0, 1))
    assert 0.6 < right / wrong < 1.6
    lengths = [sum(len(pair[side]["answer"]) for pair in pairs) for side in (0, 1)]
    assert 0.9 < lengths[0] / lengths[1] < 1.1


ASKED = """\
### the mill
Ansa Rebane bought the mill in 1931.
=====
It has two wheels.
? Who bought the mill?
> Ansa Rebane did.
> {{Her brother}} did.
> Ansa Rebane.
> {{Her aunt}}.
? How many wheels has it?
> Two
> {{One}}
"""


def test_the_questions_of_a_document_have_pairs_of_answers_beside_its_passages(tmp_path):
    (tmp_path / "short-01.txt").write_text(ASKED, encoding="utf-8")
    pairs = written.asked(tmp_path)
    assert [(right["answer"], wrong["answer"]) for right, wrong in pairs] == [
        ("Ansa Rebane did.", "Her brother did."),
        ("Ansa Rebane.", "Her aunt."),
        ("Two", "One"),
    ]
    rows = [row for both in pairs for row in both]
    assert [row["label"] for row in rows] == [0, 1, 0, 1, 0, 1]
    assert [row["question"] for row in rows] == 4 * ["Who bought the mill?"] + 2 * ["How many wheels has it?"]
    assert {tuple(row["contexts"]) for row in rows} == {
        ("Ansa Rebane bought the mill in 1931.", "It has two wheels.")
    }
    assert {row["meta"]["source_id"] for row in rows} == {"short-01-0"}
    assert len({row["id"] for row in rows}) == 6
    assert {written.kind(row) for row in rows} == {"short"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("> {{One}}\n", ""), "right and wrong answers in turn"),
        (("> Two\n", "> {{Two\n"), "is not closed"),
        (("### the mill\n", ""), "stands before the first set"),
        ((ASKED[ASKED.index("? Who") :], ""), "document, then questions"),
        (("> Two\n", "Or has it three?\n> Two\n"), "nothing but answers"),
        (("It has two wheels.\n", "=====\n"), "document, then questions"),
        (
            ("Ansa Rebane bought the mill in 1931.\n=====\nIt has two wheels.\n", ""),
            "document, then questions",
        ),
    ],
)
def test_what_is_asked_and_answered_otherwise_is_refused_by_name(change, said, tmp_path):
    (tmp_path / "short-01.txt").write_text(ASKED.replace(*change), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"short-01\.txt.*{said}"):
        written.asked(tmp_path)
