"""A plain text: whatever is left of a text knows where it stood."""

from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.span import Span
from groundwire.text.plain import Edit, Plain


@st.composite
def edited(draw):
    text = draw(st.text(alphabet="ab ", max_size=30))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return text, [Edit(Span(a, b), draw(st.sampled_from(["", "", "&", "xy"]))) for a, b in pairs]


@given(edited())
def test_places_lead_back_to_the_same_characters(made):
    """What was not edited is the same character in both; what was put in stands for the whole it replaced."""
    text, edits = made
    plain = Plain(text, edits)
    kept = [i for i in range(len(text)) if not any(e.span.start <= i < e.span.end for e in edits)]
    lefts = [plain.left(Span(i, i + 1)) for i in kept]
    assert [left.of(plain.text) for left in lefts] == [text[i] for i in kept]
    assert [plain.stood(left) for left in lefts] == [Span(i, i + 1) for i in kept]
    for edit in edits:
        left = plain.left(edit.span)
        assert left.of(plain.text) == edit.put
        assert not edit.put or plain.stood(left) == edit.span
    assert plain.left(Span(0, len(text))) == Span(0, len(plain.text))
