"""Sentences: where they end, in several languages and layouts, and the laws their spans keep."""

import gc
import json
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.span import Span
from groundwire.text import sentences

# Each row is a text with a bar where one sentence ends and the next begins; the bar is not in the text.
PROSE = [
    "Bags may weigh 23 kg.| Two are free.",
    "Dr. Lindqvist flew to St. Gallen.| She paid 3.50 euros.",
    "Boarding ends at 6 p.m.| Next day the desk opens at 5 a.m.| It closes at noon.",
    "The desk opens at 5 p.m. Eastern.| Come early.",
    "The desk closes at 5 p.m.| Passengers wait at gate B.| Then they board.",
    "See No. 5 and Fig. 3.| Both apply.",
    "The town is Brennick (pop. 23,400).| They sing pop.| It sells.",
    "Is it free?| No.| That costs 10 euros.",
    "We flew to the U.S. Senate hearing.| It was long.",
    "She lives in the U.S.| They do too.",
    "J. R. Okafor and Mary T. Bell signed.| He did not.",
    "Bring snacks, water, etc.| The crew sells none.",
    "Pets, e.g. Cats and dogs, travel below, i.e. In the hold.",
    "Kestrel Air Inc. Lost it.| It belongs to Kestrel Air Inc.| The firm grew.",
    "Allow approx. 20 minutes.| Then board.",
    "It was Kestrel vs. Albatross.| Kestrel won.",
    "Write to desk@kestrel.example or see kestrel.example/rules.html.| We reply.",
    "Use version v1.2.3 of the app.| Older ones fail.",
    "Well... maybe.| We shall see...| Then go.",
    'She said "Stop!" and left.| "Really?" he asked.',
    "He called it “free.”| It was not.",
    "(Fees apply.)| Ask at the desk.",
    "Fees apply (see Art. 12).| Ask.",
    "The fee is 12.5%.| The tax is 3,5 %.",
    "Ends in 2019.| The next began in 2020.",
    "Steps: 1. Open the app.| 2. Tap Refund.| 3. Wait.",
    "What?!| Yes!!| Good.",
    "First point.[1]| Second point. [2]| Third.",
    "Refunds take five days. (Passage 2)| Vouchers take one.",
    "We refunded him.|Then he flew on.| All good.",
    "It runs on asp.net and node.js today.| Fine.",
    "Add 8 to 12 in. of gravel.| Compact it.",
    "They grow in the sun.| Plants need it.| On Sun. May 5 we rest.",
    "i flew once.| it was fine.| never again",
    "iPads are allowed.| iPhones too.",
    "On Jan. 5 we fly.| On Feb. 6 we land.",
    "The office is at 131 N. Harbour Ave. in Port Mara, CA.| They open daily.",
    "He holds a Ph.D. in law.| She holds none.",
    "See pp. 5 and 6, vol. II, ch. 3.| Done.",
    "The answer is C.| It is right.",
    "Wait . . . what?| Nothing .| Go on.",
    "Sizes: S, M, L.| • Small bag| • Large bag",
    "Der Flug geht am 3. Mai um 14.30 Uhr.| Er ist z.B. Freitags voll.| Dr. Weiß bzw. Frau Ott fliegt.",
    "M. Dupont paie 12,50 €.| Il part à 8 h.| C'est cher !| Vraiment ?",
    "¿Cuánto cuesta?| ¡Nada!| El Sr. Gómez pagó.",
    "Рейс из г. Казани отменён.| Деньги вернут за 5 дней, т.е. Быстро.",
    "今日は雨です。|明日は晴れ！|傘は？|いらない。",
    "「はい。」と言った。|それだけです。",
    "退款需要五天。|行李限两件！|可以吗？",
    "यह नियम है।| दो बैग मुफ़्त हैं॥| ठीक है।",
    "هل الأمتعة مجانية؟| نعم.| لا رسوم.",
    "کیا یہ مفت ہے؟| ہاں۔| ٹھیک ہے۔",
    "האם זה חינם?| כן.| תודה.",
    "환불은 5일 걸립니다.| 수하물은 두 개입니다.",
    "Η πτήση ακυρώθηκε.| Επιστροφή σε 5 ημέρες.",
    "ប្រាក់នឹងសងវិញ។| អរគុណ។",
    "ငွေပြန်ပေးမည်။| ကျေးဇူးတင်ပါသည်။",
]

