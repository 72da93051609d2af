"""Answers and documents in other languages than English."""

from pathlib import Path

import pytest

from benchmarks import probes
from groundwire import Checker, Interaction
from groundwire.core.claim import Support
from training import languages

FOLDER = Path(__file__).resolve().parents[1] / "probes" / "languages"
# How many of the pairs each detector flags rightly at least, and wrongly at most; one of each to spare.
FLOORS = {
    ("choosing", "lexical"): (48, 15, 5),
    ("choosing", "embedded"): (48, 25, 8),
    ("held_out", "lexical"): (36, 5, 1),
    ("held_out", "embedded"): (36, 13, 3),
}
SHOP = {
    "German": "Der Laden ist werktags von 9 bis 18 Uhr geöffnet. Das Parken kostet für Kunden 2 Euro.",
    "French": "Le magasin est ouvert de 9 h à 18 h. Le parking coûte 2 euros pour les clients.",
    "Spanish": "La tienda está abierta de lunes a viernes de 9 a 18 horas. El aparcamiento cuesta 2 euros.",
    "Italian": "Il negozio è aperto dalle 9 alle 18. Il parcheggio costa 2 euro per i clienti.",
    "Portuguese": "A loja está aberta de segunda a sexta das 9 às 18 horas. O estacionamento custa 2 euros.",
    "Dutch": "De winkel is van maandag tot vrijdag open van 9 tot 18 uur. Parkeren kost voor klanten 2 euro.",
    "a Scandinavian language": "Butiken är öppen från 9 till 18. Parkering kostar 2 euro och är till.",
    "Polish": "Sklep jest otwarty od 9 do 18. Parking dla klientów kosztuje 2 euro, nie jest on duży.",
    "a language in Cyrillic script": "Магазин открыт с 9 до 18 часов. Парковка для клиентов стоит 2 евро.",
    "Japanese": "店は9時から18時まで開いています。お客様の駐車料金は2ユーロです。",
}


@pytest.mark.parametrize(("half", "detector"), FLOORS)
def test_right_answers_are_told_from_wrong_ones(half, detector):
    """On the pairs by which it was chosen how they are weighed, and on those that chose nothing."""
    rates = probes.Rates.of(probes.judge(Checker(detector), probes.pairs(FOLDER / f"{half}.toml")))
    pairs, caught, alarms = FLOORS[half, detector]
    assert rates.caught.of == pairs
    assert rates.caught.hits >= caught
    assert rates.alarms.hits <= alarms


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize("language", SHOP)
def test_what_a_document_says_is_borne_out_and_another_price_is_not(language, detector):
    """The verdict says that it is less sure than usual, and in what language."""
    document = SHOP[language]
    _, sentence = document.replace("。", ". ").split(". ", 1)
    checker = Checker(detector)
    right = checker.check(Interaction(answer=sentence, contexts=document))
    assert not right.hallucinated
    wrong = checker.check(Interaction(answer=sentence.replace("2", "7"), contexts=document))
    assert wrong.score > right.score
    assert f"Less sure than usual: in {language}, other words for the same are hardly known." in wrong.reason


def test_no_word_is_said_to_contradict_where_the_encoder_knows_no_language():
    """It was taught English alone; exact facts contradict in any."""
    document = "Hoy tiene 450 empleados y oficinas en Austin y Berlín, que son las ciudades de la empresa."
    for answer in (
        "La directora vive con su familia en un castillo cerca del río.",
        "Acme compró tres barcos.",
    ):
        verdict = Checker().check(Interaction(answer=answer, contexts=document))
        assert all(claim.support is not Support.CONTRADICTED for claim in verdict.claims)
    verdict = Checker().check(Interaction(answer="La empresa tiene 900 empleados.", contexts=document))
    assert verdict.claims[0].support is Support.CONTRADICTED


def test_names_of_foreign_places_leave_english_what_it_is():
    """The "de" and "los" of names are no Spanish."""
    document = "Los Angeles and Rio de Janeiro are twin cities. The fee is 25 EUR."
    verdict = Checker().check(Interaction(answer="The fee is 75 EUR in Rio de Janeiro.", contexts=document))
    assert "Less sure" not in verdict.reason


def test_the_weights_are_those_that_the_training_prints(capsys):
    """Two numbers and three, fitted to the pairs that choose."""
    languages.main()
    assert capsys.readouterr().out.splitlines() == [
        "lexical: 0.37; begins at -1.13",
        "embedded: 0.20, 0.49; begins at -1.55",
    ]
