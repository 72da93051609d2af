"""What is asked for: an answer to a question, or a text that tells over what is given."""

from __future__ import annotations

import re

from groundwire.text import premise

_GREETS = (
    r"please|now|kindly|ok|okay|great|good|perfect|thanks|thank you|hi|hello|hey|so|and|then|also|next|"
    r"finally|briefly|shortly|quickly|concisely|bitte|jetzt|danke"
)
_BIDS = (
    r"(?:can|could|would|will) you|let['’]?s|let us|help me(?: to)?|"
    r"i(?: want| need|['’]d like| would like) you to|"
    r"your (?:task|job|goal) is to|"
    r"kannst du|könntest du|können sie|könnten sie|peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|"
    r"puedes|podrías|puede|puoi|potresti|può|pode|poderia|kun je|kunt u|kan je"
)
_WITHIN = r"(?:(?:in|as|using|based on|according to|from|given)\b[^.,:?!\n]{1,60},\s++)?"
_PLEASE = rf"\W*+(?>(?:(?:{_GREETS}|{_BIDS})\b[\s,.!:]++){{0,8}}){_WITHIN}"
_MADE_OF_IT = (
    r"summary|summaries|summari[sz]ation|overview|abstract|synopsis|digest|recap|outline|description|"
    r"paraphrase|headline|tl;?dr|zusammenfassung|überblick|résumé|resumen|riassunto|sintesi|resumo|"
    r"samenvatting"
)
_WRITE = (
    r"write|give|create|generate|provide|draft|prepare|produce|make|compose|schreibe?n?|erstellen?|"
    r"gib|geben|mache?|fais|faites|donnez?|donne-moi|fais-moi|faites-moi|donnez-moi|rédigez?|haz|hazme|dame|"
    r"escribe|fammi|fai|dammi|scrivi|faça|faz|escreva|geef|maak|schrijf"
)
_TELL_OVER = (
    r"summari[sz]e|sum\s++(?:(?:it|this|that|them|everything|all)\s++)?up|recap|paraphrase|condense|rephrase|"
    r"rewrite|shorten|boil\s++(?:it|this|that)\s++down|"
    r"fass(?:en?)?\b.{0,60}\bzusammen|"
    r"(?!(?:w(?:ie|ann|as|er|en|arum|o)|welche\w*)\b).{0,60}\bzusammenfassen|résume[zr]?|riassum\w++|"
    r"vat\b.{0,60}\bsamen|(?!(?:hoe|wat|wanneer|wie|waarom|waar|welke?)\b).{0,60}\bsamenvatten|"
    r"resum(?:[ea]n?|ir)(?=\s++(?:el|la|o|a|l?[oa]s|est[aeo]s?)\b)|resúme(?:me|lo)?"
)
_DOCUMENT = (
    r"(?:documents?|docs?|texts?|articles?|papers?|reports?|meetings?|minutes|transcripts?|conversation|"
    r"discussion|chat|thread|e-?mails?|pages?|passages?|files?|notes|chapters?|pdfs?|books?|content|contract)"
)
_THIS = (
    rf"(?:(?:this|that|these|those|the)\s++(?:[\w-]++\s++)?{_DOCUMENT}|this|that|it|these|those|everything)"
)
# "What headline rate was reported?"
_ASKS = r"(?:what|which|whose|who|how|is|are|was|were|do|does|did|has|have|can|will)\b"
_AN = r"(?:(?:an?|the|eine?n?|une?|una?|um|een)\s++)?"
# "Summary judgment" and "Abstract deadline?" name something else.
_OF_IT = (
    r"(?=\s*+(?:\Z|[^\w\s])|[^\S\n]*+\n|"
    r"\s++(?:of|about|for|on|in|within|with|from|over|as|using|and|based|to|by|that|please|pls|"
    r"bitte|vom?|von|des?|du|del|dell\w++|van|do)\b)"
)
_WANTS = (
    r"(?:i(?: want| need|['’]d like| would like)|(?:can|could|may) (?:i|we) (?:get|have|see))\s++"
    r"(?:an?|the)\s++(?:[\w-]++\s++){0,2}?"
    rf"(?:summary|overview|recap|synopsis|abstract)\b(?=\W*\Z|\s++please\b|\s++of\s++{_THIS}\b)"
)
_POINTS = (
    r"(?:(?:what\s++(?:are|were)|what['’]s|list|give me|tell me|show me|extract|highlight|identify|outline"
    r"|describe|"
    r"review|present|go over|walk me through)\s++)?"
    r"(?:the\s++)?(?:\w++\s++)?(?:key|main|most important|central)\s++"
    r"(?:points?|takeaways?|take-aways?|messages?|ideas?|findings?|arguments?|themes?|topics?|highlights?)\b"
    rf"(?=\W*\Z|\s++(?:of|from|in)\s++{_THIS}\W*\Z)"
)
_INTO = (
    r"(?:(?:an?|one|two|three|four|five|some|short|a few|plain|simple)\s++){0,2}(?:bullet(?:\s++points?|s)?"
    r"|points?|lists?|"
    r"tables?|paragraphs?|sentences?|e-?mails?|letters?|posts?|tweets?|slides?|english)\b"
)
# "Translate this and tell me the fee" asks for the fee.
_AND_ASKS = (
    r"(?!.{0,200}\b(?:and|then)\s++(?:tell|say|give|explain|name|list|add|answer|calculate|check|find|show|what"
    r"|who|when|where|why|how|which)\b)"
)
_TO_AN_END = rf"(?=\W*\Z|\s++(?:in|into|to|as|for|using|with|please|pls|and)\b){_AND_ASKS}"
# What is to be worded anew: "Translate this into German", "Put the notes into a table".
_ANEW = (
    rf"(?:outline|translate|reword|proofread|simplify|polish)\s++{_THIS}{_TO_AN_END}|"
    rf"(?:put|turn|convert|compress|make|rework)\s++{_THIS}\s++(?:(?:in)?to|as)\s++{_INTO}{_AND_ASKS}|"
    rf"make\s++{_THIS}\s++(?:a bit |much |more )?(?:shorter|simpler|clearer|concise|formal"
    r"|readable)(?=\W*\Z)|"
    r"übersetzen?\s++(?:bitte\s++|sie\s++)?(?:das|dies|es|(?:den|diesen|das|dieses|die|diese)\s++"
    r"(?:text|dokument|artikel|e-?mail|absatz|nachricht))(?=\W*\Z|\s++(?:bitte|ins?|auf)\b)(?!.{0,200}\bund\b)|"
    r"(?:tradui[st]|traduisez|traduce|traduzca|traduci|traduca|traduz|traduza)\s++(?:ce|cet|le|este|el"
    r"|questo|il|o)\s++"
    r"(?:texte|document|article|texto|documento|artículo|testo|articolo|artigo)\b|"
    r"vertaal\s++(?:dit|deze|het|de)(?:\s++(?:tekst|document|artikel|e-?mail))?(?=\W*\Z|\s++naar\b)"
)
# What asks for all of it in few words, as a whole message.
_IN_SHORT = (
    r"(?:(?:in (?:short|brief|summary|a nutshell|a few words|one sentence)|long story short|to sum up|"
    r"(?:(?:what['’]s|what is|give me) )?the (?:gist|bottom line|short version)|bottom line|short version|"
    r"(?:what is|what['’]s) (?:this|that|it)(?: all)? about|"
    rf"(?:what is|what['’]s) {_THIS}(?: all)? about|what does {_THIS} say|"
    r"kurz gesagt|in kürze|(?:was sind )?die wichtigsten punkte|"
    r"worum geht(?: e|['’])s(?: in dem (?:text|dokument))?|"
    r"en bref|(?:quels sont )?les points clés|de quoi parle ce (?:document|texte)|"
    r"en resumen|(?:cuáles son )?los puntos clave|in breve|(?:quali sono )?i punti chiave|"
    r"em resumo|kortom|(?:wat zijn )?de belangrijkste punten)(?=\W*\Z))"
)
_OF_A_RECORD = (
    r"describe\b[^.?!\n]{0,80}?\b(?:in prose|"
    r"(?:from|based on|given|using|by) (?:\w++ ){0,3}?(?:json|structured data))\b"
)
_MINUTES = (
    r"(?:write|draft|prepare|create|generate|produce)\b(?:\s++(?!many\b|in\b|\d)[\w'-]++){0,4}?\s++minutes\b"
)
_UNSPACED = (
    r"(?:请你?|請你?|帮我|幫我)?(?:总结|總結|概括|概述)|"
    r"(?![誰何]|どう|いつ|なぜ)[^。\n]{0,60}(?:要約して|まとめて|요약해)"
)
_RETELLS = re.compile(
    rf"{_PLEASE}(?:(?:{_TELL_OVER})\b|(?:{_WRITE})\b"
    rf"(?:\s++(?!(?:about|of|to|when|how|why)\b)[\w'-]++,?){{0,6}}?\s++(?:{_MADE_OF_IT})\b|"
    rf"{_AN}(?:(?!{_ASKS})[\w-]++\s++)?(?:tl;?dr|(?:{_MADE_OF_IT}){_OF_IT})|"
    rf"{_ANEW}|{_WANTS}|{_POINTS}|{_IN_SHORT}|{_OF_A_RECORD}|{_MINUTES}|{_UNSPACED})",
    re.IGNORECASE,
)
# What a loader is given: it asks nothing.
_ADDRESS = re.compile(r"(?:https?|s3|gs|file)://\S++\Z", re.IGNORECASE)


def is_question(text: str) -> bool:
    """Whether a text asks something, and not for a summary, an overview or the like.

    Of a conversation, what the asker said last counts. The address of a document asks nothing.
    """
    last = text.rpartition(premise.TURN)[2].strip()
    return bool(last) and _RETELLS.match(last) is None and _ADDRESS.match(last) is None
