"""What the timings of the review page's parts share: a store, a client that is signed in, and options."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from starlette.testclient import TestClient

from groundwire.monitor import Monitor
from groundwire.review import create_app

RUNS = 5
_TOKEN = "a-token-for-timing"


def client_of(monitor: Monitor) -> TestClient:
    """A client of the page that shows its token."""
    return TestClient(
        create_app(monitor, token=_TOKEN),
        base_url="http://127.0.0.1",
        headers={"Authorization": f"Bearer {_TOKEN}"},
    )


def run(doc: str | None, fill: Callable[[Monitor, int], None], tell: Callable[[Monitor], None]) -> None:
    """Fill a store with ``--rows`` answers, unless ``--store`` is there already, and tell its times."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.store or Path(folder) / "answers.db"
        there = path.exists()
        with Monitor(f"sqlite:///{path.absolute()}", drift=None) as monitor:
            if not there:
                fill(monitor, given.rows)
            tell(monitor)
