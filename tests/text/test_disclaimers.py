"""What is said to be on the safe side claims nothing beside a claim; advice with a fact in it is a claim."""

import pytest

from groundwire.text import claims
from groundwire.text.disclaimers import is_disclaimer
from tests.text.test_sentences import HOSTILE, growth

SAFE = """
I can't give legal advice, so please ask HR or a lawyer if your case is special.
If your headache doesn't get better, please talk to your doctor or pharmacist.
This is general information and not legal advice.
Please double-check with the airline before you travel.
This information may have changed.
This is not legal advice.
Disclaimer: This is not legal advice.
**Disclaimer:** I'm not a lawyer, and this isn't legal advice.
Please consult a lawyer for your specific situation.
Always consult your doctor or pharmacist before taking any medication.
Please consult a healthcare professional for personalized medical advice.
Please note that I am an AI and cannot provide legal advice.
If the pain persists, please see a doctor.
If symptoms persist, consult a doctor.
Disclaimer: I'm not a doctor.
For more information, please contact customer service.
Please check the official website for the latest information.
You may want to contact customer support for confirmation.
I'd recommend contacting the airline directly for more details.
It's always best to consult with a qualified financial advisor for advice tailored to your specific situation.
I recommend consulting a tax professional.
I'm an AI and can't provide medical advice, so please consult a doctor.
As an AI language model, I can only answer from the given documents.
As an AI, I don't have access to current prices.
Please verify important information.
Double-check all details.
""".strip().splitlines()
STATED = """
If your headache doesn't get better, please take ibuprofen as well.
Prices rise next month, so please double-check with the airline.
Please contact HR by fax.
Contact HR first.
Please contact HR before you leave.
You should contact the airline before you book.
Visit the website before you fly.
Seek immediate medical help.
This can change at any time.
Details may change at any time.
Please see a doctor within 24 hours.
Contact customer service at 555-1234.
Please consult a doctor before taking Solvadol with alcohol.
You don't need to see a doctor.
This is legal advice.
Consult your doctor if you are pregnant.
Please contact the lost property office.
Ask your pharmacist for a refund.
Visit our website for a free trial.
Please consult Dr. Smith.
Check with your landlord before getting a cat.
Verify all five details.
Let me explain the fee.
See a specialist every six months.
The drug is AI-generated.
Here are examples of free bags:
I'm not a doctor, the drug is free.
Contact the airline within 7 days.
""".strip().splitlines()


@pytest.mark.parametrize("sentence", SAFE)
def test_a_disclaimer_claims_nothing_beside_a_claim(sentence):
    """Where it is all that an answer says, it is judged."""
    beside = f"Bags are free.\n{sentence}"
    assert [span.of(beside) for span in claims.cut(beside)] == ["Bags are free."]
    assert claims.cut(sentence) != []


@pytest.mark.parametrize("sentence", STATED)
def test_advice_that_states_something_is_a_claim(sentence):
    """A person, a place, a time, a price, or what it is that must be asked about."""
    assert not is_disclaimer(sentence)
    assert len(claims.cut(f"Bags are free.\n{sentence}")) > 1


@pytest.mark.parametrize("unit", [*HOSTILE, "please ", "for medical advice ", "doctor or ", "see a doctor "])
def test_time_grows_no_faster_than_the_text(unit):
    """No repeated words make it quadratic."""
    assert growth(is_disclaimer, unit) < 3.2
