"""What is only polite: it states nothing, and is judged by nobody.

Whole sentences alone, from lists without gaps: a courtesy that goes on to say something is a claim.
English, German, French, Spanish, Italian, Portuguese and Dutch.
"""

from __future__ import annotations

import re


def is_opening(sentence: str) -> bool:
    """Whether a sentence only opens an answer. Some may affirm where nothing else does: "Of course."."""
    return _OPENING.fullmatch(sentence) is not None


def is_parting(sentence: str) -> bool:
    """Whether a sentence only wishes well or offers more help."""
    return len(sentence) <= _LONGEST and _PARTING.fullmatch(sentence) is not None


def is_regards(sentence: str) -> bool:
    """Whether a sentence is what stands above a signature."""
    return is_parting(sentence) and _REGARDS.search(sentence) is not None


def is_asking(sentence: str) -> bool:
    """Whether a sentence asks the asker back, and takes nothing for given, such as a figure or an offer."""
    if len(sentence) > _LONGEST or _STATING.search(sentence):
        return False
    return _ASKING.fullmatch(sentence) is not None


_LONGEST = 160

# One pattern a line; <words> stand for the pattern of that name.
_OPENINGS = """
sure(?: thing)?|certainly|absolutely|of course|(?:great|good) question|(?:hello|hi|hey)(?: there)?
(?:i'm |i am |i'd be |i would be )?(?:happy|glad) to help<with>|let me help<with>
(?:that's )?an? (?:very )?(?:great|good|excellent|interesting) question|good news|great choice|okay|alright
got it|understood|no problem|sorry for <trouble>|i(?:'m| am) sorry (?:to hear that|for <trouble>)
i apologi[sz]e for <trouble>|i understand your (?:concern|frustration)
good (?:morning|afternoon|evening)|welcome|(?:i )?hope (?:this|that) helps|you're (?:very )?welcome
thank you(?: (?:so|very) much)?|thanks(?: a lot)?
gerne helfe ich (?:ihnen|dir)(?: weiter)?|(?:das ist eine )?gute frage|kein problem
natürlich|gerne?|selbstverständlich|hallo|guten (?:tag|morgen|abend)|vielen dank|danke
bien entendu|d'accord|(?:c'est une )?(?:bonne|excellente) question
bien sûr|bonjour|bonsoir|merci(?: beaucoup)?|avec plaisir
con (?:mucho )?gusto|buenos días|buenas tardes|(?:es una )?buena pregunta
claro|por supuesto|¡?hola|(?:muchas )?gracias
(?:ottima|buona) domanda|volentieri|buonasera|certo|certamente|ciao|buongiorno|grazie(?: mille)?
com certeza|com prazer|boa (?:tarde|noite|pergunta)|claro que sim|olá|bom dia|obrigad[oa]
goede(?:morgen|middag|navond)|goede vraag|geen probleem|uiteraard
natuurlijk|graag gedaan|dank (?:je|u)(?: wel)?|bedankt
"""
_NAMED = {
    "questions": "(?:any |some )?(?:other|further|more|additional)? ?(?:questions?|concerns?)",
    "help": """you need (?:any(?:thing)? )?(?:other |further |more |else|additional )?
(?:help|assistance|information|details)?""",
    "if": """if (?:you have <questions>|<help>|there(?:'s| is) anything else
(?: (?:i can|you need)[a-z ]{0,30})?|you'd like (?:to know )?more(?: information| details)?)""",
    "us": "(?:me|us)",
    "more": """(?:go into|explain|elaborate|provide|give|share|expand|clarify|summari[sz]e|help|tell|show)""",
    "of": """(?:this|that|it|them|you|more|a|an|any|further|into|in|detail|details|information|examples?
|specific|steps?|with|about|on|the|of|these|those|points?|topic|else|anything|another|something|additional|other)""",
    "trouble": "(?:any |the )?(?:inconvenience|confusion|misunderstanding|trouble)(?: caused)?",
    "with": "(?: you)?(?: with (?:that|this))?",
    "offer": """(?:please )?(?:just )?(?:let <us> know|ask away|i'm (?:here|happy) to help
|i'll be happy to help
|feel free to (?:ask|reach out|contact <us>)(?: <us>)?(?: (?:any ?time|again))?
|(?:do not|don't) hesitate to (?:ask|reach out|contact <us>|let <us> know))""",
}
_PARTINGS = """
(?:have|enjoy) (?:a|an|your|the rest of your) (?:<nice> )?(?:day|evening|weekend|week|<stay>|one)(?: ahead)?
<offer>(?:,? <if>)?|<if>,? (?:<offer>|(?:please |just )?ask)|(?:please |just )?ask <if>
(?:is|was) there anything else (?:i|we) (?:can|could|may) (?:help(?: you)?(?: with)?|do for you)\\??
(?:would you like|do you want|shall|should) (?:me to|us to|i|we) <more>(?: <of>){0,10}\\??
is there anything else you(?:'d| would) like(?: to know)?\\??|stay safe|best,
(?:can i|may i|would you like(?: me to)?) help(?: you)? with anything else(?: today)?\\??
(?:how|what) (?:else )?(?:can|may) i (?:help|assist)(?: you)?(?: (?:with|today|further))*\\??
good luck|take care|goodbye|bye|best (?:regards|wishes)|kind regards|sincerely|cheers
(?:thank you|thanks) for (?:your (?:question|patience|understanding|interest)|asking|reaching out)
(?:(?:ich )?wünsche(?: ihnen| dir)? )?(?:noch )?einen? (?:schönen|guten|angenehmen) (?:tag|abend)(?: noch)?
schönen (?:tag|abend)(?: noch)?|schönes wochenende|(?:mit )?(?:freundlichen|viele|beste) grüßen?
(?:ich )?hoffe,? (?:das|dies) hilft(?: (?:ihnen|dir))?(?: weiter)?
(?:ich )?hoffe,? ich konnte (?:ihnen|dir) (?:damit )?(?:weiter)?helfen
(?:bei|für) (?:weiteren?|anderen?) fragen (?:stehe ich|stehen wir) (?:ihnen |dir )?(?:gerne? )?zur verfügung
(?:wenn|falls) (?:sie|du) (?:noch |weitere |andere )*fragen (?:haben|hast),? <melden>(?: gerne?| bitte)?
(?:kann ich|können wir) (?:ihnen |dir )?(?:sonst )?noch (?:mit etwas |bei etwas )?(?:weiter)?helfen\\??
(?:je vous souhaite )?(?:une )?(?:bonne|excellente|belle) (?:journée|soirée)|bon week-end|cordialement
<hésitez>(?: si (?:vous avez|tu as) (?:d'autres|des) questions)?
si (?:vous avez|tu as) d'autres questions,? <hésitez>|j'espère que (?:cela|ça) (?:vous |t')?aide(?:ra)?
(?:je reste|nous restons) à votre disposition(?: pour toute (?:autre )?question)?
¡?(?:que )?(?:tengas?|ten|tenga|pase) (?:usted )?(?:un )?(?:buen|lindo|bonito|excelente) (?:día|fin de semana)
(?:si (?:tienes?|necesitas?) (?:alguna otra|más|otras?) (?:preguntas?|ayuda|información),? )?<dudes>
¿?hay algo más en (?:lo )?que (?:le |te )?pueda ayudar(?:le|te)?\\??
¡?espero que (?:esto |esta información )?(?:te |le |os |les )?(?:ayude|sea (?:útil|de ayuda))
(?:ti |le |vi )?(?:auguro )?(?:una )?buona (?:giornata|serata)|buon fine settimana|cordiali saluti
(?:se (?:hai|ha|avete) (?:altre|ulteriori) domande,? )?non (?:esitare|esiti|esitate) a <chiedere>
spero (?:che )?(?:questo |ciò )?(?:ti |le |vi )?sia (?:d'aiuto|di aiuto|utile)|spero di essere stato d'aiuto
espero (?:que isso (?:te |o |a |lhe )?(?:ajude|seja útil)|ter ajudado)
ik hoop dat (?:dit (?:u |je )?(?:verder )?helpt|ik (?:u |je )?hiermee (?:verder )?heb geholpen)
tenham? um (?:bom|ótimo|excelente) (?:dia|fim de semana)|¡?saludos
(?:se (?:tiver|você tiver) (?:mais|outras) (?:perguntas|dúvidas),? )?não hesite em <perguntar>
(?:ik wens u |nog )?een (?:fijne|prettige|mooie) dag(?: (?:verder|toegewenst|nog))?
fijne dag(?: (?:nog|verder))?|met vriendelijke groet(?:en)?
(?:als (?:u|je) (?:nog |andere |meer )*vragen (?:heeft|hebt|heb),? )?<weten>
"""
_NAMED |= {
    "nice": "(?:very |really )?(?:nice|great|good|wonderful|lovely|pleasant|fantastic|safe)",
    "stay": "stay|trip|time|flight|journey|visit",
    "melden": "(?:melden sie sich|fragen sie|frag|melde dich|lassen sie es mich wissen)",
    "hésitez": "n'hésite[zs]? pas(?: à (?:(?:me |nous )?(?:demander|contacter)|poser vos questions))?",
    "dudes": "no (?:dudes?|duden?) en (?:preguntar(?:me)?|contactar(?:me|nos)|consultar(?:me|nos)?)",
    "chiedere": "(?:chiedere|contattar(?:mi|ci))",
    "perguntar": "(?:perguntar|contactar(?:-me|-nos)?|entrar em contato)",
    "weten": "(?:laat het <us> (?:gerust )?weten|aarzel (?:dan )?niet om (?:te vragen|contact op te nemen))",
}
_NAMED["us"] = "(?:me|us|ons)"


