"""How models that think aloud mark their thinking off from what they say."""

from __future__ import annotations

import re


def said_from(text: str) -> int:
    """Where in ``text`` a model's thinking has ended: 0 where it has none, its length where it has no end.

    Some prompts open the thinking, so that only its end is seen, and some have steps before a "Final Answer:"
    (Yao et al., 2023, ReAct, arXiv:2210.03629). What began in one way ends in that way
    alone: the other ends may be quoted from what is judged.
    """
    start = len(text) - len(text.lstrip())
    for begins, ends in (*_THOUGHTS, _BRACKETED):
        if begins.match(text, start):
            end = ends.search(text, start)
            return end.end() if end else len(text)
    if text.startswith(("{", "[", "`"), start):
        return 0
    if text.startswith("Thought:", start):
        *_, last = _STEP.finditer(text, start)
        answer = _FINAL.search(text, last.end())
        return answer.end() if answer else 0
    end = next(filter(None, (ends.search(text) for _, ends in _THOUGHTS)), None)
    return end.end() if end else 0


def without_thoughts(text: str) -> str:
    """What a model's reply says after its thinking."""
    return text[said_from(text) :].strip()


# As each model was taught to. Between square brackets that is one word; others are headings there.
_WORDS = "(?:think|thinking|thoughts?|reasoning)"
_THOUGHTS = (
    (
        re.compile(rf"<(?:seed:)?{_WORDS}>", re.IGNORECASE),
        re.compile(rf"</(?:seed:)?{_WORDS}>", re.IGNORECASE),
    ),
    (re.compile("◁think▷"), re.compile("◁/think▷")),
)
_STEP = re.compile(r"^[ ]?(?:Thought|Action|Action Input|Observation):", re.MULTILINE)
_FINAL = re.compile(r"^[ ]?Final Answer:[ ]?", re.MULTILINE)
_BRACKETED = (re.compile(r"\[think\]", re.IGNORECASE), re.compile(r"\[/think\]", re.IGNORECASE))
