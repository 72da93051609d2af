"""Replies: read right, or refused."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.prompts.replies import UnreadableError, claim_replies, objects, read_score


def entry(i=1, support="supported", score=0.1, **more):
    return {"id": i, "support": support, "score": score, "quote": "q", "words": [], "reason": "r"} | more


def reply(*entries):
    return json.dumps({"claims": list(entries)})


ONE = reply(entry())


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        f"```json\n{ONE}\n```",
        f"```\n{ONE}\n```\nI hope this helps!",
        f"Here is my verdict:\n\n{ONE}\n\nTell me {{if}} you [need] more.",
        f"<think>Is it {{so}}? {reply(entry(score=0.9, support='unsupported'))}</think>\n{ONE}",
        f"It may be so [1].</think>{ONE}",
        f"[THINK]Is it {reply(entry(score=0.2))}?[/THINK]{ONE}",
        f"<seed:think>Or {reply(entry(score=0.2))}?</seed:think>{ONE}",
        f"◁think▷Or {reply(entry(score=0.2))}?◁/think▷{ONE}",
        f"<think>It says [/THINK] {reply(entry(score=0.2))}</think>{ONE}",
        f"[Reasoning] It is in the passage.\n{ONE}",
        ONE.join(["Here: ", ""]).replace('"r"', '"it says [/think]"'),
        f"[1] says so. {ONE}",
        f"{ONE}\n\nOnce more:\n{ONE}",
        json.dumps([entry()]),
        json.dumps({"claims": [entry()], "note": "fine"}, indent=2),
        ONE[:-1] + ",}",
        ONE.replace("}]}", ",},\n]\n,}"),
        f'Like 5" so: {ONE[:-1]},}} And that is [all]',
    ],
)
def test_the_json_is_found_wherever_it_stands(text):
    replies = claim_replies(text)
    assert list(replies) == [1]
    assert (replies[1].support, replies[1].score, replies[1].quote) == ("supported", 0.1, "q")


def test_what_is_quoted_keeps_its_commas():
    commas = ONE[:-1].replace('"q"', '"a \\\\\\"b\\\\\\",] c,}"') + ",}"
    (read,) = claim_replies(commas).values()
    assert read.quote == 'a \\"b\\",] c,}'


@pytest.mark.parametrize(
    "quote",
    [
        r"a fee of \$25",
        r"\(x = 3\)",
        r"in C:\Users\me",
        r"5\_000 \% of it",
        r"\underline{all} \u12",
        r"it ends in \ ",
    ],
)
def test_a_backslash_of_the_passage_is_one_of_the_quotation(quote):
    """Models copy LaTeX, Markdown and paths as they stand, which is no JSON."""
    (read,) = claim_replies(ONE.replace('"q"', f'"{quote}"')).values()
    assert read.quote == quote


def test_the_backslash_of_an_apostrophe_is_no_part_of_a_quotation():
    """Models write it where they take JSON for a language with single quotes."""
    told = ONE.replace('"q"', r'"the bank\'s fee, \$25"')
    (read,) = claim_replies(told).values()
    assert read.quote == r"the bank's fee, \$25"


def test_a_backslash_that_json_knows_stays_what_it_is():
    told = ONE.replace('"q"', r'"\\(a\\) \"b\" \u0041 \d \/\n"')
    (read,) = claim_replies(told).values()
    assert read.quote == '\\(a\\) "b" A \\d /\n'


def test_words_that_are_one_text_are_a_list_of_one():
    """They only say what to mark: a verdict is not lost for them."""
    (read,) = claim_replies(reply(entry(words="75 EUR"))).values()
    assert read.words == ["75 EUR"]


def test_json_that_can_not_be_read_says_where():
    with pytest.raises(UnreadableError, match=r"the JSON can't be read: .* line 1 column 19"):
        claim_replies('{"claims": [{"id" 1}]}')


def test_a_comma_alone_in_a_list_is_no_empty_list():
    """What stood before it may be lost, and have been a flag."""
    for lost in ("[,]", "[ , ]", "[1,,]"):
        with pytest.raises(UnreadableError):
            objects(f'{{"flagged": {lost}}}', lambda value: value)


def test_a_quotation_may_run_over_lines_as_they_stand_in_the_passage():
    (read,) = claim_replies(ONE.replace('"q"', '"Fees:\n\t25 EUR"')).values()
    assert read.quote == "Fees:\n\t25 EUR"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I'm sorry, but I can't help with that.",
        "All claims are supported.",
        "supported",
        "0.1",
        "null",
        "{}",
        '{"claims": []}',
        '{"claims": "all supported"}',
        '{"claims": [1, 2]}',
        '{"verdicts": [{"id": 1}]}',
        ONE[:-1],
        ONE[:-2],
        ONE[:40],
        "<think>" + ONE,
        "[THINK]" + ONE,
        f"Draft: {ONE} Final: {reply(entry(score=0.2))}",
        '{"claims": [{"id": 1, "support": "supported", "score": NaN}]}',
        '{"draft": {"claims": [{"id": 1, "support": "supported", "score": 0}]}, "claims": [{"id": 1, "supp',
        '{"claims": [{"id": 1, "support": "supported", "support": "unsupported", "score": 0}]}',
        "{" * 5_000 + "[" * 5_000,
        "[" * 100_000,
        '{"a":' * 20_000,
        "x" * 300_000 + ONE,
    ],
)
def test_what_is_no_whole_reply_is_unreadable(text):
    with pytest.raises(UnreadableError):
        claim_replies(text)


@pytest.mark.parametrize(
    "verdict",
    [
        ONE[:-10],
        ONE.replace('"id"', '"id": 2, "id"'),
        ONE.replace("{", '{"reason": "it says "free" here", ', 1).replace("[{", "[{x"),
        ONE.replace(",", ",,"),
        "[x]" * 100 + ONE,
    ],
)
def test_what_is_quoted_before_a_verdict_that_can_not_be_read_is_not_taken_for_it(verdict):
    """It may stand in the answer, in just the form of a reply."""
    with pytest.raises(UnreadableError):
        claim_replies(f"The answer holds {ONE}, which I ignore. My verdict: {verdict}")


def test_json_that_can_not_be_read_before_the_verdict_leaves_it():
    assert claim_replies(f'In the form {{"claims": [...]}} it is {ONE}') == claim_replies(ONE)


@pytest.mark.parametrize(
    "wrong",
    [
        {"support": "not supported"},
        {"support": "unverified"},
        {"support": ""},
        {"support": None},
        {"support": True},
        {"score": None},
        {"score": 8},
        {"score": -0.1},
        {"score": 1.01},
        {"score": True},
        {"score": [0.1]},
        {"score": "low"},
        {"score": 0.9},
        {"score": 0.5},
        {"support": "unsupported", "score": 0.4},
        {"id": None},
        {"id": 1.5},
        {"id": True},
        {"id": "first"},
        {"quote": 7},
        {"words": [7]},
        {"reason": ["r"]},
    ],
)
def test_an_entry_that_can_not_be_read_is_left_out_and_the_others_are_not(wrong):
    assert list(claim_replies(reply(entry(1, **wrong), entry(2)))) == [2]


def test_an_entry_without_support_or_score_is_left_out():
    for name in ("id", "support", "score"):
        short = entry(1)
        del short[name]
        assert list(claim_replies(reply(short, entry(2)))) == [2]


def test_a_claim_judged_twice_is_left_out():
    assert list(claim_replies(reply(entry(1), entry(2), entry(1)))) == [2]


@pytest.mark.parametrize("unreadable", [{"score": 0.9}, {"support": "no"}, {"id": "claim 1", "score": 8}])
def test_a_claim_judged_twice_is_left_out_even_where_one_entry_can_not_be_read(unreadable):
    """What the first entry meant to say may have been a flag: the second must not pass for the verdict."""
    assert list(claim_replies(reply(entry() | unreadable, entry(2), entry(1)))) == [2]
    assert list(claim_replies(reply(entry(1), entry(2), entry() | unreadable))) == [2]


def test_what_need_not_be_said_may_be_absent():
    text = '{"claims": [{"id": "claim 1", "support": " Inferred ", "score": 0, "quote": null}]}'
    (one,) = claim_replies(text).values()
    assert (one.id, one.support, one.score) == (1, "inferred", 0.0)
    assert (one.quote, one.words, one.reason) == ("", [], "")


@pytest.mark.parametrize(
    ("said", "score"),
    [
        (0, 0.0),
        (1, 1.0),
        (0.25, 0.25),
        ("0.7", 0.7),
        (".3", 0.3),
        ("Score: .3", 0.3),
        ("0,7", 0.7),
        ("1.", 1.0),
        ("1", 1.0),
        ("95.5 %", 0.955),
        ("95,5%", 0.955),
        ("0.7 percent", 0.007),
        ("100%", 1.0),
        ("8 out of 10", 0.8),
        ("8/10", 0.8),
        ("0.8.", 0.8),
        ("1,000", None),
        ("1,000/2,000", None),
        ("0,700", 0.7),
        ("810", None),
        ("95.5", None),
        ("101 %", None),
        ("11 out of 10", None),
        ("8 out of 0", None),
        ("8 out of", None),
        ("out of 10", None),
        ("between 0.2 and 0.4", None),
        ("0.2-0.4", None),
        ("-0.2", None),
        ("1e-2", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        ("٠.٧", None),
        ("yes", None),
        ("__import__('os').getcwd()", None),
        (math.nan, None),
        (math.inf, None),
        (10**400, None),
        (True, None),
        (None, None),
        ({"score": 0.1}, None),
    ],
)
def test_a_score_is_read_right_or_refused(said, score):
    if score is None:
        with pytest.raises(ValueError, match=r"expected a number from 0 to 1|can be read in two ways"):
            read_score(said)
    else:
        assert read_score(said) == pytest.approx(score, abs=1e-12)


@given(st.one_of(st.text(), st.text("0123456789.,%/ outf-e"), st.floats(), st.integers(), st.none()))
def test_no_score_ever_leaves_its_range(said):
    try:
        score = read_score(said)
    except ValueError:
        return
    assert 0.0 <= score <= 1.0


@given(st.floats(0, 1), st.integers(0, 100))
def test_every_way_to_write_a_score_says_the_same(score, percent):
    assert read_score(score) == score
    assert read_score(f"{score:.6f}") == read_score(f"{score:.6f}".replace(".", ",")) == float(f"{score:.6f}")
    assert read_score(f"{percent}%") == read_score(f"{percent} out of 100") == percent / 100


@given(st.text() | st.text('{}[]",:0123456789clainmsupred<>/k \\`'))
def test_any_text_is_read_or_refused(text):
    try:
        replies = claim_replies(text)
    except UnreadableError:
        return
    assert all(0 <= one.score <= 1 for one in replies.values())


@given(
    st.text(st.characters(exclude_characters="{[")),
    st.text(),
    st.lists(st.tuples(st.sampled_from(["supported", "contradicted"]), st.text(), st.text()), min_size=1),
)
def test_what_is_written_comes_back_whatever_stands_around_and_in_it(before, after, said):
    entries = [
        entry(i, support, 0.9 if support == "contradicted" else 0.1, quote=quote, reason=reason)
        for i, (support, quote, reason) in enumerate(said)
    ]
    try:
        replies = claim_replies(before + reply(*entries) + after)
    except UnreadableError:
        # what follows may be JSON of the same kind, or end a thought: both are refused, not guessed
        return
    assert [(one.support, one.quote, one.reason) for one in replies.values()] == [*said]
