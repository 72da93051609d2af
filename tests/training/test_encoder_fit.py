"""Fitting the encoder: what it learns from, what is kept, and how an interrupted run goes on."""

import copy
from itertools import chain

import numpy as np
import pytest

from groundwire import Span
from groundwire.local import rows
from training.encoder_rows import Label, Labelled, Packed, as_pair

torch = pytest.importorskip("torch")

PASSAGE = "The ferry takes forty cars, and leaves at 7:30 from Port Linden. Dogs travel free."
CLAIM = "Dogs cost $12 in winter."


@pytest.fixture
def batch():
    """A claim that is contradicted, and all of its words, beside a passage."""
    (row,) = rows.Builder([PASSAGE], None).rows(CLAIM, [Span(0, len(CLAIM))])
    return Packed.of([Labelled(row, Label.CONTRADICTED, [Label.CONTRADICTED] * len(row.words))]).batch(
        [0], 64
    )


@pytest.mark.parametrize("kept", [0.0, 0.25, 1.0])
def test_what_is_written_lies_between_both_ends(kept):
    """None of the weights that it began with, a share of them, or all."""
    from training.encoder_fit import between
    from training.encoder_model import Encoder

    torch.manual_seed(0)
    learnt, start = Encoder(), Encoder()
    expected = [
        (1 - kept) * new + kept * old
        for new, old in zip(learnt.parameters(), start.parameters(), strict=True)
    ]
    made = between(learnt, start, kept).parameters()
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(made, expected, strict=True))


def test_frozen_layers_stay_as_they_are(batch):
    """Those, and the embeddings below them but for places; all others learn."""
    from training.encoder_fit import Fit
    from training.encoder_model import Encoder

    fit = Fit.begun(Encoder(), frozen=2, precision=torch.float32)
    before = {name: value.detach().clone() for name, value in fit.model.named_parameters()}
    fit.learn(batch, 1e-2, 1.0)
    same = {name for name, value in fit.model.named_parameters() if torch.equal(before[name], value)}
    frozen = ("words.", "kinds.", "norm.", "layers.0.", "layers.1.")
    assert same == {name for name in before if name.startswith(frozen)}


def test_a_claim_has_the_same_places_beside_more_evidence():
    """Its tokens have the last places, evidence the first ones, and padding any."""
    from training.encoder_model import places

    claim = "Dogs cost $12."
    made = [
        rows.Builder([passage], None).rows(claim, [Span(0, len(claim))])[0]
        for passage in ("Dogs travel free.", PASSAGE)
    ]
    longest = max(len(row.ids) for row in made) + 5
    ids, kinds = (
        torch.tensor([[*getattr(row, part)] + [0] * (longest - len(row.ids)) for row in made])
        for part in ("ids", "kinds")
    )
    beside = sum(kind >= rows.Kind.FRAMING for kind in made[0].kinds)
    for row, at in zip(made, places(ids, kinds).tolist(), strict=True):
        evidence = len(row.ids) - beside
        assert at[:evidence] == list(range(evidence))
        assert at[evidence : len(row.ids)] == list(range(rows.LENGTH - beside, rows.LENGTH))


def test_weights_of_several_are_their_mean():
    """Each counts the same, whatever their order."""
    from training.encoder_fit import mean_of
    from training.encoder_model import Encoder

    torch.manual_seed(0)
    models = [Encoder() for _ in range(3)]
    expected = [sum(each) / 3 for each in zip(*(model.parameters() for model in models), strict=True)]
    made = mean_of(models).parameters()
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(made, expected, strict=True))


def test_one_that_is_taught_learns_what_its_teachers_say_as_well(batch):
    """Beside a teacher that holds the claim for supported, it doubts less than by the label alone."""
    from training.encoder_fit import Fit
    from training.encoder_model import Encoder

    torch.manual_seed(0)
    start, teacher = Encoder().eval(), Encoder().eval()
    with torch.no_grad():
        for head in (teacher.row_head, teacher.token_head):
            head.weight.zero_()
            head.bias.copy_(torch.tensor([4.0, 0.0, 0.0]))
    supported = []
    for teachers in ([], [teacher]):
        model = copy.deepcopy(start)
        fit = Fit.begun(model, precision=torch.float32, teachers=teachers)
        for _ in range(8):
            fit.learn(batch, 1e-3, 1.0)
        with torch.no_grad():
            of_row, _ = model.eval()(torch.from_numpy(batch[0]), torch.from_numpy(batch[1]))
        supported.append(float(of_row.softmax(-1)[0, 0]))
    alone, taught = supported
    assert alone < 0.25 < taught


