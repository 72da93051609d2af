"""The phrases of courtesy, as patterns: those that may affirm, those that greet, and those that part.

A line has one or several; ``<name>`` stands for the pattern of that name. English, German, French, Spanish,
Italian, Portuguese and Dutch.
"""

from __future__ import annotations

AFFIRMING = """
sure(?: thing)?|certainly|absolutely|of course|okay|alright|got it|understood|no problem|great choice
<yes>?(?:exactly|precisely|indeed|correct|that's (?:right|correct)|definitely|spot on|good point)
<yes>?you(?:'re| are) <very>(?:right|correct)
(?:that's |that is |what )an? <very><nice> (?:idea|choice|plan|point)
(?:that |this |it )?sounds (?:like an? )?<very><nice>(?: (?:plan|idea|choice|trip))?(?= *[!,])
give it a (?:try|go)|(?:just )?try it(?: out)?
oh no|oh dear|ouch|ugh|that(?:'s| is) <very><trying>
(?:i|we) can (?:certainly |definitely )?help<with>|<feel free>
gerne helfe ich (?:ihnen|dir)(?: weiter)?|kein problem|natürlich|gerne?|selbstverständlich
bien entendu|d'accord|bien sûr|avec plaisir|con (?:mucho )?gusto|claro|por supuesto
volentieri|certo|certamente|com certeza|com prazer|claro que sim
geen probleem|uiteraard|natuurlijk|graag gedaan
"""

GREETING = """
(?:hello|hi|hey|dear)(?: there| again| everyone| all| team| folks| \\[[^\\[\\]]{1,30}\\])?
good (?:morning|afternoon|evening)|welcome(?: back)?
(?:it's )?<very><nice> to (?:hear from|meet|see) you(?: again)?
(?:i'm|i am|this is) <assistant>|(?:and )?(?:i'm |i am )?here to <assist>
(?:great|good|wonderful|wow|awesome|fantastic|perfect|excellent|lovely|amazing|hooray)(?= *[!,])
(?:great|good|interesting) (?:question|news)|(?:that's )?an? <very><nice> question
(?:that's|that is|what|this is) (?:an? )?<very><nice>(?: news)?(?: to hear)?(?= *[!,])
(?:congratulations|congrats)(?: again|,? by the way)?(?:,? (?:to|on|for) <event>)?
(?:i'm |i am |i'd be |i would be )?(?:always )?(?:happy|glad) to (?:help|assist|explain|clarify)<with>
<i>appreciate (?:your (?:patience|understanding|question|interest|feedback|message)|you asking)
<i>appreciate you reaching out
(?:i )?wish i had better news
(?:i )?understand how (?:important|<trying>) (?:this|that|it) (?:is|must be) (?:to|for) you
(?:i )?know (?:this|that) (?:isn't|is not|may not be) (?:the answer|what) you were (?:hoping|looking) for
let me help<with>
let's (?:get (?:this|that|it) (?:sorted|fixed)|sort (?:this|that|it) out|get started|dive in)
how <very>(?:<nice>|<trying>|fun|thoughtful|kind)(?= *[!,])
what an? <very>(?:<nice>|exciting|special|happy) (?:time|trip|adventure|moment|occasion|milestone|day|idea)
<we are>?<very>sorry (?:to hear )?(?:about|for) (?:your|the|this|that) <ailment>
(?:i )?(?:know|understand|can imagine) how <very><trying> (?:that|this|it) (?:can be|is|must be|must feel)
(?:i )?(?:know|understand) (?:that )?(?:that|this|it) must be <very><trying>|that can't be easy
(?:i )?(?:know|understand) (?:that )?(?:this|it) is <very>(?:annoying|disappointing|upsetting|frustrating)
<we are>?<very>(?:glad|happy|pleased|delighted|thrilled) (?:to hear (?:it|that|from you)|for you|you asked)
<we are>?<very>(?:glad|happy|pleased) (?:i could help|(?:that|it|this) help(?:ed|s))(?: again)?
<we are>?<very>sorry(?: (?:to hear (?:that|this)|about that|that happened|for <trouble>|(?:that )?<unwell>))?
<i>apologi[sz]e(?: again| once more)?(?: for <trouble>)?
(?:my |our )?(?:sincere )?apologies(?: for <trouble>)?
i <very>understand(?: your (?:concern|frustration))?|(?:that|it|this) (?:sounds|must be|can be) <very><trying>
no worries(?: at all)?|not a problem(?: at all)?|don't worry(?: about (?:it|that))?|my pleasure|any ?time
(?:i )?hope (?:this|that)(?: information)? (?:answers your questions?<about>?|clears (?:things|it|that) up)
<i>hope (?:that )?your <ailment> (?:goes away|gets better|eases|passes|improves|heals)(?: soon| quickly)?
(?:i )?hope (?:i could help|(?:this|that) points you in the right direction)
(?:i )?hope (?:this|the) summary (?:is (?:helpful|useful)|helps)
(?:i )?hope (?:this|that)(?: information)? helps(?: you)?(?: <plan>)?
that's <very>kind(?: of you)?|you're (?:very |most )?welcome
(?:thank you|thanks)(?: (?:all|again))?(?: (?:so |very )?much| a lot)?(?: again)?
hallo|guten (?:tag|morgen|abend)|(?:das ist eine )?gute frage|vielen dank|danke
(?:c'est une )?(?:bonne|excellente) question|bonjour|bonsoir|merci(?: beaucoup)?
buenos días|buenas tardes|(?:es una )?buena pregunta|¡?hola|(?:muchas )?gracias
(?:ottima|buona) domanda|buonasera|ciao|buongiorno|grazie(?: mille)?
boa (?:tarde|noite|pergunta)|olá|bom dia|obrigad[oa]
goede(?:morgen|middag|navond)|goede vraag|dank (?:je|u)(?: wel)?|bedankt
"""

