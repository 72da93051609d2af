"""A local model behind Ollama's API as the judge: ``python -m examples.judges.ollama_style MODEL [URL]``.

No package is needed: a judge can be any function from two texts to one. With langchain-ollama installed,
``gw.Judge("ollama:MODEL")`` is the same in one line.
"""

from __future__ import annotations

from functools import partial

import groundwire as gw
from examples.judges.answers import main
from examples.judges.http import post
from groundwire.judge.limits import Limits

# In tokens: passages, answer and reply have to fit. Ollama's own default is a few thousand, and what is
# beyond it is cut off without a word.
WINDOW = 16_384


def ask(system: str, user: str, *, model: str, url: str) -> str:
    """One question to /api/chat. ``format`` has the model write JSON and nothing else."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    body = {
        "model": model,
        "messages": messages,
        "stream": False,
        "format": "json",
        "options": {"temperature": 0, "num_ctx": WINDOW},
    }
    return str(post(f"{url}/api/chat", body)["message"]["content"])


def build(model: str, url: str = "http://localhost:11434") -> gw.Checker:
    """A checker for one machine: one call at a time, and patience with a slow model."""
    judge = gw.Judge(
        partial(ask, model=model, url=url), timeout=120, max_concurrency=1, limits=Limits(retries=2)
    )
    return gw.Checker("judge", judge=judge, policy=gw.Policy(timeout=300))


if __name__ == "__main__":
    main(build, __doc__)
