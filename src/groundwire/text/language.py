"""Guessing a text's language by its function words: enough to see that two texts don't share one.

Six European languages, and every script with its own letters. None where there is too little to go by.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import islice

_FUNCTION_WORDS = {
    "English": "the of and to in is that for with as on are be this by or from at you your it if not can a",
    "German": "der die das und ist nicht mit von zu den ein eine auf für sich im dem auch wird sind bei oder",
    "French": "le la les des et est une dans pour que qui sur pas avec vous au du ce par sont ou aux nous",
    "Spanish": "el la los las de y es una en por que con para se del al no lo su como más sus son está",
    "Italian": "il la di e che è un una per in con non del della dei le si sono al alla come da gli nel",
    "Portuguese": "o a os as de e é um uma em por que com para não do da dos das se no na ao mais são",
}
_LANGUAGES: dict[str, list[str]] = {}
for _language, _words in _FUNCTION_WORDS.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_language)

_LOOKED_AT = 120
_LEAST_WORDS, _LEAST_SHARE, _LEAD = 4, 0.12, 1.5


def guess(words: Iterable[str]) -> str | None:
    """The language of folded words, or the script where it isn't Latin; None where it can't be told."""
    looked_at = list(islice((word for word in words if word[0].isalpha()), _LOOKED_AT))
    if not looked_at:
        return None
    foreign = [word for word in looked_at if not word[0].isascii() and _script(word[0]) != "LATIN"]
    if len(foreign) > len(looked_at) / 2:
        return _script(foreign[0][0]).title()
    seen = dict.fromkeys(_FUNCTION_WORDS, 0)
    for word in looked_at:
        for language in _LANGUAGES.get(word, ()):
            seen[language] += 1
    (first, most), (_, second), *_ = sorted(seen.items(), key=lambda item: -item[1])
    if most < max(_LEAST_WORDS, _LEAST_SHARE * len(looked_at)) or most < _LEAD * second:
        return None
    return first


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "UNKNOWN").split()[0]
    return "HAN" if name in ("CJK", "HIRAGANA", "KATAKANA") else name