def test_the_rows_of_a_pair_are_told_apart():
    """By the difference of their log-odds, the lighter one's weight beside all; rows alike are no pair."""
    from training.encoder_fit import told_apart

    logits = torch.tensor([[2.0, 0, -9], [0.0, 2, -9], [0.0, 0, 0], [0.0, 0, 0]])
    labels = torch.tensor([Label.SUPPORTED, Label.UNSUPPORTED, Label.CONTRADICTED, Label.NOT_SUPPORTED])
    weights = torch.tensor([1.0, 0.5, 1.0, 1.5])
    paired = torch.tensor([False, True, False, True])
    apart = 4.0  # log-odds of 2 against, and of 2 for
    expected = 0.5 * np.log1p(np.exp(-apart)) / 4
    assert float(told_apart(logits, labels, weights, paired)) == pytest.approx(expected, rel=1e-3)
    other_way = told_apart(logits.flip(0), labels.flip(0), weights.flip(0), paired)
    assert float(other_way) == pytest.approx(expected, rel=1e-3)
    turned = torch.cat([logits[:2].flip(0), logits[2:]])
    assert float(told_apart(turned, labels, weights, paired)) == pytest.approx(0.5 * apart / 4, rel=0.01)
    assert not told_apart(logits, labels, weights, torch.zeros(4, dtype=torch.bool))


def pair_of(right="Dogs travel free.", wrong=CLAIM):
    made = []
    for text, label in ((right, Label.SUPPORTED), (wrong, Label.CONTRADICTED)):
        (row,) = rows.Builder([PASSAGE], None).rows(text, [Span(0, len(text))])
        made.append(Labelled(row, label, [Label.IGNORED] * len(row.words)))
    return as_pair(*made)


@torch.no_grad()
@pytest.mark.parametrize("taught", [False, True])
def test_what_tells_a_pair_apart_comes_to_the_loss_of_its_rows(taught):
    """As often as is asked for, whether others teach as well or not; that of words stays."""
    from training.encoder_fit import losses, told_apart
    from training.encoder_model import Encoder

    torch.manual_seed(0)
    model, teachers = Encoder(dropout=0.0), [Encoder(dropout=0.0)] * taught
    both = Packed.of(pair_of()).batch([0, 1], 64)
    without, with_it = (losses(model, both, torch.float32, teachers, ranked) for ranked in (0.0, 2.0))
    of_rows, _ = model(torch.from_numpy(both.ids), torch.from_numpy(both.kinds))
    apart = told_apart(of_rows, *map(torch.from_numpy, (both.labels, both.weights, both.paired)))
    assert float(with_it[0] - without[0]) == pytest.approx(2 * float(apart), rel=1e-4)
    assert with_it[1] == without[1]


def test_who_ranks_pairs_reads_them_side_by_side(tmp_path, monkeypatch):
    """As the command line does it: however rows lie, every pair is told apart."""
    from training import encoder_fit
    from training.encoder_model import Encoder

    start, packed = tmp_path / "start.pt", tmp_path / "rows.npz"
    encoder_fit.write(Encoder().state_dict(), start)
    Packed.of(chain(*zip(*(pair_of(wrong=f"Dogs cost ${i}.") for i in range(8)), strict=True))).save(packed)
    found, told_apart = [], encoder_fit.told_apart

    def counted(logits, labels, weights, paired):
        found.append(int(paired.sum()))
        return told_apart(logits, labels, weights, paired)

    monkeypatch.setattr(encoder_fit, "told_apart", counted)
    files = ["--rows", str(packed), "--from", str(start), "--out", str(tmp_path / "out.pt")]
    monkeypatch.setattr("sys.argv", ["encoder_fit", *files, "--ranked", "1", "--precision", "float32"])
    encoder_fit.main()
    assert sum(found) == 8


def test_who_learns_pairs_tells_them_apart_better():
    """Taught the same labels, who ranks as well has the wrong row's log-odds further above the other's."""
    from training.encoder_fit import Fit
    from training.encoder_model import Encoder

    both = Packed.of(pair_of()).batch([0, 1], 64)
    assert both.paired.tolist() == [False, True]
    torch.manual_seed(0)
    start, difference = Encoder(dropout=0.0), []
    for ranked in (0.0, 4.0):
        fit = Fit.begun(copy.deepcopy(start), precision=torch.float32, ranked=ranked)
        for _ in range(3):
            fit.learn(both, 1e-4, 0.0)
        with torch.no_grad():
            of_rows, _ = fit.model.eval()(torch.from_numpy(both.ids), torch.from_numpy(both.kinds))
        odds = torch.logsumexp(of_rows[:, 1:], -1) - of_rows[:, 0]
        difference.append(float(odds[1] - odds[0]))
    assert difference[0] < difference[1]


def test_several_teachers_say_the_mean_of_their_log_probabilities():
    """One that is sure of one class and one that is sure of another say both, and not the third."""
    from training.encoder_fit import distance

    said = torch.tensor([[[6.0, 0.0, -6.0]], [[0.0, 6.0, -6.0]]])
    one = torch.ones(1)
    agrees, doubts = (distance(torch.tensor([logits]), said, one) for logits in ([3.0, 3, -6], [3.0, -6, 3]))
    assert float(agrees) == pytest.approx(np.log(2), abs=0.01)
    assert doubts > agrees + 2


