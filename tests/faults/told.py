"""What the tests of this folder found: one row a fault, written to reports/robustness.json and shown in docs.

``python -m tests.faults`` writes the tables of docs/robustness.md from that file.
"""

import json
import os
import platform
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "reports" / "robustness.json"
PAGE = ROOT / "docs" / "robustness.md"
_PART = re.compile(r"(<!-- (\w+) of faults, by python -m tests.faults -->\n).*?(<!-- end -->)", re.DOTALL)

# What the page sums up in a line each: which faults, by the names that the tests give them.
SHORT = {
    "a fifth, or half, of all calls throttled": ("20 % of calls throttled", "50 % of calls throttled"),
    "a server that fails, cuts off, or sends garbage": (
        "every call throttled",
        "status 500",
        "status 503",
        "connection cut",
        "garbage with status 200",
        "body cut off",
        "body empty",
        "expired credentials",
    ),
    "no reply, or a byte every 0.3 s, for ever": (
        "no reply, ever",
        "a byte every 0.3 s",
        "a judge that never returns",
    ),
    "a refusal, another shape, claims left out": (
        "a refusal",
        "JSON of another shape",
        "a claim left out",
        "the reply cut off",
    ),
    "one failure after the other": ("five failures in a row",),
    "200 MB in one reply": ("200 MB in one reply",),
    "clock set back or forward, event loop closed": (
        "clock set back by a day",
        "clock set forward by a day",
        "event loop closed",
    ),
    "process ends, or forks, with work waiting": ("exit with answers waiting", "fork with a call out"),
    "disk full, database read-only or damaged": (
        "disk full under the monitor",
        "monitor's database read-only",
        "monitor's database damaged",
    ),
}


class Told:
    """Rows as tests find them: what went wrong, for whom, what came out, how long it took at most."""

    def __init__(self):
        self.rows = {}

    def __call__(self, fault, who, outcome, seconds, *, deadline=None, note=""):
        row = self.rows.setdefault(
            fault, {"fault": fault, "outcomes": {}, "seconds": 0.0, "deadline": deadline, "note": note}
        )
        row["outcomes"][who] = outcome
        row["seconds"] = max(row["seconds"], round(seconds, 2))

    def write(self, path=FILE):
        """Put these rows in the file, beside those of other runs."""
        kept = read(path) | self.rows if path.exists() else self.rows
        path.parent.mkdir(exist_ok=True)
        made = {"python": platform.python_version(), "cores": os.cpu_count(), "rows": list(kept.values())}
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path=FILE):
    """The rows of a file, by their faults."""
    return {row["fault"]: row for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}


def outcome(row):
    """What came out, for all alike or for each."""
    told = row["outcomes"]
    if len(set(told.values())) == 1:
        return next(iter(told.values()))
    return "; ".join(f"{who}: {what}" for who, what in told.items())


def table(rows):
    """Every fault, in the order in which the tests found them."""
    lines = ["| fault | outcome | longest, s |", "|---|---|---|"]
    for row in rows.values():
        within = f" of {row['deadline']:g}" if row["deadline"] else ""
        lines.append(f"| {row['fault']} | {outcome(row)} | {row['seconds']:.2f}{within} |")
    return "\n".join(lines)


def summary(rows):
    """A line for each kind of fault. KeyError where one was not tried."""
    lines = ["| what goes wrong | what comes out | longest, s |", "|---|---|---|"]
    for what, faults in SHORT.items():
        found = [rows[fault] for fault in faults]
        outcomes = "; ".join(dict.fromkeys(outcome(row) for row in found))
        lines.append(f"| {what} | {outcomes} | {max(row['seconds'] for row in found):.1f} |")
    return "\n".join(lines)


def tables(rows):
    """Both, by the names that the page has them under."""
    return {"table": table(rows), "summary": summary(rows)}


def shown(page):
    """The tables that a page has, by their names."""
    return {m[2]: m[0].removeprefix(m[1]).removesuffix(m[3]).strip() for m in _PART.finditer(page)}


def without_times(table):
    """A table's rows without their last column."""
    return [line.rsplit("|", 2)[0] for line in table.splitlines()]


def put(page, made):
    """A page with its tables made anew."""
    return _PART.sub(lambda m: f"{m[1]}\n{made[m[2]]}\n\n{m[3]}", page)


def main():
    made = tables(read())
    PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
