"""What is in production, tuned anew to reviews: honestly sampled, never parted, and changed by nobody."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import groundwire as gw
from groundwire import Checker, ConfigurationError, Grading, Interaction, Policy
from groundwire.bench.intervals import Difference
from groundwire.bench.tuning import Target, TuningError, calibrating
from groundwire.bench.tuning.sweep import Sweep
from groundwire.core.tuned import Figure
from groundwire.detectors import Cascade
from groundwire.detectors.cascade.cascade import Stage
from groundwire.learning import propose, retune
from groundwire.learning.sources import sources
from groundwire.monitor import Filter, Monitor, Redaction
from tests.bench.tuning.drawn import Told
from tests.learning.conftest import Production


@dataclass(frozen=True, kw_only=True)
class Deaf(Told):
    """The same detector, where it must not be asked again."""

    name: ClassVar[str] = "told"

    def detect(self, interaction):
        raise AssertionError("it was asked anew")


@pytest.fixture(scope="module")
def found(watched):
    return retune(watched.monitor, Checker(Deaf()))


def test_a_better_threshold_is_found_and_shown_against_what_is_in_production(found):
    """The scores part at .25, and production cuts at .5: on answers held out, much is gained."""
    assert found.tuning.own_threshold == 0.5
    assert found.better is True
    assert found.tuning.lead.difference.low > 0.05
    assert (found.used, found.reviewed, found.basis) == (150, 150, "answers drawn by chance")
    assert (found.left_out, found.warnings) == ({}, ())


def test_what_the_held_out_figures_promise_comes_true(watched, found):
    """F1 of the answers that nobody reviewed lies in the interval, by the new threshold and by the old."""
    rest = list(watched.monitor.rows(Filter(reviewed=False)))
    real = np.array([watched.truth[row.id] for row in rest])
    for figure, flagged in (
        (found.tuning.before["f1"], [row.outcome.hallucinated for row in rest]),
        (found.tuning.after["f1"], [found.tuning.tuned.read(row.outcome).hallucinated for row in rest]),
    ):
        hit = (real & np.array(flagged)).sum()
        f1 = 2 * hit / (real.sum() + sum(flagged))
        assert figure.low - 0.03 <= f1 <= figure.high + 0.03


def test_further_flagged_answers_weigh_less(production):
    """Flagged answers stand for as many of production as there are, however many more are reviewed."""
    production.review(limit=120)
    production.review(queue="flagged", limit=30)
    monitor = production.monitor
    drawn = monitor.labels().drawn
    assert len(drawn) > 120
    assert np.mean([one.weight for one in drawn]) == pytest.approx(1)
    flagged = [one.weight for one in drawn if one.kept.outcome.hallucinated]
    assert max(flagged) < 1 < min(one.weight for one in drawn if not one.kept.outcome.hallucinated)
    share = monitor.count(Filter(hallucinated=True)) / monitor.count()
    assert sum(flagged) / len(drawn) == pytest.approx(share)
    found = retune(monitor, Checker(Deaf()))
    assert "weigh less" in found.basis
    assert found.tuning.after["f1"].value > found.tuning.before["f1"].value
    assert {one.weight for one in monitor.labels(alike=True).drawn} == {1.0}


def test_a_promise_takes_the_random_sample_alone(production):
    production.review()
    production.review(queue="flagged", limit=20)
    found = retune(production.monitor, Checker(Deaf()), target="false_alarms<=0.1 with 0.9")
    assert found.tuning.tuned.promise
    assert found.left_out["not drawn by chance"] > 0


def test_what_people_chose_is_no_sample_of_production(production):
    production.review(queue="uncertain", limit=60)
    with pytest.raises(TuningError, match=r"review the random queue .*--chosen"):
        retune(production.monitor, Checker(Deaf()))
    found = retune(production.monitor, Checker(Deaf()), chosen=True)
    assert "people chose these answers" in found.warnings[0]


@pytest.mark.parametrize(
    ("reviews", "said"),
    [
        (0, "no answer is reviewed that meets this"),
        (12, r"of the 12 reviewed answers are hallucinated: a threshold takes 10 of them"),
    ],
)
def test_too_few_reviews_are_refused(production, reviews, said):
    if reviews:
        production.review(limit=reviews)
    with pytest.raises(TuningError, match=said):
        retune(production.monitor, Checker(Deaf()))


def test_labels_of_one_kind_are_refused(production):
    production.truth = dict.fromkeys(production.truth, False)
    production.review(limit=40)
    with pytest.raises(TuningError, match="0 of the 40 reviewed answers are hallucinated"):
        retune(production.monitor, Checker(Deaf()))


def test_undecided_answers_take_no_part(production):
    production.review(limit=100)
    for kept, _ in list(production.monitor.reviewed())[:7]:
        production.monitor.review(kept.id, "unsure", reviewer="ann")
    found = retune(production.monitor, Checker(Deaf()))
    assert (found.used, found.left_out) == (93, {"not decided by reviewers": 7})


def test_a_tuned_production_is_tuned_again_from_what_it_kept(production, monitor):
    """What a calibration made of scores is undone, and what it is compared with is that tuning."""
    production.review()
    first = retune(monitor, production.checker, target="precision>=0.6")
    tuned = first.tuning.tuned
    later = Production(monitor, checker=Checker(Told(), policy=Policy(tuned=tuned)), seed=3, count=80)
    later.truth |= production.truth
    later.review(limit=140)
    found = retune(monitor, Checker(Deaf(), policy=Policy(tuned=tuned)))
    assert found.used == 290
    assert found.tuning.own_threshold == tuned.grading.threshold
    told = {one.kept.id: one.kept for one in monitor.labels().labels}
    kept = [told[key] for key in later.truth if key in told and key not in production.truth]
    flagged = [one.outcome.hallucinated for one in kept]
    assert all(one.outcome.detector.parameters["tuned"] == tuned.fingerprint for one in kept)
    assert flagged == [tuned.read(Checker(Told()).check(one.interaction)).hallucinated for one in kept]


def test_answers_of_another_detector_are_judged_anew_only_without_a_model(watched):
    assert retune(watched.monitor, Checker(Told(tint="other"))).used == 150

    class Asking(Told):
        needs_model: ClassVar[bool] = True
        takes_model: ClassVar[bool] = True

    asks = Checker(Asking(tint="asks"), judge=gw.Judge(lambda system, user: ""))
    with pytest.raises(TuningError, match=r"0 of the 0 reviewed answers are hallucinated.*--rejudge"):
        retune(watched.monitor, asks)
    with pytest.raises(TuningError, match=r"would judge 150 answers anew.*--rejudge"):
        retune(watched.monitor, Checker(Deaf()), beside=[asks])


def test_another_threshold_than_the_one_of_production_is_told(watched):
    found = retune(watched.monitor, Checker(Deaf(), policy=Policy(grading=Grading(threshold=0.4))))
    assert found.tuning.own_threshold == 0.4
    assert "another threshold (0.5) than the 0.4" in found.warnings[0]


def test_what_is_judged_anew_as_it_is_masked_is_told(tmp_path):
    with Monitor(f"sqlite:///{tmp_path}/own.db", redact=Redaction("emails")) as monitor:
        for i in range(60):
            wrong = i % 3 == 0
            seen = Interaction(
                contexts=f"Bag {i} costs {i} EUR, says ann{i}@example.com.",
                answer=f"Bag {i} costs {i + 70 * wrong} EUR, says ann{i}@example.com.",
            )
            key = monitor.keep(seen, Checker("token").check(seen), durable=True)
            monitor.review(key, "unsure", reviewer="ann", hallucinated=wrong)
        found = retune(monitor, Checker("lexical"))
        assert "60 answers are judged anew as they are kept, which is masked" in found.warnings[0]


def bags(monitor, checker, count=60):
    for i in range(count):
        wrong = i % 3 == 0
        seen = Interaction(
            question=f"What does bag {i} cost?",
            contexts=f"Bag {i} costs {20 + i} EUR. A seat is free.",
            answer=f"Bag {i} costs {20 + i + 70 * wrong} EUR.",
        )
        key = monitor.keep(seen, checker.check(seen), durable=True)
        monitor.review(key, "unsure", reviewer="ann", hallucinated=wrong)


def test_a_cascade_gets_new_bands(monitor):
    cascade = Checker(Cascade(stages=(Stage(detector="token", accept=0.05, flag=0.95), "lexical")))
    bags(monitor, cascade)
    found = retune(monitor, cascade)
    assert found.tuning.reading is None
    assert found.tuning.after["f1"].value >= found.tuning.before["f1"].value
    with pytest.raises(ConfigurationError, match="tuned by its bands"):
        retune(monitor, Checker(cascade.detector, policy=Policy(grading=Grading(threshold=0.3))))


def test_detectors_beside_it_are_stacked(monitor):
    checker = Checker("token")
    bags(monitor, checker)
    found = retune(monitor, checker, beside=[Checker("lexical")])
    assert [one.name for one in found.tuning.detector.members] == ["token", "lexical"]
    assert found.tuning.own_threshold == checker.detector.grading.threshold


# -- never parted -------------------------------------------------------------------------------------------

texts = st.sampled_from(["", "a", "b", "c", " A "])


@given(st.lists(st.tuples(texts, st.lists(texts, max_size=2)), max_size=12))
def test_answers_that_share_a_question_or_their_passages_share_a_source(rows):
    """And so do those that are linked by others; what is linked by nothing does not."""
    given = [Interaction(question=question, contexts=contexts, answer="x") for question, contexts in rows]
    names = sources(given)
    links = [
        {f"q{question.strip().casefold()}"} - {"q"}
        | {"p" + "|".join(sorted(c.strip().casefold() for c in contexts if c.strip())) or "p"}
        if any(c.strip() for c in contexts)
        else {f"q{question.strip().casefold()}"} - {"q"} | {f"e{question.strip().casefold()}"}
        for question, contexts in rows
    ]
    together = list(range(len(rows)))
    for _ in rows:
        for i, mine in enumerate(links):
            for j, other in enumerate(links):
                if mine & other:
                    together[i] = together[j] = min(together[i], together[j])
    for i in range(len(rows)):
        for j in range(len(rows)):
            assert (names[i] == names[j]) is (together[i] == together[j])


def test_a_tag_names_sources(watched):
    found = retune(watched.monitor, Checker(Deaf()), source="document")
    assert found.tuning.tuned.labels.groups < found.used


# -- weights ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["temperature", "platt", "isotonic"])
def test_an_answer_that_weighs_two_counts_as_two(kind):
    rng = np.random.default_rng(5)
    figures = np.round(rng.random(120), 2)
    labels = rng.random(120) < figures
    often = rng.integers(1, 4, 120)
    weighed = calibrating.fit(kind, figures, labels, often.astype(float))
    repeated = calibrating.fit(kind, np.repeat(figures, often), np.repeat(labels, often))
    at = np.linspace(0, 1, 21)
    close = 0.02 if kind == "isotonic" else 1e-3  # its steps' middles are means of what there is
    if kind == "platt":
        close = 0.02  # labels are smoothed by how many there are
    assert np.abs([weighed(x) - repeated(x) for x in at]).max() < close
    one, other = (
        Target.parse("f1").best(Sweep.of(figures, labels, often.astype(float))),
        Target.parse("f1").best(Sweep.of(np.repeat(figures, often), np.repeat(labels, often))),
    )
    assert one == other


# -- files --------------------------------------------------------------------------------------------------


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "production.yaml"
    path.write_text(
        "detector: lexical\nthreshold: 0.9\ntimeout: 20\nlevels:\n  high: {from: 0.95, label: STOP}\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def stricter(tmp_path_factory):
    """A tuning of the lexical detector, in production with a threshold of .9."""
    checker = Checker("lexical", policy=Policy(grading=Grading(threshold=0.9)))
    with Monitor(f"sqlite:///{tmp_path_factory.mktemp('kept')}/kept.db", drift=None) as monitor:
        bags(monitor, checker)
        return retune(monitor, checker)


def test_the_new_settings_stand_beside_the_old(settings, stricter):
    before = settings.read_text(encoding="utf-8")
    proposal = propose(stricter, settings)
    assert settings.read_text(encoding="utf-8") == before
    assert proposal.path == settings.with_name("production.retuned.yaml")
    assert '-  "threshold": 0.9' in proposal.diff
    new = yaml.safe_load(proposal.path.read_text(encoding="utf-8"))
    assert (new["timeout"], new["levels"]) == (20, {"high": {"label": "STOP"}})
    checker = Checker.from_config(proposal.path)
    assert checker.policy.tuned.fingerprint == stricter.tuning.tuned.fingerprint
    again = propose(stricter, settings)
    assert again.path.name == "production.retuned-2.yaml"  # what is there is never written over
    with pytest.raises(ConfigurationError, match="is there already"):
        propose(stricter, settings, out=proposal.path)


def told(found, gain):
    """The same, had the held-out answers shown this difference."""
    shown = Difference(difference=Figure(value=gain, low=gain - 0.1, high=gain + 0.1), p=0.5, answers=60)
    return replace(found, tuning=replace(found.tuning, lead=shown))


def test_production_is_replaced_when_somebody_says_so(settings, stricter):
    before = settings.read_text(encoding="utf-8")
    proposal = propose(told(stricter, 0.2), settings)
    old = proposal.apply()
    assert old.read_text(encoding="utf-8") == before
    assert Checker.from_config(settings).policy.tuned.fingerprint == stricter.tuning.tuned.fingerprint


@pytest.mark.parametrize(
    ("gain", "name", "said"),
    [
        (-0.05, "new.yaml", "not applied: on held-out answers f1 is not higher"),
        (0.2, "new.json", r"can't be replaced by a \.json file"),
    ],
)
def test_production_stays_where_its_place_is_not_for_the_new(settings, stricter, gain, name, said):
    before = settings.read_text(encoding="utf-8")
    proposal = propose(told(stricter, gain), settings, out=settings.with_name(name))
    with pytest.raises((ConfigurationError, TuningError), match=said):
        proposal.apply()
    assert settings.read_text(encoding="utf-8") == before
    with pytest.raises(ConfigurationError, match="no file of production's"):
        replace(proposal, production=None).apply()


def test_a_sure_gain_is_told_from_a_likely_one(stricter):
    assert [told(stricter, gain).better for gain in (0.2, 0.05, -0.05, -0.2)] == [True, None, None, False]
