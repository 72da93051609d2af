"""How models that think aloud mark their thinking off from what they say."""

from __future__ import annotations

import re


def without_thoughts(text: str) -> str:
    """What ``text``, a model's reply, says after its thinking: its end, without outer whitespace.

    Some prompts open the thinking, so that only its end is seen.
    What began in one way ends in that way alone: the other ends may be quoted from what is judged.
    """
    text = text.strip()
    for begins, ends in (*_THOUGHTS, _BRACKETED):
        if begins.match(text):
            end = ends.search(text)
            return text[end.end() :] if end else ""
    if text.startswith(("{", "[", "`")):
        return text
    end = next(filter(None, (ends.search(text) for _, ends in _THOUGHTS)), None)
    return text[end.end() :] if end else text


# As each model was taught to. Between square brackets that is one word; others are headings there.
_WORDS = "(?:think|thinking|thoughts?|reasoning)"
_THOUGHTS = (
    (
        re.compile(rf"<(?:seed:)?{_WORDS}>", re.IGNORECASE),
        re.compile(rf"</(?:seed:)?{_WORDS}>", re.IGNORECASE),
    ),
    (re.compile("◁think▷"), re.compile("◁/think▷")),
)
_BRACKETED = (re.compile(r"\[think\]", re.IGNORECASE), re.compile(r"\[/think\]", re.IGNORECASE))
