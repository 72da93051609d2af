"""Claims: what an answer states, in whatever layout it was written."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.text import claims, sentences
from tests.text.test_sentences import HOSTILE, RAW, growth

# An answer, and the words of its claims.
ANSWERS = [
    ("42 million", ["42 million"]),
    ("Yes.", ["Yes."]),
    ("[4]", []),
    ("5", ["5"]),
    ("$5", ["$5"]),
    ("No", ["No"]),
    ("Of course.", ["Of course."]),
    ("Two bags are free. One pet is too.", ["Two bags are free.", "One pet is too."]),
    ("Sure! Two bags are free.", ["Two bags are free."]),
    ("Two bags are free [1]. One pet is too. [2]\n[3]", ["Two bags are free [1].", "One pet is too. [2]"]),
    ("Two bags are free.\n(Passages 1 and 3)", ["Two bags are free."]),
    ("These bags travel free of charge:\n\n- a cabin bag\n* a **small** bag\n+ a coat", [
        "These bags travel free of charge:", "a cabin bag", "a **small** bag", "a coat",
    ]),
    ("<think>Is it 5 EUR? Or 6.</think>\n\nTwo bags are free.", ["Two bags are free."]),
    ("✅ Two bags are free.\n⚠️ Pets pay\n1️⃣ Ask us\n→ Wait", [
        "Two bags are free.", "Pets pay", "Ask us", "Wait",
    ]),
    ("Key facts:\n- Fare: 40 euros. No refund.\n- Seats", ["Fare: 40 euros.", "No refund.", "Seats"]),
    ("1. Open the app\n   and log in\n2) Tap Refund\n   a) confirm\n   (b) wait\n   iv. done", [
        "Open the app\n   and log in", "Tap Refund", "confirm", "wait", "done",
    ]),
    ("Do this: 1. Open it. 2. Close it.", ["Do this: 1. Open it.", "Close it."]),
    ("- [x] bag checked\n- [ ] seat chosen", ["bag checked", "seat chosen"]),
    ("1. **Bags:** two\n2. **Seats**\n   - window", ["**Bags:** two", "Seats", "window"]),
    ("3. Mai ist der letzte Tag.", ["3. Mai ist der letzte Tag."]),
    ("# Bags\n\nTwo are free.\n\n## Pets\nOne is free.", ["Two are free.", "One is free."]),
    ("# Bags and pets", ["Bags and pets"]),
    ("**Answer:**\n40 euros", ["40 euros"]),
    ("**Answer:** 40 euros", ["40 euros"]),
    ("Final Answer: 40 euros", ["40 euros"]),
    ("TL;DR: Two are free.", ["Two are free."]),
    ("The first answer: 40 euros", ["The first answer: 40 euros"]),
    ("Thought: Is it 5?\nAction: search\nFinal Answer: 40 euros", ["40 euros"]),
    ("Thought: a short story.", ["Thought: a short story."]),
    ("<p>Two are free.</p><ul><li>one pet</li><li>a bag</li></ul>", ["Two are free.", "one pet", "a bag"]),
    ("<h2>Bags</h2><b>Two</b> are free.<br><i>Ask us</i>.", ["<b>Two</b> are free.", "<i>Ask us</i>."]),
    ("Step 1: Two are free.\nStep 2: Ask us.", ["Two are free.", "Ask us."]),
    ("| # | Bag |\n|---|---|\n| 1 | is 5 EUR |\n| 2 | is free |", ["is 5 EUR", "is free"]),
    ("| Bags | Fee |\n|---|---|\n| 1 | 5 EUR |", ["1 | 5 EUR"]),
    ("```\nTwo bags are free of charge.\nAsk us.\n```", ["Two bags are free of charge.", "Ask us."]),
    ("```\nfee = bags * 5 + pets * 3\n```", ["fee = bags * 5 + pets * 3"]),
    ("Two are free.\n\nBest regards,\nThe Acme Support Team", ["Two are free."]),
    ("The Acme Support Team", ["The Acme Support Team"]),
    ("Who, with best regards,\ncalled.\nAnn", ["Who, with best regards,\ncalled.", "Ann"]),
    ("Dear Ms. Smith,\nTwo are free.", ["Two are free."]),
    ("Subject: Bags\n\nHi [Name],\n\nTwo are free.\n\nBest,\n[Your Name]\n[Your Role]", ["Two are free."]),
    ("**Betreff:** Ihr Gepäck\n\nSehr geehrte Frau Holm,\n\nzwei sind frei.", ["zwei sind frei."]),
    ("Two are free.\n\nYours sincerely,\nAnn Smith\nCustomer Care\n\n---\nOne pet pays.", [
        "Two are free.", "One pet pays.",
    ]),
    ("Two are free.\n\nSafe travels,\nYour Acme Team", ["Two are free."]),
    ("Subject: Bags\nTwo are free.", ["Subject: Bags", "Two are free."]),
    ("Best,\nAnn\nTwo Bags Are Free Of Charge For All", ["Two Bags Are Free Of Charge For All"]),
    ("The name [of yours] is Ann.", ["The name [of yours] is Ann."]),
    ("Hi Ann,\n\nAnswer: two are free.", ["two are free."]),
    ("Hello Kitty was made by Ann,\nand it sells.", ["Hello Kitty was made by Ann,\nand it sells."]),
    ("Dear customers always get it back!\nAsk us.", ["Dear customers always get it back!", "Ask us."]),
    ("A: 900 mg\nC: 90 mg", ["A: 900 mg", "C: 90 mg"]),
    ("| # | Name |\n|---|---|\n| 45 | Ann |\n| 2 | Bo |", ["45 | Ann", "2 | Bo"]),
    ("It is 5 EUR.\n\nBest regards,\nRefunds are free.", ["It is 5 EUR.", "Refunds are free."]),
    ("Stay safe,\n\nAlways Wear Helmets", ["Always Wear Helmets"]),
    (
        "Thought: find it.\nFinal Answer: It is 9 EUR.\nFor your form:\nFinal Answer: 5 EUR",
        ["It is 9 EUR.", "Final Answer: 5 EUR"],
    ),
    ("Use <script> for it. It is 5 EUR. <!-- 7 -->", ["Use <script> for it.", "It is 5 EUR.", "7"]),
    ("All points can be used: yes.", ["All points can be used: yes."]),
    ("Hi is a greeting,\nand two are free.", ["Hi is a greeting,\nand two are free."]),
    ("Two are free.\nConfidence: high", ["Two are free."]),
    ("**Bags**\n\n**Total: 40 euros**\n\n**Two are free.**", ["Total: 40 euros", "Two are free."]),
    ("**42 million**", ["42 million"]),
    ("**Bags**\n**Pets:**", ["Bags", "Pets:"]),
    ("**1. Bags**\nTwo are free.\n**Step 2: Pets**\nOne is.", ["Two are free.", "One is."]),
    ("**1. Total: 40 euros**\n**2. Two are free.**", ["1. Total: 40 euros", "2. Two are free."]),
    ("bags: two\nmin_fee: 5 EUR\npets.max: 1", ["bags: two", "min_fee: 5 EUR", "pets.max: 1"]),
    ("**Two are free. One is not.** Ask *us*.", ["Two are free.", "One is not.", "Ask *us*."]),
    ("`40 euros`", ["40 euros"]),
    ("| Fare | Bags |\n|:---|---:|\n| Eco | 1 pc. Max 23 kg |\n| Biz | 2 |\n\nAsk.", [
        "Eco | 1 pc. Max 23 kg", "Biz | 2", "Ask.",
    ]),
    ("Fare | Bags\n--- | ---\nEco | 1\nBiz | 2", ["Eco | 1", "Biz | 2"]),
    ("| Fare | Bags |\n|---|---|", ["Fare | Bags"]),
    ("| Eco | 1 |\n| Biz | 2 |", ["Eco | 1", "Biz | 2"]),
    ("Run this:\n\n```python\nbag = 1\n\npet = 2. # Two\n```\nThen wait.", [
        "bag = 1\n\npet = 2. # Two", "Then wait.",
    ]),
    ("```\nbag = 1\npet = 2", ["bag = 1\npet = 2"]),
    ("~~~\nbag = 1\n~~~", ["bag = 1"]),
    ("```text\nTwo are free. Ask us.\n```", ["Two are free.", "Ask us."]),
    ('```json\n{"fare": "40 euros"}\n```\nDone', ['{"fare": "40 euros"}', "Done"]),
    ("Call ```bag()``` twice. Then wait.", ["Call ```bag()``` twice.", "Then wait."]),
    ("```\n```", []),
    ("> Two bags\n> are free. One pet\n> is too.", ["Two bags\n> are free.", "One pet\n> is too."]),
    ("> - two bags\n> - one pet", ["two bags", "one pet"]),
    ("Two are free.\n\n---\n\nOne is not.\n***", ["Two are free.", "One is not."]),
    ("规则：\n1、退款需要五天。\n2、行李两件。三件收费。", ["退款需要五天。", "行李两件。", "三件收费。"]),
    ("الرسوم ٤٠ يورو. لا استرداد؟", ["الرسوم ٤٠ يورو.", "لا استرداد؟"]),
    ("• ฟรีสองใบ\n• สัตว์เลี้ยงหนึ่งตัว", ["ฟรีสองใบ", "สัตว์เลี้ยงหนึ่งตัว"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("```\nfee = 5\n```", True),
        ("Run:\n~~~sh\nmake demo\n~~~", True),
        ("```\nTwo bags are free of charge.\n```", False),
        ("```markdown\nfee = 5\n```", False),
        ("Call ```bag()```.", False),
    ],
)
def test_a_fence_around_sentences_holds_no_code(answer, code):
    """Only what is judged as one block of code is some."""
    assert claims.holds_code(answer) is code


@pytest.mark.parametrize(("answer", "expected"), ANSWERS)
def test_an_answer_is_cut_into_what_it_states(answer, expected):
    """Sentences, items, rows and code blocks are claims; markup, titles, labels and courtesies are not."""
    assert [span.of(answer) for span in claims.cut(answer)] == expected


@pytest.mark.parametrize(
    "answer",
    ["", " \n\t", "---", "***\n* * *", "👍", "- \n- ", "> \n>", "| | |\n|-|-|", "```", "…", "\ufeff"],
)
def test_what_has_no_words_states_nothing(answer):
    """Whitespace, markup, emoji and empty items give no claim, and so no verdict on nothing."""
    assert claims.cut(answer) == []


@given(RAW)
def test_claims_are_ordered_disjoint_and_inside_the_answer(answer):
    """Whatever the answer, each claim slices back to words of it and none overlaps the next."""
    found = claims.cut(answer)
    assert all(a.end <= b.start for a, b in pairwise(found))
    for span in found:
        words = span.of(answer)
        assert words == words.strip()
        assert any(c.isalnum() for c in words)


@given(
    st.lists(
        st.sampled_from(["Two bags are free.", "One pet is 40 euros!", "Is it so?"]), min_size=1, max_size=9
    )
)
def test_plain_prose_is_cut_as_its_sentences(written):
    """Where there is no markup, claims are the sentences."""
    answer = " ".join(written)
    assert claims.cut(answer) == sentences.split(answer)


@given(
    st.lists(st.sampled_from(["two bags", "one pet", "40 euros a night"]), min_size=1, max_size=9),
    st.sampled_from(["- ", "* ", "1. ", "a) ", "• "]),
)
def test_every_item_of_a_list_is_a_claim_without_its_marker(items, marker):
    """No item is lost and no marker stays, whichever marker the list has."""
    answer = "\n".join(marker + item for item in items)
    assert [span.of(answer) for span in claims.cut(answer)] == items


@given(RAW.filter(lambda text: any(c.isalpha() for c in text)))
def test_no_answer_with_a_word_on_a_line_of_its_own_is_without_claims(text):
    """A word after everything else is always judged: nothing before it can hide it."""
    answer = text.replace("`", "").replace("~", "") + "\n\nzebra"
    assert any("zebra" in span.of(answer) for span in claims.cut(answer))


@pytest.mark.parametrize(
    "unit", [*HOSTILE, "```\n", "|", "#", ">", "* ", "a) ", "__", "*a", "| a |\n", "[1]", "Sure! "]
)
def test_time_grows_no_faster_than_the_answer(unit):
    """No layout makes the cutting quadratic: doubling the answer doubles the time."""
    assert growth(claims.cut, unit) < 3.2