def test_a_run_is_gone_on_with_as_it_was_begun(tmp_path, batch):
    """Its step and weights come back; with another rate than it was begun with, it is refused by name."""
    from training.encoder_fit import Fit
    from training.encoder_model import Encoder

    state, settings = tmp_path / "stage1.state", {"rows": 12, "rate": 2e-4}
    fit, other = Fit.begun(Encoder()), Fit.begun(Encoder())
    fit.learn(batch, 1e-3, 1.0)
    fit.step = 7
    fit.save(state, settings)
    with pytest.raises(SystemExit, match=r"stage1\.state was begun with rate 0\.0002, not 0\.0003: give"):
        other.resume(state, settings | {"rate": 3e-4})
    with pytest.raises(SystemExit, match=r"begun with ranked None, not 0\.5: give"):
        other.resume(state, settings | {"ranked": 0.5})  # before there was such a setting
    assert other.step == 0
    other.resume(state, settings)
    assert other.step == 7
    for one in (fit, other):
        one.model.eval()  # no dropout, which is drawn anew
        one.learn(batch, 1e-3, 1.0)
    both = zip(fit.model.parameters(), other.model.parameters(), strict=True)
    assert all(torch.equal(one, same) for one, same in both)


@pytest.mark.parametrize("kept", [0.0, 0.3])
def test_without_rows_the_mean_of_what_it_begins_with_is_written(kept, tmp_path, monkeypatch):
    """As the command line does it: two files of weights, their mean, and a share of a third."""
    from training import encoder_fit
    from training.encoder_model import Encoder

    torch.manual_seed(0)
    models = [Encoder(), Encoder(), Encoder()]
    starts = [tmp_path / "a.pt", tmp_path / "b.pt", tmp_path / "c.pt"]
    for model, path in zip(models, starts, strict=True):
        encoder_fit.write(model.state_dict(), path)
    out = tmp_path / "both.pt"
    arguments = ["encoder_fit", "--from", *map(str, starts[:2]), "--out", str(out)]
    arguments += ["--kept", str(kept), "--kept-of", str(starts[2])] if kept else []
    monkeypatch.setattr("sys.argv", arguments)
    encoder_fit.main()
    each = zip(*(model.parameters() for model in models), strict=True)
    expected = [(1 - kept) * (one + other) / 2 + kept * third for one, other, third in each]
    made = encoder_fit.read(out).parameters()
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(made, expected, strict=True))


def test_losses_look_at_labelled_words_alone(batch):
    """However many tokens are padding, or nobody said anything of, the losses are the same."""
    from training.encoder_fit import losses
    from training.encoder_model import Encoder

    torch.manual_seed(0)
    model = Encoder().eval()
    wider = batch._replace(
        ids=np.pad(batch.ids, ((0, 0), (0, 64))),
        kinds=np.pad(batch.kinds, ((0, 0), (0, 64))),
        words=np.pad(batch.words, ((0, 0), (0, 64)), constant_values=Label.IGNORED),
    )
    for teachers in ([], [Encoder().eval()]):
        one, other = (losses(model, each, torch.float32, teachers) for each in (batch, wider))
        assert [a.item() for a in one] == pytest.approx([b.item() for b in other], rel=1e-5)


def test_the_average_moves_by_its_share():
    """A quarter of the way to what was learnt, and no more."""
    from training.encoder_fit import Fit
    from training.encoder_model import Encoder

    torch.manual_seed(0)
    fit = Fit.begun(Encoder())
    before = copy.deepcopy(fit.averaged)
    fit.model = Encoder()
    fit.average(0.25)
    for old, new, made in zip(*(m.parameters() for m in (before, fit.model, fit.averaged)), strict=True):
        assert torch.allclose(made, 0.75 * old + 0.25 * new, atol=1e-6)


def test_both_ways_to_attend_are_the_same():
    """What a GPU is given and what a CPU is; padding is looked at by neither."""
    from training.encoder_model import _fused, _plain

    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 12, 5, 32)
    mask = torch.tensor([[0.0, 0, 0, 0, -1e4], [0, 0, -1e4, -1e4, -1e4]])[:, None, None, :]
    made = _fused(q, k, v, mask)
    assert torch.allclose(made, _plain(q, k, v, mask), atol=1e-5)
    v[0, :, 4], v[1, :, 2:] = 7.0, -7.0
    assert torch.allclose(made, _fused(q, k, v, mask), atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["--taught-by", "b.pt"], "give --rows"),
        (["--ranked", "0.5"], "give --rows"),
        (["--kept", "0.4"], "give both, or neither"),
        (["--kept-of", "b.pt"], "give both, or neither"),
    ],
)
def test_what_makes_no_sense_without_rows_is_refused(settings, told, tmp_path, monkeypatch, capsys):
    """Teachers of nothing, or a share of nothing: a mistake, and nothing is written."""
    from training import encoder_fit

    out = tmp_path / "made.pt"
    monkeypatch.setattr("sys.argv", ["encoder_fit", "--from", "a.pt", "--out", str(out), *settings])
    with pytest.raises(SystemExit):
        encoder_fit.main()
    assert told in capsys.readouterr().err
    assert not out.exists()
