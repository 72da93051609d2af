"""Answers that decline, told from claims that merely hold a "not"."""

from __future__ import annotations

import time

import pytest

from groundwire.text.refusal import declines, is_refusal

DECLINING = """
I can't answer from the documents.
I'm sorry, but I could not find any information about that.
I don't know.
I do not have enough information to answer this question.
We were unable to find an answer.
The passages do not mention a refund fee.
The provided context doesn't contain enough information.
The handbook does not say anything about students.
None of the documents mentions this.
It is not specified in the context.
The price is not mentioned in the passages.
Unable to answer based on given passages.
Based on the given passages, it is not possible to determine the phone number.
There is no information about student fares in the provided documents.
The documents don't say.
The sections I have don't directly address a refund.
The information you shared doesn't say whether dogs may come.
There's no time estimate in the documentation I have.
Nor is there any mention of access to the tower.
It doesn't say whether this applies in winter.
The policy doesn't mention bicycles.
Not specified.
Das kann ich anhand der Dokumente nicht beantworten.
Ich kann diese Frage nicht beantworten.
Je ne peux pas répondre à cette question.
Les documents ne mentionnent pas ce tarif.
Dazu habe ich leider keine Informationen.
Leider liegen mir dazu keine Informationen vor.
Das steht nicht in den Dokumenten.
Es gibt dazu keine Angaben.
Ce tarif n'est pas précisé dans les documents.
No lo sé.
Lo siento, no lo sé.
Non lo so.
Não sei.
Daar heb ik helaas geen informatie over.
Ik weet het niet.
De verstrekte documenten bevatten hierover geen informatie.
Dat staat niet in de documenten.
Er is geen verdere informatie.
No puedo responder a partir de los documentos.
Los documentos no mencionan el precio.
Non posso rispondere a questa domanda.
I documenti non menzionano il prezzo.
Não encontrei essa informação nos documentos.
Os documentos não mencionam o preço.
""".strip().splitlines()

CLAIMING = """
The fee cannot be refunded.
There is no fee.
Children may not travel alone.
You cannot find cheaper tickets anywhere.
The booking does not include a meal.
The ticket does not cover baggage.
Dogs are not included in the fare.
The form is not available on Sundays.
No documents are required for children.
The information desk is closed.
The policy doesn't cover theft.
It doesn't say much for the brakes.
They explain how guests get a refund at no cost.
It does not tell the engine when to stop.
The contract doesn't include breakfast.
We can't provide meals on short flights.
The airline does not give refunds.
You can't answer calls during take-off.
Die Gebühr wird nicht erstattet.
Les chiens ne sont pas admis.
Uns liegen keine Hinweise auf einen Schaden vor.
Das Formular wird nicht unterschrieben.
Le Wi-Fi n'est pas disponible.
Los niños no pagan.
Honden zijn niet toegestaan.
Wij hebben geen parkeerplaats.
De documenten worden niet teruggestuurd.
Wij weten dat honden niet welkom zijn.
La tarifa no incluye equipaje.
I don't know, but the fee is 90 EUR.
The passages mention a fee of 25 EUR for Light, but they do not mention Classic.
""".strip().splitlines()


@pytest.mark.parametrize("sentence", DECLINING)
def test_declining_is_recognised(sentence):
    """The answerer or the documents have nothing to say: that declines, in six languages."""
    assert declines(sentence)


@pytest.mark.parametrize("sentence", CLAIMING)
def test_a_negated_claim_is_still_a_claim(sentence):
    """A "not" about the world, or a claim beside the declining, is no refusal."""
    assert not declines(sentence)


def test_what_follows_a_semicolon_or_a_dash_may_be_a_claim():
    """Unless it is said of the documents, or tells whom to ask."""
    for claims in ("it is free", "it costs 20 EUR", "they are open on Sundays"):
        assert not declines(f"The documents don't mention a fee; {claims}.")
        assert not declines(f"The documents don't mention a fee – {claims}.")
    for silent in (
        "it is not stated",
        "it is best to ask the office",
        "please ask the office",
        "it is unclear",
    ):
        assert declines(f"The documents don't mention a fee; {silent}.")


def test_a_refusal_may_be_polite():
    """Courtesy beside the declining doesn't make an answer of it; a claim does."""
    assert is_refusal(["I can't find that in the handbook.", "Please contact customer service."])
    assert not is_refusal(["I can't find that in the handbook.", "The fee is 90 EUR."])
    assert not is_refusal(["Please contact customer service."])
    assert not is_refusal([])


def test_a_long_sentence_takes_no_time():
    """Patterns are bounded: hostile repetition is not looked through."""
    started = time.perf_counter()
    for piece in ("the documents do not ", "i can not ", "no information ", "nicht "):
        declines(piece * 20_000)
        declines((piece * 30)[:399])
    assert time.perf_counter() - started < 1.0


