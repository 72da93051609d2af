"""Fitting the lexical detector: what is told of an answer never comes from its own source."""

import numpy as np

from training import lexical


def row(part):
    return lexical.Row(
        label=0,
        task="qa",
        source=str(part),
        part=part,
        weight=1.0,
        claims=np.zeros((1, len(lexical.CLAIM_FEATURES))),
        unsupported=np.array([False]),
        missing=((),),
        settled=np.array([np.nan]),
        least=0.0,
        context=(0.0, 0.0),
        marked=True,
    )


def test_no_row_is_judged_by_what_was_fitted_on_its_source():
    """Each by what was fitted on the other folds."""
    rows = [row(i / 997) for i in range(40) for _ in range(2)]

    def sources(kept):
        return {one.part for one in kept}

    known = lexical.out_of_fold(rows, sources, lambda one, fitted: (one.part in fitted, len(fitted)))
    assert not any(seen for seen, _ in known)
    assert all(0 < count < 40 for _, count in known)


def test_answers_and_their_odds_keep_their_order():
    """As rows alone do."""
    rows = [row(i / 997) for i in range(40)]
    weighed = [(one, np.array([one.part])) for one in rows]
    made = lexical.out_of_fold(weighed, len, lambda one, _: float(one[1][0]))
    assert made == [one.part for one in rows]


def test_copies_are_of_what_is_fitted_on_beside_passages_of_others(monkeypatch):
    """Each weighs its share, and has its answer's source and label."""
    answers = [
        {
            "id": f"{i}-{i % 2}",
            "dataset": "ragtruth",
            "task": "qa",
            "question": "Who opened the mill?",
            "context": f"Ansa Rebane opened mill {i}.",
            "answer": f"Ansa Rebane opened mill {i}.",
            "label": i % 2,
            "spans": [{"start": 0, "end": 4, "label": "Evident Conflict"}] if i % 2 else [],
            "meta": {"source_id": str(i)},
        }
        for i in range(60)
    ]
    monkeypatch.setattr(lexical, "ragtruth", lambda _: answers)
    copies = list(lexical.retrieved(None, 0.5))
    own = [one for one in lexical.marked(None) if one.part < 0.5]
    assert 10 < len(copies) == len(own) < 50
    for copy, one in zip(copies, own, strict=True):
        assert (copy.source, copy.part, copy.label) == (one.source, one.part, one.label)
        assert copy.weight == one.weight * lexical.RETRIEVED_SHARE
        assert copy.context != one.context
