"""The example's rules name metrics and labels that there are."""

import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="needs groundwire[yaml]")

from groundwire.sinks.metrics import COUNTERS, DROPPED, FAILED, HISTOGRAMS, PENDING  # noqa: E402

FOLDER = Path(__file__).parents[2] / "examples" / "metrics"
LABELS = {
    **{f"{one.exposed}_total": {*one.labels} for one in (*COUNTERS, DROPPED, FAILED)},
    **{
        f"{one.exposed}_{part}": {*one.labels, "le"}
        for one in HISTOGRAMS
        for part in ("bucket", "sum", "count")
    },
    PENDING.exposed: {*PENDING.labels},
}


def rules():
    (group,) = yaml.safe_load((FOLDER / "groundwire_rules.yml").read_text(encoding="utf-8"))["groups"]
    return group["rules"]


def test_each_rule_reads_what_is_exposed():
    """A metric or a label that nobody exposes makes a rule that never fires."""
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    used = set()
    for rule in rules():
        for name in re.findall(r"groundwire[a-z0-9_:]+", rule["expr"]):
            assert name in LABELS or name in recorded
            used.add(name)
        for name, matchers in re.findall(r"(groundwire_\w+)\{([^}]*)\}", rule["expr"]):
            assert set(re.findall(r"(\w+)\s*[!=]", matchers)) <= LABELS[name]
    assert recorded <= used | {"groundwire:detect_seconds:p95_30m"}
    assert {"groundwire_verdicts_total", "groundwire_queue_dropped_total"} <= used


def test_the_scrape_names_the_port_that_is_served():
    from groundwire.sinks.prometheus import PORT

    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))
    assert config["scrape_configs"][0]["static_configs"] == [{"targets": [f"127.0.0.1:{PORT}"]}]
    assert config["rule_files"] == ["groundwire_rules.yml"]
