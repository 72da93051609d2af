"""Answers as a retriever leaves them: whose passages stand beside them, and which of these are read."""

from training.retrieved import Passages, as_opened

FERRY = "The ferry leaves Port Linden at 7:30 and is back at noon."
RECORD = '{"name": "The Anchor", "stars": 4}'


def answered(name, *passages):
    return {
        "id": name,
        "question": "When does the ferry leave?",
        "answer": "It leaves at 7:30.",
        "context": "",
        "contexts": passages,
    }


def test_others_stand_behind_an_answers_own_passages():
    """Those of other answers, no records, and as many as there are at most; each time the same."""
    own = answered("a", FERRY, "Dogs travel free.")
    others = [answered(str(i), f"Room {i} has a view.") for i in range(9)]
    passages = Passages([own, *others, answered("record", RECORD)])
    beside = passages.beside(own, 4, alike=False)
    assert beside["contexts"][:2] == [FERRY, "Dogs travel free."]
    assert len(set(beside["contexts"])) == 6
    assert RECORD not in passages.beside(own, 40, alike=False)["contexts"]
    assert len(passages.beside(own, 40, alike=False)["contexts"]) == 11
    assert beside == passages.beside(own, 4, alike=False)
    assert {**beside, "contexts": own["contexts"]} == own


def test_those_alike_share_most_of_the_words():
    own = answered("a", FERRY)
    near = "The ferry leaves at noon."
    passages = Passages([own, answered("b", "Room 4 has a view."), answered("c", near)])
    assert passages.beside(own, 1, alike=True)["contexts"] == [FERRY, near]


def test_what_does_not_bear_on_an_answer_is_not_read():
    """As the detectors leave it out: a long text about something else."""
    far = " ".join(f"Page {i} of the manual tells how the pump is cleaned." for i in range(200))
    assert as_opened(answered("a", FERRY, far))["contexts"] == [FERRY]
    assert as_opened(answered("a", FERRY, "Room 4."))["contexts"] == [FERRY, "Room 4."]
