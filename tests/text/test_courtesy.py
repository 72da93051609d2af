"""Courtesies claim nothing, and nothing with a fact in it is a courtesy."""

import time

import pytest

from groundwire.text import claims
from groundwire.text.courtesy import is_opening, is_polite, is_their_name

POLITE = """
Hi, I'm the HR assistant.
I'm Hanna, your virtual HR assistant.
I'm your travel assistant, here to help.
Hi Tom, good to hear from you!
Thanks so much for shopping with us!
Thanks again for being a valued customer!
I hope your headache goes away soon!
I understand how important this is to you.
I understand this is frustrating.
I'm here to help with any questions you may have about your leave.
Have a safe trip!
We look forward to welcoming you.
Let me know if you run into any issues!
Hope this points you in the right direction!
Have a nice day!
Let me know if you have other questions.
Please let me know if you have any other questions!
If you have any further questions, feel free to ask.
If you need anything else, please let me know.
If you have any other questions, just ask.
Is there anything else I can help you with?
Don't hesitate to contact us if you have more questions.
Enjoy your stay!
Best regards
Schönen Tag noch!
Bei weiteren Fragen stehe ich gerne zur Verfügung.
Wenn Sie noch Fragen haben, melden Sie sich gerne.
N'hésitez pas si vous avez d'autres questions.
Bonne journée !
¡Que tengas un buen día!
Si tienes más preguntas, no dudes en preguntar.
Buona giornata!
Tenha um bom dia!
Fijne dag nog!
Ich hoffe, ich konnte Ihnen weiterhelfen.
J'espère que cela vous aidera.
Je reste à votre disposition pour toute question.
¡Espero que esto te ayude!
Spero che questo ti sia d'aiuto.
Espero ter ajudado!
Ik hoop dat dit helpt!
Great!
Wow, that's great news!
That's wonderful to hear!
Congratulations on your new job!
Congratulations again, and feel free to ask if anything else comes up.
Thanks for letting me know, Maria!
Hi Anna, thanks for reaching out!
Hello Mr. Smith,
I'm so sorry to hear that, it must be frustrating.
My apologies for the earlier mix-up.
No worries at all, happy to help!
You're very welcome – good luck with your exam!
Wishing you and your family all the best.
Is there anything else you'd like to know about the parental leave?
I hope that clears things up, and enjoy your time off!
Thanks for reaching out to Acme Travel!
Thank you all for your hard work!
I'm sorry you're not feeling well.
Congratulations, by the way!
I'd be happy to explain!
Yours sincerely,
Happy travels!
I'm here if you need anything else.
Let me know if you'd like details on sports equipment!
If you have any other questions about remote work, just let me know.
Let me know which one you prefer!
If you tell me your route, I can give you the exact price.
Please contact our support team if you need further assistance.
If you need further help, please contact us.
I hope this helps you plan your trip!
Haben Sie noch weitere Fragen?
Vielen Dank für Ihre Nachricht.
Avez-vous d'autres questions ?
¿Te puedo ayudar en algo más?
Hai altre domande?
Posso ajudar com mais alguma coisa?
Heeft u nog andere vragen?
还有其他问题吗？
他にご質問はありますか？
""".strip().splitlines()
ASKED = """
Which airline do you mean?
Could you tell me which ferry you are taking?
Can you please provide your booking number?
What is your date of travel?
Do you mean the museum or the gallery?
Are you asking about the fee for dogs?
Sorry, what would you like to know?
Thanks for asking!
Would you like me to go into more detail?
Is there anything else you'd like to know?
Would you like help with anything else?
Would you like to know more about the nature reserve?
Would you like me to draft an email to your landlord?
Do you have any other questions?
Want me to look up the fees?
Could you check your confirmation e-mail and tell me the fare type?
Is there a specific plan you're interested in?
How big is your dog?
How long is yours?
Shall I tell you how refunds work as well?
Could you share your order number so that I can look into it?
Before we go on, could you let me know whether the jacket was on sale?
Are you planning to check a bag as well?
Does that answer your question?
What happens next?
Would you like me to give you a short list of examples?
Are you taking any other medicines?
""".strip().splitlines()
STATED = """
Would you like a free upgrade?
Would you like me to give you the upgrade?
Shall I tell your manager?
Do you want me to share your details?
Are you already using the discount for students?
That is safe!
I'm here to help with your refund.
That sounds like a safe plan!
I know that this is difficult.
Please e-mail us.
Text us if you need help.
Thanks for sending all documents.
Would you like me to explain how to get the government's matching payment?
Could you share the return code that we sent you?
Hi, I'm the HR assistant of Contoso, a company of 4,000 people.
I'm your assistant since 2019.
Thanks so much for shopping with us since 1998!
Thanks again, and enjoy your voucher!
I'm sorry the jacket's zip is part of the recall.
I hope your cold gets better within three days.
We look forward to welcoming you at the new pool!
Do you want me to book the seat for 5 EUR?
How big is your free bag?
If you give us the receipt, we will refund you.
If you tell me your plan, I can give you a refund.
Let me know your refund is due.
Let us know your request within a week.
Feel free to adjust the fee.
Feel free to change the dates.
Please contact our support team.
I can help with refunds.
That's annoying because it is closed.
Thanks for reaching out to Acme, which flies to Rome.
I'm sorry you're having trouble because the lift is closed.
Could you tell me why a bag costs 75 EUR?
Did you know that dogs travel free of charge?
Do you want the full refund that every ticket includes?
Are you interested in our lifetime guarantee?
What a shame, the pilot himself cancelled the flight, so where are you now?
Which plan do you use, Gold (for members) or Basic?
Why are dogs not allowed?
Have a nice day at the free museum.
Let me know if you have a ticket.
If you have questions, call 555-1234.
Feel free to ask at the desk, open until 9.
Enjoy your stay at the Ritz.
Contact us within 30 days if you have questions.
Please let us know within 7 days.
Thank you for your order of 3 shoes.
Good luck is a film of 1996.
Ask.
Ask us.
Great, the fee is waived!
Congratulations on your loan being approved!
Congratulations on getting the loan!
I hope you can cancel anytime.
I hope you know refunds are processed instantly.
Is there anything else you'd like to know about the refund you received?
Congratulations on winning the free cruise!
Congratulations on your refund of 50 EUR!
Best wishes to the Smith family, who own the hotel.
Welcome to Paris!
Sorry, the museum is closed.
I'm sorry to hear that your flight was cancelled.
Good news, dogs travel free!
Thanks, the bar opens at noon.
Hey Monday
Have a great flight to Rome!
Good luck with all the free tickets!
I'd be happy to help with your 50 EUR voucher.
Would you like me to book the free upgrade that you won?
Bei weiteren Fragen gilt eine Frist von 14 Tagen.
Ich hoffe, ich konnte Ihnen helfen, denn das kostet 20 EUR.
Espero que esto cueste 20 euros.
Ik hoop dat dit gratis is.
""".strip().splitlines()


