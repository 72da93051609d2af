"""From PyTorch weights to the file that is released: one ONNX graph in 8 bits, and the manifest beside it.

    python -m training.encoder_export stage3.pt src/groundwire/local/data/encoder.onnx --rows rows.npz \
        --version 1 --trained-on "NLI, FEVER, RAGTruth"

Written node by node, with the fused operators of ONNX Runtime, because exporters leave out what matters here.
It reads one row, without padding: what the matrices are multiplied with is quantised anew for every row,
and one that is read beside others would be read differently. The last layer is worked out only for the tokens
that somebody asks about. Prints the size and what the bits cost.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from groundwire.local.rows import LENGTH, Kind
from training.encoder_model import HEADS, LAYERS, Encoder
from training.encoder_quantise import Quantised, Row, quantised, rounded
from training.encoder_rows import Packed

OPSET = 18
MICROSOFT = "com.microsoft"
CALIBRATING, COMPARED = 256, 300


def main() -> None:
    """Write, compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path, help="encoder.onnx; vocab.txt is beside it, encoder.json will be")
    parser.add_argument("--rows", type=Path, required=True, help="packed rows to calibrate and compare by")
    parser.add_argument("--version", default="0")
    parser.add_argument("--trained-on", default="")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    model = Encoder().eval()
    model.load_state_dict(torch.load(args.checkpoint, weights_only=True))
    rows = sample(Packed.load(args.rows), CALIBRATING + COMPARED)
    graph = Graph(model, quantised(model, rows[:CALIBRATING]))
    made = args.out.with_suffix(".new")
    onnx.save(graph.model(), made)
    print(f"{args.out.name}: {made.stat().st_size / 1e6:.1f} MB")
    compare(model, made, rows[CALIBRATING:])
    made.replace(args.out)
    write_manifest(args.out, version=args.version, trained_on=args.trained_on)


def sample(packed: Packed, count: int) -> list[Row]:
    """Ids and kinds, each (1, tokens), of rows drawn at random."""
    drawn = np.random.default_rng(0).permutation(len(packed))[:count]
    bounds = [(packed.starts[i], packed.starts[i + 1]) for i in drawn]
    return [
        (packed.ids[None, a:b].astype(np.int64), packed.kinds[None, a:b].astype(np.int64)) for a, b in bounds
    ]


