"""Guessing a text's language by its function words: enough to see that two texts don't share one.

Fifteen languages, and every script with its own letters. None where there is too little to go by.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, filterfalse, islice

from groundwire.text import forms, tokens

_FUNCTION_WORDS = {
    "English": """
        the of and to in is that for with as on are be this by or from at you your it if not can
        a an have has was were will which their they than when only its must may our we within
        after before i but there no he she his her been about into what who these don't
    """,
    "German": """
        der die das und ist nicht mit von zu den ein eine auf für sich im dem auch wird sind bei
        oder haben hat werden kann können nach bis des einer einen aus am als über nur ab zum
        zur innerhalb pro tage tagen stunden uhr um jeder jede jeden jahre jahren wochen monate
        monaten keine kein ohne gibt beträgt kostet
    """,
    "French": """
        le la les des et est une dans pour que qui sur pas avec vous au du ce par sont ou aux
        nous un de en il elle peut peuvent ont avant après jours heures ans mois semaines jusqu
        leur ses être plus
    """,
    "Spanish": """
        el la los las de y es una en por que con para se del al no lo su como más sus son está
        un tiene tienen puede pueden hasta después desde cada sin sobre entre días horas años
        meses semanas hay cuesta antes
    """,
    "Italian": """
        il la di e che è un una per in con non del della dei le si sono al alla come da gli nel
        i ha hanno può possono dopo entro prima ogni giorni settimane mesi anni dal dalla delle
        nella fino
    """,
    "Portuguese": """
        o a os as de e é um uma em por que com para não do da dos das se no na ao mais são tem
        têm pode podem até após cada dias horas anos meses semanas antes pelo pela
    """,
    "Dutch": """
        de het een en van in is op te dat zijn met voor niet aan er ook als bij naar wordt
        worden om of uw kunnen kan binnen hebben heeft geen deze door tot uit dagen uur jaar
        weken maanden
    """,
    "a Scandinavian language": """
        och att det som är på inte till har ett eller från jag efter vid mellan ska måste när vara är blir
        og ikke af fra jeg ved mellem skal når være etter blir kan eller også må hvis til har på
    """,
    "Polish": """
        w na nie się jest że od przez dla są oraz może lub które który która przed być można
    """,
    "Czech": "je že pro jsou nebo může které který která před být lze při také není podle nejsou jako",
    "Turkish": "ve bir bu için ile olarak değil olan çok daha gibi sonra kadar veya önce tarafından",
    "Finnish": "ja ei että ovat tai voi kuin myös jos ole mutta ennen jälkeen sekä niin kanssa",
    "Hungarian": "az és hogy nem egy vagy csak kell lehet után előtt minden ha már még",
    "Romanian": "și în nu este pentru din sau care sunt poate după înainte fi cu mai",
    "Indonesian": """
        yang dan di dari untuk dengan tidak ini itu pada adalah atau dalam ke akan bisa dapat juga sudah
        sebelum setelah
    """,
    "Vietnamese": "và của là không được có cho các trong với này một những khi đến",
}
_LANGUAGES: dict[str, list[str]] = {}
for _language, _words in _FUNCTION_WORDS.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_language)
_OF_ENGLISH = frozenset(word for word, spoken in _LANGUAGES.items() if "English" in spoken)
_OF_OTHERS = frozenset(word for word, spoken in _LANGUAGES.items() if spoken != ["English"])

_LOOKED_AT = 120
_LEAST_SHARE, _LEAD = 0.12, 1.5
# So many of another language's words, none of them English: the "am" of opening hours speaks no German.
_LEAST_OTHERS = 2


def guess(words: Iterable[str], *, least: int = 4, english: bool = False) -> str | None:
    """The language of folded words, as far as letters or function words tell it; else None.

    ``least`` is how many function words it takes. Where only ``english`` or not matters, two others that are
    much alike are told as the likelier one: half of the words of a Spanish sentence are Portuguese, too.
    """
    return Heard(words).language(least=least, english=english)


class Heard:
    """Folded words, the letters and function words among them counted once for several guesses."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = list(_looked_at(words))
        self._script = _written_in(self._words)
        self._seen = _counted(self._words) if self._script is None else {}

    def language(self, *, least: int, english: bool = False) -> str | None:
        """What ``guess`` says of the words."""
        if self._script is not None or not self._words:
            return self._script
        (first, most), (_, second), *_ = sorted(self._seen.items(), key=lambda item: -item[1])
        rest = self._seen["English"] if english and first != "English" else second
        if most < max(least, _LEAST_SHARE * len(self._words)) or most < _LEAD * rest:
            return None
        return first if first == "English" or _several(first, self._words) else None


def _looked_at(words: Iterable[str]) -> Iterator[str]:
    return islice((word for word in words if word[0].isalpha()), _LOOKED_AT)


def _written_in(words: Sequence[str]) -> str | None:
    """The language of a script with its own letters, if most words are written in one."""
    other = filterfalse(str.isascii, words)
    foreign = [word for word in other if not word[0].isascii() and _script(word[0]) != "LATIN"]
    if len(foreign) <= len(words) / 2:
        return None
    scripts = Counter(_script(character) for word in foreign for character in word)
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    script = "HIRAGANA" if kana else scripts.most_common(1)[0][0]
    return _WRITTEN_IN.get(script, f"{script.capitalize()} script")


def _several(spoken: str, words: Iterable[str]) -> bool:
    """Whether different words speak for a language, and not one again and again: "EUR 5 per day per bag"."""
    told = {
        word for word in words if spoken in (known := _LANGUAGES.get(word, ())) and "English" not in known
    }
    return len(told) >= _LEAST_OTHERS


def spoken(text: str) -> list[str]:
    """The folded words of a text, but for addresses: "com" and "de" in them tell nothing."""
    return [tokens.fold(word) for word in tokens.texts(_ADDRESS.sub(" ", text))]


def small(text: str) -> list[str]:
    """How a text begins, its capitalised words being words of no language in Latin letters.

    The "Los" of Los Angeles speaks no Spanish, and the W of 5 W no Polish.
    """
    words = tokens.texts(_ADDRESS.sub(" ", text[:_READ]))
    folded = (
        _CAPITALISED if word[0].isupper() and word[0].isascii() else form.folded
        for word, form in zip(words, forms.of(words), strict=True)
    )
    return list(_looked_at(folded))


_CAPITALISED = "X"


_READ = 4_000  # characters: more than enough for the words that are looked at
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s)\]>\"']++")


def likely(words: Sequence[str]) -> list[str]:
    """The languages that most of some lower-case words speak for, were it one word; none beside English."""
    if sum(map(_OF_OTHERS.__contains__, words)) <= sum(map(_OF_ENGLISH.__contains__, words)):
        return []  # as of most texts: no other can have more
    seen = _counted(words)
    most = max(seen.values())
    return [language for language, n in seen.items() if n == most] if most > seen["English"] else []


def _counted(words: Iterable[str]) -> dict[str, int]:
    """How many words are function words of each language."""
    seen = dict.fromkeys(_FUNCTION_WORDS, 0)
    for language in chain.from_iterable(filter(None, map(_LANGUAGES.get, words))):
        seen[language] += 1
    return seen


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split()[0]


# What people call the language of a script that only one writes, or nearly so; else the script says enough.
_WRITTEN_IN = {
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "THAI": "Thai",
    "CYRILLIC": "a language in Cyrillic script",
    "ARABIC": "a language in Arabic script",
    "DEVANAGARI": "a language in Devanagari script",
}