LAYOUT = [
    "Baggage rules|\n\n|Two bags are free.",
    "# Baggage|\nTwo bags are free.",
    "Rules:|\n- two bags|\n- one pet|\n* no skis",
    "1. Open the app|\n2. Tap Refund\n   and confirm|\n3) Wait",
    "It is paid to the card that was used for\nthe booking, within five working days.| No fee\napplies.",
    "The refund is paid to the card which belongs to\nMara Lindqvist, who made the booking in October.",
    "Name: Kestrel|\nCity: Port Mara|\nOpen: daily",
    "12 Harbour Street|\nPort Mara|\nKestrel Island",
    "> Two bags are free.|\n> One pet is free.",
    "Notice|\r\n\r\n|Two bags.|\r\n\r\n|One pet.",
    "**Refunds**|\nThey take five days.",
]


@pytest.mark.parametrize("marked", PROSE)
def test_sentences_end_where_a_reader_ends_them(marked):
    """Stops end sentences; abbreviations, numbers, names, addresses and quotations do not."""
    text = marked.replace("|", "")
    expected = [piece.strip() for piece in marked.split("|")]
    assert [span.of(text) for span in sentences.split(text)] == expected


@pytest.mark.parametrize("marked", LAYOUT)
def test_lines_that_stand_on_their_own_end_a_sentence_and_soft_wraps_do_not(marked):
    """List items, rows, headings, labels and short lines are sentences; wrapped prose is joined."""
    text = marked.replace("|", "")
    expected = [piece.strip() for piece in marked.split("|") if piece.strip()]
    assert [span.of(text) for span in sentences.split(text)] == expected


def test_each_row_of_a_table_stands_on_its_own():
    """A row is a sentence, the line below the header too."""
    text = "| Fare | Bags |\n|---|---|\n| Eco | 1 pc. Max |\n| Biz | 2 |"
    assert [span.of(text) for span in sentences.split(text)] == text.split("\n")


RECORD = {
    "name": "Harbour Grill",
    "hours": {"Monday": "11:0-17:0", "Tuesday": "11:0-17:0"},
    "about": "Fresh fish.\n\nGrilled by hand, every day. " * 12,
    "reviews": [{"stars": 4.5, "text": "Good."}] * 30,
}


@pytest.mark.parametrize("indent", [None, 1])
def test_a_json_record_is_cut_into_members(indent):
    """A long record is cut at its commas; a small object stays whole; prose in it is cut at its stops."""
    text = json.dumps(RECORD, indent=indent)
    pieces = [span.of(text) for span in sentences.split(text)]
    assert pieces[0].endswith('"name": "Harbour Grill",')
    hours = next(piece for piece in pieces if piece.startswith('"hours"'))
    assert json.loads("{" + hours.rstrip(",") + "}") == {"hours": RECORD["hours"]}
    assert "Grilled by hand, every day." in pieces
    assert sum('"stars"' in piece for piece in pieces) == 30


def test_a_record_with_a_label_before_it_is_still_a_record():
    """What stands before the record on its line does not hide it."""
    text = "Record: " + json.dumps({f"key {i}": "value " * 8 for i in range(20)})
    assert len(sentences.split(text)) == 20


@pytest.mark.parametrize(
    "text",
    ["word " * 2000, "a,b," * 2500, "漢字、" * 3000, "x" * 10_000, "ที่นี่ " * 1500, "one; two, three " * 700],
)
def test_a_line_without_stops_is_cut_into_bounded_pieces(text):
    """No piece is longer than the limit, none is a sliver, and spaces are preferred to cutting words."""
    lengths = [len(span) for span in sentences.split(text)]
    assert max(lengths) <= sentences.LONGEST
    assert min(lengths) >= sentences.LONGEST // 8
    if " " in text:
        whole = set(text.split())
        assert all(word in whole for span in sentences.split(text) for word in span.of(text).split())