class Graph:
    """The encoder as an ONNX graph."""

    def __init__(self, model: Encoder, matrices: dict[str, Quantised]) -> None:
        self._weights = {name: value.float().numpy() for name, value in model.state_dict().items()}
        self._matrices = matrices
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        x = self._embedded()
        for i in range(LAYERS):
            x = self._layer(f"layers.{i}", x, last=i == LAYERS - 1)
        self._head("row_head", self._node("Gather", x, self._constant(np.array([0])), axis=0), "row")
        self._head("token_head", x, "tokens")

    def model(self) -> onnx.ModelProto:
        """The graph with its inputs and outputs, checked."""
        given = [
            helper.make_tensor_value_info(name, TensorProto.INT64, [size])
            for name, size in (("ids", "length"), ("kinds", "length"), ("asked", "asked"))
        ]
        made = [
            helper.make_tensor_value_info("row", TensorProto.FLOAT, [1, 3]),
            helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["asked", 3]),
        ]
        graph = helper.make_graph(self._nodes, "encoder", given, made, self._constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="groundwire")

    def _embedded(self) -> str:
        table, scales = rounded(self._weights["words.weight"], largest=127)
        words = self._node("Cast", self._node("Gather", self._constant(table), "ids"), to=TensorProto.FLOAT)
        words = self._node("Mul", words, self._node("Gather", self._constant(scales[:, None]), "ids"))
        places = self._places()
        kinds = self._node("Gather", self._weight("kinds.weight"), "kinds")
        return self._norm("norm", self._node("Add", self._node("Add", words, places), kinds))

    def _places(self) -> str:
        """The embeddings of places: evidence has the first ones, and what is read beside it the last."""
        read_beside = self._node("GreaterOrEqual", "kinds", self._constant(np.array([int(Kind.FRAMING)])))
        beside = self._node("ReduceSum", self._node("Cast", read_beside, to=TensorProto.INT64), keepdims=1)
        table, start, end = self._weight("places.weight"), np.array([0]), np.array([LENGTH])
        evidence = self._node("Sub", self._node("Shape", "ids"), beside)
        first = self._node("Slice", table, self._constant(start), evidence)
        last = self._node("Slice", table, self._node("Sub", self._constant(end), beside), self._constant(end))
        return self._node("Concat", first, last, axis=0)

    def _layer(self, name: str, x: str, *, last: bool) -> str:
        parts = self._nodes_of("Split", self._linear(f"{name}.qkv", x), outputs=3, axis=-1, num_outputs=3)
        if last:
            parts[0], x = (self._node("Gather", part, "asked", axis=0) for part in (parts[0], x))
        one = self._constant(np.array([0]))
        parts = [self._node("Unsqueeze", part, one) for part in parts]
        mixed = self._node("MultiHeadAttention", *parts, domain=MICROSOFT, num_heads=HEADS)
        mixed = self._node("Squeeze", mixed, one)
        x = self._norm(f"{name}.norm1", self._node("Add", x, self._linear(f"{name}.out", mixed)))
        inner = self._node("Gelu", self._linear(f"{name}.up", x), domain=MICROSOFT)
        return self._norm(f"{name}.norm2", self._node("Add", x, self._linear(f"{name}.down", inner)))

    def _linear(self, name: str, x: str) -> str:
        matrix = self._matrices[name]
        x = self._node("Mul", x, self._constant(1 / matrix.factors))
        zeros = np.zeros(len(matrix.scales), dtype=np.int8)
        constants = [self._constant(c) for c in (matrix.numbers.T, matrix.scales, zeros)]
        bias = self._weight(f"{name}.bias")
        return self._node("DynamicQuantizeMatMul", x, *constants, bias, domain=MICROSOFT)

    def _norm(self, name: str, x: str) -> str:
        weight, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._node("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-12)

    def _head(self, name: str, x: str, output: str) -> None:
        matrix = self._constant(self._weights[f"{name}.weight"].T)
        logits = self._node("Add", self._node("MatMul", x, matrix), self._weight(f"{name}.bias"))
        self._nodes.append(helper.make_node("Softmax", [logits], [output], axis=-1))

    def _weight(self, name: str) -> str:
        return self._constant(self._weights[name])

    def _constant(self, value: NDArray[np.generic]) -> str:
        name = f"constant{len(self._constants)}"
        value = value.astype(np.float32) if value.dtype == np.float64 else value
        self._constants.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def _node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        (name,) = self._nodes_of(operator, *inputs, outputs=1, domain=domain, **attributes)
        return name

    def _nodes_of(
        self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        names = [f"value{len(self._nodes)}.{i}" for i in range(outputs)]
        self._nodes.append(helper.make_node(operator, inputs, names, domain=domain, **attributes))
        return names


def compare(model: Encoder, path: Path, rows: list[Row]) -> None:
    """Print how far the file's probabilities are from the model's."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    of_rows, of_tokens = [], []
    for ids, kinds in rows:
        logits = model(torch.from_numpy(ids), torch.from_numpy(kinds))
        expected = [part.softmax(-1).numpy() for part in logits]
        asked = np.arange(ids.shape[1])
        row, tokens = session.run(None, {"ids": ids[0], "kinds": kinds[0], "asked": asked})
        of_rows.append(np.abs(row - expected[0]).max())
        of_tokens.append(np.abs(tokens - expected[1][0]).max(-1))
    for what, found in (("rows", np.array(of_rows)), ("tokens", np.concatenate(of_tokens))):
        far = f"mean {found.mean():.4f}, 99 % {np.quantile(found, 0.99):.4f}, most {found.max():.4f}"
        print(f"difference of probabilities, {what}: {far}")


def write_manifest(weights: Path, *, version: str, trained_on: str) -> None:
    """What the run time checks the files by, and what a reader may want to know of them."""
    # By their names: where the folders are is nobody's business.
    arguments = [Path(argument).name for argument in sys.argv[1:]]
    manifest = {
        "version": version,
        "trained_on": trained_on,
        "command": shlex.join(["python", "-m", "training.encoder_export", *arguments]),
        "files": {
            path.name: {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
            for path in (weights, weights.with_name("vocab.txt"))
        },
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    weights.with_name("encoder.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
