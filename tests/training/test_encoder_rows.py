"""Packed rows: nothing is lost on disk, in batches, or between labels and words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire import Span
from groundwire.local.rows import LENGTH, Builder, Row
from training.encoder_rows import LENGTHS, Label, Labelled, Mark, Packed, as_pair, batches, by_marks


def row_of(size):
    """A row of so many tokens, none of them padding; its words are every third token."""
    words = tuple((at, Span(at, at + 1)) for at in range(0, size, 3))
    return Row(0, tuple(range(1, size + 1)), tuple(at % 8 for at in range(size)), words, ())


def labelled_of(size, label=Label.SUPPORTED, weight=1.0):
    row = row_of(size)
    words = [Label(at % 3) for at in range(len(row.words))]
    return Labelled(row, label, words, weight)


sizes = st.lists(st.integers(1, LENGTH), min_size=1, max_size=40)
labelled = st.builds(
    labelled_of, st.integers(1, LENGTH), st.sampled_from(Label), st.sampled_from([0.5, 1.0, 1.5])
)
many = st.lists(labelled, max_size=12)


def same(one, other):
    return all(
        np.array_equal(value, getattr(other, name)) and value.dtype == getattr(other, name).dtype
        for name, value in vars(one).items()
    )


@given(sizes, st.integers(0, 2**32), st.sampled_from([LENGTH, 1000, 8192]))
def test_batches_have_every_row_once(sizes, seed, tokens):
    """Whatever is drawn, each row is in one batch, padded to the least of the lengths that holds it."""
    packed = Packed.of(map(labelled_of, sizes))
    made = list(batches(packed, np.random.default_rng(seed), tokens))
    assert sorted(i for chosen, _ in made for i in chosen) == list(range(len(sizes)))
    for chosen, length in made:
        assert len(chosen) * length <= tokens
        for i in chosen:
            assert length == min(at for at in LENGTHS if at >= sizes[i])


def pair_of(sizes):
    return as_pair(labelled_of(sizes[0]), labelled_of(sizes[1], Label.CONTRADICTED))


pair_sizes = st.tuples(st.integers(1, 128), st.integers(1, LENGTH))


@given(st.lists(pair_sizes, min_size=1, max_size=12), sizes, st.randoms(), st.integers(0, 2**32))
def test_pairs_are_read_side_by_side(of_pairs, of_others, order, seed):
    """However rows lie, each is in one batch, and one of a pair after the other, which the batch says."""
    rows = [row for each in of_pairs for row in pair_of(each)] + list(map(labelled_of, of_others))
    order.shuffle(rows)
    packed = Packed.of(rows)
    made = list(batches(packed, np.random.default_rng(seed), 2 * LENGTH, in_pairs=True))
    assert sorted(i for chosen, _ in made for i in chosen) == list(range(len(rows)))
    found = 0
    for chosen, length in made:
        assert len(chosen) * length <= 2 * LENGTH
        assert all(len(rows[i].row.ids) <= length for i in chosen)
        paired = packed.batch(chosen, length).paired.tolist()
        assert len(paired) == len(chosen)
        for i, j, together in zip(chosen, chosen[1:], paired[1:], strict=False):
            found += together
            assert not together or rows[i].pair == rows[j].pair is not None
        assert not paired[0]
    assert found == len(of_pairs)


def test_the_same_pair_twice_is_two_pairs():
    """As where an epoch draws it again: each row has one other, in turn."""
    assert Packed.of([*pair_of((3, 5)), labelled_of(4), *pair_of((3, 5))]).others.tolist() == [1, 0, -1, 4, 3]


def test_a_batch_pads_and_nothing_else():
    """Up to its size a row is as it was; after it there is token 0, whose label is ignored."""
    packed = Packed.of([labelled_of(3), labelled_of(5, Label.CONTRADICTED, 0.5)])
    batch = packed.batch([1, 0], 64)
    assert batch.ids.shape == batch.kinds.shape == batch.words.shape == (2, 64)
    assert batch.ids[0, :6].tolist() == [1, 2, 3, 4, 5, 0]
    assert batch.words[0, :6].tolist() == [0, -1, -1, 1, -1, -1]
    assert not batch.ids[1, 3:].any()
    assert batch.labels.tolist() == [Label.CONTRADICTED, Label.SUPPORTED]
    assert batch.weights.tolist() == [0.5, 1.0]


@given(many)
def test_packed_rows_come_back_from_disk(tmp_path_factory, rows):
    """Values and types alike, and no unfinished file stays."""
    folder = tmp_path_factory.mktemp("packed")
    packed = Packed.of(rows)
    packed.save(folder / "rows.npz")
    assert same(packed, Packed.load(folder / "rows.npz"))
    assert [path.name for path in folder.iterdir()] == ["rows.npz"]


@given(many, many, many)
def test_joined_parts_are_packed_as_one(first, second, third):
    """Packing and joining go in any order."""
    parts = [Packed.of(rows) for rows in (first, second, third)]
    assert same(Packed.joined(parts), Packed.of([*first, *second, *third]))


def test_pairs_stay_pairs_where_parts_are_joined():
    parts = [[labelled_of(2), *pair_of((3, 5))], [labelled_of(4)], [*pair_of((6, 7))]]
    assert Packed.joined(list(map(Packed.of, parts))).others.tolist() == [-1, 2, 1, -1, 5, 4]


def test_words_are_labelled_by_the_marks_that_touch_them():
    """A mark labels every word that it has a character of; the worst mark and the worst word count."""
    answer = "A bag costs 75 EUR at Kestrel."
    (row,) = Builder(["A bag costs 25 EUR."], None).rows(answer, [Span(0, len(answer))])
    amount = Mark(Span(12, 14), Label.CONTRADICTED)
    more = Mark(Span(13, len(answer)), Label.UNSUPPORTED)
    label, words = by_marks(row, [more, amount])
    said = {span.of(answer): known for (_, span), known in zip(row.words, words, strict=True)}
    assert label == Label.CONTRADICTED
    assert said["costs"] == Label.SUPPORTED
    assert said["75"] == Label.CONTRADICTED
    assert said["EUR"] == said["Kestrel"] == Label.UNSUPPORTED
    assert by_marks(row, [])[0] == Label.SUPPORTED
