"""A notebook as a page: its words, its code, and the outputs that are stored in it."""

from __future__ import annotations

import json
import re
from typing import Any


def markdown(text: str) -> str:
    """The Markdown of a notebook's JSON. Outputs are shown as they are stored; nothing is run."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = _joined(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code":
            parts.append(f"```python\n{source}\n```")
            parts += [shown for output in cell["outputs"] if (shown := _output(output))]
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    """HTML as it is, with no blank line that would end it; everything else as text."""
    data = output.get("data", {})
    if "text/html" in data:
        html = re.sub(r"\n\s*\n", "\n", _joined(data["text/html"])).strip()
        return f'<div class="output">{html}</div>'
    text = _joined(
        output.get("text") or data.get("text/plain") or "\n".join(output.get("traceback", []))
    ).rstrip()
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{{ .text .output }}\n{text}\n{fence}" if text else ""


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
