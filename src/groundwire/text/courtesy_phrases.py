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
gerne helfe ich (?:ihnen|dir)(?: weiter)?|kein problem|natürlich|gerne?|selbstverständlich
bien entendu|d'accord|bien sûr|avec plaisir|con (?:mucho )?gusto|claro|por supuesto
volentieri|certo|certamente|com certeza|com prazer|claro que sim
geen probleem|uiteraard|natuurlijk|graag gedaan
"""

GREETING = """
(?:hello|hi|hey|dear)(?: there| again| everyone| all)?|good (?:morning|afternoon|evening)|welcome(?: back)?
(?:great|good|wonderful|wow|awesome|fantastic|perfect|excellent|lovely|amazing|hooray)(?= *[!,])
(?:great|good|interesting) (?:question|news)|(?:that's )?an? <very><nice> question
(?:that's|that is|what|this is) (?:an? )?<very><nice>(?: news)?(?: to hear)?(?= *[!,])
(?:congratulations|congrats)(?: again)?(?:,? (?:to|on|for) <event>)?
(?:i'm |i am |i'd be |i would be )?(?:happy|glad) to help<with>|let me help<with>
<we are>?<very>(?:glad|happy|pleased|delighted|thrilled) (?:to hear (?:it|that|from you)|for you|you asked)
<we are>?<very>(?:glad|happy|pleased) (?:i could help|(?:that|it|this) help(?:ed|s))(?: again)?
<we are>?<very>sorry(?: (?:to hear (?:that|this)|about that|that happened|for <trouble>))?
<i>apologi[sz]e(?: again| once more)?(?: for <trouble>)?
(?:my |our )?(?:sincere )?apologies(?: for <trouble>)?
i <very>understand(?: your (?:concern|frustration))?|(?:that|it|this) (?:sounds|must be|can be) <very><trying>
no worries(?: at all)?|not a problem(?: at all)?|don't worry(?: about (?:it|that))?|my pleasure|any ?time
(?:i )?hope (?:this|that)(?: information)? (?:helps|answers your question|clears (?:things|it|that) up)
that's <very>kind(?: of you)?|you're (?:very |most )?welcome
(?:thank you|thanks)(?: again)?(?: (?:so |very )?much| a lot)?(?: again)?
hallo|guten (?:tag|morgen|abend)|(?:das ist eine )?gute frage|vielen dank|danke
(?:c'est une )?(?:bonne|excellente) question|bonjour|bonsoir|merci(?: beaucoup)?
buenos días|buenas tardes|(?:es una )?buena pregunta|¡?hola|(?:muchas )?gracias
(?:ottima|buona) domanda|buonasera|ciao|buongiorno|grazie(?: mille)?
boa (?:tarde|noite|pergunta)|olá|bom dia|obrigad[oa]
goede(?:morgen|middag|navond)|goede vraag|dank (?:je|u)(?: wel)?|bedankt
"""

PARTING = """
(?:have|enjoy) (?:a|an|your|the rest of your) (?:<nice> )?(?:day|evening|weekend|week|<stay>|one)<too>?
<i>hope (?:that )?(?:you(?:'ll| will)? (?:enjoy|love|like) (?:it|this|your <stay>)|you feel better(?: soon)?)
<i>hope (?:that )?(?:this|it|everything) (?:goes well|works out(?: well)?|makes (?:it|things) easier)
<i>hope (?:to see you|you have a <nice> (?:day|<stay>))(?: soon)?
all the best|(?:best|warm) wishes(?: to <family>)?|(?:i )?wish(?:ing)? <family> all the best
safe (?:travels|journey|trip)|bon voyage|talk soon|see you(?: soon| there| then)?|get well soon|stay safe
(?:good|best of) luck(?: (?:with|on) (?:everything|it|that|<event>))?|enjoy|take care|goodbye|bye|best,
<offer>(?:,? <if>)?|<if>,? (?:<offer>|(?:please |just )?ask)|(?:please |just )?ask <if>
(?:is|was) there anything else (?:i|we) (?:can|could|may) (?:help(?: you)?(?: with)?|do for you)\\??
(?:would you like|do you want|shall|should) (?:me to|us to|i|we) <more>(?: <of>){0,10}\\??
is there anything else you(?:'d| would) like(?: to know)?(?: about <topic>)?\\??
(?:can i|may i|would you like(?: me to)?) help(?: you)? with anything else(?: today)?\\??
(?:how|what) (?:else )?(?:can|may) i (?:help|assist|do)(?: (?:for )?you)?(?: (?:with|today|further))*\\??
(?:best|kind|warm) regards|sincerely|cheers
(?:thank you|thanks)(?: again)?(?: (?:so|very) much)? for (?:(?:your|the) <message>|<doing>)
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

NAMED = {
    "i": "(?:i|we) (?:do |really |sincerely )*",
    "too": "(?: ahead| too| as well)",
    "yes": "(?:(?:yes|yep|yeah|right),? )",
    "very": "(?:(?:so|very|really|truly|such|quite|totally|completely|absolutely) )*",
    "nice": """(?:very |really )?(?:nice|great|good|excellent|interesting|wonderful|lovely|pleasant|fantastic
|safe)""",
    "we are": "(?:(?:i'm|i am|we're|we are) )",
    "trying": """(?:stressful|frustrating|confusing|annoying|difficult|hard|tough|overwhelming|exciting
|worrying)""",
    "family": "(?:you|your (?:family|wife|husband|partner)|you and your (?:family|wife|husband|partner))",
    "event": """(?:you (?:both|all)|(?:your|the) (?:(?:new|next|upcoming|little|big) )?(?:job|baby|twins|one
|birth|arrival|wedding|engagement|marriage|anniversary|birthday|graduation|degree|retirement|promotion|home|house|puppy|kitten
|milestone|success|achievement|news|exams?|tests?|interviews?|presentation|project|studies|trip|move|search
|application|race|game|day|start))""",
    "topic": "(?:your|the|this|that|it|them)<small>{0,4}",
    "small": r"""(?-i: (?!(?:free|never|always|every|all|no|not|with|without|won|costs?|guaranteed|includ\w+
|two|three|four|five|six|seven|eight|nine|ten|at|in|from|until|within|by|of|after|before|during|being|been
|can|could|may|is|are|was|were|will|has|have|get|gets|got|that|which|who|because|if|when|[a-z]+(?:ed|ing))\b)
[a-z][a-z-]*(?:'[a-z]+)?)""",
    "stay": "stay|trip|time(?: off| together| away)?|flight|journey|visit|vacation|holidays?|leave|meal",
    "questions": "(?:any |some )?(?:other|further|more|additional)? ?(?:questions?|concerns?)",
    "help": """you need (?:any(?:thing)? )?(?:other |further |more |else|additional )?
(?:help|assistance|information|details)?""",
    "if": """(?:if (?:you have <questions>|<help>|there(?:'s| is) anything else
(?: (?:i can|you need)[a-z ]{0,30})?|you'd like (?:to know )?more(?: information| details)?
|anything (?:else )?(?:comes up|is unclear))(?: about <topic>)?)""",
    "us": "(?:me|us|ons)",
    "more": """(?:go into|explain|elaborate|provide|give|share|expand|clarify|summari[sz]e|help|tell|show)""",
    "of": """(?:this|that|it|them|you|more|a|an|any|further|into|in|detail|details|information|examples?
|specific|steps?|with|about|on|the|of|these|those|points?|topic|else|anything|another|something|additional|other)""",
    "trouble": """(?:any |the |my |that )?(?:earlier |previous )?(?:inconvenience|confusion|misunderstanding
|trouble|mix-up|error|mistake|wait)(?: caused| earlier)?""",
    "with": "(?: you)?(?: with (?:that|this))?",
    "offer": """(?:please )?(?:just )?(?:let <us> know|ask away|i'm (?:here|happy) to help
|i'll be happy to help
|feel free to (?:ask|reach out|contact <us>|get in touch)(?: <us>)?(?: (?:any ?time|again))?
|(?:do not|don't) hesitate to (?:ask|reach out|contact <us>|let <us> know))""",
    "message": """(?:question|patience|understanding|interest|message|feedback|follow-up|reply|update
|clarification|correction|details|context)""",
    "doing": """(?:asking|reaching out|getting in touch|contacting <us>|letting <us> know|clarifying|sharing
|sharing that|checking|checking in|pointing (?:that|it|this) out|bearing with <us>)""",
    "melden": "(?:melden sie sich|fragen sie|frag|melde dich|lassen sie es mich wissen)",
    "hésitez": "n'hésite[zs]? pas(?: à (?:(?:me |nous )?(?:demander|contacter)|poser vos questions))?",
    "dudes": "no (?:dudes?|duden?) en (?:preguntar(?:me)?|contactar(?:me|nos)|consultar(?:me|nos)?)",
    "chiedere": "(?:chiedere|contattar(?:mi|ci))",
    "perguntar": "(?:perguntar|contactar(?:-me|-nos)?|entrar em contato)",
    "weten": "(?:laat het <us> (?:gerust )?weten|aarzel (?:dan )?niet om (?:te vragen|contact op te nemen))",
}
"""What stands for ``<name>``. ``small`` is a word of what a courtesy is about: no name, figure or promise."""