@pytest.mark.parametrize(
    "sentence",
    """
    Das ist nicht ohne Unterlagen möglich.
    Dazu wird nicht mehr die Unterlage benötigt.
    Dazu gibt es keine Angabe von Gründen, die nötig wäre.
    In den Unterlagen steht, dass das Frühstück nicht enthalten ist.
    Für die Bestellung haben wir keine persönlichen Angaben gespeichert.
    Ce médicament n'est pas indiqué.
    Ce médicament n'est pas indiqué dans l'insuffisance rénale.
    Le document dit que l'hôtel ne fournit pas le petit-déjeuner.
    Aucune information bancaire n'est conservée.
    El documento dice que el precio no incluye el desayuno.
    Il farmaco non è indicato nei bambini.
    Il documento dice che l'hotel non fornisce gli asciugamani.
    O documento diz que o hotel não fornece toalhas.
    Dit is niet mogelijk zonder documenten.
    De tekst zegt dat honden niet zijn toegestaan.
    Wij hebben geen informatie van de klant nodig.
    Ik weet dat niet alle kamers een balkon hebben.
    Er is geen extra informatie nodig voor de aanvraag.
    """.strip().split("\n"),
)
def test_what_a_document_denies_in_another_language_is_a_claim(sentence):
    """Nor does a claim decline for what it says of documents, information and what is indicated."""
    assert not declines(sentence.strip())


@pytest.mark.parametrize(
    "sentence",
    """
    Dazu enthält die Benutzungsordnung leider keine Angaben.
    Darüber steht nichts in den Dokumenten.
    Cela n'est pas indiqué dans le document.
    Il prezzo non è indicato nei documenti.
    El documento no dice que el precio suba.
    De tekst vermeldt niet wat het kost.
    Het document zegt niets over honden.
    Ik heb niet genoeg informatie om dit te beantwoorden.
    """.strip().split("\n"),
)
def test_what_a_document_does_not_say_in_another_language_declines(sentence):
    """A singular document as well, and what it does not say that ..."""
    assert declines(sentence.strip())


@pytest.mark.parametrize(
    ("sentence", "refuses"),
    [
        ("The documents do not mention parking, so it is free.", False),
        ("The policy doesn't say anything about internet costs, so they are paid by the company.", False),
        ("The documents do not mention parking, so it is unclear.", True),
        ("The policy doesn't say anything about internet costs, so I'm unable to answer that part.", True),
        ("The documents do not mention a fee, so you can park for free.", False),
        ("The documents do not mention a fee, so it's free.", False),
        ("The documents do not mention parking, so the fee is 90 EUR.", False),
        ("The documents do not mention a fee, so there is no fee.", False),
        ("The documents do not mention a fee, so I assume that it is free.", False),
        ("The documents do not mention a fee, so it is likely free.", False),
        ("The documents do not mention returns, so it cannot be returned.", False),
        ("The documents do not mention dogs, so you cannot bring one.", False),
        ("The documents do not mention a fee, which means parking is free.", False),
        ("The documents do not mention a fee, therefore it is free.", False),
        ("The documents do not mention a fee, so you can check in for free.", False),
        ("The documents do not mention a fee, so I can confirm that it is free.", False),
        ("The documents do not mention it, so you don't have to ask your manager.", False),
        ("The documents do not mention it, so we cannot offer a refund.", False),
        ("The documents do not mention it, so you are unable to return it.", False),
        ("The documents do not mention it, so I'd suggest that you ask HR.", True),
        ("The documents do not mention a fee, so that part is free.", False),
        ("The documents do not mention dogs, so it is up to the hotel.", False),
        ("The documents do not mention dogs, so I recommend checking with the hotel.", True),
        ("The documents do not mention dogs, so I'd rather not guess.", True),
        ("The documents do not mention dogs, so this remains open.", True),
        ("The documents do not mention dogs, so this is outside what I can help with.", True),
        ("The context has no information about this, so the answer is not available.", True),
        ("The documents do not mention a fee, so the exact amount is unknown.", True),
        ("The documents do not mention cooking in foil, so I cannot provide guidance on that aspect.", True),
        ("The documents do not mention a fee, so it cannot be determined.", True),
        ("The documents do not mention a fee, so you'd better ask the airline.", True),
        ("The documents do not mention a fee, so please contact support.", True),
        ("The documents do not mention a fee, so there is not enough information.", True),
        ("The documents do not mention a fee, therefore I cannot answer.", True),
        ("The documents do not mention the fee, so based on them, I can't tell.", True),
        (
            "The docs I have don't say whether rotation can be scheduled, so you may want to ask support.",
            True,
        ),
    ],
)
def test_what_is_concluded_from_silence_is_a_claim(sentence, refuses):
    assert declines(sentence) is refuses
