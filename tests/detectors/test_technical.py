"""Questions to technical documentation: settings, code, placeholders, units in keys and ratios."""

from __future__ import annotations

import re

import pytest

from groundwire import Verdict
from tests.detectors.told import PROBES, reasons, require_told_apart, verdict_of

FOLDER = PROBES / "technical"
# How many of 40 pairs each detector flags rightly at least, and wrongly at most; one of each to spare.
FLOORS = {
    ("choosing", "lexical"): (35, 4),
    ("choosing", "embedded"): (36, 4),
    ("held_out", "lexical"): (34, 10),
    ("held_out", "embedded"): (35, 3),
}
DETECTORS = ["lexical", "embedded"]


def check(detector: str, document: str, answer: str, question: str = "") -> Verdict:
    return verdict_of(detector, [document], answer, question)


@pytest.mark.parametrize(("half", "detector"), FLOORS)
def test_technical_answers_are_told_from_wrong_ones(half, detector):
    """On the pairs that showed what the rules missed, and on those of other products and layouts."""
    require_told_apart(FOLDER / f"{half}.toml", detector, FLOORS[half, detector])


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize(
    ("document", "answer", "reason"),
    [
        (
            "`max_retries` is 5 by default; `min_retries` and `timeout` are 3.",
            "`max_retries` defaults to 3.",
            "max_retries is 3 here, 5 in the document",
        ),
        (
            "| Option | Default |\n|---|---|\n| pool_size | 10 |\n| pool_wait | 30 |",
            "The default of `pool_size` is 30.",
            "pool_size is 30 here, 10 in the document",
        ),
        (
            "server:\n  port: 8080\nmetrics:\n  port: 9100\n",
            "`metrics.port` is set to 8080.",
            "metrics.port is 8080 here, 9100 in the document",
        ),
        (
            "FLUSH_SECONDS=15\nBATCH_SIZE=250\n",
            "A batch holds 15 entries (`BATCH_SIZE`).",
            "BATCH_SIZE is 15 here, 250 in the document",
        ),
        (
            "`queue` defaults to memory, and `backend` defaults to redis.",
            "`queue` defaults to redis.",
            "queue is redis here, memory in the document",
        ),
    ],
)
def test_a_setting_has_its_own_value(detector, document, answer, reason):
    """Not that of another setting beside it."""
    assert reasons(check(detector, document, answer)) == [reason]


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        ("In 1.x `page_size` was 50. Since 2.0 `page_size` is 100.", "In 1.x, `page_size` was 50."),
        ("`workers` defaults to 4 (2 on Windows).", "On Windows, `workers` is 2."),
        ("`wait_ms` defaults to 30000.", "`wait_ms` defaults to 30 seconds."),
        ("max_age: 604800\n", "`max_age` is one week."),
        ("max_retries: 5\n", "If `max_retries` is 3, the client gives up sooner."),
        ("`timeout` is 30 by default. For uploads, 120 is better.", "For uploads, set `timeout` to 120."),
        ("`limit` defaults to 20 for lists, 50 for searches.", "The search `limit` defaults to 50."),
        ("`retries` defaults to 3.\n\nExample:\n\nretries: 10\nwait: 2\n", "The example has `retries: 10`."),
        ("replicas: 5\n---\nreplicas: 2\n", "`replicas` is 2 in staging."),
        ("`encoding` defaults to utf-8.", "`encoding` defaults to UTF8."),
        ("`wait` defaults to 30.", "For slow networks: `wait=90`."),
        ("`cache_enabled` is true by default.", "To turn the cache off: `cache_enabled=false`."),
        ("`retries` defaults to 3, at most 10.", "It can be raised, for example: `Client(key, retries=8)`."),
        ("`retries` (default 3) is how often.\n\nThe maximum is 10.", "The highest `retries` is 10."),
        ("`retries` (default 3) is how often.\n\nThe maximum is 10.", "`retries` is 10 at most."),
        ("`wait` defaults to 30.", "Your `wait` is 10, which is too short."),
        ("backup:\n  keep: 7\n", "`backup.keep: 14` keeps two weeks of backups."),
    ],
)
def test_what_is_not_clear_contradicts_no_setting(document, answer):
    """Several values, another unit, a case that is supposed, a value that is recommended."""
    flagged = reasons(check("lexical", document, answer))
    assert not any(re.match(r"[\w.]+ is .* in the document", reason) for reason in flagged)