def _pattern(lines: str) -> re.Pattern[str]:
    whole = "|".join(lines.split("\n")[1:-1])
    while (named := re.search(r"<(\w+)>", whole)) is not None:
        whole = whole.replace(named.group(), _NAMED[named[1]].replace("\n", ""))
    return re.compile(rf"(?:{whole})[\s!.,…🙂😊👋]*".replace("'", "['’]"), re.IGNORECASE)


_REGARDS = re.compile(
    r"regards|wishes|sincerely|cheers|best|grüßen?|cordialement|saludos|saluti|groet", re.IGNORECASE
)
_OPENING, _PARTING = _pattern(_OPENINGS), _pattern(_PARTINGS)
_ASKING = re.compile(
    r"(?:(?:sorry|and|but|so|first|please),? )?(?:"
    r"(?:could|can|would|will|may|might) (?:you|i|we) (?:please |kindly |also |just )*"
    r"(?:tell|clarify|specify|provide|share|give|let|confirm|say|ask|know|describe|explain|elaborate)\b"
    r"|(?:which|what|where|when|who|how \w+)\b[^.!?,;:\d]* (?:(?:do|are|were|would|will|have|can) you\b"
    r"|did you (?:mean|book|order|buy|pay|use|receive|travel|fly|stay)\b)"
    r"|(?:which|what) (?:is|are|was|were) your\b"
    r"|do you (?:mean|want|need|have in mind)\b|are you (?:asking|looking|referring|interested)\b"
    r")[^.!?;:\d]*\?[\s?!🙂😊]*",
    re.IGNORECASE,
)
# In a question, what states something beside it: "the refund that every ticket includes", "our guarantee".
_STATING = re.compile(
    r"[(\[]|, (?:which|who|whose|where|when)\b"
    r"|\b(?:that|because|since|after|our|its|their|every|each|all|always|never|free|guarantee\w*|"
    r"two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|fifty|hundred|thousand)\b",
    re.IGNORECASE,
)