# Text that meets every rule: stops, quotes, list marks, JSON, several scripts, odd characters.
BITS = [
    *".!?…。؟।\"'()[]{}:,;-*#|>`~\\ \n\r\t\x0b\x1c\u2028\u00a0\u200b\ud800\u0301\U0001f600Ab1กท漢",
    *(
        "Dr",
        "e.g",
        "42",
        "\n\n",
        "The",
        ". ",
        "\r\n",
        "\n- ",
        "| a ",
        '{"a": ',
        "```",
        "**",
        "\\n",
        "p.m",
        "と",
    ),
]
RAW = st.text(max_size=300) | st.lists(st.sampled_from(BITS), max_size=150).map("".join)


@given(RAW)
def test_spans_are_ordered_disjoint_trimmed_and_cover_everything_but_space(text):
    """The law of the splitter, for any string, with lone surrogates and control characters."""
    spans = sentences.split(text)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert all(span.of(text) == span.of(text).strip() != "" for span in spans)
    covered = "".join("".join(span.of(text).split()) for span in spans)
    assert covered == "".join(text.split())


@given(RAW, RAW)
def test_a_blank_line_separates_completely(before, after):
    """Splitting two texts with a blank line between them is splitting each."""
    shift = len(before) + 2
    joined = sentences.split(f"{before}\n\n{after}")
    assert joined == sentences.split(before) + [span.shifted(shift) for span in sentences.split(after)]


@given(st.lists(st.sampled_from(["Two bags are free.", "Is a pet?", "It is not!", "Ask us."]), max_size=30))
def test_plain_sentences_come_back_as_they_were_written(written):
    """Joining plain sentences by spaces and splitting them is the identity."""
    text = " ".join(written)
    assert [span.of(text) for span in sentences.split(text)] == written


HOSTILE = [
    ".", '"', "\n", "😀. ", "a", " ", "!?", '."', "[", "[\n", '{"', '{"\n', '"\\', "\\", ",", "`",
    "|a|\n", "- ", "-\n", "1. ", "1,", "A.", " .", "\r", ".[1]", ". (", ". (a", ":", "\u0301", "漢", "ก",
    "\u200b", "e.g. ", "\\n", ".\\n", "\ud800", "a: b\n", "• ", "a\n", "=\n", "**a", "' ", "a) ",
    "\x0b", "A.\u00a0",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_no_faster_than_the_text(unit):
    """No repeated character or mark makes the splitter quadratic: doubling the text doubles the time."""
    assert growth(sentences.split, unit) < 3.2


def test_an_empty_text_has_no_sentences():
    """Nothing but whitespace is no sentence."""
    assert sentences.split("") == sentences.split(" \n\t\r\n \u2028") == []


def test_a_sentence_of_one_word_is_a_sentence():
    """A number or a word on its own is kept whole."""
    assert sentences.split("42 million") == [Span(0, 10)]


def growth(function, unit, *, size=50_000):
    """How many times longer ``function`` takes on a text twice as long; 1 when too fast to tell.

    The best of several runs is taken, and a quadratic function (4 times) is told from a linear one (2 times).
    """
    small, large = unit * (size // len(unit)), unit * (2 * size // len(unit))
    ratios = []
    for _ in range(4):
        first, second = cost(function, small), cost(function, large)
        if second < 0.05:
            return 1.0
        ratios.append(second / first)
        if ratios[-1] < 2.6:
            break
    return min(ratios)


def cost(function, text):
    """The processor time that ``function`` takes, in seconds."""
    # The collector's full passes come at some size, look at all that lives, and say nothing of the function.
    gc.disable()
    try:
        began = time.process_time()
        function(text)
        return time.process_time() - began
    finally:
        gc.enable()


def test_rows_whose_cells_bars_part_stand_alone():
    """Also where no bar begins or ends them."""
    rows = [
        "Section | Limit per person | Excess",
        "Cancellation | €4,000 | €100",
        "Medical expenses abroad | €2,000,000 | €150",
    ]
    text = "\n".join(["Cover table", *rows, "Who is covered: persons aged 18."])
    assert [span.of(text) for span in sentences.split(text)][1:4] == rows
