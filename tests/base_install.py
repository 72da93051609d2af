"""What must work where ``pip install groundwire`` brought nothing but the base.

``make base`` runs it as a script. The extras are absent here for real: a test that only hides them can't
notice a file that is missing from the wheel.
"""

import importlib
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

EXTRAS = [
    "langchain_core",
    "langsmith",
    "langchain_aws",
    "llama_index",
    "opentelemetry",
    "jinja2",
    "pyarrow",
    "sklearn",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "yaml",
]
ROWS = [
    {"question": "What does a bag cost?", "context": "A bag costs 25 EUR.", "answer": "A bag costs 25 EUR."},
    {"question": "What does a bag cost?", "context": "A bag costs 25 EUR.", "answer": "A bag costs 75 EUR."},
]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "groundwire", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def refusal(room: str, name: str) -> str:
    """What a base install says when asked for a name of a framework's room."""
    try:
        getattr(importlib.import_module(f"groundwire.{room}"), name)
    except ImportError as error:
        return str(error)
    return "no error"


def main() -> None:
    present = [name for name in EXTRAS if importlib.util.find_spec(name)]
    assert present == [], f"not a base install: {present}"

    import groundwire as gw

    fine, wrong = (gw.check(contexts=row["context"], answer=row["answer"]) for row in ROWS)
    assert fine.grounded
    assert wrong.hallucinated
    assert [span.of(ROWS[1]["answer"]) for span in wrong.spans] != []

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "answers.jsonl"
        table.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        checked = command("check", str(table), "--json")
        assert checked.returncode == 1, checked.stderr
        assert [row["hallucinated"] for row in json.loads(checked.stdout)["results"]] == [False, True]
        page = command("check", str(table), "--html", str(Path(folder) / "page.html"))
        assert page.returncode == 2
        assert "pip install 'groundwire[report]'" in page.stderr, page.stderr

    served = command("review")
    assert served.returncode == 2
    assert "pip install 'groundwire[review]'" in served.stderr, served.stderr

    for name in ("GroundwireCallbackHandler", "with_hallucination_check", "HallucinationMiddleware"):
        assert "pip install 'groundwire[langchain]'" in refusal("langchain", name)
    for name in ("GroundwireHandler", "CheckedQueryEngine", "CheckedChatEngine", "HallucinationEvaluator"):
        assert "pip install 'groundwire[llama-index]'" in refusal("llama_index", name)
    print("base install: fine")


if __name__ == "__main__":
    main()
