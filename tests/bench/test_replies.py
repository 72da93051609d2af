"""Replies in a file: asked once, given again without the model, and what they cost with them."""

import json
from dataclasses import replace

import pytest

from groundwire import Checker, ConfigurationError, Judge
from groundwire.bench.replies import Replies
from groundwire.core.plan import Complete, Completed, Embed, Embedded, Failed, Ground, Grounded, Token
from groundwire.core.verdict import AbstentionReason, Usage
from groundwire.detectors.cascade.cascade import Cascade
from groundwire.detectors.cascade.stages import Stage
from groundwire.detectors.self_eval import SelfEval
from tests.bench.answers import example

ASKED = Complete(system="s", user="u", samples=2)
TOLD = Completed(
    texts=("a", "b"),
    usage=Usage(calls=2, input_tokens=5, output_tokens=2, cost=0.1),
    tokens=((Token(text="a", logprob=-0.1, alternatives=(("b", -2.0),)),), ()),
)


class Scripted:
    model = "scripted"

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    def perform(self, requests, *, timeout):
        self.asked += requests
        return [self.replies.pop(0) for _ in requests]

    async def aperform(self, requests, *, timeout):
        return self.perform(requests, timeout=timeout)


def test_a_reply_is_asked_for_once_and_told_as_it_was(tmp_path):
    """Samples, tokens and usage come back, in another process without the model too."""
    vectors = Embedded(vectors=((0.5, 1.0),), usage=Usage(calls=1))
    embed = Embed(texts=("t",))
    ground = Ground(sources=("s",), query="q", text="t", model="guard")
    confidences = Grounded(grounding=0.9, relevance=0.5, usage=Usage(calls=1))
    model = Scripted(TOLD, vectors, confidences)
    replies = Replies(tmp_path / "r.jsonl", model)
    told = replies.perform([ASKED, embed, ASKED, ground], timeout=None)
    assert told == [TOLD, vectors, TOLD, confidences]
    assert model.asked == [ASKED, embed, ground]
    again = Replies(tmp_path / "r.jsonl")
    assert again.perform([ground, embed, ASKED], timeout=None) == [confidences, vectors, TOLD]
    assert (again.model, again.count) == ("scripted", 3)


def test_what_is_asked_alone_tells_replies_apart(tmp_path):
    """Files that were recorded long ago are found again, also for a question that is put once more."""
    Replies(tmp_path / "r.jsonl", Scripted(TOLD)).perform([ASKED], timeout=None)
    row = json.loads((tmp_path / "r.jsonl").read_text().splitlines()[1])
    assert row["key"] == "039b99fc42324e1646eaf3f2d1b91700"
    last = replace(ASKED, settles=lambda reply: False)
    assert Replies(tmp_path / "r.jsonl").perform([last], timeout=None) == [TOLD]


async def test_event_loops_get_the_same(tmp_path):
    replies = Replies(tmp_path / "r.jsonl", Scripted(TOLD))
    assert list(await replies.aperform([ASKED], timeout=None)) == [TOLD]
    assert list(await Replies(tmp_path / "r.jsonl").aperform([ASKED], timeout=None)) == [TOLD]


def test_a_failure_is_told_and_not_kept(tmp_path):
    """The next time, the model is asked again."""
    failed = Failed(reason=AbstentionReason.TIMEOUT, detail="too slow")
    replies = Replies(tmp_path / "r.jsonl", Scripted(failed, TOLD))
    assert replies.perform([ASKED], timeout=None) == [failed]
    assert replies.perform([ASKED], timeout=None) == [TOLD]


def test_without_a_model_what_was_not_recorded_is_a_failure(tmp_path):
    """It is no made-up reply, and no error that hides the other rows."""
    Replies(tmp_path / "r.jsonl", Scripted(TOLD)).perform([ASKED], timeout=None)
    (reply,) = Replies(tmp_path / "r.jsonl").perform([Complete(system="s", user="else")], timeout=None)
    assert isinstance(reply, Failed)
    assert "no reply to this was recorded in r.jsonl" in reply.detail


