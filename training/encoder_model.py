"""The encoder in PyTorch: all-MiniLM-L6-v2 with eight kinds of tokens instead of two segments, and two heads.

How it learns and how it is released is not known here.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from groundwire.local.rows import LENGTH, Kind

HIDDEN, HEADS, LAYERS, INNER, VOCABULARY = 384, 12, 6, 1536, 30522
CLASSES = 3
"""Supported, unsupported, contradicted."""


class Layer(nn.Module):
    """One transformer layer, normalised after each half (Vaswani et al., 2017)."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.out = nn.Linear(HIDDEN, HIDDEN)
        self.norm1 = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.up = nn.Linear(HIDDEN, INNER)
        self.down = nn.Linear(INNER, HIDDEN)
        self.norm2 = nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        x = self.norm1(x + self.out(_mixed(q, k, v, mask).transpose(1, 2).reshape(b, t, HIDDEN)))
        return self.norm2(x + self.down(functional.gelu(self.up(x))))


def _mixed(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """What every token takes from the others; all are (rows, heads, tokens, width)."""
    return _fused(q, k, v, mask) if q.is_cuda else _plain(q, k, v, mask)


def _fused(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(q, k, v, mask.expand(-1, -1, q.shape[2], -1))


def _plain(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Plain products: on CPUs, the backward pass of PyTorch's fused attention takes half of all time."""
    weights = torch.matmul(q * (1 / math.sqrt(HIDDEN // HEADS)), k.transpose(-1, -2)) + mask
    return torch.matmul(torch.softmax(weights, -1), v)


class Encoder(nn.Module):
    """Token ids and kinds, each (rows, tokens), to logits: of rows (rows, 3), of tokens (rows, tokens, 3).

    Token 0 is padding.
    """

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, HIDDEN)
        self.places = nn.Embedding(LENGTH, HIDDEN)
        self.kinds = nn.Embedding(len(Kind), HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.row_head = nn.Linear(HIDDEN, CLASSES)
        self.token_head = nn.Linear(HIDDEN, CLASSES)

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return self.words.weight.device

    def forward(self, ids: Tensor, kinds: Tensor) -> tuple[Tensor, Tensor]:
        x = self.dropout(self.norm(self.words(ids) + self.places(places(ids, kinds)) + self.kinds(kinds)))
        device = ids.device.type
        reckoned = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x.dtype
        mask = torch.where(ids == 0, -1e4, 0.0)[:, None, None, :].to(reckoned)
        for layer in self.layers:
            x = layer(x, mask)
        x = self.dropout(x)
        return self.row_head(x[:, 0]), self.token_head(x)


def places(ids: Tensor, kinds: Tensor) -> Tensor:
    """The place of every token, (rows, tokens): evidence has the first ones, what is beside it the last.

    So a claim stands where it always does, however much evidence there is.
    """
    known = ids != 0
    size = known.sum(1, keepdim=True)
    beside = (known & (kinds >= Kind.FRAMING)).sum(1, keepdim=True)
    at = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
    return torch.where(known & (at >= size - beside), at + LENGTH - size, at)


def from_minilm(path: Path) -> Encoder:
    """The encoder with the weights of all-MiniLM-L6-v2 (``model.safetensors``); heads and kinds are new."""
    from safetensors.torch import load_file  # noqa: PLC0415 - needed to begin, and not to go on

    known = {name.removeprefix("bert."): value for name, value in load_file(str(path)).items()}
    model = Encoder()
    state = model.state_dict()
    state["words.weight"] = known["embeddings.word_embeddings.weight"]
    state["places.weight"] = known["embeddings.position_embeddings.weight"][:LENGTH]
    state["kinds.weight"] = kinds_from(known["embeddings.token_type_embeddings.weight"])
    for part in ("weight", "bias"):
        state[f"norm.{part}"] = known[f"embeddings.LayerNorm.{part}"]
        for i in range(LAYERS):
            ours, theirs = f"layers.{i}.", f"encoder.layer.{i}."
            state[f"{ours}qkv.{part}"] = torch.cat(
                [known[f"{theirs}attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            )
            for name, their_name in _THEIR_NAMES.items():
                state[f"{ours}{name}.{part}"] = known[f"{theirs}{their_name}.{part}"]
    model.load_state_dict(state)
    return model


_THEIR_NAMES = {
    "out": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm2": "output.LayerNorm",
}


def kinds_from(segments: Tensor) -> Tensor:
    """An embedding for each kind: that of the first or second segment, and noise to tell kinds apart by."""
    noise = torch.Generator().manual_seed(0)
    first = (Kind.EVIDENCE, Kind.SHARED)
    return torch.stack(
        [segments[0 if k in first else 1] + 0.02 * torch.randn(HIDDEN, generator=noise) for k in Kind]
    )