def test_a_setting_may_be_the_askers_own():
    """As long as no default is told by it."""
    question = "I have cache_enabled=false and wait=10. Is the cache on?"
    document = "cache_enabled=true\nwait=30\n"
    assert not reasons(check("lexical", document, "It is off, because cache_enabled is false.", question))
    assert reasons(check("lexical", document, "`wait` defaults to 10.", question))


DOCUMENT = (
    "A store is opened with `Store.open(path, mode=READ)`. `store.put(key, value)` writes a value, and "
    "`store.fetch(key)` reads one. `depot sync --target DIR --dry-run` copies it."
)
GOOD = "```python\nstore = Store.open('a.bin', mode=READ)\nprint(store.fetch('user-17')['total'])\n```"


@pytest.mark.parametrize("detector", DETECTORS)
def test_code_illustrates_what_documents_name(detector):
    """Its strings, figures and variables need not stand there, nor what announces it."""
    verdict = check(detector, DOCUMENT, f"You can read it as follows:\n\n{GOOD}", "How do I read a value?")
    assert not verdict.hallucinated
    assert not check(detector, DOCUMENT, "```\ndepot sync --target /mnt/x\n```").hallucinated


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize(
    ("code", "name"),
    [
        (GOOD.replace("fetch", "read_value"), "read_value"),
        (GOOD.replace("mode=", "access="), "access"),
        ("```\ndepot sync --destination /mnt/x\n```", "--destination"),
    ],
)
def test_invented_names_in_code_are_flagged(detector, code, name):
    """A method, a parameter and a flag that stand where the documents have another; only they are marked."""
    verdict = check(detector, DOCUMENT, code, "How do I do it?")
    (reason,) = reasons(verdict)
    assert reason.startswith(f"“{name}” is not in the documents, which have ")
    assert [span.of(code) for span in verdict.spans] == [name]


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        (
            '`queue.add("welcome", { to: "a@example.com" }, { delay: 1000 })` adds a job that waits 1000 ms.',
            '```js\nawait queue.add("resize", { id: 7 }, { delay: 1000 });\n```',
        ),
        (
            "`session.get(path)` reads.",
            "```python\nr = http.get(url, params={'page': 2})\nsession.get('/x')\n```",
        ),
        (DOCUMENT, "```\ndepot sync --target /mnt/x | grep -i --color error\n```"),
        (
            "Options:\n\n    depot sync --target DIR\n\nThe target is `/mnt/x` by default.",
            "```yaml\nname: sync\non: push\njobs:\n  sync:\n    runs-on: ubuntu\n    run: depot sync\n```",
        ),
    ],
)
def test_what_is_of_another_kind_invents_no_name(document, answer):
    """A reader's own data, another library's method, the next command's flag, another tool's keys."""
    assert not any(
        "is not in the documents, which have" in r for r in reasons(check("lexical", document, answer))
    )


def test_a_question_does_not_document_what_it_asks_for():
    answer = "```\ndepot sync --encrypt --target /mnt/x\n```"
    assert reasons(check("lexical", DOCUMENT, answer, "How do I encrypt the copy?"))


CLEAN = 0.06