PARTING = """
(?:have|enjoy) (?:a|an|your|the rest of your) (?:<nice> )?(?:day|evening|weekend|week|<stay>|one)<too>?
(?:have|enjoy) an? <very>safe (?:<stay>)<too>?
<i>hope (?:that )?(?:you(?:'ll| will)? (?:enjoy|love|like) (?:it|this|your <stay>)|you feel better(?: soon)?)
<i>hope (?:that )?(?:this|it|everything) (?:goes well|works out(?: well)?|makes (?:it|things) easier)
(?:<i>)?hope (?:to see you|you have an? (?:<nice>|<very>safe) (?:day|<stay>))(?: soon)?
all the best|(?:best|warm) wishes(?: to <family>)?|(?:i )?wish(?:ing)? <family> all the best
safe (?:journey|trip)|bon voyage|talk soon|see you(?: soon| there| then)?|get well soon|stay safe
(?:good|best of) luck(?: (?:with|on) (?:everything|it|that|<event>))?|enjoy|take care|goodbye|bye|best,
<let know>|<if told>|<reach us>,? <if>|<if>,? <reach us>|happy to help
(?:any )?(?:other |further |more )?questions\\? (?:just |please )?(?:ask|let <us> know)|have fun|just ask
(?:i |we |<we are>)?(?:look(?:ing)? forward to|can't wait to) <meeting>(?: all)?(?: soon| again)?
happy (?:coding|cooking|reading|learning|studying|planning|packing|holidays)
we'll (?:sort|figure|work) (?:it|this|that) out together
<offer>(?:,? <if>)?|<if>,? (?:<offer>|(?:please |just )?ask)|(?:please |just )?ask <if>
(?:is|was) there anything else (?:i|we) (?:can|could|may) (?:help(?: you)?(?: with)?|do for you)\\??
(?:would you like|do you want|shall|should) (?:me to|us to|i|we) <more>(?: <of>){0,10}\\??
is there anything else you(?:'d| would) like(?: to know)?(?: about <topic>)?\\??
(?:can i|may i|would you like(?: me to)?) help(?: you)? with anything else(?: today)?\\??
(?:how|what) (?:else )?(?:can|may) i (?:help|assist|do)(?: (?:for )?you)?(?: (?:with|today|further))*\\??
(?:(?:with )?(?:best|kind|warm|kindest|warmest) )?regards|(?:yours )?sincerely(?: yours)?|cheers|warmly
yours (?:truly|faithfully)|respectfully(?: yours)?|many thanks|(?:happy|safe) (?:travels|flight)
(?:thank you|thanks)(?: (?:all|again))?(?: (?:so|very) much)? for (?:(?:your|the) <message>|<doing>)
(?:(?:ich )?wünsche(?: ihnen| dir)? )?(?:noch )?einen? (?:schönen|guten|angenehmen) (?:tag|abend)(?: noch)?
schönen (?:tag|abend)(?: noch)?|schönes wochenende|(?:mit )?(?:freundlichen|viele|beste) grüßen?
(?:haben sie|hast du) (?:noch )?(?:weitere |andere )?fragen\\??|ich helfe (?:ihnen|dir) gerne?(?: weiter)?
(?:kann ich|können wir) (?:sonst )?(?:noch )?etwas für (?:sie|dich) tun\\??
vielen dank für (?:ihre|deine) (?:nachricht|anfrage|frage|geduld|e-?mail|rückmeldung)
(?:ich )?hoffe,? (?:das|dies) hilft(?: (?:ihnen|dir))?(?: weiter)?
(?:ich )?hoffe,? ich konnte (?:ihnen|dir) (?:damit )?(?:weiter)?helfen
(?:bei|für) (?:weiteren?|anderen?) fragen (?:stehe ich|stehen wir) (?:ihnen |dir )?(?:gerne? )?zur verfügung
(?:wenn|falls) (?:sie|du) (?:noch |weitere |andere )*fragen (?:haben|hast),? <melden>(?: gerne?| bitte)?
(?:kann ich|können wir) (?:ihnen |dir )?(?:sonst )?noch (?:mit etwas |bei etwas )?(?:weiter)?helfen\\??
(?:je vous souhaite )?(?:une )?(?:bonne|excellente|belle) (?:journée|soirée)|bon week-end|cordialement
<hésitez>(?: si (?:vous avez|tu as) (?:d'autres|des) questions)?
si (?:vous avez|tu as) d'autres questions,? <hésitez>|j'espère que (?:cela|ça) (?:vous |t')?aide(?:ra)?
(?:avez-vous|as-tu) d'autres questions ?\\??
merci (?:pour|de) votre (?:message|question|patience|compréhension)
puis-je vous aider (?:avec|pour|sur) autre chose ?\\??|souhaitez-vous plus de (?:détails|précisions) ?\\??
(?:je reste|nous restons) à votre disposition(?: pour toute (?:autre )?question)?
¡?(?:que )?(?:tengas?|ten|tenga|pase) (?:usted )?(?:un )?(?:buen|lindo|bonito|excelente) (?:día|fin de semana)
(?:si (?:tienes?|necesitas?) (?:alguna otra|más|otras?) (?:preguntas?|ayuda|información),? )?<dudes>
¿?(?:te |le )?puedo ayudar(?:te|le)? (?:en|con) algo más\\??|¿?tienes? (?:alguna )?otra (?:pregunta|duda)\\??
¿?(?:necesitas?|quieres?|desea) (?:saber )?(?:algo más|más (?:información|detalles|ayuda))\\??
¿?hay algo más en (?:lo )?que (?:le |te )?pueda ayudar(?:le|te)?\\??
¡?espero que (?:esto |esta información )?(?:te |le |os |les )?(?:ayude|sea (?:útil|de ayuda))
(?:ti |le |vi )?(?:auguro )?(?:una )?buona (?:giornata|serata)|buon fine settimana|cordiali saluti
(?:se (?:hai|ha|avete) (?:altre|ulteriori) domande,? )?non (?:esitare|esiti|esitate) a <chiedere>
posso aiutar(?:ti|la|vi) (?:con|in) (?:altro|qualcos'altro)\\??|(?:hai|ha|avete) altre domande\\??
spero (?:che )?(?:questo |ciò )?(?:ti |le |vi )?sia (?:d'aiuto|di aiuto|utile)|spero di essere stato d'aiuto
posso ajudar(?:-lo|-la|-te)? (?:com|em) mais alguma coisa\\??
tem (?:mais alguma|outra) (?:dúvida|pergunta)\\??
espero (?:que isso (?:te |o |a |lhe )?(?:ajude|seja útil)|ter ajudado)
kan ik (?:u|je) (?:nog )?(?:ergens (?:anders )?mee|verder) helpen\\??
(?:heeft u|heb je) (?:nog )?(?:andere )?vragen\\??
ik hoop dat (?:dit (?:u |je )?(?:verder )?helpt|ik (?:u |je )?hiermee (?:verder )?heb geholpen)
tenham? um (?:bom|ótimo|excelente) (?:dia|fim de semana)|¡?saludos
(?:se (?:tiver|você tiver) (?:mais|outras) (?:perguntas|dúvidas),? )?não hesite em <perguntar>
(?:ik wens u |nog )?een (?:fijne|prettige|mooie) dag(?: (?:verder|toegewenst|nog))?
fijne dag(?: (?:nog|verder))?|met vriendelijke groet(?:en)?
(?:als (?:u|je) (?:nog |andere |meer )*vragen (?:heeft|hebt|heb),? )?<weten>
好的|当然(?:可以)?|(?:这是一个)?(?:很)?好的?问题|(?:您|你)?还有(?:其他|别的)?问题吗|希望(?:这|以上信息)?对(?:您|你)有所?帮助
(?:とても)?(?:いい|良い|よい)(?:ご)?質問です(?:ね)?|(?:他に|ほかに)(?:ご)?(?:質問|不明な点)(?:は|が)ありますか|お役に立てれば幸いです
"""

