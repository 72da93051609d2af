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
