"""What people write for a label: whether an answer is known to be hallucinated."""

from __future__ import annotations

import re
from typing import Any

_YES = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "t", "y"), True),
    **dict.fromkeys(("0", "0.0", "false", "no", "f", "n"), False),
}
_BAD = (
    *("hallucinated", "hallucination", "unsupported", "ungrounded", "unfaithful", "incorrect"),
    *("fail", "failed"),
)
_GOOD = ("grounded", "supported", "faithful", "correct", "pass", "passed")
_WORDS = {**dict.fromkeys(_BAD, True), **dict.fromkeys(_GOOD, False)}
_NOT = ("not", "non", "no")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_GROUNDED = frozenset(
    {
        *("grounded", "groundedness", "supported", "faithful", "faithfulness", "correct", "correctness"),
        *("factual", "factuality", "accurate", "accuracy", "consistent", "consistency"),
        *("truthful", "truthfulness", "entailed", "attributable"),
    }
)
_AGAINST = frozenset(
    {
        *(*_BAD, "hallucinations", "unfaithfulness", "incorrectness", "inaccurate", "inaccuracy", "wrong"),
        *("inconsistent", "inconsistency", "error", "errors", "issue", "issues", "problem", "problems"),
        *("violation", "violations", "failure", "lack", "lacks", "missing", "mistake", "mistakes", "risk"),
        *("concern", "concerns", "contradiction", "contradictions", "fabrication", "fabrications", "flagged"),
    }
)
_PASSED = frozenset({"pass", "passed"})
_DENIES = frozenset({"not", "non", "un", "never", "isn", "isnt"})


def label_of(value: Any, *, under: str = "") -> bool | None:
    """True for hallucinated, False for grounded, None for an empty cell. ValueError for anything else.

    ``under`` is the name of the column or key: a yes in one that asks whether the answer is grounded says so.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    said = str(value).strip().lower()
    if said in _YES:
        return _YES[said] is not asks_whether_grounded(under)
    first, _, rest = said.replace("-", " ").replace("_", " ").partition(" ")
    if rest in _WORDS and first in _NOT:
        return not _WORDS[rest]
    if said not in _WORDS:
        raise ValueError(f"the label {value!r:.40} is none: {readable(under)}")
    return _WORDS[said]


def readable(under: str = "") -> str:
    """What to write for a label under this name, as whoever wrote something else is told."""
    if asks_whether_grounded(under):
        return f"under {under!r:.40}, expected 1 or grounded, 0 or hallucinated"
    return "expected 1 or hallucinated, 0 or grounded"


def asks_whether_grounded(name: str) -> bool:
    """Whether a yes under this name says that an answer is grounded: ``is_correct``, ``no_hallucination``.

    Under one that has words of both kinds, as ``faithfulness_issue``, it says that something is wrong.
    """
    words = [word.lower() for word in _WORD.findall(name.partition("(")[0])]
    asked = [word for word in words if word in _PASSED]
    asked = asked or [word for word in words if word in _GROUNDED or word in _AGAINST]
    if not asked:
        return False
    before = words[: words.index(asked[0])]
    # In no_rag_faithful, "no" denies another word; in "yes/no: faithful", none.
    denied = not _DENIES.isdisjoint(before) or (before[-1:] in (["no"], ["in"]) and "yes" not in before)
    if _AGAINST.isdisjoint(asked):
        return not denied
    return _AGAINST.issuperset(asked) and (denied or "free" in words)
