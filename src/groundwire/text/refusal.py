"""Telling an answer that declines ("I can't find that in the documents") from one that claims something.

Declining is not a hallucination: nothing was said that could be wrong. Recognised in English, and in
common phrasings of German, French, Spanish, Italian, Portuguese and Dutch. A sentence only declines when it
is about the answerer or the documents: "the fee cannot be refunded" is a claim like any other.

"The documents do not mention a fee" declines, too, and is wrong where they do: ``unmentioned`` says what the
sentence is about. Other ways of declining name nothing that could be looked up: "I can't find the fee" is
believed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Who declines, and from what: the reader of the documents, or the documents themselves.
_SOURCES = (
    r"(?:passages?|documents?|docs?|contexts?|texts?|sources?|articles?|information|data|excerpts?|snippets?|"
    r"materials?|handbook|manual|pages?|records?|knowledge base|references?|results?|content|input)"
)
# These may be what a claim is about, too: "the policy doesn't cover theft", where it doesn't "say" it does.
_PAPERS = (
    r"(?:sections?|documentation|polic(?:y|ies)|guides?|leaflets?|booklets?|terms|agreement|contract|wiki|"
    r"tickets?|threads?|chats?|e-?mails?|messages|minutes|notes?|reports?|factsheets?|brochures?|website|faqs?|"
    r"announcement|press release|notices?|chapters?|extracts?|logs?|files?|correspondence)"
)
_AT_HAND = (
    r"(?: (?:itself|alone|here|above|given|provided|i was given|you (?:provided|shared|sent)|available|"
    r"retrieved|(?:that )?i(?:['’]ve| have)(?: (?:got|seen|been given|access to|available))?|"
    r"(?:that )?i can see|in front of me))?"
)
_TELL = r"(?:mention|say|state|specify|address|tell|indicate|explain|clarify|discuss)"
_GIVEN = (
    r"(?:(?:the|these|those|this|any|your|my|our|all|of|three|two|given|provided|above|available|supplied|"
    r"retrieved|following|current|search|existing|source) ){0,4}"
)
_NOT = r"(?:not|n['’]t|cannot|unable to|no way to|never)"
_CANNOT = (
    r"(?:can(?:not|['’]t| not)|could(?: not|n['’]t)|unable to|(?:was |were )?not able to|wasn['’]t able to)"
)
_SAY = (
    r"(?:mention|say|state|specify|contain|include|provide|give|address|answer|cover|discuss|describe|"
    r"indicate|list|explain|tell|offer|clarify|have|refer to|disclose)"
)
_SAID = (
    r"(?:mentioned|stated|specified|contained|included|provided|given|addressed|covered|discussed|"
    r"described|indicated|listed|found|available|clear|explained|answered|disclosed)"
)
_DO = (
    r"(?:answer|determine|find|tell|say|confirm|identify|locate|respond|verify|see|know|conclude|help|"
    r"(?:provide|give)(?: \w+){0,4} (?:answer|information|details?|response))"
)
_I = r"\b(?:i|we)(?:['’]m| am| are|['’]re)? "
_ABOUT = r"(?:in|on|about|regarding|from|within)"

_ENGLISH = (
    rf"{_I}(?:sorry|afraid)\b.{{0,60}}\b(?:{_CANNOT}|do(?: not|n['’]t))\b",
    rf"{_I}(?:currently |really |simply |just )?{_CANNOT} (?:\w+ )?{_DO}\b",
    (
        rf"{_I}(?:do|did)(?: not|n['’]t) (?:actually |really )?(?:know|"
        r"have (?:\w+ ){0,3}(?:information|answer|access|details|data|enough))\b"
    ),
    rf"{_I}(?:found|have|see|could find) (?:no|nothing)\b.{{0,50}}\b(?:{_ABOUT}|information|that|mention)\b",
    rf"{_I}not (?:sure|certain|aware)\b",
    (
        rf"\b{_SOURCES}{_AT_HAND} "
        rf"(?:do(?:es)?|did|can|could|is|are) ?(?:not|n['’]t) (?:\w+ ){{0,2}}?{_SAY}\b"
    ),
    rf"\b{_PAPERS}{_AT_HAND} (?:do(?:es)?|did)(?: not|n['’]t) (?:\w+ ){{0,2}}?{_TELL}\b",
    (
        r"\A\W*(?:but |and )?(?:(?:it|they|this|that|these) (?:do(?:es)?|did)(?: not|n['’]t)|"
        rf"neither|nor do(?:es)? (?:it|they)) (?:\w+ly )?{_TELL} "
        r"(?:whether|how|when|if|what|who|where|which|why|anything)\b"
    ),
    r"\bnor (?:is|are) there (?:any )?(?:information|mention|details?|reference|indication)\b",
    rf"\bthere(?:['’]s| is| are) no [\w -]{{3,60}} in {_GIVEN}(?:{_SOURCES}|{_PAPERS}){_AT_HAND}\b",
    rf"\bnone of {_GIVEN}{_SOURCES}(?: \w+)? {_SAY}s?\b",
    rf"\bno {_SOURCES} (?:\w+ )?{_SAY}s?\b",
    (
        r"\bno (?:\w+ ){0,2}?(?:information|mention|details?|answer|reference|indication)\b"
        rf".{{0,70}}?\b{_ABOUT} "
    ),
    (
        rf"\b{_NOT} (?:be )?(?:\w+ )?{_SAID}\b(?: \w+){{0,3}} (?:in|by|within|from|on|anywhere|based on) "
        rf"{_GIVEN}{_SOURCES}\b"
    ),
    rf"\b(?:is|are|was|were) (?:{_NOT}|n['’]t) (?:\w+ly )?(?:mentioned|specified|stated)[.!]?\Z",
    (
        r"\b(?:unable|not able|not possible|impossible|insufficient information|not enough information|"
        r"no information|lacks? (?:the )?information)\b.{0,60}"
        r"\b(?:answer|determine|say|provide|identify|tell|confirm|conclude|give|based on|regarding|about)\b"
    ),
    (
        r"\b(?:can(?:not|['’]t| not)|could not) be "
        r"(?:answered|determined|found|confirmed|verified|inferred|concluded)"
        rf"\b.{{0,40}}\b(?:from|based|in|with|using|by) {_GIVEN}{_SOURCES}\b"
    ),
    (
        r"\b(?:there is|there['’]s|there are|contains?|provides?|gives?) "
        r"(?:no|not enough|not sufficient|insufficient)"
        r"(?: \w+){0,2} (?:information|mention|details?|context|data|evidence)\b"
    ),
    (
        r"\A\W*(?:unknown|no answer|"
        r"not (?:specified|mentioned|stated|provided|available|answerable)|unanswerable|"
        r"n/a|no information)\b.{0,60}\Z"
    ),
)
# Up to so many characters: "the text says that ... not ..." denies what the text is about.
_UP_TO = r"(?:(?!\bdass\b|\bdaß\b|\b(?:di[czt]e?n?|disent|dizem|dicono|\w+[aeno]) (?:que\b|qu['’]|che\b)).)"
_OTHERS = (
    # German
    (
        r"\b(?:ich|wir) (?:kann|konnte|können|weiß|weiss|finde|habe|finden|konnten|haben)\b.{0,90}"
        r"\b(?:nicht|keine|nichts)\b(?:.{0,40}\b(?:beantworten|finden|sagen|gefunden|informationen?|angaben|"
        r"entnehmen|beantwortet)\b|\W*\Z)"
    ),
    r"\bkann ich\b.{0,90}\bnicht (?:beantworten|finden|sagen|entnehmen)\b",
    (
        rf"\b(?:dokumenten?|texten?|quellen?|kontext|unterlagen|informationen|passagen)\b{_UP_TO}{{0,60}}"
        r"\b(?:nicht|keine|nichts)\b.{0,40}"
        r"\b(?:erwähn|enthalten|hervor|angegeben|informationen|angaben|gesagt|steht|beantwort)"
    ),
    (
        r"\A\W*(?:leider )?(?:dazu|hierzu|darüber) "
        r"(?:enthält|enthalten|macht|machen|gibt|geben|nennt|findet sich|finden sich)\b.{0,60}"
        r"\bkeine? (?:\w+ )?(?:angaben?|informationen|hinweise?|auskunft)\W*\Z"
    ),
    r"\bes gibt (?:dazu |hierzu |darüber )?keine (?:informationen|angaben)\b",
    (
        r"\b(?:habe ich|haben wir|liegen (?:mir|uns)|finde ich|finden wir)\b.{0,30}"
        r"\bkeine (?:\w+ ){0,2}(?:informationen|angaben)\b"
        r"(?:\W*\Z| (?:zu[mr]?|über|dazu|darüber|hierzu|gefunden|finden|in|im|vor)\b)"
    ),
    (
        r"\b(?:das|dies|davon|darüber|dazu) (?:steht|wird|geht|findet sich|ist)\b.{0,30}\bnichts? (?:\w+ )?"
        r"(?:im|in|aus) (?:\w+ ){0,3}(?:dokument|text|quelle|kontext|unterlage|passage)(?:e?[ns])?\b"
    ),
    # French
    r"\b(?:je|nous) (?:ne |n['’])(?:peux|peut|sais|trouve|dispose|pouvons|ai)\b.{0,30}\b(?:pas|aucune?)\b",
    (
        rf"\b(?:documents?|passages?|texte|contexte|sources?)\b{_UP_TO}{{0,40}}\bne\b.{{0,20}}"
        r"\b(?:mentionne|précise|contien|indique|fourni|di[st]|donne|permet)\w*\b.{0,10}"
        r"\b(?:pas|aucune?|rien)\b"
    ),
    (
        r"\b(?:aucune information|pas d['’]informations?)\b"
        r"(?:\W*\Z| (?:sur|concernant|dans|à|pertinente|n['’]est (?:disponible|fournie|donnée))\b)"
    ),
    r"\bn['’](?:est|a) pas (?:été )?(?:mentionné|précisé)e?s?\b(?: dans .{0,60})?\W*\Z",
    (
        r"\bn['’](?:est|a) pas (?:été )?indiquée?s? dans (?:\w+ ){0,3}"
        r"(?:documents?|passages?|texte|contexte|sources?)\b"
    ),
    # Spanish
    (
        r"\bno (?:puedo|podemos|sé|encuentro|encontré|tengo|dispongo de|es posible)\b.{0,60}"
        r"\b(?:responder|contestar|información|respuesta|determinar|encontrar|documentos?|decir|saber)\b"
    ),
    (
        rf"\b(?:documentos?|pasajes?|textos?|contexto|fuentes?)\b{_UP_TO}{{0,40}}\bno\b.{{0,12}}"
        r"\b(?:menciona|contiene|indica|especifica|proporciona|dice|ofrece|incluye)"
    ),
    r"\bno (?:se menciona|se especifica|hay información|se indica|se proporciona)\b",
    r"\A\W*(?:lo siento,? )?(?:pero )?(?:yo )?no (?:lo )?sé\W*\Z",
    # Italian
    (
        r"\bnon (?:posso|so|trovo|ho trovato|riesco|è possibile|ho)\b.{0,60}"
        r"\b(?:rispondere|informazioni|trovare|risposta|determinare|documenti|dire)\b"
    ),
    (
        rf"\b(?:documenti|documento|testo|testi|contesto|fonti|passaggi)\b{_UP_TO}{{0,40}}\bnon\b.{{0,12}}"
        r"\b(?:menziona|contien|contengono|indica|specifica|fornisc|dic)"
    ),
    r"\bnon (?:ci sono informazioni|è (?:menzionato|specificato))",
    r"\bnon è indicat[oa] .{0,12}\b(?:documenti|documento|testo|testi|contesto|fonti|passaggi)\b",
    r"\A\W*(?:mi dispiace,? )?(?:ma )?(?:io )?non lo so\W*\Z",
    # Portuguese
    (
        r"\bnão (?:posso|sei|encontrei|encontro|consigo|tenho|é possível|foi possível)\b.{0,60}"
        r"\b(?:responder|informaç|encontrar|resposta|determinar|documentos?|dizer)"
    ),
    (
        rf"\b(?:documentos?|trechos?|textos?|contexto|fontes?|passagens)\b{_UP_TO}{{0,40}}\bnão\b.{{0,12}}"
        r"\b(?:menciona|contém|contêm|indica|especifica|fornece|diz)"
    ),
    r"\bnão (?:há informaç|é mencionad|são mencionad|está especificad)",
    r"\A\W*(?:desculpe,? )?(?:mas )?(?:eu )?não sei\W*\Z",
    # Dutch
    r"\bik weet (?:het|dat|dit) niet(?:\W*\Z|,| zeker\b| op basis\b)",
    (
        r"\b(?:ik|wij|we) (?:kan|kunnen|kon|vind|vinden|vond|heb|hebben|beschik|beschikken)\b.{0,60}"
        r"\b(?:(?:niet|geen|niets)\b.{0,40}\b(?:vinden|beantwoorden|gevonden)\b"
        r"|(?:geen|niet genoeg|niet voldoende) (?:\w+ ){0,2}(?:informatie|antwoord)\b(?!.{0,40}\bnodig\b))"
    ),
    r"\b(?:heb|vind|kan) ik\b.{0,40}\b(?:geen|niets|niet)\b.{0,30}\b(?:informatie|vinden|beantwoorden)\b",
    (
        r"\b(?:document(?:en)?|tekst(?:en)?|bron(?:nen)?|context|passages?)\b.{0,20}"
        r"\b(?:vermeld(?:t|en)|bevat(?:ten)?|noem(?:t|en)|ze(?:gt|ggen)|ge(?:eft|ven)|beschrij(?:ft|ven))\b"
        r"(?! dat\b).{0,40}\b(?:niet|geen|niets)\b"
    ),
    (
        r"\b(?:dat|dit|daarover|hierover) (?:staat|wordt|is)\b.{0,20}\bniets? (?:\w+ )?in (?:\w+ ){0,3}"
        r"(?:document(?:en)?|tekst(?:en)?|bronnen|context|passages?)\b"
    ),
    r"\ber is (?:hierover |daarover )?geen (?:\w+ ){0,2}informatie\b(?!.{0,40}\bnodig\b)",
)
_DECLINES = tuple(re.compile(pattern) for pattern in _ENGLISH + _OTHERS)
# Nobody declines without one of these; looking for them first spares most sentences the long patterns.
_DENIES = re.compile(
    r"n['’]t\b|\b(?:not|no|none|nothing|cannot|unable|impossible|unknown|unanswerable|insufficient|lacks?|n/a|"
    r"never|nor|neither|nicht|nichts|keine?[nrms]?|pas|aucune?|rien|non|não|niet|niets|geen|sorry|afraid)\b"
)
_LONGEST = 400
# "Thank you for asking, but I can't ...": so many words may precede the "but" without being a claim.
_ASIDE = 7
# What may be concluded from silence without saying more: that nobody can tell, or whom to ask.
_TELL = (
    r"(?:determine|answer|say|tell|know|confirm|verif|establish|conclude|infer|calculate|assume|identif"
    r"|ascertain|specif|state|judge)"
)
_UNTOLD = (
    r"(?:\b(?:guess(?:es|ing)?|speculat\w+|(?:remains?|leave (?:it|this|that)) open|outside what i"
    r"|(?:answer|information) is(?: not|n['’]t) available|unclear|unknown|uncertain|unanswer\w+|unspecified"
    r"|undetermined)\b"
    r"|(?:\bnot|n['’]t) (?:\w+ )?(?:known|clear|specified|mentioned|stated|certain|sure)\b"
    rf"|\b(?:can(?:not|['’]t| not)|could(?: not|n['’]t)) (?:\w+ )?(?:be )?(?:\w+ )?{_TELL}"
    rf"|\b(?:impossible|hard|difficult|(?:not|n['’]t) possible|no way) (?:for \w+ )?to (?:\w+ )?{_TELL})"
)
_TURN = (
    r"[^,;]{0,40}?\b(?:(?:ask|check|contact|consult|call)(?:ing)?(?! in\b| out\b)"
    r"|verify(?:ing)?|confirm(?:ing)?"
    r"|(?:reach|reaching) out|refer(?:ring)? to|(?:speak|talk)(?:ing)?|get(?:ting)? in touch"
    r"|look(?:ing)? (?:it|this|that|elsewhere|at|into|for)|(?:do|doing) (?:\w+ )?research)\b"
)
_NO_MORE = (
    rf"(?:far\b|[^,;]{{0,80}}?{_UNTOLD}"
    r"|(?:unfortunately,? )?(?:i (?:can(?:not|['’]t| not)|could(?: not|n['’]t)|do(?: not|n['’]t)"
    r"|am unable to)|(?:i['’]m )?(?:unable|not able) to)"
    r" (?:\w+ )?(?:provide|give|find|comment|help|answer|have|see|be sure)\b"
    rf"|(?:i|we)(?:['’]d| would)? (?:recommend|suggest|advise)\b{_TURN}"
    r"|you(?:['’]ll|['’]d)?(?! do\b| don| can(?:not|['’])| need not| needn| must| should(?: not|n)| won)\b"
    rf"{_TURN}"
    rf"|it(?:['’]s| is| (?:may|might|would|could) be) (?!not\b){_TURN}"
    rf"|your best bet is{_TURN}"
    r"|please\b|feel free\b|let me know\b|if (?:you|your)\b[^,;]{0,60}, (?:you|it|please)\b"
    r"|(?:some )?(?:more|additional|further) (?:information|details|research)\b"
    # What is done about it in general: "..., so you may need to adjust the cooking time".
    r"|you (?:may|might|will) need to adjust\b|adjust\b"
    r"|(?:these|the) (?:above )?(?:steps|instructions)(?: above)? are (?:based on|an?) general\b)"
)
# What is said of the documents, or as a guess.
_SOFT = r"(?:only|just|simply|merely|mainly|possible|likely|probably|best|worth|advisable|about|not)\b"
# A sentence that goes on after declining is a claim again: "..., but it is 90 EUR", "..., so it is free".
_GOES_ON = re.compile(
    r"[,;] ?(?:but|however|although|though|yet|aber|jedoch|mais|pero|ma|mas|maar)\b"
    rf"|[,;] ?(?:and )?(?:so|therefore|thus|hence|which means|meaning)\b,? (?!{_NO_MORE})"
    rf"|(?:; ?| [–—-] )(?!{_NO_MORE})(?:it|this|that|they|these)(?:['’](?:s|re)| is| are| costs?| takes?)"
    rf" (?!{_SOFT})"
)
# What a polite refusal says besides refusing.
_COURTESY = re.compile(
    r"(?:please|feel free|let me know|you (?:may|can|could|might|should)|i (?:recommend|suggest|would|can)|"
    r"i['’]d|if you|sorry|i['’]m sorry|i apologi[sz]e|unfortunately[,!. ]*\Z|thank|bitte|tut mir leid|"
    r"désolé|lo siento|mi dispiace|desculpe|het spijt me|helaas[,!. ]*\Z|leider[,!. ]*\Z)\b"
)


def declines(sentence: str) -> bool:
    """Whether one sentence declines to answer, and says nothing else."""
    if len(sentence) > _LONGEST:
        return False
    lowered = " ".join(sentence.lower().split())
    if _DENIES.search(lowered) is None:
        return False
    parts = _GOES_ON.split(lowered)
    first_words = sum(len(part.split()) for part in parts[:-1])
    if first_words > _ASIDE and not _matches(parts[0]):
        return False
    return _matches(parts[-1])


def unmentioned(sentence: str) -> str:
    """What a sentence says is not mentioned; "" where it says so of nothing. English.

    "Not explicitly mentioned" says less, and of nothing.
    """
    for pattern in _UNMENTIONED:
        match = pattern.search(sentence)
        if match is not None:
            return match["what"]
    return ""


_UNMENTIONED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_SOURCES}(?: \w+)? (?:do(?:es)?|did)(?: not|n['’]t) mention (?P<what>[^.;!?]+)",
        rf"\b(?:no|none of) {_GIVEN}{_SOURCES} mentions? (?P<what>[^.;!?]+)",
        (
            rf"\bthere(?:['’]s| is| are) no (?!mention|info|refer|detail|indicat)(?P<what>[\w -]{{3,60}}?) "
            rf"in {_GIVEN}(?:{_SOURCES}|{_PAPERS})\b"
        ),
        rf"\b{_PAPERS}{_AT_HAND} (?:do(?:es)?|did)(?: not|n['’]t) mention (?P<what>[^.;!?]+)",
        r"\bnor (?:is|are) there any mention of (?P<what>[^.;!?]+)",
        rf"\bno mention of (?P<what>[^.;!?]+?)(?: (?:in|by|within) {_GIVEN}{_SOURCES}\b|[.;!?]|\Z)",
        r"\A(?:.*?[,;] )?(?P<what>[^.;,!?]+?) (?:is|are|was|were) (?:not|never) mentioned\b",
    )
)


def _matches(lowered: str) -> bool:
    return _DENIES.search(lowered) is not None and any(pattern.search(lowered) for pattern in _DECLINES)


def is_refusal(sentences: Sequence[str]) -> bool:
    """Whether an answer of these sentences declines as a whole: one declines, the others are courtesy."""
    return any(map(declines, sentences)) and all(declines(s) or _courteous(s) for s in sentences)


def _courteous(sentence: str) -> bool:
    return _COURTESY.match(sentence.lower().strip()) is not None
