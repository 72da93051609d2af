"""Other languages than English: words without content, and one stem for the forms of a word."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from groundwire.text import abroad, tokens
from groundwire.text.forms import NEGATIONS
from groundwire.text.overlap import Context

# A language, and forms of one word each.
FORMS = {
    "German": [
        "tag tage tagen",
        "erstattet erstatten",
        "zurückgeben zurückgegeben zurückzugeben",
        "kauft gekauft",
    ],
    "French": ["entreprise l'entreprise entreprises", "ouvert ouverts ouverte", "qu'ils ils", "jour jours"],
    "Spanish": ["fundaron fundada", "empleado empleados", "devolver devolverá"],
    "Italian": ["orario l'orario orari", "aperto aperti aperta", "dell'ufficio ufficio", "mese mesi"],
    "Portuguese": ["devolvido devolvidos devolver", "horário horários", "cliente clientes"],
    "Dutch": ["geopende geopend", "klant klanten"],
}
DOCUMENTS = {
    "German": "Die Ware kann innerhalb von 30 Tagen zurückgegeben werden. Der Laden ist sonntags zu.",
    "French": "L'entreprise rembourse les articles rendus dans les 30 jours. Le magasin est fermé lundi.",
    "Spanish": "La empresa fue fundada por dos hermanas. Los artículos se pueden devolver en 30 días.",
    "Italian": "L'ufficio è aperto dal lunedì al venerdì. I clienti possono restituire un articolo.",
    "Portuguese": "A loja está aberta de segunda a sexta. Os clientes podem devolver os artigos em 30 dias.",
    "Dutch": "De winkel is op zondag gesloten. Klanten kunnen de artikelen binnen 30 dagen terugbrengen.",
}


@pytest.mark.parametrize(("language", "forms"), [(known, one) for known in FORMS for one in FORMS[known]])
def test_forms_of_a_word_have_one_stem(language, forms):
    """Inflected, after an elided article, with the "ge" or "zu" of a German verb."""
    assert len({abroad.stem(form, language) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("language", "telling"),
    [
        ("German", "nicht kein keine ohne nie muss darf kann alle nur vor mehr weniger"),
        ("French", "pas jamais sans doit peut tous toutes seulement avant après plus moins"),
        ("Spanish", "no nunca sin debe puede todos solo antes después más menos"),
        ("Italian", "non mai senza deve può tutti solo prima dopo più meno"),
        ("Portuguese", "não nunca sem deve pode todos apenas antes depois mais menos"),
        ("Dutch", "niet geen nooit zonder moet kan alle alleen voordat meer minder"),
    ],
)
def test_what_changes_the_sense_is_never_empty(language, telling):
    """Negations, modals, quantifiers and the like have to be borne out, as in English."""
    assert abroad.EMPTY[language].isdisjoint(telling.split())


@pytest.mark.parametrize("language", sorted(set(abroad.EMPTY) - {"Portuguese"}))
def test_no_negation_is_empty(language):
    """But the Portuguese "no", which denies nothing."""
    assert abroad.EMPTY[language].isdisjoint(NEGATIONS)


def test_the_portuguese_no_denies_nothing():
    """ "No domingo" is "on Sunday"."""
    context = Context(
        ["A loja abre no sábado e no domingo. A loja não abre na segunda-feira, só para os clientes."]
    )
    assert not context.word("A loja abre no sábado.").negated
    assert context.word("A loja não abre no sábado.").negated


@pytest.mark.parametrize("language", DOCUMENTS)
def test_a_document_s_language_is_told_and_its_empty_words_are_none_to_look_up(language):
    """Nothing is left that could be missed but its content."""
    context = Context([DOCUMENTS[language]])
    assert context.language == language
    worded = context.word(DOCUMENTS[language])
    assert abroad.EMPTY[language].isdisjoint(worded.folded[i] for i in worded.content)
    assert len(worded.content) >= 6


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("German", "Sie können die Waren zurückgeben."),
        ("French", "Les entreprises remboursent les articles d'un magasin."),
        ("Spanish", "Dos hermanas fundaron la empresa y puede devolver un artículo."),
        ("Italian", "Gli uffici sono aperti e il cliente può restituire un articolo."),
        ("Portuguese", "As lojas estão abertas e o cliente pode devolver um artigo."),
        ("Dutch", "De winkels zijn gesloten en een klant kan artikel terugbrengen."),
    ],
)
def test_a_word_stands_under_the_stem_that_the_passages_have_it_by(language, said):
    """Whatever form they have it in, it isn't missing; what they don't speak of is."""
    context = Context([DOCUMENTS[language]])
    worded = context.word(said)
    missing = {worded.folded[i] for i in worded.content if not context.places(worded.stems[i])}
    assert missing <= {"können", "puede", "può", "pode", "kan"}
    strange = context.word("Xanthippe")
    assert not context.places(strange.stems[0])


def test_english_and_unknown_languages_are_read_as_they_are():
    """Nothing changes where no other language is told, names of foreign places among them."""
    for text in (
        "A bag costs 25 EUR. The fee is paid at the gate.",
        "Rio de Janeiro and Los Angeles.",
        "Bag: 25.",
        "The 2018 Chinese Cup (Chinese: 2018年中国足球协会杯(女子)) was the 12th edition of the Cup.",
    ):
        context = Context([text])
        assert context.language in (None, "English")
        assert context.word(text).content == Context(["The end."]).word(text).content


def test_of_several_passages_the_language_of_most_words_counts():
    """In whatever order they are."""
    passages = [DOCUMENTS["German"], DOCUMENTS["German"].replace("30", "40"), "The shop is closed on Sunday."]
    assert Context(passages).language == Context(passages[::-1]).language == "German"


def test_threads_share_no_stemmer():
    """A stemmer keeps the word it works on."""
    words = [word for forms in FORMS["German"] for word in forms.split()] * 200
    alone = [abroad.stem(word, "German") for word in words]
    abroad._OF_THREAD.__dict__.clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda word: abroad.stem(word, "German"), words)) == alone


def test_a_word_without_end_is_left_as_it_is():
    long = "ge" + "arbeit" * 4_000
    assert abroad.stem(long, "German").startswith("arbeit")
    assert tokens.stem(long) == long


@pytest.mark.parametrize(
    "text",
    [
        "Mon 9 am - 5 pm, Tue 9 am - 5 pm, Sat 10 am - 2 pm. Phone 555-0100.",
        "Bike rental: EUR 20 per day in summer, EUR 120 per week in winter, EUR 300 per month.",
        "Power: 100 W. Standby: 5 W. Max: 300 W.",
        "Skin care, hair care, nail care products.",
        "Mon 9 AM EST; Tue 10 AM EST; Wed 11 AM EST.",
        "Hole 1: par 4. Hole 2: par 3. Hole 3: par 5.",
        "Cargo van, passenger van, camper van: hire here.",
        '{"name": "Los Agaves", "address": "De La Vina St", "city": "Santa Barbara", "Alcohol": "none"}',
    ],
)
def test_no_word_of_english_makes_it_another_language(text):
    """One word again and again tells none, nor do names."""
    context = Context([text])
    assert context.language in (None, "English")
    assert not context.foreign(["Massages and meals are offered to the guests of the house."])


def test_a_name_denies_nothing():
    """The Spanish "nada" is one in English."""
    assert not Context(["Nada Petrović won the race in Oslo."]).word("Nada Petrović won the race.").negated


def test_a_portuguese_no_that_answers_is_no_negation():
    """As in "Não, a loja abre no sábado"."""
    context = Context(["A loja abre no sábado e no domingo. Os clientes pagam 2 euros para estacionar."])
    assert not context.word("Não, a loja abre no sábado.").negated


def test_an_english_claim_is_read_as_english_among_others():
    """What "die" and "man" are in German leaves them what they are."""
    context = Context([DOCUMENTS["German"], "A man may die in the war."])
    assert context.language == "German"
    assert len(context.word("A man may die in the war.").content) == len(
        Context([]).word("man may die war").content
    )
