"""Whether one field of a form that a model has filled is its answer, or all of it is.

A field may be called ``text`` and be one statement of many. It is the answer where the others state nothing,
or only tell of it: what it rests on, and how sure the model is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_OF_THE_ANSWER = re.compile(
    r"(.+_)?(sources?|citations?|references?|contexts?|evidence|passages?|documents?|docs?|nodes?|chunks?|"
    r"ids?|pages?|urls?|links?|files?|metadata|usage|model|"
    r"confidence|certainty|score|probability|likelihood|relevance|rating|"
    r"language|lang|question|query|follow_?ups?|suggestions?|"
    r"reason|reasoning|rationale|thoughts?|thinking|chain_of_thought)"
    r"(_(score|level|ids?|names?|files?|urls?|pages?|list|nodes?|numbers?|questions?))?",
    re.IGNORECASE,
)


def own_answer(form: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """The text that a form holds under one of the keys, where that is its answer; None where all of it is."""
    name = next((key for key in keys if isinstance(form.get(key), str)), None)
    if name is None or any(key != name and _states(key, held) for key, held in form.items()):
        return None
    return str(form[name])


def _states(name: str, held: Any) -> bool:
    """Whether a field states anything that may be made up."""
    if _OF_THE_ANSWER.fullmatch(name) or held is None or isinstance(held, bool):
        return False
    if isinstance(held, Mapping):
        return any(_states(str(key), one) for key, one in held.items())
    if isinstance(held, list | tuple | set | frozenset):
        return any(_states(name, one) for one in held)
    return not isinstance(held, str) or bool(held.strip())
