"""The encoder's matrices in 7 bits, so that their products change as little as they can.

Each is multiplied with values that are themselves quantised, 8 bits for a row's values together. So channels
that run much higher than others are first scaled down, and what the matrix makes of them up (Xiao et al.,
2023, arXiv:2211.10438). Then its columns are rounded one after the other, each making good what rounding the
ones before it did to the products (Frantar et al., 2023, arXiv:2210.17323). 7 bits are what processors
without VNNI can multiply with 8 unsigned ones before their 16-bit sums overflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from training.encoder_model import Encoder

LARGEST = 63
# How much of a channel's excess may move from what is multiplied into the matrix.
SHARES = (0.5, 0.6, 0.7, 0.8)
DAMPING = 0.01
# Rows that each choice is tried on; the others tell how channels go together.
TRIED = 16
BLOCK = 128

Floats = NDArray[np.float32]
Row = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass
class Quantised:
    """A matrix (out, in): whole numbers, a scale for each output, and what inputs are divided by before."""

    numbers: NDArray[np.int8]
    scales: Floats
    factors: Floats


@dataclass
class _Seen:
    """What a matrix was multiplied with."""

    products: Tensor
    high: Tensor
    tried: list[Tensor] = field(default_factory=list)


def quantised(model: Encoder, rows: Sequence[Row]) -> dict[str, Quantised]:
    """Every matrix of the layers, by its name, for inputs like ``rows``. Gradients have to be off."""
    seen = _watched(model, rows)
    return {name: _best(model.get_submodule(name).weight, what) for name, what in seen.items()}


def rounded(matrix: Floats, *, largest: int) -> tuple[NDArray[np.int8], Floats]:
    """The nearest whole numbers up to ``largest``, and one scale for each row of the matrix."""
    scales = np.maximum(np.abs(matrix).max(1) / largest, 1e-12).astype(np.float32)
    return np.round(matrix / scales[:, None]).astype(np.int8), scales


def _watched(model: Encoder, rows: Sequence[Row]) -> dict[str, _Seen]:
    seen: dict[str, _Seen] = {}
    hooks = []
    for name, part in model.named_modules():
        if isinstance(part, nn.Linear) and name.startswith("layers."):
            size = part.in_features
            seen[name] = _Seen(torch.zeros(size, size, dtype=torch.float64), torch.full((size,), 1e-3))

            def look(_: nn.Module, given: tuple[Tensor], what: _Seen = seen[name]) -> None:
                x = given[0].flatten(0, -2)
                what.products += x.T @ x
                what.high = torch.maximum(what.high, x.abs().amax(0))
                if len(what.tried) < TRIED:
                    what.tried.append(x)

            hooks.append(part.register_forward_pre_hook(look))
    for ids, kinds in rows:
        model(torch.from_numpy(ids), torch.from_numpy(kinds))
    for hook in hooks:
        hook.remove()
    return seen


def _best(weights: Tensor, seen: _Seen) -> Quantised:
    found: list[tuple[float, Quantised]] = []
    for share in SHARES:
        factors = seen.high**share / weights.abs().amax(0).clamp(min=1e-4) ** (1 - share)
        factors /= factors.log().mean().exp()
        scales = (weights * factors).abs().amax(1) / LARGEST
        products = seen.products / factors.double()[:, None] / factors.double()
        numbers = _compensated((weights * factors / scales[:, None]).double(), products)
        matrix = (numbers * scales[:, None]).float()
        changes = (_eight(x / factors) @ matrix.T - x @ weights.T for x in seen.tried)
        error = sum(float(change.square().mean()) for change in changes)
        made = Quantised(numbers.to(torch.int8).numpy(), scales.numpy(), factors.numpy())
        found.append((error, made))
    return min(found, key=lambda one: one[0])[1]


def _compensated(matrix: Tensor, products: Tensor) -> Tensor:
    """Whole numbers near ``matrix``, (out, in), rounded column by column. ``products`` is (in, in)."""
    size = len(products)
    # Those that matter most come first, while all others can still make good for them.
    order = products.diagonal().argsort(descending=True)
    products, left = products[order][:, order], matrix[:, order]
    damped = products + DAMPING * products.diagonal().mean() * torch.eye(size, dtype=torch.float64)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(damped))
    upper = torch.linalg.cholesky(inverse, upper=True)
    numbers = torch.zeros_like(left)
    for start in range(0, size, BLOCK):
        end = min(start + BLOCK, size)
        errors = torch.zeros(len(matrix), end - start, dtype=torch.float64)
        for j in range(start, end):
            numbers[:, j] = left[:, j].round().clamp(-LARGEST, LARGEST)
            errors[:, j - start] = (left[:, j] - numbers[:, j]) / upper[j, j]
            left[:, j + 1 : end] -= errors[:, j - start, None] * upper[j, j + 1 : end]
        left[:, end:] -= errors @ upper[start:end, end:]
    return numbers[:, order.argsort()]


def _eight(x: Tensor) -> Tensor:
    """What is left of a row's values after they have been quantised together, as the run time does it."""
    low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
    scale = (high - low) / 255
    zero = round(-low / scale)
    return ((x / scale).round().add(zero).clamp(0, 255) - zero) * scale
