"""Word lists of the lexical detector. English but for opposites: elsewhere their features are silent."""

from __future__ import annotations

from groundwire.text import tokens


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(tokens.stem, text.split()))


# Words that answer, and say nothing that could be looked up.
EMPTY = _words("yes yeah sure okay ok ja nein oui sí si sì sim hello hi thanks thank sorry please")
HEDGES = _words(
    """may might could perhaps possibly likely probably generally typically usually often seems appears
    suggests suggesting implies implying indicating indicates potentially"""
)
MODAL = _words("can may must shall should will could would might")
PRAISE = _stems(
    """popular great excellent friendly cozy delicious favorite ideal perfect wide variety vibrant charming
    renowned enjoyable convenient unique overall atmosphere experience customers known quality comfortable
    relaxing welcoming"""
)
ADVICE = _stems(
    """important recommend recommended essential ensure consult consider remember always note additionally
    helpful advisable careful professional proper properly safe necessary"""
)
CITES = _words(
    "passage passages according source sources document documents based mentioned provided context"
)
# Words that negate by their meaning: with one of these about, a missing "not" is no difference.
NEGATIVE = _stems(
    "avoid refuse unable unaware unless fail lack prevent prohibit hardly decline except false unavailable"
)
_PAIRS = """
always never, all none, all some, every no, before after, more less, more fewer, most least, above below,
over under, increase decrease, increased decreased, increases decreases, rise fall, rose fell, free charged,
free paid, include exclude, included excluded, includes excludes, allowed forbidden, allowed prohibited,
permitted prohibited, permitted forbidden, open closed, opens closes, arrival departure, first last,
earliest latest, highest lowest, higher lower, high low, maximum minimum, inside outside, indoor outdoor,
early late, earlier later, left right, north south, east west, northern southern, eastern western,
accept refuse, accepted refused, accepted rejected, won lost, wins loses, true false, hot cold,
mandatory optional, required optional, refundable non-refundable, with without, male female, men women,
positive negative, adults children, buy sell, bought sold, up down, same different, longer shorter,
larger smaller, bigger smaller, faster slower, both neither, everyone nobody, daily weekly, weekly monthly,
morning evening, weekdays weekends, online offline, domestic international, inbound outbound,
upload download, uploads downloads, entrance exit, internal external, upper lower, vertical horizontal,
stronger weaker, heavier lighter, older younger, older newer, oldest youngest, oldest newest,
wider narrower, credit debit, gross net,
legal illegal, valid invalid, safe unsafe, active inactive, possible impossible, complete incomplete,
mandatory voluntary, compulsory optional, temporary permanent, improved worsened, expand shrink, plus minus
"""
# Whom one thing concerns, and whom it doesn't; which end of a range.
_ROLES = """
landlord tenant, landlords tenants, employer employee, employers employees, buyer seller, buyers sellers,
lender borrower, lenders borrowers, sender recipient, senders recipients, doctor patient, doctors patients,
teacher student, teachers students, parents children, creditor debtor, guest host, winner loser,
minimum maximum, residents visitors, resident visitor
"""
# The plainest of them in other languages. Two words with a "_" are one: "nach" and "plus" are many things,
# "nach der" stands against "vor der" and "plus de" against "moins de".
_ABROAD = """
vor_der nach_der, vor_dem nach_dem, vor_den nach_den, mit ohne, immer nie, geöffnet geschlossen,
offen geschlossen, öffnet schließt, erlaubt verboten, gestattet verboten, mehr_als weniger_als,
mindestens höchstens, mindestens maximal, kostenlos kostenpflichtig, gratis kostenpflichtig, morgens abends,
vormittags nachmittags, oben unten, links rechts, innen außen, nördlich südlich, östlich westlich,
inklusive exklusive, verpflichtend freiwillig, gekauft verkauft, früher später, größer kleiner,
höher niedriger, erhöht gesenkt, steigt sinkt, stieg sank, gewonnen verloren, gewann verlor,
erwachsene kinder, ankunft abfahrt, brutto netto, sommer winter, täglich wöchentlich, wöchentlich monatlich,
monatlich jährlich, alle keine, alle einige,
avant après, avec sans, toujours jamais, ouvert fermé, ouverte fermée, ouverts fermés, ouvertes fermées,
ouvre ferme, autorisé interdit, autorisée interdite, autorisés interdits, autorisées interdites,
plus_de moins_de, gratuit payant, gratuite payante, gratuits payants, matin soir, inclus exclus,
obligatoire facultatif, obligatoire facultative, gauche droite, nord sud, acheté vendu, augmenté baissé,
augmente diminue, hausse baisse, gagné perdu, arrivée départ, adultes enfants, brut net, intérieur extérieur,
accepté refusé, acceptée refusée, acceptés refusés, en_été en_hiver, l'été l'hiver, hebdomadaire mensuel,
mensuel annuel,
antes después, con sin, siempre nunca, abierto cerrado, abierta cerrada, abiertos cerrados, abiertas cerradas,
abre cierra, permitido prohibido, permitida prohibida, permitidos prohibidos, más_de menos_de,
la_mañana la_tarde, incluido excluido, incluida excluida, obligatorio opcional, obligatoria opcional,
obligatorio voluntario, izquierda derecha, norte sur, aumentó disminuyó, subió bajó, ganó perdió,
llegada salida, adultos niños, interior exterior, mínimo máximo, aceptado rechazado, verano invierno,
semanal mensual,
prima_di dopo, prima_del dopo, prima_della dopo, prima_dei dopo, prima_delle dopo, con senza, sempre mai,
aperto chiuso, aperta chiusa, aperti chiusi, aperte chiuse, apre chiude, consentito vietato,
consentita vietata, più_di meno_di, mattina sera, mattina pomeriggio, incluso escluso, inclusa esclusa,
inclusi esclusi, obbligatorio facoltativo, obbligatoria facoltativa, sinistra destra, aumentato diminuito,
vinto perso, arrivo partenza, adulti bambini, interno esterno, minimo massimo, accettato rifiutato,
estate inverno, settimanale mensile,
antes depois, com sem, aberto fechado, aberta fechada, abertos fechados, abertas fechadas, abre fecha,
permitido proibido, permitida proibida, mais_de menos_de, da_manhã da_tarde, incluído excluído,
incluída excluída, obrigatório opcional, obrigatória opcional, obrigatório facultativo, esquerda direita,
norte sul, aumentou diminuiu, subiu desceu, ganhou perdeu, chegada partida, adultos crianças, verão inverno,
aceite recusado, semanal mensal,
met zonder, altijd nooit, geopend gesloten, open gesloten, opent sluit, toegestaan verboden,
meer_dan minder_dan, minimaal maximaal, minstens hoogstens, gratis betaald, ochtend avond,
inclusief exclusief, verplicht vrijwillig, verplicht optioneel, noordelijk zuidelijk, oostelijk westelijk,
gestegen gedaald, gewonnen verloren, aankomst vertrek, volwassenen kinderen, zomer winter,
dagelijks wekelijks, wekelijks maandelijks
"""
# What a subject does: where a sentence has both, what follows each tells them apart.
_VERBS = """
opens closes, opened closed, starts ends, started ended, begins ends, began ended, adds removes,
added removed, includes excludes, covers excludes, accepts rejects, accepts refuses, wins loses, won lost,
rises falls, rose fell, increases decreases, increased decreased, raises lowers, enables disables,
imports exports, buys sells, bought sold, lends borrows, hires fires, hired fired, arrives departs,
arrives leaves, allows forbids, allows prohibits, gains loses, gained lost
"""
# What is said of a subject: "smoking is prohibited".
_STATES = """
allowed/permitted prohibited/forbidden/banned, rose/increased/grew fell/decreased/declined/dropped,
included/covered excluded, accepted/approved refused/rejected, enabled disabled,
required/mandatory/compulsory optional/voluntary, refundable non-refundable, active inactive
"""


# Where a word of theirs is no opposite: "however", "no doubt", "still".
PHRASES = _words(
    """sin_embargo sin_duda sans_doute sem_dúvida senza_dubbio ohne_zweifel ohne_weiteres zonder_twijfel
    immer_noch immer_mehr immer_weniger siempre_que sempre_que"""
)


def _opposites(pairs: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for pair in pairs.split(","):
        a, b = pair.split()
        found[a] = (*found.get(a, ()), b)
        found[b] = (*found.get(b, ()), a)
    return found


OPPOSITE_VERBS = _opposites(_VERBS)
OPPOSITES = _opposites(f"{_PAIRS},{_ROLES},{_ABROAD}")
ROLES = frozenset(_opposites(_ROLES))


def _states() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    found: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for pair in _STATES.split(","):
        one, other = (frozenset(side.split("/")) for side in pair.split())
        found |= dict.fromkeys(one, (one, other)) | dict.fromkeys(other, (other, one))
    return found


STATES = _states()
"""By each word that tells a state, those that say the same and those that say the opposite."""
