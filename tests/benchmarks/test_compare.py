"""Recorded models beside offline detectors: each replayed verdict is the recorded one, and gaps abstain."""

import gzip
import json

import pytest

from benchmarks import compare


@pytest.fixture
def finqa(tmp_path):
    """Six answers about a table; one judge is always right, the other never said anything of one answer."""

    def verdict(supported, confidence=0.9, latency=800):
        return {
            "supported": supported,
            "partial": False,
            "confidence": confidence,
            "category": "",
            "latency_ms": latency,
        }

    rows = []
    for n in range(6):
        bad = n % 2
        judges = {"v1": verdict(not bad), "v2": verdict(True, 0.8, 900) if n else None}
        rows.append(
            {
                "id": f"finqa-{n}",
                "dataset": "finqa_detect",
                "task": "qa",
                "question": "How much?",
                "context": f"Revenue was {n} million.",
                "answer": f"It was {n + bad} million.",
                "label": bad,
                "spans": [],
                "meta": {"source_id": n, "dup_of_earlier": n == 5, "recorded_judge": judges},
            }
        )
    path = tmp_path / "eval" / "finqa_detect.jsonl.gz"
    path.parent.mkdir()
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_recorded_judges_stand_beside_offline_detectors(finqa, capsys):
    """Repeats are left out; what a judge said is its verdict and its seconds; what it didn't abstains."""
    compare.finqa(finqa, finqa / "out")
    capsys.readouterr()
    told = json.loads((finqa / "out" / "report.json").read_text(encoding="utf-8"))
    assert told["sets"]["finqa_detect"]["answers"] == 5
    names = [one["name"] for one in told["methods"] if not one["shortcut"]]
    assert names == ["token", "lexical", "embedded", "judge: v1", "judge: v2"]
    first, second = (told["cards"]["finqa_detect"][f"judge: {name}"] for name in ("v1", "v2"))
    assert first["figures"]["auroc"]["value"] == first["figures"]["f1"]["value"] == 1
    assert (first["spent"]["calls"], first["spent"]["seconds_p50"]) == (1, 0.8)
    assert second["coverage"] == 0.8
    assert second["abstained"] == {"MODEL_FAILED": 1}
    assert second["bounds"]["auroc"][0] <= second["figures"]["auroc"]["value"]
