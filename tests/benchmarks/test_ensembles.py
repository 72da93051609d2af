"""The simulation of oracles, and the figures of cascades: drawn from truth, and worked out rightly."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import cascade, ensembles
from groundwire.detectors.ensemble.resolution import Majority


def test_simulated_oracles_are_right_as_often_as_they_were_set_to_be():
    panel = ensembles.Panel(name="x", right=(0.9, 0.5, 0.2), copies={2: 0})
    truth, votes = panel.draw(4_000, np.random.default_rng(0))
    found = ensembles.measured(truth, votes)
    assert [found[name] for name in ("o0", "o1", "o2")] == pytest.approx([0.9, 0.5, 0.9], abs=0.03)
    assert all(one[0].support is one[2].support for one in votes)


def test_a_rule_is_right_where_it_says_what_is_true():
    truth, votes = ensembles.Panel(name="x", right=(1.0,), copies={}).draw(50, np.random.default_rng(0))
    assert ensembles.right(Majority(), truth, votes) == 1.0
    assert ensembles.right(Majority(), truth[1:] + truth[:1], votes) < 1.0


ANSWERS = cascade.Answers(
    labels=np.array([1, 0, 1, 0] * 100),
    sources=np.array([f"s{i // 4}" for i in range(400)]),
    weights=np.ones(400),
    scores=np.array([[0.9, 0.9], [0.1, 0.1], [0.5, 0.4], [0.5, 0.6]] * 100),
    refuted=np.zeros(400, dtype=bool),
    claims=(((0.9, 10), (0.1, 10)),) * 400,
)


@pytest.mark.parametrize("simulate", [cascade.independent, cascade.alike])
def test_a_simulated_judge_is_wrong_as_often_as_it_was_set_to_be(simulate):
    wrong = np.mean([simulate(ANSWERS, 0.2, seed) != ANSWERS.labels for seed in range(20)])
    assert wrong == pytest.approx(0.2, abs=0.03)


def test_mistakes_can_lie_where_the_embedded_detector_is_wrong():
    said = np.mean([cascade.alike(ANSWERS, 0.2, seed) != ANSWERS.labels for seed in range(20)], axis=0)
    easy, hard = said[[0, 1]].mean(), said[[2, 3]].mean()
    assert hard > easy


def test_what_facts_refute_is_flagged_by_the_first_stage():
    data = replace(ANSWERS, refuted=np.arange(400) == 1)
    table = data.beside(np.zeros(400))
    assert table[1].tolist() == [1.0, 0.1, 0.0]
    assert table[0].tolist() == [0.9, 0.9, 0.0]


def test_f1_weighs_answers():
    flagged = np.array([True, True, False, False] * 100)
    assert cascade.f1(ANSWERS, flagged) == pytest.approx(0.5)
    heavier = replace(ANSWERS, weights=np.array([3.0, 1.0, 1.0, 1.0] * 100))
    assert cascade.f1(heavier, flagged) == pytest.approx(0.75)


def test_plots_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    curve = {rule: [0.8] * len(ensembles.SIZES) for rule in ("a", "b", "c", "d")}
    panels = dict.fromkeys(("x", "y", "z"), curve)
    ensembles.plotted(panels, {name: [(0.5, 0.5)] for name in panels}, tmp_path / "a.png")
    points = [(0.0, 0.7, 0.7), (0.5, 0.8, 0.75), (1.0, 0.9, 0.9)]
    titles = [f"{judge}, {kind}" for judge in ("good", "bad") for kind in ("one way", "another")]
    cascade.plotted(dict.fromkeys(titles, points), tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == (tmp_path / "b.png").read_bytes()[:4] == b"\x89PNG"
