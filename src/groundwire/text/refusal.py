"""Telling an answer that declines ("I can't find that in the documents") from one that claims something.

Declining is not a hallucination: nothing was said that could be wrong. Recognised in English, and in
common phrasings of German, French, Spanish, Italian and Portuguese. A sentence only declines when it is
about the answerer or the documents: "the fee cannot be refunded" is a claim like any other.

Known failure: "the documents do not mention a fee" is taken as declining even where they do mention one.
"""

from __future__ import annotations

import re

# Who declines, and from what: the reader of the documents, or the documents themselves.
_SOURCES = (
    r"(?:passages?|documents?|contexts?|texts?|sources?|articles?|information|data|excerpts?|snippets?|materials?|"
    r"handbook|manual|pages?|records?|knowledge base|references?|results?|content|input)"
)
_GIVEN = r"(?:(?:the|these|those|this|any|your|my|our|all|of|three|two|given|provided|above|available|supplied|retrieved|following|current|search|existing|source) ){0,4}"
_NOT = r"(?:not|n['’]t|cannot|unable to|no way to|never)"
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

_ENGLISH = (
    r"\b(?:i|we)(?:['’]m| am| are|['’]re)? (?:sorry|afraid)\b.{0,60}\b(?:can(?:not|['’]t| not)|could(?: not|n['’]t)|unable|do(?: not|n['’]t))\b",
    rf"\b(?:i|we)(?:['’]m| am| are|['’]re)? (?:currently |really |simply |just )?(?:can(?:not|['’]t| not)|could(?: not|n['’]t)|unable to|not able to|was not able to|wasn['’]t able to) (?:\w+ )?{_DO}\b",
    r"\b(?:i|we) (?:do(?: not|n['’]t)|did(?: not|n['’]t)) (?:actually |really )?(?:know|have (?:\w+ ){0,3}(?:information|answer|access|details|data|enough))\b",
    r"\b(?:i|we) (?:found|have|see|could find) (?:no|nothing)\b.{0,50}\b(?:information|about|on|in|that|mention)\b",
    r"\b(?:i|we)(?:['’]m| am| are) not (?:sure|certain|aware)\b",
    rf"\b{_SOURCES}(?: (?:itself|alone|here|above|given|provided|i was given|you provided|available))? (?:do(?:es)?|did|can|could|is|are) ?(?:not|n['’]t) (?:\w+ ){{0,2}}?{_SAY}\b",
    rf"\bnone of {_GIVEN}{_SOURCES}(?: \w+)? {_SAY}s?\b",
    rf"\bno (?:{_SOURCES} (?:\w+ )?{_SAY}s?\b|(?:\w+ ){{0,2}}?(?:information|mention|details?|answer|reference|indication)\b.{{0,70}}?\b(?:in|on|about|regarding|from|within) )",
    rf"\b{_NOT} (?:be )?(?:\w+ )?{_SAID}\b(?: \w+){{0,3}} (?:in|by|within|from|on|anywhere|based on) {_GIVEN}{_SOURCES}\b",
    rf"\b(?:is|are|was|were) (?:{_NOT}|n['’]t) (?:explicitly |specifically |directly )?(?:mentioned|specified|stated)[.!]?\Z",
    r"\b(?:unable|not able|not possible|impossible|insufficient information|not enough information|no information|lacks? (?:the )?information)\b.{0,60}\b(?:answer|determine|say|provide|identify|tell|confirm|conclude|give|based on|regarding|about)\b",
    rf"\b(?:can(?:not|['’]t| not)|could not) be (?:answered|determined|found|confirmed|verified|inferred|concluded)\b.{{0,40}}\b(?:from|based|in|with|using|by) {_GIVEN}{_SOURCES}\b",
    r"\b(?:there is|there['’]s|there are|contains?|provides?|gives?) (?:no|not enough|not sufficient|insufficient)(?: \w+){0,2} (?:information|mention|details?|context|data|evidence)\b",
    r"\A\W*(?:unknown|no answer|not (?:specified|mentioned|stated|provided|available|answerable)|unanswerable|n/a|no information)\b.{0,60}\Z",
)
_OTHERS = (
    # German
    r"\b(?:ich|wir) (?:kann|konnte|können|weiß|weiss|finde|habe|finden|konnten|haben)\b.{0,90}\b(?:nicht|keine|nichts)\b(?:.{0,40}\b(?:beantworten|finden|sagen|gefunden|informationen?|angaben|entnehmen|beantwortet)\b|\W*\Z)",
    r"\b(?:dokumenten?|texten?|quellen?|kontext|unterlagen|informationen|passagen)\b.{0,60}\b(?:nicht|keine|nichts)\b.{0,40}\b(?:erwähn|enthalten|hervor|angegeben|informationen|angaben|gesagt|steht|beantwort)",
    r"\bes gibt keine (?:informationen|angaben)\b",
    # French
    r"\b(?:je|nous) (?:ne |n['’])(?:peux|peut|sais|trouve|dispose|pouvons|ai)\b.{0,30}\b(?:pas|aucune?|rien)\b",
    r"\b(?:documents?|passages?|texte|contexte|sources?)\b.{0,40}\bne\b.{0,20}\b(?:mentionne|précise|contien|indique|fourni|di[st]|donne|permet)\w*\b.{0,10}\b(?:pas|aucune?|rien)\b",
    r"\b(?:aucune information|pas d['’]information)",
    # Spanish
    r"\bno (?:puedo|podemos|sé|encuentro|encontré|tengo|dispongo de|es posible)\b.{0,60}\b(?:responder|contestar|información|respuesta|determinar|encontrar|documentos?|decir|saber)\b",
    r"\b(?:documentos?|pasajes?|textos?|contexto|fuentes?)\b.{0,40}\bno\b.{0,12}\b(?:menciona|contiene|indica|especifica|proporciona|dice|ofrece|incluye)",
    r"\bno (?:se menciona|se especifica|hay información|se indica|se proporciona)\b",
    # Italian
    r"\bnon (?:posso|so|trovo|ho trovato|riesco|è possibile|ho)\b.{0,60}\b(?:rispondere|informazioni|trovare|risposta|determinare|documenti|dire)\b",
    r"\b(?:documenti|documento|testo|testi|contesto|fonti|passaggi)\b.{0,40}\bnon\b.{0,12}\b(?:menziona|contien|contengono|indica|specifica|fornisc|dic)",
    r"\bnon (?:ci sono informazioni|è (?:menzionato|specificato|indicato))",
    # Portuguese
    r"\bnão (?:posso|sei|encontrei|encontro|consigo|tenho|é possível|foi possível)\b.{0,60}\b(?:responder|informaç|encontrar|resposta|determinar|documentos?|dizer)",
    r"\b(?:documentos?|trechos?|textos?|contexto|fontes?|passagens)\b.{0,40}\bnão\b.{0,12}\b(?:menciona|contém|contêm|indica|especifica|fornece|diz)",
    r"\bnão (?:há informaç|é mencionad|são mencionad|está especificad)",
)
_DECLINES = tuple(re.compile(pattern) for pattern in _ENGLISH + _OTHERS)
_LONGEST = 400
# "Thank you for asking, but I can't ...": so many words may precede the "but" without being a claim.
_ASIDE = 7
# A sentence that goes on after declining ("..., but the fee is 90 EUR") is a claim again.
_GOES_ON = re.compile(r"[,;] ?(?:but|however|although|though|yet|aber|jedoch|mais|pero|ma|mas)\b")
# What a polite refusal says besides refusing.
_COURTESY = re.compile(
    r"(?:please|feel free|let me know|you (?:may|can|could|might|should)|i (?:recommend|suggest|would|can|['’]d)|"
    r"if you|sorry|i['’]m sorry|i apologi[sz]e|unfortunately[,!. ]*\Z|thank|bitte|tut mir leid|désolé|lo siento|"
    r"mi dispiace|desculpe)\b"
)


def declines(sentence: str) -> bool:
    """Whether one sentence declines to answer, and says nothing else."""
    if len(sentence) > _LONGEST:
        return False
    parts = _GOES_ON.split(" ".join(sentence.lower().split()))
    first_words = sum(len(part.split()) for part in parts[:-1])
    if first_words > _ASIDE and not _matches(parts[0]):
        return False
    return _matches(parts[-1])


def _matches(lowered: str) -> bool:
    return any(pattern.search(lowered) for pattern in _DECLINES)


def is_refusal(sentences: list[str]) -> bool:
    """Whether an answer of these sentences declines as a whole: one declines, the others are courtesy."""
    return any(map(declines, sentences)) and all(declines(s) or _courteous(s) for s in sentences)


def _courteous(sentence: str) -> bool:
    return _COURTESY.match(sentence.lower().strip()) is not None
