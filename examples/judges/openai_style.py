"""A model behind an API in OpenAI's style as judge: ``python -m examples.judges.openai_style MODEL [URL]``.

That is OpenAI's own, and what vLLM, llama.cpp, LM Studio and many gateways serve. The key, if one is needed,
is read from OPENAI_API_KEY. With langchain-openai installed, ``gw.Judge("openai:MODEL")`` is the same in one
line, and counts tokens.
"""

from __future__ import annotations

import os
from functools import partial

import groundwire as gw
from examples.judges.answers import main
from examples.judges.http import post
from groundwire.judge.limits import Limits


def ask(system: str, user: str, *, model: str, url: str) -> str:
    """One question to /chat/completions."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    key = os.environ.get("OPENAI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    reply = post(f"{url}/chat/completions", {"model": model, "messages": messages, "temperature": 0}, headers)
    return str(reply["choices"][0]["message"]["content"])


def build(model: str, url: str = "https://api.openai.com/v1") -> gw.Checker:
    """A checker whose judge tries again when it is throttled."""
    judge = gw.Judge(partial(ask, model=model, url=url), limits=Limits(retries=3, requests_per_minute=60))
    return gw.Checker("judge", judge=judge)


if __name__ == "__main__":
    main(build, __doc__)
