"""Numbers written as words in other languages than English."""

import pytest

from groundwire.text import facts, language, spoken
from groundwire.text.facts import Status


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("les clients ont soixante-quinze jours", [75]),
        ("quatre-vingt-dix-neuf euros pour les clients", [99]),
        ("deux mille trois cents euros et plus", [2300]),
        ("les vingt et un clients", [21]),
        ("kunden haben fünfundzwanzig tage", [25]),
        ("der preis ist dreitausendvierhundertzwölf euro", [3412]),
        ("los clientes tienen treinta y cinco días", [35]),
        ("doscientos cincuenta y dos euros por la noche", [252]),
        ("il prezzo è duecentocinquanta euro o tremila", [250, 3000]),
        ("il cliente ha ventotto giorni", [28]),
        ("cento e vinte e cinco euros com os clientes", [125]),
        ("klanten hebben vijfentwintig dagen of drieëntwintig", [25, 23]),
        ("de prijs is tweehonderdvijftig euro", [250]),
    ],
)
def test_a_number_is_read_in_the_language_of_its_text(text, values):
    assert [value for _, _, value in spoken.find(text)] == values


@pytest.mark.parametrize(
    "text",
    ["once a day the mille miglia is due for a cent of the dos", "cuesta 5 mil euros en el hotel", "of sei"],
)
def test_words_that_are_no_number_in_their_text_are_none(text):
    """English "once" and "due", and a word that only multiplies the digits before it."""
    assert list(spoken.find(text)) == []


@pytest.mark.parametrize(
    ("document", "same", "other"),
    [
        ("Les clients ont trente jours.", "Les clients ont 30 jours.", "Les clients ont soixante jours."),
        ("Kunden haben dreißig Tage Zeit.", "Kunden haben 30 Tage Zeit.", "Kunden haben sechzig Tage Zeit."),
        (
            "Los clientes tienen treinta días.",
            "Los clientes tienen 30 días.",
            "Los clientes tienen sesenta días.",
        ),
        ("I clienti hanno trenta giorni.", "I clienti hanno 30 giorni.", "I clienti hanno sessanta giorni."),
        ("Os clientes têm trinta dias.", "Os clientes têm 30 dias.", "Os clientes têm sessenta dias."),
        ("Klanten hebben dertig dagen.", "Klanten hebben 30 dagen.", "Klanten hebben zestig dagen."),
    ],
)
def test_a_spoken_number_is_the_same_fact_as_its_digits(document, same, other):
    known = facts.extract(document)
    assert facts.check(facts.extract(same)[0], known).status is Status.FOUND
    assert facts.check(facts.extract(other)[0], known).status is Status.DIFFERS


def test_one_sentence_tells_its_language():
    """Two function words are enough to be less sure; four to be sure."""
    words = ["kunden", "haben", "dreißig", "tage", "zeit", "für", "die", "rückgabe"]
    assert language.guess(words, least=2) == "German"
    assert language.guess(["red", "shoes", "cost", "ten", "dollars"], least=2) is None
    assert language.likely(["the", "price", "is", "due"]) == []