def test_half_a_line_is_cut_off(tmp_path):
    """A process that died while writing loses that reply and no other."""
    path = tmp_path / "r.jsonl"
    Replies(path, Scripted(TOLD)).perform([ASKED], timeout=None)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"key": "12')
    model = Scripted(TOLD)
    replies = Replies(path, model)
    assert path.read_bytes() == whole
    replies.perform([ASKED, Complete(system="", user="new")], timeout=None)
    assert Replies(path).count == 2


def test_files_of_something_else_are_refused(tmp_path):
    path = tmp_path / "r.jsonl"
    with pytest.raises(ConfigurationError, match="there is no file"):
        Replies(path)
    Replies(path, Scripted(TOLD)).perform([ASKED], timeout=None)
    other = Scripted()
    other.model = "another"
    with pytest.raises(ConfigurationError, match="replies of 'scripted', not of 'another'"):
        Replies(path, other)
    for content in ('{"question": "q"}\n', "no line"):
        path.write_text(content)
        with pytest.raises(ConfigurationError, match="holds no replies"):
            Replies(path, Scripted())
        assert path.read_text() == content


def test_two_judges_of_one_model_share_what_they_were_told(tmp_path):
    """What the first one was told, the second is not asked for, and the other way round."""
    other = Complete(system="s", user="other")
    first, second = Scripted(TOLD), Scripted(TOLD)
    replies = Replies(tmp_path / "r.jsonl", first)
    beside = replies.beside(second)
    replies.perform([ASKED], timeout=None)
    assert beside.perform([ASKED, other], timeout=None) == [TOLD, TOLD]
    assert replies.perform([other], timeout=None) == [TOLD]
    assert (first.asked, second.asked) == ([ASKED], [other])
    assert Replies(tmp_path / "r.jsonl").count == 2


def test_a_model_that_the_judge_behind_them_has_not_is_a_mistake_in_the_settings(tmp_path):
    """As it is without the file; where nobody is asked, what the file lacks is told answer by answer."""
    asks = Cascade(stages=(Stage(detector=SelfEval(), model="second"),))
    replies = Replies(tmp_path / "r.jsonl", Judge(lambda system, user: ""))
    with pytest.raises(ConfigurationError, match="asks the model 'second', and the judge has none"):
        Checker(asks, judge=replies)
    (tmp_path / "r.jsonl").touch()
    Checker(asks, judge=Replies(tmp_path / "r.jsonl"))


@pytest.mark.parametrize(
    ("what", "value", "told"),
    [
        ("model", "another", "replies of 'scripted', not of 'another'"),
        ("parameters", "0123", "with other parameters"),
        ("named", {"tutor": "another"}, "replies of 'small' for 'tutor', not of 'another'"),
        ("embedding_model", "4567", "vectors of another embedding model"),
    ],
)
def test_replies_of_one_model_are_not_given_for_anothers(tmp_path, what, value, told):
    """Neither from the file nor to a judge beside the first, though nothing was recorded yet."""

    def judge(**changed):
        made = Scripted(TOLD)
        made.named, made.embedding_model, made.parameters = {"tutor": "small"}, "0000", ""
        for name, given in changed.items():
            setattr(made, name, given)
        return made

    replies = Replies(tmp_path / "r.jsonl", judge())
    with pytest.raises(ConfigurationError, match=told):
        replies.beside(judge(**{what: value}))
    replies.perform([ASKED], timeout=None)
    Replies(tmp_path / "r.jsonl", judge())
    with pytest.raises(ConfigurationError, match=told):
        Replies(tmp_path / "r.jsonl", judge(**{what: value}))


def test_a_replayed_method_judges_as_it_did(tmp_path):
    """Through the real judge: the same verdict and the same usage, and nothing is asked."""
    asked = []

    def model(system, user):
        asked.append(user)
        return '{"confidence": 2}'

    interaction = example(1).interaction
    first = Checker(SelfEval(), judge=Replies(tmp_path / "r.jsonl", Judge(model))).check(interaction)
    calls = len(asked)
    again = Checker(SelfEval(), judge=Replies(tmp_path / "r.jsonl")).check(interaction)
    assert len(asked) == calls > 0
    assert again.score == first.score == 0.75
    assert again.usage.calls == first.usage.calls == calls
