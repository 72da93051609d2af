"""What an answer says to be on the safe side: that it is no legal advice, that a doctor is to be asked.

Whole sentences alone, in English, of closed sets of words but for what an AI can't do. Whom to turn to is
somebody in general: who names a desk, a number or a deadline states something.
"""

from __future__ import annotations

import re

from groundwire.text.patterns import several


def is_disclaimer(sentence: str) -> bool:
    """Whether a sentence only limits what an answer is good for, or sends the asker to whom all go.

    Where it stands alone it may decline to answer, or be the answer.
    """
    if len(sentence) > _LONGEST:
        return False
    return _SAFE.fullmatch(sentence) is not None or _UNABLE.fullmatch(sentence) is not None


_LONGEST = 200
_FIELD = "(?:legal|medical|financial|tax|investment|professional|veterinary)"
_FIELDS = f"{_FIELD}(?:(?:,|,? or|,? and|/) ?{_FIELD}){{0,3}}"
_EXPERT = (
    f"(?:(?:qualified|licensed|trained|local|{_FIELD}|health ?care|mental health) )*(?:doctor|physician"
    f"|pharmacist|"
    "lawyer|attorney|solicitor|advis[oe]r|accountant|professional|expert|specialist|provider|practitioner|"
    "veterinarian|vet|therapist|dentist)s?"
)
_EXPERTS = (
    f"(?:(?:your )?hr(?: team| department)? or )?(?:an? |your |the |other )?{_EXPERT}"
    f"(?: (?:or|and) (?:an? |your )?{_EXPERT}){{0,2}}"
)
_CASE = (
    "your (?:own |specific |individual |particular |personal )?"
    "(?:situation|case|needs|circumstances|condition)"
)
_KIND = (
    "(?:any |the )?(?:(?:more|further|additional|personal|personali[sz]ed|specific|individual|proper"
    "|accurate|current|"
    f"detailed|up-to-date|latest|most|recent|official|{_FIELD})(?: and|,)? ){{0,4}}"
)
_HELP = (
    f"{_KIND}(?:information|details|advice|guidance|help|assistance|clarification|confirmation|updates"
    f"|diagnosis"
    "|treatment)(?: (?:and|or) (?:advice|guidance|treatment|help|details|assistance))?"
    f"(?: (?:tailored to|for|on|about) {_CASE})?"
)
_WORSE = (
    "(?:(?:the |your )?(?:symptoms?|pain|problems?|headache|fever|cough|condition|complaints?)"
    " (?:persists?|worsens?|continues?|(?:gets?|becomes?) worse|(?:does not|doesn't|do not"
    "|don't) (?:get better|improve|go away))"
    "|you(?:'re| are)? (?:feel|feeling|get) (?:worse|unwell|no better)|things get worse)"
)
_SO = (
    f"(?: (?:with (?:any|your)(?: further)? questions|for (?:{_HELP}|{_CASE})"
    "|before (?:you )?(?:tak|us|start|stopp?|chang|mak)(?:e|ing) (?:(?:any|a|new|your|this|other) ){0,3}"
    "(?:medications?|medicines?|treatments?|supplements?|decisions?)"
    "|if (?:you have (?:any )?(?:questions|concerns|doubts)|you(?:'re| are) (?:unsure|in doubt)"
    f"|{_WORSE}|your (?:case|situation) is (?:special|complicated|different|unusual))))?"
)
_IF = f"(?:(?:if {_WORSE}|if you(?:'re| are) (?:unsure|in doubt)|(?:if|when) in doubt|for {_HELP}),? )?"
_PLEASE = (
    "(?:(?:please|always|remember to|be sure to|make sure to|you (?:should|may want to|can)"
    "|it(?:'s| is) (?:always )?(?:best|recommended|important|advisable|a good idea) to"
    "|(?:i(?:'d| would)? )?(?:recommend|suggest|advise)) )*"
)
_ASK = (
    "(?:consult(?:ing)?(?: with)?|see|seeing|(?:speak|talk)(?:ing)? (?:to"
    "|with)|(?:double-)?check(?:ing)? with"
    "|ask)"
)
_TURN = (
    "(?:contact(?:ing)?|reach(?:ing)? out to|(?:double-)?check(?:ing)?(?: with)?|visit(?:ing)?"
    "|refer(?:ring)? to"
    "|consult(?:ing)?|see)"
)
_WHERE = (
    "(?:(?:the|your|our|their) )?(?:(?:official|relevant|respective) )?(?:website|customer (?:service"
    "|support|care)|"
    "(?:support|help ?desk|service)(?: team)?|hr(?: team| department)?|provider|company|manufacturer"
    "|airline|authority|authorities)"
    "(?: directly)?"
)
_THIS = (
    "(?:(?:please )?note that )?(?:this|it|(?:this|the|my) (?:information|answer|response|content|summary))"
)
_NO_ADVICE = (
    f"{_THIS} (?:is(?: not|n't)(?: (?:meant|intended) (?:as|to be)| a substitute for| considered)?"
    "|(?:does not|doesn't|should not|shouldn't|is not meant to|cannot|can't) "
    f"(?:constitute|replace|be (?:considered|taken as|construed as|seen as)))(?: any| as)? {_FIELDS} advice"
)
_NO_EXPERT = (
    rf"(?:(?:please )?note that )?(?:as an ai(?: \w+){{0,2}},? )?i(?:'m| am) (?:not (?:an? )?{_EXPERT}"
    r"|(?:just |only )?an ai(?: (?:language )?(?:model|assistant))?)"
)
_TAKE = (
    f"(?:please )?(?:do not|don't) (?:take|treat|consider) (?:this|it|my answer) as {_FIELDS} advice"
    f"|this is (?:only )?general information(?: only)?(?:,? (?:and )?not {_FIELDS} advice)?"
)
_CANT = (
    "(?:i )?(?:can(?:not|'t)|do(?: not|n't)|(?:am|'m) (?:unable|not able) to) "
    f"(?:give|provide|offer) {_FIELDS} advice"
)
_VERIFY = (
    "(?:please )?(?:always )?(?:verify|double-check) (?:important |critical |all |any |the )?"
    f"(?:information|facts|details|answers?)(?: independently| (?:on|with|at) {_WHERE})?"
)
_SEEK = "(?:seek|get)(?:ing)? (?:professional )?(?:medical|legal|professional) (?:help|advice|attention|care)"
# Only to check: who is told to write to somebody "before you book" may have to.
_BEFORE = "(?: before (?:your (?:trip|flight|journey)|you (?:travel|fly|rely on (?:it|this))))"
_CHECK = f"(?:double-)?check(?:ing)? with {_WHERE}{_BEFORE}"
_ADVICE = f"{_IF}{_PLEASE}(?:{_CHECK}|(?:{_ASK} {_EXPERTS}|{_TURN} {_WHERE}|{_SEEK}){_SO})"
_MAY_CHANGE = (
    "(?:(?:please )?note that )?(?:this|the) (?:information|answer|summary)(?: above)? "
    "(?:may|might|can|could) (?:have changed|change over time|be out of date|be outdated)"
)
_ONE = f"(?:{_TAKE}|{_MAY_CHANGE}|{_NO_ADVICE}|{_NO_EXPERT}|{_CANT}|{_VERIFY}|{_ADVICE})"
_LABEL = r"[*_]{0,3}(?:(?:disclaimer|note|important(?: note)?|reminder|please note)[*_]{0,3}:[*_]{0,3} )?"
_SAFE = re.compile(
    rf"{_LABEL}{several(_ONE, '(?:,|;)?(?: and| so| but)? ', 3)}[\s!.…]*".replace("'", "['’]"), re.IGNORECASE
)
_UNABLE = re.compile(
    "as an ai(?: language)?(?: model| assistant| system)?,? i (?:"
    "(?:can(?:not|['’]t)|do(?: not|n['’]t)|am (?:unable|not able) to) "
    "(?:provide|give|offer|access|browse|have|see|verify|check)"
    "|(?:can only|only|am only able to) (?:answer|use|rely|work|respond)"
    ")(?: (?!but\\b|however\\b|although\\b|which\\b|that\\b|because\\b|and\\b)[a-z'’-]{1,20}){0,10}[\\s!.…]*",
    re.IGNORECASE,
)
