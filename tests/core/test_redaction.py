"""Masking: of what a hook finds nothing is left, wherever it stands, and everything keeps its place."""

import json
from dataclasses import dataclass
from decimal import Decimal

import pytest

from groundwire import (
    Abstention,
    AbstentionReason,
    Claim,
    DetectorSpec,
    Evidence,
    Grading,
    Interaction,
    Passage,
    Role,
    Span,
    Support,
    Turn,
    Verdict,
)
from groundwire.core.plain import plain
from groundwire.core.redaction import Redaction, masked_interaction, masked_outcome
from groundwire.core.verdict import Degraded, Route, StageReport, Step

ADDRESS = "ann@example.com"
TEXT = f"Write to {ADDRESS}."
WHOLE = Span(0, len(TEXT))
SPEC = DetectorSpec(name="scripted", version="1")
EMAILS = Redaction("emails")


@dataclass
class Author:
    """Metadata as an application may have them."""

    address: str


@pytest.mark.parametrize(
    "value",
    [
        ADDRESS,
        [ADDRESS],
        (ADDRESS,),
        {ADDRESS},
        {"a": {"b": ADDRESS}},
        Author(ADDRESS),
        ADDRESS.encode(),
        {1: ADDRESS},
    ],
    ids=lambda value: type(value).__name__,
)
def test_metadata_are_masked_whatever_holds_them(value):
    metadata = {"from": value, "pages": 3, "price": Decimal("2.5")}
    given = Interaction(
        question=TEXT,
        contexts=[Passage(text=TEXT, metadata=metadata)],
        answer=TEXT,
        history=[Turn(role=Role.USER, text=TEXT)],
        metadata=metadata,
    )
    seen = masked_interaction(EMAILS, given)
    assert ADDRESS not in repr(seen)
    assert seen.metadata["pages"] == 3
    assert len(seen.answer) == len(TEXT)


@pytest.mark.parametrize("value", ["hunter2hunter2", ["hunter2hunter2"], {"password": "hunter2hunter2"}])
def test_what_its_name_alone_tells_is_masked_in_metadata(value):
    """A password looks like any word; beside its name, in a text, it is masked as well."""
    metadata = {"auth_token": value, "tokens": "hunter2hunter2 or so", "route": "/fares/of/berlin"}
    given = Interaction(contexts=[Passage(text="a", metadata=metadata)], answer="a", metadata=metadata)
    seen = masked_interaction(Redaction("keys"), given)
    for told in (seen.metadata, seen.contexts[0].metadata):
        assert "hunter2" not in repr(told["auth_token"])
        assert (told["tokens"], told["route"]) == (metadata["tokens"], metadata["route"])


ROUTE = Route(decided="a", stages=(StageReport(stage="a", step=Step.FLAGGED, detail=TEXT),))
CLAIM = Claim(
    text=TEXT,
    span=WHOLE,
    support=Support.UNSUPPORTED,
    score=0.9,
    reason=TEXT,
    evidence=(Evidence(passage=0, span=WHOLE, quote=TEXT),),
)
STATED = Claim(text="", span=Span(0, 0), support=Support.UNSUPPORTED, score=0.9, statement=TEXT)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "outcome",
    [
        Verdict.graded(
            0.9,
            Grading(),
            detector=SPEC,
            claims=(CLAIM, STATED),
            reason=TEXT,
            route=ROUTE,
            degraded=Degraded(detector=SPEC, reason=TEXT),
        ),
        Abstention(why=AbstentionReason.UNREADABLE_REPLY, detail=TEXT, route=ROUTE),
    ],
    ids=lambda outcome: type(outcome).__name__,
)
def test_an_outcome_is_masked_in_every_text(outcome, known):
    seen = masked_interaction(EMAILS, Interaction(contexts=TEXT, answer=TEXT)) if known else None
    told = json.dumps(plain(masked_outcome(EMAILS, outcome, seen).to_dict()), ensure_ascii=False)
    assert ADDRESS not in told
    assert told.count("█" * len(ADDRESS)) == (7 if isinstance(outcome, Verdict) else 2)
