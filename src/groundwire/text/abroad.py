"""What other languages than English have of their own: words that carry no content, and stems of the rest.

The six that ``language`` tells by their function words. In others every word counts, as it is written.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module

# As in English (``tokens.STOP_WORDS``), negations, modals, quantifiers, place and time are not among them.
_EMPTY = {
    "German": """
        der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen diesem jener
        jene ich mich mir mein meine meinen wir uns unser unsere unserer unserem unseren du dich dir
        dein deine ihr euch euer eure er ihn ihm sein seine seiner seinem seinen sie ihnen ihre ihrer
        ihrem ihren es sich man wer was welche welcher welches wo wann warum wie bin bist ist sind seid
        war waren wäre wären gewesen werde wird werden wurde wurden worden habe hast hat haben habt
        hatte hatten von zu zum zur in im an am auf aus bei beim mit nach für um als ob und oder aber
        wenn weil dass daß denn da dort hier dann doch auch so sehr noch schon also sowie wobei dafür
        dabei dazu damit darauf daran davon hierfür bitte
    """,
    "French": """
        le la les l un une des du de d ce cet cette ces c je j me m moi mon ma mes nous notre nos vous
        votre vos tu te t toi ton ta tes il elle on ils elles lui leur leurs se s son sa ses y en qui
        que qu dont où quand comment pourquoi quel quelle quels quelles suis es est sommes êtes sont
        était étaient être été sera seront serait ai as a avons avez ont avait avaient avoir aura à au
        aux pour par sur avec comme chez vers et ou mais si donc car ainsi lorsque lors puisque aussi
        très bien alors là ici ça cela ceci celui celle ceux celles
    """,
    "Spanish": """
        el la los las lo un una unos unas este esta estos estas ese esa esos esas esto eso aquel aquella
        yo me mi mis nosotros nos nuestro nuestra nuestros nuestras tú te tu tus usted ustedes él ella
        ellos ellas le les se su sus suyo quien quienes que qué cual cuales cuál cuándo cuando dónde
        donde cómo como por para de del a al en con es son está están era eran fue fueron ser sido estar
        estado será serán sea ha han he hemos había habían haber y e o u pero si porque pues así también
        muy ya aquí allí ahí
    """,
    "Italian": """
        il lo la i gli le l un uno una questo questa questi queste quello quella quelli quelle io mi me
        mio mia noi ci nostro nostra nostri nostre tu ti te tuo voi vi vostro vostra lui lei loro si suo
        sua suoi sue ne chi che cui quale quali quando dove come perché di d a da in con su per del
        dello della dei degli delle dell al allo alla ai agli alle all dal dallo dalla dai dagli dalle
        dall nel nello nella nei negli nelle nell sul sullo sulla sui sugli sulle sull è sono era erano
        essere stato stata stati state sarà saranno ha hanno ho abbiamo avete aveva avere e ed o ma se
        quindi così anche molto già qui lì
    """,
    "Portuguese": """
        o a os as um uma uns umas este esta estes estas esse essa esses essas isto isso aquele aquela eu
        me mim meu minha nós nos nosso nossa nossos nossas tu te você vocês ele ela eles elas lhe lhes
        se seu sua seus suas quem que qual quais quando onde como porque por para de do da dos das em no
        na nos nas num numa ao aos à às pelo pela pelos pelas com é são está estão era eram foi foram
        ser sido estar será serão seja há tem têm havia e ou mas se pois assim também muito já aqui ali
    """,
    "Dutch": """
        de het een deze dit die dat ik me mij mijn wij we ons onze jij je jou jouw jullie u uw hij hem
        zijn zij ze haar hun hen zich men er wie wat welke waar wanneer waarom hoe ben bent is was waren
        geweest word wordt worden werd werden geworden heb hebt heeft hebben had hadden van te in op aan
        bij met naar voor om uit tot als of en maar want omdat dus ook zo zeer heel nog al dan toch hier
        daar daarvoor daarbij hiervoor daarmee
    """,
}
EMPTY = {language: frozenset(words.split()) for language, words in _EMPTY.items()}
"""Words without content, folded, by language."""


def bare(folded: str) -> str:
    """A word without what is elided before it: the "entreprise" of "l'entreprise"."""
    return _ELIDED.sub("", folded)


_ELIDED = re.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|(?:d|n|s)?[aeu]ll|un|quest|quell|dov|com)['’](?=\w)")


def stem(folded: str, language: str) -> str:
    """The stem of a folded word by the Snowball stemmer of a language that ``EMPTY`` has.

    The "ge" and "zu" inside a German verb are no part of it: "zurückgegeben" is "zurückgeben".
    """
    word = bare(folded)
    if language == "German":
        word = _PARTICIPLE.sub(r"\1", word)
    return _stemmer(language)(word) if len(word) <= _LONGEST else word


def _stemmer(language: str) -> Callable[[str], str]:
    # A stemmer keeps the word it works on: each thread has its own.
    known: dict[str, Callable[[str], str]] = _OF_THREAD.__dict__
    if language not in known:
        module = import_module(f"snowballstemmer.{language.lower()}_stemmer")
        stemmer: Callable[[str], str] = getattr(module, f"{language}Stemmer")().stemWord
        known[language] = lru_cache(maxsize=1 << 14)(stemmer)
    return known[language]


_PARTICIPLE = re.compile(
    r"^(ab|an|auf|aus|bei|durch|ein|fest|frei|fort|her|hin|los|mit|nach|statt|teil|um|vor|weg|weiter|wieder|zu|"
    r"zurück|zusammen)?(?:ge|(?<=\w)zu)(?=\w{4})"
)
_OF_THREAD = threading.local()
_LONGEST = 40