@pytest.mark.parametrize(
    "code",
    [
        "# store.fetch is never cached, and lost values can be restored\nstore.fetch('a')",
        "store.put() moves the value to the archive. It can be restored by the help desk.",
        "depot mirror --target /mnt/x",
    ],
)
def test_what_is_claimed_in_a_block_of_code_is_weighed(code):
    """A sentence in a comment, prose within fences, and a command that the documents don't have."""
    claims = check("lexical", DOCUMENT, f"```\n{code}\n```", "How do I do it?").claims
    assert all(claim.score is not None and claim.score > CLEAN for claim in claims)


def test_a_comment_that_calls_a_value_a_limit_states_it():
    code = "```python\nclient = Client(retries=50)  # the maximum\n```"
    document = "`Client(retries=3)` opens a connection. `retries` may be 10 at most."
    assert check("lexical", document, code).hallucinated
    assert not check("lexical", document, code.replace("50", "10")).hallucinated


@pytest.mark.parametrize(
    ("told", "clean"),
    [
        ("The command you need is:", True),
        ("If the target exists, you can run this:", True),
        ("Copies are always encrypted, so simply run:", False),
        ("The source can not be restored; run:", False),
    ],
)
def test_an_announcement_claims_nothing_else(told, clean):
    answer = f"{told}\n\n```\ndepot sync --target /mnt/x\n```"
    claim = check("lexical", DOCUMENT, answer, "How do I copy it?").claims[0]
    assert claim.score is not None
    assert (claim.score <= CLEAN) is clean


def test_an_invented_key_is_told_where_it_is_indented():
    """What stands before it on its line belongs to no claim."""
    document = "store:\n    api_url: http://y\n    api_key: xyz\n    max_age: 7\n"
    answer = "```yaml\nstore:\n    api_url: http://x\n    api_key: abc\n    max_days: 4\n```"
    verdict = check("lexical", document, answer)
    assert "max_days" in [span.of(answer) for span in verdict.spans]


def test_code_that_the_documents_hardly_know_is_weighed():
    """One word in common makes no illustration; comments of one that is are read."""
    strange = "```python\nstore = Ledger(9)\nstore.rebalance(3)\nstore.commit_all(7)\n```"
    (claim,) = check("lexical", DOCUMENT, strange).claims
    assert claim.score is not None
    assert claim.score > 0.05
    noted = GOOD.replace("\nprint", "  # files of up to 90 MB\nprint")
    assert check("lexical", DOCUMENT, noted).hallucinated


@pytest.mark.parametrize("detector", DETECTORS)
def test_placeholders_state_nothing(detector):
    """What a redaction left is no word that the documents lack."""
    document = "Write to the help desk to have your account unlocked. It takes two working days."
    answer = "Write to <NAME> of the help desk ([REDACTED_EMAIL], ***) to have your account unlocked."
    assert not check(detector, document, answer).hallucinated
    assert check(detector, document, "Write to [EMAIL] of the help desk; it takes nine days.").hallucinated


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize(
    ("document", "answer", "reason"),
    [
        (
            "Mix the resin and the hardener at a ratio of 3:1.",
            "Mix resin and hardener at a ratio of 1:3.",
            "“1:3” here, “3:1” in the document",
        ),
        (
            "The proposal was rejected by 21 votes to 3.",
            "The proposal was rejected by 3 to 21.",
            "“3 to 21” here, “21 votes to 3” in the document",
        ),
    ],
)
def test_a_ratio_has_two_sides(detector, document, answer, reason):
    assert reasons(check(detector, document, answer)) == [reason]


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        ("The clean sand and the cement are mixed 4:1.", "The cement and the clean sand are mixed 1:4."),
        ("Rovers beat Harbour 3–1 on Saturday.", "Harbour lost 1–3 to Rovers on Saturday."),
        ("The screen has an aspect ratio of 16:9.", "In portrait mode, the aspect ratio is 9:16."),
        ("It was 4-2 in the end, and 2-4 in the first match.", "It was 2-4 in the first match."),
    ],
)
def test_a_ratio_from_the_other_side_is_right(document, answer):
    assert not any(" here, “" in reason for reason in reasons(check("lexical", document, answer)))
