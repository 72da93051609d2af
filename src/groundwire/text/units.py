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
    (Unit("power", 1.0), "w watt watts"),
    (Unit("power", 1000.0), "kw kilowatt kilowatts"),
    (Unit("voltage", 1.0), "v volt volts"),
    (Unit("charge", 1.0), "mah"),
    (Unit("data", 1e-3), "kb kilobyte kilobytes"),
    (Unit("data", 1.0), "mb megabyte megabytes"),
    (Unit("data", 1000.0), "gb gigabyte gigabytes"),
    (Unit("data", 1e6), "tb terabyte terabytes"),
    (Unit("food energy", 1.0), "kcal calories calorie"),
    (Unit("frequency", 1.0), "hz hertz"),
    (Unit("percent", 1.0), "% ％ ٪ percent pct prozent procent pourcent"),
    (Unit("percentage points", 1.0), "pp"),
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
TWO_WORDS: dict[str, Unit] = {
    "per cent": UNITS["percent"],
    "por ciento": UNITS["percent"],
    "per cento": UNITS["percent"],
    "pour cent": UNITS["percent"],
    "percentage points": UNITS["pp"],
    "percentage point": UNITS["pp"],
    "degrees celsius": UNITS["celsius"],
    "degrees fahrenheit": UNITS["fahrenheit"],
    "degrees c": UNITS["celsius"],
    "degrees f": UNITS["fahrenheit"],
    "square metres": UNITS["m2"],
    "square meters": UNITS["m2"],
    "square feet": UNITS["sqft"],
    "square kilometres": UNITS["km2"],
    "square kilometers": UNITS["km2"],
    "square miles": UNITS["sqmi"],
    "cubic metres": UNITS["m3"],
    "cubic meters": UNITS["m3"],
    "watt hours": UNITS["wh"],
    "watt hour": UNITS["wh"],
    "kilowatt hours": UNITS["kwh"],
    "kilowatt hour": UNITS["kwh"],
    "metric tons": UNITS["tonne"],
    "metric tonnes": UNITS["tonne"],
    "us dollars": UNITS["$"],
    "swiss francs": UNITS["chf"],
    "pounds sterling": UNITS["£"],
}
MONEY = frozenset(
    [
        "USD",
        "EUR",
        "GBP",
        "JPY",
        "INR",
        "CHF",
        "CNY",
        "KRW",
        "CAD",
        "AUD",
        "SEK",
        "NOK",
        "DKK",
        "PLN",
        "RUB",
        "BRL",
        "MXN",
    ]
)
# Letters that mean a unit only when they touch the number ("5m", "3h"): apart, they are words or names.
TOUCHING = frozenset({"s", "h", "g", "m", "l", "w", "v", "an", "in", "ore", "mi", "won", "ano", "mes"})
# Words that may stand between a number and its unit.
BETWEEN = frozenset(
    [
        "business",
        "working",
        "calendar",
        "consecutive",
        "full",
        "more",
        "extra",
        "additional",
        "further",
        "other",
        "whole",
        "metric",
        "weitere",
        "weiteren",
        "volle",
    ]
)
MAGNITUDES: dict[str, float] = {
    "k": 1e3,
    "thousand": 1e3,
    "tausend": 1e3,
    "mil": 1e3,
    "mila": 1e3,
    "duizend": 1e3,
    "lakh": 1e5,
    "m": 1e6,
    "mn": 1e6,
    "mio": 1e6,
    "million": 1e6,
    "millions": 1e6,
    "millionen": 1e6,
    "millones": 1e6,
    "millón": 1e6,
    "milioni": 1e6,
    "milione": 1e6,
    "milhões": 1e6,
    "milhão": 1e6,
    "miljoen": 1e6,
    "crore": 1e7,
    "b": 1e9,
    "bn": 1e9,
    "billion": 1e9,
    "billions": 1e9,
    "milliarden": 1e9,
    "milliarde": 1e9,
    "milliards": 1e9,
    "milliard": 1e9,
    "miliardi": 1e9,
    "miljard": 1e9,
    "tn": 1e12,
    "trillion": 1e12,
}

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

HEDGES = frozenset(
    [
        "about",
        "around",
        "approximately",
        "approx",
        "roughly",
        "nearly",
        "almost",
        "circa",
        "some",
        "ca",
        "c",
        "etwa",
        "ungefähr",
        "rund",
        "environ",
        "unos",
        "casi",
        "aproximadamente",
        "circa",
        "quasi",
        "cerca",
    ]
)

# The words before a number that make it a bound: +1 from below, -1 from above.
BOUNDS: dict[str, int] = {
    "at least": 1,
    "minimum": 1,
    "a minimum of": 1,
    "more than": 1,
    "over": 1,
    "above": 1,
    "exceeding": 1,
    "no less than": 1,
    "not less than": 1,
    "no fewer than": 1,
    "no earlier than": 1,
    "mindestens": 1,
    "at most": -1,
    "up to": -1,
    "maximum": -1,
    "a maximum of": -1,
    "no more than": -1,
    "or less than": -1,
    "not more than": -1,
    "no later than": -1,
    "less than": -1,
    "fewer than": -1,
    "under": -1,
    "below": -1,
    "within": -1,
    "not exceed": -1,
    "not exceeding": -1,
    "bis zu": -1,
    "höchstens": -1,
    "maximal": -1,
    "weniger als": -1,
    "mehr als": 1,
    "jusqu'à": -1,
    "jusqu’à": -1,
    "au plus": -1,
    "moins de": -1,
    "au moins": 1,
    "plus de": 1,
    "hasta": -1,
    "como máximo": -1,
    "menos de": -1,
    "al menos": 1,
    "más de": 1,
    "fino a": -1,
    "al massimo": -1,
    "meno di": -1,
    "almeno": 1,
    "più di": 1,
    "até": -1,
    "no máximo": -1,
    "pelo menos": 1,
    "mais de": 1,
    "hoogstens": -1,
    "minder dan": -1,
    "minstens": 1,
    "meer dan": 1,
}

# A number after one of these names a part of a document, not a fact about the world.
LABELS = frozenset(
    [
        "passage",
        "passages",
        "step",
        "steps",
        "source",
        "sources",
        "document",
        "documents",
        "doc",
        "docs",
        "section",
        "sections",
        "chapter",
        "page",
        "pages",
        "figure",
        "fig",
        "table",
        "item",
        "point",
        "points",
        "line",
        "lines",
        "part",
        "note",
        "footnote",
        "reference",
        "ref",
        "para",
        "paragraph",
        "context",
        "schritt",
        "abschnitt",
        "étape",
    ]
)

_SIMPLE = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
SIMPLE: dict[str, float] = {word: float(i) for i, word in enumerate(_SIMPLE.split())}
TENS: dict[str, float] = {
    word: 10.0 * i
    for i, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
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
