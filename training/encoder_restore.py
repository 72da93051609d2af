"""The PyTorch weights of an ``encoder.onnx`` that ``encoder_export`` wrote, to train it further.

What 8 bits rounded off is lost: probabilities differ as much as the export says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper

from training.encoder_model import LAYERS, Encoder

Array = NDArray[Any]


def restored(path: Path) -> Encoder:
    """The encoder. Raises ValueError where the graph isn't one that ``encoder_export`` wrote."""
    graph = onnx.load(path).graph
    constants = {part.name: numpy_helper.to_array(part) for part in graph.initializer}
    try:
        state = dict(_weights(list(graph.node), constants))
        model = Encoder()
        model.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in state.items()})
    except (IndexError, KeyError, RuntimeError, ValueError) as error:
        raise ValueError(f"{path} is no encoder that encoder_export wrote: {error}") from error
    return model


def _weights(nodes: list[onnx.NodeProto], constants: dict[str, Array]) -> Iterator[tuple[str, Array]]:
    """The names and values of the model's state, in the graph's order."""

    def of(operator: str) -> list[onnx.NodeProto]:
        return [node for node in nodes if node.op_type == operator]

    made_by = {name: node for node in nodes for name in node.output}
    table, scales, kinds = (constants[node.input[0]] for node in of("Gather")[:3])
    yield "words.weight", table.astype(np.float32) * scales
    yield "kinds.weight", kinds
    yield "places.weight", constants[of("Slice")[0].input[0]]
    norms = ["norm", *(f"layers.{i}.{norm}" for i in range(LAYERS) for norm in ("norm1", "norm2"))]
    for name, node in zip(norms, of("LayerNormalization"), strict=True):
        yield f"{name}.weight", constants[node.input[1]]
        yield f"{name}.bias", constants[node.input[2]]
    matrices = [f"layers.{i}.{part}" for i in range(LAYERS) for part in ("qkv", "out", "up", "down")]
    for name, node in zip(matrices, of("DynamicQuantizeMatMul"), strict=True):
        numbers, scale, bias = (constants[node.input[i]] for i in (1, 2, 4))
        factors = constants[made_by[node.input[0]].input[1]]  # what it reads is multiplied by these before
        yield f"{name}.weight", numbers.T.astype(np.float32) * scale[:, None] * factors
        yield f"{name}.bias", bias
    for name, node in zip(("row_head", "token_head"), of("MatMul"), strict=True):
        (added,) = (other for other in of("Add") if node.output[0] in other.input)
        yield f"{name}.weight", constants[node.input[1]].T
        yield f"{name}.bias", constants[added.input[1]]
