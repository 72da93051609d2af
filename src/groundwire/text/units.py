"""What a word or sign beside a number means: measures, currencies, magnitudes, months, hedges, bounds.

Tables alone. A measure is a (dimension, factor, offset): two measures of one dimension are compared in
its base unit. Only what is exact is a factor here, apart from the customary units, whose factors are
exact by definition (1 lb = 0.45359237 kg).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """A measure: ``base = number * factor + offset``, in the base unit of ``dimension``.

    ``system`` tells the customary units from the metric ones: a number converted between them was
    rounded by whoever converted it.
    """

    dimension: str
    factor: float = 1.0
    offset: float = 0.0
    system: str = "metric"


CLOCK = Unit("clock")
"""Minutes after midnight."""

_TABLE: tuple[tuple[Unit, str], ...] = (
    (Unit("time", 1e-6), "µs μs microsecond microseconds"),
    (Unit("time", 1e-3), "ms msec msecs millisecond milliseconds millisekunden millisecondes milisegundos"),
    (Unit("time", 1.0), "s sec secs second seconds sekunde sekunden seconde secondes segundos secondi"),
    (Unit("time", 60.0), "min mins minute minutes minuten minutos minuti minuto minuut"),
    (Unit("time", 3600.0), "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur uren"),
    (Unit("time", 86400.0), "day days tag tage tagen jour jours día días giorno giorni dia dias dag dagen"),
    (
        Unit("time", 604800.0),
        "week weeks wk wks woche wochen semaine semaines semana semanas settimane settimana weken",
    ),
    (Unit("time", 1_209_600.0), "fortnight fortnights"),
    (Unit("months", 1.0), "month months monat monate monaten mois mes meses mesi mese mês maand maanden"),
    (
        Unit("months", 12.0),
        "year years yr yrs jahr jahre jahren an ans année années año años anni anno ano anos jaar jaren",
    ),
    (Unit("months", 120.0), "decade decades"),
    (Unit("months", 1200.0), "century centuries"),
    (Unit("mass", 1e-9), "µg μg mcg microgram micrograms"),
    (Unit("mass", 1e-6), "mg milligram milligrams"),
    (Unit("mass", 1e-3), "g gram grams gramme grammes gramm gramos grammi gramas"),
    (Unit("mass", 1.0), "kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramos"),
    (Unit("mass", 1000.0), "tonne tonnes"),
    (Unit("mass", 0.45359237, 0.0, "customary"), "lb lbs pound pounds"),
    (Unit("mass", 0.028349523125, 0.0, "customary"), "oz ounce ounces"),
    (Unit("length", 1e-3), "mm millimetre millimetres millimeter millimeters"),
    (
        Unit("length", 1e-2),
        "cm centimetre centimetres centimeter centimeters zentimeter centimètres centímetros",
    ),
    (Unit("length", 1.0), "m metre metres meter meters mètre mètres metro metros metri"),
    (
        Unit("length", 1000.0),
        "km kms kilometre kilometres kilometer kilometers kilomètres kilómetros chilometri",
    ),
    (Unit("length", 0.0254, 0.0, "customary"), "in inch inches"),
    (Unit("length", 0.3048, 0.0, "customary"), "ft foot feet"),
    (Unit("length", 0.9144, 0.0, "customary"), "yd yard yards"),
    (Unit("length", 1609.344, 0.0, "customary"), "mi mile miles"),
    (Unit("volume", 1e-3), "ml millilitre millilitres milliliter milliliters"),
    (Unit("volume", 1e-2), "cl centilitre centilitres"),
    (Unit("volume", 1e3), "m3 m³"),
    (Unit("volume", 1.0), "l litre litres liter liters"),
    (Unit("volume", 3.785411784, 0.0, "customary"), "gallon gallons gal"),
    (Unit("volume", 0.946352946, 0.0, "customary"), "quart quarts"),
    (Unit("volume", 0.2365882365, 0.0, "customary"), "cup cups"),
    (Unit("volume", 0.01478676478125, 0.0, "customary"), "tablespoon tablespoons tbsp"),
    (Unit("volume", 0.00492892159375, 0.0, "customary"), "teaspoon teaspoons tsp"),
    (Unit("speed", 1.0), "km/h kmh kph"),
    (Unit("speed", 1.609344, 0.0, "customary"), "mph"),
    (Unit("temperature", 1.0), "°c ℃ celsius centigrade"),
    (Unit("temperature", 5 / 9, -160 / 9, "customary"), "°f ℉ fahrenheit"),
    (Unit("degrees", 1.0), "° degrees degree"),
    (Unit("area", 1.0), "m2 m² sqm"),
    (Unit("area", 1e4), "ha hectare hectares hektar hectáreas ettari"),
    (Unit("area", 1e6), "km2 km²"),
    (Unit("area", 4046.8564224, 0.0, "customary"), "acre acres"),
    (Unit("area", 2_589_988.110336, 0.0, "customary"), "sqmi mi²"),
    (Unit("area", 0.09290304, 0.0, "customary"), "sqft ft²"),
    (Unit("energy", 1.0), "wh"),
    (Unit("energy", 1000.0), "kwh"),
    (Unit("energy", 1e6), "mwh"),
    (Unit("energy", 1e9), "gwh"),
    (Unit("power", 1.0), "w watt watts"),
    (Unit("power", 1000.0), "kw kilowatt kilowatts"),
    (Unit("power", 1e6), "megawatt megawatts"),
    (Unit("power", 1e9), "gw gigawatt gigawatts"),
    (Unit("voltage", 1.0), "v volt volts"),
    (Unit("charge", 1.0), "mah"),
    (Unit("data", 1e-6), "byte bytes"),
    (Unit("data", 1e-3), "kb kib kilobyte kilobytes"),
    (Unit("data", 1.0), "mb mib megabyte megabytes"),
    (Unit("data", 1000.0), "gb gib gigabyte gigabytes"),
    (Unit("data", 1e6), "tb tib terabyte terabytes"),
    (Unit("bits", 1e-3), "kbit kbits kbps kilobit kilobits"),
    (Unit("bits", 1.0), "mbit mbits mbps megabit megabits"),
    (Unit("bits", 1000.0), "gbit gbits gbps gigabit gigabits"),
    (Unit("bits", 1e6), "tbit tbits tbps terabit terabits"),
    (Unit("food energy", 1.0), "kcal calories calorie"),
    (Unit("frequency", 1.0), "hz hertz"),
    (Unit("frequency", 1e3), "khz kilohertz"),
    (Unit("frequency", 1e6), "mhz megahertz"),
    (Unit("frequency", 1e9), "ghz gigahertz"),
    (Unit("percent", 1.0), "% ％ ٪ percent pct prozent procent pourcent"),
    (Unit("percentage points", 1.0), "pp"),
    (Unit("percentage points", 0.01), "bps"),
    (Unit("USD"), "$ us$ usd dollar dollars bucks"),
    (Unit("USD", 0.01), "cent cents"),
    (Unit("EUR"), "€ eur euro euros"),
    (Unit("GBP"), "£ gbp sterling quid"),
    (Unit("GBP", 0.01), "pence"),
    (Unit("JPY"), "¥ jpy yen 円"),
    (Unit("INR"), "₹ inr rupee rupees"),
    (Unit("CHF"), "chf franken"),
    (Unit("CNY"), "cny rmb yuan 元"),
    (Unit("KRW"), "₩ krw won"),
    (Unit("CAD"), "cad c$"),
    (Unit("AUD"), "aud a$"),
    (Unit("SEK"), "sek"),
    (Unit("NOK"), "nok"),
    (Unit("DKK"), "dkk"),
    (Unit("PLN"), "pln"),
    (Unit("RUB"), "₽ rub rubles roubles"),
    (Unit("BRL"), "r$ brl reais"),
    (Unit("MXN"), "mxn pesos"),
)
UNITS: dict[str, Unit] = {name: unit for unit, names in _TABLE for name in names.split()}
# As in the "512Mi" of Kubernetes, with a capital and no gap.
BINARY: dict[str, Unit] = {name: UNITS[f"{name}b"] for name in ("ki", "mi", "gi", "ti")}
_TWO_WORDS = (
    ("percent", "per cent, por ciento, per cento, pour cent"),
    ("pp", "percentage points, percentage point"),
    ("bps", "basis points, basis point"),
    ("celsius", "degrees celsius, degrees c"),
    ("fahrenheit", "degrees fahrenheit, degrees f"),
    ("m2", "square metres, square meters"),
    ("sqft", "square feet"),
    ("km2", "square kilometres, square kilometers"),
    ("sqmi", "square miles"),
    ("m3", "cubic metres, cubic meters"),
    ("wh", "watt hours, watt hour"),
    ("kwh", "kilowatt hours, kilowatt hour"),
    ("tonne", "metric tons, metric tonnes"),
    ("$", "us dollars"),
    ("chf", "swiss francs"),
    ("£", "pounds sterling"),
)
TWO_WORDS: dict[str, Unit] = {
    phrase: UNITS[name] for name, phrases in _TWO_WORDS for phrase in phrases.split(", ")
}
MONEY = frozenset(unit.dimension for unit, _ in _TABLE if unit.dimension.isupper())
# Letters that mean a unit only when they touch the number ("5m", "3h"): apart, they are words or names.
TOUCHING = frozenset({"s", "h", "g", "m", "l", "w", "v", "an", "in", "ore", "mi", "won", "ano", "mes"})
# Words that may stand between a number and its unit.
_BETWEEN = (
    "business working calendar consecutive full more extra additional further other whole metric "
    "weitere weiteren volle"
)
BETWEEN = frozenset(_BETWEEN.split())
_MAGNITUDES = (
    (1e3, "k thousand tausend mil mila duizend"),
    (1e5, "lakh"),
    (1e6, "m mn mio mln million millions millionen millones millón milioni milione milhões milhão miljoen"),
    (1e7, "crore"),
    (1e9, "b bn mrd mld billion billions milliarden milliarde milliards milliard miliardi miljard"),
    (1e12, "tn trillion"),
)
MAGNITUDES: dict[str, float] = {name: value for value, names in _MAGNITUDES for name in names.split()}

_MONTHS = (
    "january jan januar janvier enero gennaio janeiro jänner",
    "february feb februar février febrero febbraio fevereiro",
    "march mar märz mars marzo março",
    "april apr avril abril aprile",
    "may mai mayo maggio maio",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août agosto",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember décembre diciembre dicembre dezembro",
)
MONTHS: dict[str, int] = {name: i for i, names in enumerate(_MONTHS, 1) for name in names.split()}

_HEDGES = (
    "about around approximately approx roughly nearly almost circa some ca c etwa ungefähr rund "
    "environ unos casi aproximadamente quasi cerca"
)
HEDGES = frozenset(_HEDGES.split())

# The words before a number that make it a bound: +1 from below, -1 from above.
_AT_LEAST = (
    "at least, minimum, a minimum of, more than, over, above, exceeding, no less than, "
    "not less than, no fewer than, no earlier than, mindestens, mehr als, au moins, plus de, "
    "al menos, más de, almeno, più di, pelo menos, mais de, minstens, meer dan"
)
_AT_MOST = (
    "at most, up to, maximum, a maximum of, no more than, or less than, not more than, "
    "no later than, less than, fewer than, under, below, within, not exceed, not exceeding, "
    "bis zu, höchstens, maximal, weniger als, jusqu'à, jusqu’à, au plus, moins de, hasta, "
    "como máximo, menos de, fino a, al massimo, meno di, até, no máximo, hoogstens, minder dan"
)
BOUNDS: dict[str, int] = dict.fromkeys(_AT_LEAST.split(", "), 1) | dict.fromkeys(_AT_MOST.split(", "), -1)

# A number after one of these names a part of a document, not a fact about the world.
_LABELS = (
    "passage passages step steps source sources document documents doc docs section sections chapter "
    "page pages figure fig table item point points line lines part note footnote reference ref para "
    "paragraph context schritt abschnitt étape"
)
LABELS = frozenset(_LABELS.split())

_SIMPLE = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
SIMPLE: dict[str, float] = {word: float(i) for i, word in enumerate(_SIMPLE.split())}
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
TENS: dict[str, float] = {word: 10.0 * i for i, word in enumerate(_TENS.split(), 2)}
_ORDINAL = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
ORDINALS: dict[str, float] = {word: float(i) for i, word in enumerate(_ORDINAL.split(), 1)} | {
    "twentieth": 20.0,
    "thirtieth": 30.0,
}
SCALES: dict[str, float] = {
    "hundred": 100.0,
    "dozen": 12.0,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
}
NUMBER_WORDS: dict[str, float] = (
    SIMPLE
    | TENS
    | SCALES
    | {"half": 0.5, "quarter": 0.25, "noon": 720.0, "midnight": 0.0, "twice": 2.0, "thrice": 3.0}
)
NUMBER_LIKE = frozenset({*NUMBER_WORDS, *ORDINALS, *UNITS, *MAGNITUDES, *MONTHS})
MONEY_CODES = frozenset(code.lower() for code in MONEY)