@pytest.mark.parametrize("sentence", ASKED)
def test_a_question_back_is_no_claim(sentence):
    """Nothing is stated by who asks what is meant."""
    assert claims.cut(sentence) == []
    assert [span.of(f"Bags are free. {sentence}") for span in claims.cut(f"Bags are free. {sentence}")] == [
        "Bags are free."
    ]


@pytest.mark.parametrize("sentence", POLITE)
def test_a_courtesy_is_no_claim(sentence):
    """In several languages, after a claim or alone."""
    assert is_polite(sentence)
    assert claims.cut(sentence) == []
    assert [span.of(f"Bags are free. {sentence}") for span in claims.cut(f"Bags are free. {sentence}")] == [
        "Bags are free."
    ]


@pytest.mark.parametrize("sentence", STATED)
def test_what_says_more_than_a_courtesy_is_a_claim(sentence):
    assert not is_polite(sentence)
    assert not is_opening(sentence)
    assert [span.of(sentence) for span in claims.cut(sentence)] == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Of course.",
        "I'd be happy to help with that.",
        "We can help with that.",
        "Feel free to adjust the tone!",
        "Sorry for the confusion.",
        "That's a great question!",
        "Sure, I'd be happy to help!",
        "Yes, exactly!",
        "You're absolutely right, my apologies.",
        "Great question, and good luck with your trip!",
    ],
)
def test_an_opening_claims_nothing_beside_a_claim(sentence):
    assert is_opening(sentence)
    assert len(claims.cut(f"{sentence} Bags are free.")) == 1


@pytest.mark.parametrize("sentence", ["Of course.", "We can help with that.", "Feel free to change it."])
def test_an_opening_that_may_affirm_is_judged_where_it_stands_alone(sentence):
    assert [span.of(sentence) for span in claims.cut(sentence)] == [sentence]
    assert len(claims.cut(f"{sentence} Bags are free.")) == 1


def test_phrases_that_could_be_joined_in_many_ways_take_no_time():
    """What follows a wish may be the words of it, or further courtesies: few of them are tried."""
    started = time.perf_counter()
    for piece in ("hi hi i hope you i ", "hi i hope it hi hi hi ", "i hope you your enjoy and "):
        sentence = f"{(piece * 40)[:158]}x9"
        assert not is_polite(sentence)
        assert not is_opening(sentence)
    assert time.perf_counter() - started < 1.0


def test_the_name_that_an_asker_gave_is_no_claim():
    """Said back to them; any other name is one."""
    assert is_their_name("Your name is Ann.", "Hi, I'm Ann.\nWhat is my name?")
    assert is_their_name("You told me that your name is Ann!", "my name is ann")
    assert is_their_name("Your name is Ann.", "This is Ann speaking. You can call me Annie.")
    assert not is_their_name("Your name is Bob.", "Hi, I'm Ann.")
    assert not is_their_name("Your name is Bob.", "Don't call me Bob.")
    assert not is_their_name("Your name is Bob.", "This is Bob, my manager.")
    assert not is_their_name("Your name is Ann.", "I'm Ann's sister.")
    assert not is_their_name("Your name is Ann and you are a member.", "I'm Ann.")


def test_that_something_sounds_good_may_affirm():
    """It is the answer to "May I take both?" where nothing else is said."""
    for sentence in ("Sounds good!", "That sounds like a great idea!", "Just try it."):
        assert is_opening(sentence)
        assert not is_polite(sentence)
        assert claims.cut(sentence)