NAMED = {
    "i": "(?:i|we) (?:do |really |sincerely )*",
    "too": "(?: ahead| too| as well)",
    "yes": "(?:(?:yes|yep|yeah|right),? )",
    "very": "(?:(?:so|very|really|truly|such|quite|totally|completely|absolutely) )*",
    "nice": """(?:very |really )?(?:nice|great|good|excellent|interesting|wonderful|lovely|pleasant
|fantastic)""",
    "we are": "(?:(?:i'm|i am|we're|we are) )",
    "trying": """(?:annoying|unfortunate|disappointing|upsetting|unpleasant|inconvenient|scary|stressful
|frustrating|confusing|annoying|difficult|hard|tough|overwhelming|exciting
|worrying)""",
    "family": "(?:you|your (?:family|wife|husband|partner)|you and your (?:family|wife|husband|partner))",
    "assistant": """(?:(?-i:[A-Z][a-z]{1,15}),? )?(?:your|the|an)
 (?:(?:friendly|virtual|digital|personal|online|automated|smart|helpful|ai|ai-powered|hr|it|travel|shopping
|customer
|support|service|customer support|customer service|help|help ?desk|health|library|documentation|developer
|booking)
 ){0,3}(?:assistant|helper|chatbot|bot|concierge)(?: for (?:today|(?:hr |travel |your |any )*questions))?""",
    "assist": """(?:help|assist|answer)(?: you)?(?: with)?
(?:(?: (?:any|your|all|of))* questions?(?: you (?:may |might )?have)?<about>?)?""",
    "ailment": """(?:headache|migraine|pain|back ?pain|toothache|stomach ?ache|sore throat|cold|flu|fever
|cough
|illness|injury|accident|loss|symptoms|trouble|troubles|problems?|issues?|experience|situation
|difficulties)""",
    "event": """(?:you (?:both|all)|(?:your|the) (?:(?:new|next|upcoming|little|big) )?(?:job|baby|twins|one
|birth|arrival|wedding|engagement|marriage|anniversary|birthday|graduation|degree|retirement|promotion|home
|house|puppy|kitten
|milestone|success|achievement|news|exams?|tests?|interviews?|presentation|project|studies|trip|move|search
|application|race|game|day|start))""",
    "topic": "(?:your|the|this|that|it|them)<small>{0,4}",
    "about": "(?: (?:about|on|with|regarding)(?: (?:<topic>|any of (?:this|these|them))|<small>{1,4}))",
    "firm": "(?-i:[A-Z][\\w&.-]*(?: [A-Z][\\w&.-]*){0,3})",
    "unwell": """you(?:'re| are) (?:in pain|in this situation|not feeling well|feeling (?:unwell|sick
|this way)|going through (?:this
|that)
|having (?:this problem|trouble|problems|difficulties|issues)<about>?)""",
    "plan": """(?:to )?(?:plan|prepare|decide|understand|get started)(?: (?:with )?(?:your|this|it
|that)<small>{0,2})?""",
    "feel free": """feel free to (?:adjust|edit|modify|adapt|change|customi[sz]e|tweak) (?:it|this
|the (?:tone|text|wording|draft|details)|as (?:needed|necessary|you like))
(?: (?:as (?:needed|necessary|you like)|to (?:your|suit your) (?:needs|style|liking)))?""",
    "let know": """(?:please )?(?:just )?let <us> know (?:which (?:one|option|of (?:these|them)) you(?:'d
| would)? (?:prefer
|like|mean|meant|need)|your<small>{1,3}|what (?:you (?:think|prefer|need)|works best for you)|how (?:it goes
|you'd like to proceed))""",
    "if told": """if you (?:can |could )?(?:tell|give|share|provide|send)(?: <us>)?(?: with)?
(?: (?:your|the|more|some|further|additional|which|a few))+<small>{0,4},? i(?: can| could|'ll| will
|'d be happy to| would)
(?: (?:then|gladly|better|try to|be able to|be happy to))* (?:help|assist|give|provide|answer|tell|narrow
|be)(?: <of>){0,7}""",
    "small": r"""(?-i: (?!(?:free|never|always|every|all|no|not|with|without|won|costs?|guaranteed|includ\w+
|two|three|four|five|six|seven|eight|nine|ten|at|in|from|until|within|by|of|after|before|during|being|been
|can|could|may|is|are|was|were|will|has|have|get|gets|got|that|which|who|because|if|when|[a-z]+(?:ed|ing))\b)
[a-z][a-z-]*(?:'[a-z]+)?)""",
    "stay": "stay|trip|time(?: off| together| away)?|flight|journey|visit|vacation|holidays?|leave|meal",
    "questions": "(?:any |some )?(?:other|further|more|additional)? ?(?:questions?|concerns?|queries)",
    "help": """you need (?:any(?:thing)? )?(?:other |further |more |else|additional )?
(?:help|assistance|information|details)?""",
    "if": """(?:if (?:you have <questions>|<help>|there(?:'s| is) anything else
(?: (?:i can|you need)[a-z ]{0,30})?|you(?:'d| would) like (?:(?:to know )?more(?: information| details
| examples)?
|(?:any |some |further )?(?:details|information|help|assistance|examples?)|an? (?:example|summary|draft
|overview|comparison))
|(?:that|this|it) (?:works|helps|makes sense)(?: for you)?
|you (?:run into|face|encounter|experience|hit|have) (?:any |some )?(?:other |further )?
(?:issues|problems|trouble|difficulties|errors)|you get stuck(?: anywhere)?|you want (?:the |more
 |full |further )*
details
|(?:anything|something) (?:else )?(?:comes up|is (?:still )?unclear|doesn't work))<about>?)""",
    "us": "(?:me|us|ons)",
    "more": """(?:go into|explain|elaborate|provide|give|share|expand|clarify|summari[sz]e|help|tell|show)""",
    "of": """(?:this|that|it|them|you|more|a|an|any|further|into|in|detail|details|information|examples?
|specific|steps?|exact|precise|accurate|better|answers?|price|cost|you|with|about|on|the|of|these|those
|points?|topic|else|anything|another|something|additional|other)""",
    "trouble": """(?:any |the |my |that )?(?:earlier |previous )?(?:inconvenience|confusion|misunderstanding
|trouble|mix-up|error|mistake|wait)(?: caused| earlier| (?:this|that|it)
 (?:has |may have )?caused(?: you)?)?""",
    "with": "(?: you)?(?: with (?:that|this))?",
    "offer": """(?:please )?(?:just )?(?:let <us> know|tell <us>|(?:write|message) (?:me(?: back)?|back)
|reply(?: here| to this message)?|ask away|i'm (?:always |right )?(?:here|happy to help
|here (?:to help|for you))
|i'll (?:be (?:happy|glad) to|gladly) help|i(?:'m| am) (?:just )?a message away
|feel free to (?:ask(?: (?:me )?(?:any |more |further |follow-up )*questions)?|reach out|contact <us>
|get in touch)(?: <us>)?(?: (?:any ?time|again))?
|(?:do not|don't) hesitate to (?:ask|reach out|contact <us>|let <us> know))""",
    "reach us": """(?:please )?(?:contact|reach out to)
 (?:<us>|(?:our |the )?(?:customer )?(?:support|service|care)(?: team)?)""",
    "meeting": """(?:hear(?:ing)? from you|(?:see(?:ing)?|meet(?:ing)?|welcom(?:e|ing)|assist(?:ing)?
|help(?:ing)?) you)""",
    "message": """(?:question<about>?|patience|understanding|interest|message|feedback|follow-up|reply|update
|clarification|correction|details|context|hard work|support|time|cooperation|help)""",
    "doing": """(?:asking|reaching out(?: to (?:<us>|<firm>))?|getting in touch|contacting (?:<us>|<firm>)
|letting <us> know|clarifying|sharing
|(?:shopping|flying|travelling|traveling|staying|being) with us|choosing (?:<us>|<firm>)
|being an? (?:(?:valued|loyal|great|wonderful) )?customer
|being (?:a )?part of our community|(?:providing|sharing|sending|uploading) (?:the|your|this|these)
 (?:documents?|polic(?:y|ies)|files?|details|information|context|leaflet|report|article|text|pages?)
|sharing that|checking|checking in|pointing (?:that|it|this) out|bearing with <us>)""",
    "melden": "(?:melden sie sich|fragen sie|frag|melde dich|lassen sie es mich wissen)",
    "hésitez": "n'hésite[zs]? pas(?: à (?:(?:me |nous )?(?:demander|contacter)|poser vos questions))?",
    "dudes": "no (?:dudes?|duden?) en (?:preguntar(?:me)?|contactar(?:me|nos)|consultar(?:me|nos)?)",
    "chiedere": "(?:chiedere|contattar(?:mi|ci))",
    "perguntar": "(?:perguntar|contactar(?:-me|-nos)?|entrar em contato)",
    "weten": "(?:laat het <us> (?:gerust )?weten|aarzel (?:dan )?niet om (?:te vragen|contact op te nemen))",
}
"""What stands for ``<name>``. ``small`` is a word of what a courtesy is about: no name, figure or promise."""
