"""From data to weights: files are made in order, once, and out of what may teach."""

import gzip
import json
import random
import re
from itertools import chain

import numpy as np
import pytest

from training import encoder, written
from training.embedded import taught_half
from training.encoder import Step, encoder_steps, stack_steps
from training.encoder_answers import MOSTLY_AS_READ
from training.encoder_data import write
from training.encoder_parts import (
    WRITTEN_FIT,
    as_retrieved,
    asked_as_marked,
    held,
    matched_as_marked,
    ours_as_marked,
    teaches,
)
from training.encoder_rows import Label, Packed
from training.encoder_sets import Sets, short_pairs
from training.encoder_stages import SECOND, again_of, drawn_anew, marked_answers, mixed
from training.encoder_stages_ours import (
    DRAWS_14,
    WHOLE,
    WORTH_12,
    WORTH_13,
    Draw,
    and_matched,
    at_length,
    everything,
    in_conversations,
    of_models,
    of_our_own,
    with_one_half,
)
from training.labelled_sets import FIT, RAGTRUTH, TEST, half, part

PLAIN = ("expertqa", "begin", "faithdial_audit", "defacto", "halueval", "wice", "wice_tokens")
SETS = {
    "nli": ("entailment", "neutral", "contradiction"),
    "fever_rte": ("entailment", "not_entailment"),
    "factcheckgpt_stance": ("irrelevant", "completely-support", "partially-support", "refute"),
    **dict.fromkeys((*PLAIN, "ragtruth_qa", "ragtruth_data2txt_summary"), ("any",)),
}
SENTENCES = [
    "The ferry leaves Port Linden at 7:30 on Monday and comes back in the evening.",
    "Children under six travel free in winter, and dogs are not allowed inside.",
    "The company bought two larger boats in March 2019 from a yard in Norway.",
]


def raw(name, i, fine):
    text = SENTENCES[i % 3]
    spans = [{"start": 4, "end": 9, "label": "Evident Conflict", "text": text[4:9]}] if i % 2 else []
    meta = {"source_id": f"{name}-{i}", "subset": ("mnli", "rte")[i % 5 == 4]}
    task = {"ragtruth_qa": "qa", "ragtruth_data2txt_summary": "summary"}.get(name, "claim")
    return {
        "id": f"{name}-{i}",
        "task": task,
        "question": None,
        "context": " ".join(SENTENCES) + f" {i}",
        "answer": text,
        "label": i % 2,
        "label_fine": fine,
        "spans": spans,
        "meta": meta,
    }


