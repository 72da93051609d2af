"""What was exported can be trained further: its weights come back, but for what 8 bits rounded off."""

from importlib import resources

import numpy as np
import pytest

from groundwire import Span
from groundwire.local import rows
from groundwire.local.encoder import Encoder

torch = pytest.importorskip("torch")

DATA = resources.files("groundwire.local") / "data"
PASSAGE = "The ferry takes forty cars, and leaves at 7:30 from Port Linden. Dogs travel free."
CLAIMS = ["It leaves at 7:30.", "Dogs cost $12 in winter.", "The crew wears green."]


def test_the_weights_that_ship_read_alike_in_both():
    """Every claim is read within what quantising the values between layers makes of it."""
    pytest.importorskip("onnx")
    from training.encoder_restore import restored

    model, shipped = restored(DATA / "encoder.onnx").eval(), Encoder(DATA)
    apart = []
    for claim in CLAIMS:
        (row,) = rows.Builder([PASSAGE], None).rows(claim, [Span(0, len(claim))])
        with torch.no_grad():
            of_row, of_tokens = model(torch.tensor([row.ids]), torch.tensor([row.kinds]))
        words = of_tokens[0, [place for place, _ in row.words]]
        expected = shipped.read(row)
        apart += [np.abs(of_row.softmax(-1)[0].numpy() - expected.row).max()]
        apart += np.abs(words.softmax(-1).numpy() - expected.words).max(-1).tolist()
    assert np.mean(apart) < 0.02
    assert max(apart) < 0.1


def test_another_graph_is_refused(tmp_path):
    """By its name, and not by what breaks in it."""
    onnx = pytest.importorskip("onnx")

    from training.encoder_restore import restored

    path = tmp_path / "other.onnx"
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([], "other", [], [])), path)
    with pytest.raises(ValueError, match=r"other\.onnx is no encoder that encoder_export wrote"):
        restored(path)


@pytest.mark.parametrize("kept", [0.0, 0.25, 1.0])
def test_what_is_written_lies_between_both_ends(kept):
    """None of the weights that it began with, a share of them, or all."""
    from training.encoder_fit import between
    from training.encoder_model import Encoder as Trained

    torch.manual_seed(0)
    learnt, start = Trained(), Trained()
    expected = [
        (1 - kept) * new + kept * old
        for new, old in zip(learnt.parameters(), start.parameters(), strict=True)
    ]
    made = between(learnt, start, kept).parameters()
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(made, expected, strict=True))


def test_frozen_layers_stay_as_they_are():
    """Those, and the embeddings below them; all others learn."""
    from training.encoder_fit import Fit
    from training.encoder_model import Encoder as Trained
    from training.encoder_rows import Label, Labelled, Packed

    (row,) = rows.Builder([PASSAGE], None).rows(CLAIMS[0], [Span(0, len(CLAIMS[0]))])
    one = Labelled(row, Label.CONTRADICTED, [Label.CONTRADICTED] * len(row.words))
    fit = Fit.begun(Trained(), frozen=2, precision=torch.float32)
    before = {name: value.detach().clone() for name, value in fit.model.named_parameters()}
    fit.learn(Packed.of([one]).batch([0], 64), 1e-2, 1.0)
    same = {name for name, value in fit.model.named_parameters() if torch.equal(before[name], value)}
    frozen = ("words.", "places.", "kinds.", "norm.", "layers.0.", "layers.1.")
    assert same == {name for name in before if name.startswith(frozen)}


def test_a_run_is_gone_on_with_as_it_was_begun(tmp_path):
    """Its step and weights come back; with another rate than it was begun with, it is refused by name."""
    from training.encoder_fit import Fit
    from training.encoder_model import Encoder as Trained

    state, settings = tmp_path / "stage1.state", {"rows": 12, "rate": 2e-4}
    fit, other = Fit.begun(Trained()), Fit.begun(Trained())
    fit.step = 7
    fit.save(state, settings)
    with pytest.raises(SystemExit, match=r"stage1\.state was begun with rate 0\.0002, not 0\.0003: give"):
        other.resume(state, settings | {"rate": 3e-4})
    assert other.step == 0
    other.resume(state, settings)
    assert other.step == 7
    both = zip(fit.model.parameters(), other.model.parameters(), strict=True)
    assert all(torch.equal(one, same) for one, same in both)
