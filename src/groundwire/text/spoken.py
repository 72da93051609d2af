"""Numbers written as words in Dutch, French, German, Italian, Portuguese and Spanish.

English is in ``figures``. A text is read in the language that it looks like: "once" is eleven in Madrid and
no number in London. Whole numbers up to 999,999; "one" is left out, since it is the article too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from groundwire.core.cached import cached_property
from groundwire.text import language


def find(lowered: str) -> Iterator[tuple[int, int, float]]:
    """Where number words stand in a lower-case text, and what number each is."""
    for numbers in filter(None, map(_NUMBERS.get, language.likely(_first_words(lowered)))):
        for match in numbers.pattern.finditer(lowered):
            yield match.start(), match.end(), numbers.value(match.group())


def _first_words(lowered: str) -> list[str]:
    if lowered.isascii():  # five times as fast as the pattern
        return lowered.translate(_LETTERS).split(maxsplit=_LOOKED_AT)[:_LOOKED_AT]
    return [match.group() for match in islice(_WORD.finditer(lowered), _LOOKED_AT)]


_LETTERS = "".join(c if c.isalpha() else " " for c in map(chr, range(128)))
_WORD = re.compile(r"[^\W\d_]+")
_LOOKED_AT = 120


@dataclass(frozen=True)
class _Numbers:
    """How a language counts: the numbers below a hundred, the words for hundreds, and for a thousand.

    ``gap`` is what may stand between them.
    """

    small: Mapping[str, int]
    hundreds: Mapping[str, int]
    thousand: str
    gap: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        small, gap = _any(self.small), f"(?:{self.gap})"
        below = f"(?:(?:{small}{gap})?{self._hundred.pattern}(?:{gap}{small})?|{small})"
        whole = f"(?:{below}{gap})?{self.thousand}(?:{gap}{below})?|{below}"
        # Not the "mil" of "5 mil", nor a part of a longer word.
        return re.compile(rf"(?<![\w-])(?<!\d[ \u00a0])(?:{whole})(?![\w-])")

    @cached_property
    def _hundred(self) -> re.Pattern[str]:
        return re.compile(_any(self.hundreds))

    def value(self, words: str) -> float:
        before, *after = re.split(self.thousand, words, maxsplit=1)
        if not after:
            return float(self._below(before))
        return float((self._below(before) or 1) * 1_000 + self._below(after[0]))

    def _below(self, words: str) -> int:
        """The value of words for a number below a thousand; 0 where there are none."""
        hundred = self._hundred.search(words)
        if hundred is None:
            return self._small(words)
        times = self._small(words[: hundred.start()]) or 1
        return times * self.hundreds[hundred.group()] + self._small(words[hundred.end() :])

    def _small(self, words: str) -> int:
        bare = re.sub(rf"^(?:{self.gap})|(?:{self.gap})$", "", words)
        return self.small[bare.replace("-", " ")] if bare else 0


def _any(words: Iterable[str]) -> str:
    longest_first = sorted(words, key=len, reverse=True)
    return "(?:" + "|".join(word.replace(" ", "[ -]") for word in longest_first) + ")"


def _counted(start: int, words: str, step: int = 1) -> dict[str, int]:
    """Each word of ``words``, and of those between slashes, by the number that it stands for."""
    return {
        word: start + i * step
        for i, ways in enumerate(words.split())
        for word in ways.replace("_", " ").split("/")
    }


def _joined(tens: Mapping[str, int], ones: Mapping[str, int], form: str) -> dict[str, int]:
    return {
        form.format(ten=ten, one=one): tens[ten] + ones[one] for ten in tens for one in ones if ones[one] < 10
    }


def _german() -> dict[str, int]:
    ones = _counted(2, "zwei/zwo drei vier fünf sechs sieben acht neun")
    teens = _counted(10, "zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn")
    tens = _counted(20, "zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig", 10)
    return ones | teens | tens | _joined(tens, {"ein": 1, **ones}, "{one}und{ten}")


def _dutch() -> dict[str, int]:
    ones = _counted(2, "twee drie vier vijf zes zeven acht negen")
    teens = _counted(10, "tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien")
    tens = _counted(20, "twintig dertig veertig vijftig zestig zeventig tachtig negentig", 10)
    joined = _joined(tens, {"een": 1, **ones}, "{one}en{ten}")
    return (
        ones
        | teens
        | tens
        | {word.replace("eeen", "eeën").replace("ieen", "ieën"): n for word, n in joined.items()}
    )


def _french() -> dict[str, int]:
    ones = _counted(2, "deux trois quatre cinq six sept huit neuf")
    teens = _counted(10, "dix onze douze treize quatorze quinze seize dix_sept dix_huit dix_neuf")
    tens = _counted(20, "vingt trente quarante cinquante soixante septante huitante/octante nonante", 10)
    joined = _joined(tens, ones, "{ten} {one}") | _joined(tens, {"un": 1, "une": 1}, "{ten} et {one}")
    sixty = {f"soixante {word}": 60 + n for word, n in teens.items()} | {"soixante et onze": 71}
    eighty = {f"quatre vingt {word}": 80 + n for word, n in ({"un": 1, "une": 1} | ones | teens).items()}
    return ones | teens | tens | joined | sixty | eighty | {"quatre vingts": 80}


def _italian() -> dict[str, int]:
    ones = _counted(2, "due tre/tré quattro cinque sei sette otto nove")
    teens = _counted(
        10, "dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove"
    )
    tens = _counted(20, "venti trenta quaranta cinquanta sessanta settanta ottanta novanta", 10)
    joined = {
        (ten[:-1] if one[0] in "uo" else ten) + one: tens[ten] + n
        for ten in tens
        for one, n in ({"uno": 1, "un": 1} | ones).items()
    }
    return ones | teens | tens | joined


def _spanish() -> dict[str, int]:
    ones = _counted(2, "dos tres cuatro cinco seis siete ocho nueve")
    teens = _counted(
        10,
        "diez once doce trece catorce quince dieciséis/dieciseis diecisiete dieciocho diecinueve veinte "
        "veintiuno/veintiún/veintiuna veintidós/veintidos veintitrés/veintitres veinticuatro veinticinco "
        "veintiséis/veintiseis veintisiete veintiocho veintinueve",
    )
    tens = _counted(30, "treinta cuarenta cincuenta sesenta setenta ochenta noventa", 10)
    return ones | teens | tens | _joined(tens, {"uno": 1, "un": 1, "una": 1, **ones}, "{ten} y {one}")


def _portuguese() -> dict[str, int]:
    ones = _counted(2, "dois/duas três quatro cinco seis sete oito nove")
    teens = _counted(
        10,
        "dez onze doze treze catorze/quatorze quinze dezasseis/dezesseis dezassete/dezessete dezoito "
        "dezanove/dezenove",
    )
    tens = _counted(20, "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", 10)
    return ones | teens | tens | _joined(tens, {"um": 1, "uma": 1, **ones}, "{ten} e {one}")


_SPANISH_HUNDREDS = _counted(
    200,
    "doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas quinientos/quinientas "
    "seiscientos/seiscientas setecientos/setecientas ochocientos/ochocientas novecientos/novecientas",
    100,
)
_PORTUGUESE_HUNDREDS = _counted(
    200,
    "duzentos/duzentas trezentos/trezentas quatrocentos/quatrocentas quinhentos/quinhentas "
    "seiscentos/seiscentas setecentos/setecentas oitocentos/oitocentas novecentos/novecentas",
    100,
)
_NUMBERS = {
    "Dutch": _Numbers(_dutch(), {"honderd": 100}, "duizend", " en | |"),
    "French": _Numbers(_french(), {"cent": 100, "cents": 100}, "mille", "[ -]"),
    "German": _Numbers(_german(), {"hundert": 100, "einhundert": 100}, "(?:ein)?tausend", "und| |"),
    "Italian": _Numbers(_italian(), {"cento": 100}, "(?:mille|mila)", " e | |"),
    "Portuguese": _Numbers(_portuguese(), {"cem": 100, "cento": 100, **_PORTUGUESE_HUNDREDS}, "mil", " e | "),
    "Spanish": _Numbers(_spanish(), {"cien": 100, "ciento": 100, **_SPANISH_HUNDREDS}, "mil", " y | "),
}