@pytest.fixture
def sets(tmp_path):
    """A dozen answers of each set, on disk as the real ones are."""
    (tmp_path / "train").mkdir()
    for name, labels in SETS.items():
        rows = [raw(name, i, labels[i % len(labels)]) for i in range(12)]
        with gzip.open(tmp_path / "train" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return Sets(data=tmp_path)


def test_short_pairs_have_one_label_and_no_guess_at_words(sets):
    """Words of a supported statement are supported; which words of another are at fault isn't known."""
    made = list(short_pairs(sets))
    assert {row.label for row in made} == set(Label) - {Label.IGNORED}
    for row in made:
        assert set(row.words) == {Label.IGNORED if row.label else Label.SUPPORTED}


def test_only_the_named_parts_of_nli_are_used(sets):
    """The others have labels or licences that aren't wanted."""
    all_sets = len(list(short_pairs(sets)))
    without_rte = sum(raw["meta"]["subset"] != "rte" for raw in sets.read("nli"))
    others = sum(len(sets.read(name)) for name in SETS if name[:3] not in {"nli", "wic", "rag"})
    assert all_sets == without_rte + others


def test_an_epoch_is_made_again_by_its_number(sets):
    """The same number gives the same rows, another one others."""
    first, again, other = (
        Packed.of(chain.from_iterable(marked_answers(sets, epoch).values())) for epoch in (0, 0, 1)
    )
    assert np.array_equal(first.ids, again.ids)
    assert np.array_equal(first.words, again.words)
    assert not np.array_equal(first.ids, other.ids)


def packed(parts):
    return Packed.of(chain.from_iterable(parts.values()))


def test_answers_are_drawn_anew_by_their_number(sets):
    """The same number gives the same rows, another one others."""
    first, again, other = (packed(drawn_anew(sets, number)) for number in (0, 0, 1))
    assert np.array_equal(first.ids, again.ids)
    assert not np.array_equal(first.ids, other.ids)


def test_stage_5_has_facts_and_all_that_was_taught_before(sets):
    """Two makes of facts, and all that follows from what, beside others; made again, the same."""
    few = Sets(data=sets.data, most=12)
    one, two = (packed(mixed(few)) for _ in range(2))
    assert len(one) > 2 * (12 + 12) + len(list(short_pairs(few)))
    assert np.array_equal(one.ids, two.ids)
    assert np.array_equal(one.labels, two.labels)


def test_the_second_encoder_reads_no_answers_before_it_knows_facts(sets):
    """RAGTruth's come last; and of all the others, a share is read again beside them."""
    few = Sets(data=sets.data, most=12)
    others = mixed(few, SECOND, answers=False)
    assert {name for name, made in others.items() if not made} == {"answers", "ragtruth"}
    many = {name: made * 20 for name, made in others.items()}
    again = list(again_of(many))
    assert 0.05 < len(again) / sum(map(len, many.values())) < 0.3
    assert again == list(again_of(many))
    assert all(any(row in again for row in made) for made in many.values() if made)


def test_answers_of_our_own_teach_beside_others_but_for_those_that_choose(sets, monkeypatch):
    """As they are marked, changed, sentences of their documents, and beside others; of close ones some."""
    apart = [
        {
            **raw("claim", i, "any"),
            "context": f"{' '.join(SENTENCES)} The year is {2000 + i}.",
            "task": "claim",
        }
        for i in range(60)
    ]
    monkeypatch.setattr(written, "read", lambda: apart)
    parts = of_our_own(sets)
    told = [one for one in apart if part(one) < WRITTEN_FIT]
    even = [one for one in told if not written.is_close(one)]
    assert 0 < len(even) < len(parts["written"]) < len(told) < len(apart)
    assert {bool(row.label) for row in parts["written"]} == {True, False}
    assert all(parts[name] for name in parts if name.startswith("written"))
    assert {row.label for row in parts["written, elsewhere"]} == {Label.UNSUPPORTED}
    assert np.array_equal(packed(parts).ids, packed(of_our_own(sets)).ids)


def test_answers_as_large_models_word_them_teach_last_and_apart(sets, monkeypatch):
    """Those that may teach, all of them; of the others a share, which the stage before has taught."""
    made = {
        kind: [{**raw(kind, i, "any"), "context": f"{' '.join(SENTENCES)} {kind} {i}."} for i in range(80)]
        for kind in ("answers", "pairs")
    }
    monkeypatch.setattr(written, "read", lambda: [*made["answers"], *made["pairs"]])
    told = {kind: sum(part(one) < WRITTEN_FIT for one in of_kind) for kind, of_kind in made.items()}
    parts = of_models(sets)
    assert len(parts["of models"]) == told["answers"] < 80
    assert 0 < len(parts["written"]) < told["pairs"] / 2
    assert {bool(row.label) for row in parts["of models"]} == {True, False}
    assert np.array_equal(packed(parts).ids, packed(of_models(sets)).ids)
    assert len(of_our_own(sets)["written"]) <= told["pairs"]


def test_each_half_of_stage_9_reads_others_of_what_may_teach(sets, monkeypatch):
    """Most answers as large models word them, a few of our others, and no close ones."""
    made = {
        kind: [
            raw(f"{kind}-{number}", i, "any") | {"meta": {"source_id": f"{kind}-{number}-{i}"}}
            for i in range(80)
        ]
        for kind, number in (("answers", 101), ("pairs", 60), ("brief", 10))
    }
    monkeypatch.setattr(written, "read", lambda: [one for of_kind in made.values() for one in of_kind])
    told = {kind: sum(part(one) < WRITTEN_FIT for one in of_kind) for kind, of_kind in made.items()}
    halves = [at_length(sets, number) for number in range(2)]
    for parts in halves:
        assert told["answers"] / 2 < len(parts["of models"]) < told["answers"]
        assert 0 < len(parts["written"]) < told["pairs"] / 2
    assert not np.array_equal(packed(halves[0]).ids, packed(halves[1]).ids)
    assert np.array_equal(packed(halves[0]).ids, packed(at_length(sets, 0)).ids)


def test_each_draw_of_stage_11_has_all_that_teaches(sets, monkeypatch):
    """As it is marked, the same each time but for how much evidence is beside it; what changes differs."""
    made = [
        {**raw(f"{kind}-60", i, "any"), "context": f"{' '.join(SENTENCES)} {kind} {i}."}
        for kind in ("answers", "pairs")
        for i in range(60)
    ]
    for i, one in enumerate(made):
        one["meta"] = {"source_id": f"{one['id'].split('-')[0]}-60-{i}"}
    monkeypatch.setattr(written, "read", lambda: made)
    few = Sets(data=sets.data, most=40)
    one, same, other = (everything(few, number) for number in (0, 0, 1))
    told = {
        kind: sum(part(each) < WRITTEN_FIT for each in made if each["id"].startswith(kind))
        for kind in ("answers", "pairs")
    }
    assert len(one["of models"]) == min(40, told["answers"])
    assert len(one["written"]) == min(40, told["pairs"])
    assert {name for name, rows in one.items() if not rows} == {"records"}  # there are none here
    assert np.array_equal(packed(one).ids, packed(same).ids)
    assert not np.array_equal(packed(one).ids, packed(other).ids)
    for name in ("pairs", "wice"):
        assert one[name] == other[name]


def pairs_to(file):
    """A right and a wrong answer to each of thirty sets of a file."""
    made = [
        raw("matched", i, "any") | {"meta": {"source_id": f"{file}-{i // 2}"}, "question": "Who?"}
        for i in range(60)
    ]
    return list(zip(made[::2], made[1::2], strict=True))


def test_pairs_of_our_own_teach_in_stage_12_with_all_before(sets, monkeypatch):
    """Those that may teach, to no late documents, which chose; and what weighs nothing is no row."""
    pairs = pairs_to("answers-60")
    monkeypatch.setattr(written, "read", list)
    monkeypatch.setattr(written, "pairs", lambda: [*pairs, *pairs_to("news-101")])
    few = Sets(data=sets.data, most=60)  # of the facts, too, of which there are thousands
    before, parts = everything(few, 1), and_matched(few, 1, {"ragtruth": 0.5, "pairs": 0.0})
    told = sum(part(right) < WRITTEN_FIT for right, _ in pairs)
    assert len(parts["matched"]) == 2 * told < 60
    assert Packed.of(parts["matched"]).others.tolist() == [i ^ 1 for i in range(2 * told)]
    assert set(before) - set(parts) == {"pairs"}
    assert parts["facts"] == before["facts"]
    assert [row.weight * 2 for row in parts["ragtruth"]] == [row.weight for row in before["ragtruth"]]
    assert set(WORTH_13).union(*WORTH_12) <= {*before, "matched", "retrieved"}
    other = and_matched(few, 2, {})
    assert len(other["pairs"]) == len(before["pairs"])
    assert not np.array_equal(packed(other).ids, packed(and_matched(few, 1, {})).ids)


def test_stage_14_teaches_each_encoder_one_half_of_what_chose(sets, monkeypatch):
    """No answer of one half is a row of the other's, and none that measures is a row of either."""
    late = [raw("late", i, "any") | {"meta": {"source_id": f"news-101-{i}"}} for i in range(19)]
    pairs = pairs_to("news-101")
    monkeypatch.setattr(written, "read", lambda: late)
    monkeypatch.setattr(written, "pairs", lambda: pairs)
    few = Sets(data=sets.data, most=20)
    one, same, other = (with_one_half(few, number, DRAWS_14[number][0]) for number in (0, 0, 1))
    for parts, number in ((one, 0), (other, 1)):
        assert len(parts["late"]) == 2 * sum(half(each) == number for each in late)
        new = [each for each in sets.read(*RAGTRUTH) if FIT <= part(each) < TEST and half(each) == number]
        assert 2 * len(new) <= len(parts["new"]) <= 4 * len(new)
        theirs = sum(half(right) == number for right, _ in pairs)
        assert len(parts["late matched"]) == 4 * min(20, theirs)
        assert not parts["matched"]
    assert {word for row in one["late"] for word in row.words} == {Label.IGNORED}
    assert {bool(row.label) for row in one["late"]} == {True, False}
    assert np.array_equal(packed(one).ids, packed(same).ids)
    assert not np.array_equal(packed(one).ids, packed(other).ids)


def test_stage_15_teaches_longer_answers_to_both_beside_some_of_what_each_was_taught(sets, monkeypatch):
    """Which stage 14 has none of; and of what it has, whole pairs."""
    talks, others = pairs_to("talks-11"), pairs_to("rules-11")
    late = [
        raw("late", i, "any")
        | {"meta": {"source_id": f"chats-101-{i}"}, "answer": f"Room {i} is open.", "context": f"Room {i}."}
        for i in range(60)
    ]
    monkeypatch.setattr(written, "read", lambda: late)
    monkeypatch.setattr(written, "pairs", lambda: pairs_to("news-101"))
    monkeypatch.setattr(written, "asked", lambda: [*talks, *others])
    few = Sets(data=sets.data, most=60)
    for number in range(2):
        before = with_one_half(few, number, Draw(8 + number, {}))
        parts = in_conversations(few, number)
        taught = [both for both in talks if teaches(both[0])]
        assert 0 < len(parts["talks"]) == 2 * len(taught) < 60
        assert len(before["asked"]) == 4 * sum(teaches(right) for right, _ in others)
        assert set(parts) == {*before, "talks"}
        known = {name: {row.row.ids for row in made} for name, made in before.items()}
        assert all(row.row.ids in known[name] for name in before for row in parts[name])
        assert 0 < sum(map(len, parts.values())) - len(parts["talks"]) < sum(map(len, before.values())) / 4
        assert (Packed.of(parts["facts"]).others >= 0).all()
        others_half = with_one_half(few, 1 - number, Draw(8 + number, {}))["late"]
        assert parts["late"]
        assert {row.row.ids for row in parts["late"]}.isdisjoint(row.row.ids for row in others_half)


def test_no_stage_of_one_half_has_anything_of_the_other():
    """Neither rows nor weights, of which it would learn what it has to read."""
    halves = list(zip(encoder.TWO_BEFORE, encoder.TWO, strict=True))
    for one, other in (halves, halves[::-1]):
        of_one = [stage for name, stage in encoder.STAGES.items() if name.startswith(one)]
        assert len(of_one) > 2
        for stage in of_one:
            used = [*stage.begins, *stage.rows, *stage.taught_by, stage.kept_of]
            assert not [name for name in used if name.startswith(other)]


def answered(text, *wrong):
    """An answer to a matched pair's document, some of whose words are marked as wrong."""
    marks = [
        {"start": text.index(word), "end": text.index(word) + len(word), "label": "Conflict"}
        for word in wrong
    ]
    return raw("matched", 0, "any") | {"answer": text, "spans": marks}


@pytest.mark.parametrize(
    ("right", "wrong", "pair"),
    [
        (
            answered("The ferry leaves at 7:30. It comes back at night."),
            answered("The ferry leaves at 7:30. It comes back at noon.", "noon"),
            [1, 3],
        ),
        (
            answered("The ferry leaves at 7:30."),
            answered("The ferry leaves the port. It does so at noon.", "noon"),
            [0, 2],
        ),
        (
            answered("The ferry leaves the port. It does so at 7:30."),
            answered("The ferry leaves at noon.", "noon"),
            [0, 2],
        ),
    ],
)
def test_the_statements_of_matched_answers_are_in_pairs(right, wrong, pair):
    """A right one and a wrong one; cut into other numbers of them, the first of either kind."""
    made = list(matched_as_marked([(right, wrong)], random.Random(0), MOSTLY_AS_READ))
    assert [i for i, row in enumerate(made) if row.pair is not None] == pair
    assert len({made[i].pair for i in pair}) == 1
    assert [bool(made[i].label) for i in pair] == [False, True]
    alone = list(ours_as_marked([right, wrong], random.Random(0), MOSTLY_AS_READ))
    assert [row._replace(pair=None) for row in made] == alone


def test_pairs_whose_wrong_answer_denies_weigh_as_much_as_those_whose_right_one_does():
    """Whoever reads them must not learn that a "no" is mostly right."""
    asked = written.asked()
    denies = re.compile(r"\b(?:no|not|never)\b|n't", re.IGNORECASE)

    def one_denies(right, wrong):
        return denies.search(right["answer"]) and not denies.search(wrong["answer"])

    denied = [both for both in asked if one_denies(*both)][:30]
    affirmed = [both for both in asked if one_denies(*reversed(both))][:10]
    plain = [both for both in asked if not any(denies.search(raw["answer"]) for raw in both)][:5]

    def weight(make, pairs):
        return sum(row.weight for row in make(pairs, random.Random(0), MOSTLY_AS_READ))

    alike = 20 / 30 * weight(matched_as_marked, denied) + 20 / 10 * weight(matched_as_marked, affirmed)
    assert weight(asked_as_marked, [*denied, *affirmed, *plain]) == pytest.approx(
        alike + weight(matched_as_marked, plain), rel=0.01
    )
    assert weight(asked_as_marked, plain) == pytest.approx(weight(matched_as_marked, plain))


def test_what_is_asked_of_one_document_teaches_or_chooses_or_measures():
    """By source; and no document that measures is one of the others."""
    asked, measuring = written.asked(), written.asked(written.HELD_OUT / written.ASKED.name)
    for right, wrong in asked:
        assert teaches(right) == teaches(wrong)
    chooses = sum(not teaches(right) for right, _ in asked) / len(asked)
    assert 0.05 < chooses < 0.2
    known = {right["context"] for right, _ in asked}
    assert known.isdisjoint(right["context"] for right, _ in measuring)


def test_the_last_draw_of_stage_14_has_little_but_what_chose(sets, monkeypatch):
    """What chose is read whole, of the rest a share, and of pairs both rows or none."""
    monkeypatch.setattr(written, "read", list)
    monkeypatch.setattr(written, "pairs", lambda: pairs_to("news-101"))
    few = Sets(data=sets.data, most=40)
    whole, little = (with_one_half(few, 0, DRAWS_14[0][kind]) for kind in (2, 3))
    for name in WHOLE:
        assert len(little[name]) == len(whole[name])
    rest = [name for name in whole if name not in WHOLE]
    shares = [sum(len(parts[name]) for name in rest) for parts in (little, whole)]
    assert 0.15 < shares[0] / shares[1] < 0.35
    facts = Packed.of(little["facts"])
    assert len(facts) > 0
    assert (facts.others >= 0).all()


def test_what_one_half_was_taught_the_other_reads():
    """Of RAGTruth's answers those that chose, and our late ones; all else was taught by neither."""

    def source(name, dataset, wanted):
        raws = ({"dataset": dataset, "meta": {"source_id": f"{name}-{i}"}} for i in range(300))
        return next(raw for raw in raws if wanted(raw))

    chose = source("q", "ragtruth", lambda raw: FIT <= part(raw) < TEST)
    assert taught_half(chose) == half(chose)
    assert taught_half(source("q", "ragtruth", lambda raw: part(raw) >= TEST)) is None
    late = source("news-101", "digests", lambda raw: half(raw) == 1)
    assert taught_half(late) == 1
    assert taught_half(source("news-61", "written", lambda raw: half(raw) == 1)) is None
    assert taught_half(source("scitail", "scitail", lambda raw: True)) is None


def test_some_answers_are_read_as_a_retriever_leaves_them(sets):
    """With their marks; some of their evidence is of other sources."""
    fitting = [one for one in sets.read("ragtruth_qa", "ragtruth_data2txt_summary") if part(one) < FIT] * 9
    made = list(as_retrieved(fitting, random.Random(1)))
    assert 0.2 < len(made) / len(fitting) < 0.6
    assert {bool(row.label) for row in made} == {True, False}
    assert made == list(as_retrieved(fitting, random.Random(1)))


def test_what_is_held_back_is_not_learnt(sets):
    """It has sources between those that teach and those that measure, and some of them."""
    kept = [raw for raw in sets.read("ragtruth_qa", "ragtruth_data2txt_summary") if FIT <= part(raw) < TEST]
    assert kept
    assert len(list(held(sets))) == len(kept)


def test_a_sample_is_the_first_answers_of_each_set(sets):
    """Two of two sets are four."""
    few = Sets(data=sets.data, most=2)
    assert [raw["id"] for raw in few.read("begin", "wice")] == ["begin-0", "begin-1", "wice-0", "wice-1"]


def test_rows_are_written_as_they_are_read(sets, tmp_path):
    """One file per stage or epoch, which training reads."""
    write(tmp_path / "stage1.npz", short_pairs(sets))
    assert len(Packed.load(tmp_path / "stage1.npz")) == len(list(short_pairs(sets)))


def test_every_step_is_given_what_one_before_it_made(tmp_path):
    """In order, each file that a step reads from the work folder is there by then."""
    work = tmp_path / "work"
    made = set()
    for step in [
        *encoder_steps(tmp_path / "data", work, tmp_path / "minilm"),
        *stack_steps(tmp_path / "data", work),
    ]:
        read = {a for a in step.arguments if str(a).startswith(str(work))} - {work} - set(step.makes)
        folders = {path.parent for path in made}
        assert read <= made | folders, step.script
        assert (encoder.HERE / f"{step.script}.py").exists()
        made |= set(step.makes)


def test_a_step_is_made_once(tmp_path):
    """Where all its files are there its script isn't run; where one is missing it is."""
    there, missing = tmp_path / "there", tmp_path / "missing"
    there.touch()
    Step(script="no_such_script", arguments=[], makes=[there]).run()
    with pytest.raises(SystemExit, match=r"no_such_script ended with 1"):
        Step(script="no_such_script", arguments=[], makes=[there, missing]).run()


def test_what_ships_is_the_last_stage_and_every_stage_leads_to_it(tmp_path):
    """The first one begins with the weights that there are; no stage or file of rows is made for nothing."""
    rows, first, *between, export = steps = encoder_steps(tmp_path, tmp_path, tmp_path / "minilm")
    *fits, last = [step for step in between if step.script == "encoder_fit"]
    exports = [step for step in steps if step.script == "encoder_export"]
    assert [first, *fits, last, *exports] == steps[1:]
    assert len([first, *fits, last]) == len(encoder.STAGES)
    assert tmp_path / "minilm" in first.arguments
    assert last.makes[0] in export.arguments
    assert [step.makes[0].parent.name for step in exports[:-1]] == encoder.TWO
    read = [path for step in steps[1:] for path in step.arguments if path not in step.makes]
    assert {step.makes[0] for step in (rows, *between) if step not in exports} <= set(read)
    assert set(rows.makes) <= set(read)


def test_a_stage_that_reads_nothing_is_the_mean_of_others(tmp_path):
    """It is told what to begin with, and no rows."""
    stage = encoder.Stage(begins=["a", "b"])
    assert stage.arguments(tmp_path, tmp_path) == ["--from", tmp_path / "a.pt", tmp_path / "b.pt"]


def test_a_stage_is_given_what_it_begins_with_and_who_teaches_it(tmp_path):
    work = tmp_path / "work"
    stage = encoder.Stage(begins=["a", "b"], rows=["r"], settings="--rate 1e-4", kept_of="a", taught_by=["b"])
    assert stage.arguments(work, tmp_path) == [
        *("--rows", work / "r.npz", "--from", work / "a.pt", work / "b.pt"),
        *("--kept-of", work / "a.pt", "--taught-by", work / "b.pt", "--rate", "1e-4"),
    ]
