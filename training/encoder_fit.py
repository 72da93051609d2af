"""One stage of training: packed files of rows, from one set of weights to the next.

    python -m training.encoder_fit --rows stage1.npz --from model.safetensors --out stage1.pt

Resumable: the state is written every few minutes beside ``--out`` and picked up by the same command. Prints
its curve, and appends it to ``--out`` with the ending .log.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.optim.swa_utils import get_ema_multi_avg_fn

from training.encoder_model import Encoder, from_minilm
from training.encoder_rows import TOKENS, Batch, Label, Packed, batches

WARM_UP = 0.05
"""The share of steps in which the rate comes up."""

DECAY = 0.01
BETAS = (0.9, 0.98)
LARGEST_GRADIENT = 1.0
AVERAGED = 0.02
"""Weights are averaged over about this share of the last steps."""

FLAGGED_WORDS = 2.5
"""What a word that is not supported weighs beside one that is."""

SETTINGS = ("epochs", "rate", "words", "ranked", "seed", "frozen", "tokens", "precision", "kept")
"""Arguments that a run which is gone on with must share with the one that was interrupted."""

SAID_EVERY = 50
SAVED_EVERY_SECONDS = 300.0


def main() -> None:
    """Train, print and write."""
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    start = mean_of([begun_from(path) for path in args.starts]).to(args.device)
    # Whatever is read is read before hours of training, not after.
    other = begun_from(args.kept_of).to(args.device) if args.kept_of else copy.deepcopy(start)
    if not args.rows:
        write(between(start, other, args.kept).cpu().state_dict(), args.out)
        return
    packed = Packed.joined([Packed.load(path) for path in args.rows])
    plan = schedule(packed, args.epochs, args.seed, args.tokens, in_pairs=args.ranked > 0)
    state = args.out.with_suffix(".state")
    teachers = [begun_from(path).to(args.device).eval() for path in args.taught_by]
    fit = Fit.begun(
        start,
        frozen=args.frozen,
        precision=getattr(torch, args.precision),
        teachers=teachers,
        ranked=args.ranked,
    )
    settings = {
        "rows": len(packed),
        "from": [path.name for path in args.starts],
        "kept_of": args.kept_of and args.kept_of.name,
        "taught_by": [path.name for path in args.taught_by],
        **{name: getattr(args, name) for name in SETTINGS},
    }
    if state.exists():
        fit.resume(state, settings)
    pace = Pace(steps=len(plan), first=fit.step, minutes=args.minutes)
    with args.out.with_suffix(".log").open("a", encoding="utf-8") as log:

        def say(line: str) -> None:
            for where in (None, log):
                print(line, file=where, flush=True)

        say(f"{len(packed)} rows, {len(packed.ids)} tokens, {len(plan)} steps, from step {fit.step}")
        curve = Curve(say=say)
        saved = time.monotonic()
        while (done := pace.done(fit.step)) < 1:
            chosen, length = plan[fit.step]
            of_rows, of_words = fit.learn(packed.batch(chosen, length), args.rate * rate(done), args.words)
            fit.average(max(1 / fit.step, 1 / (AVERAGED * len(plan) + 1)))
            curve.add(fit.step, of_rows, of_words, len(chosen) * length, last=fit.step == len(plan))
            if time.monotonic() - saved > SAVED_EVERY_SECONDS:
                fit.save(state, settings)
                saved = time.monotonic()
    write(between(fit.averaged, other, args.kept).cpu().state_dict(), args.out)
    state.unlink(missing_ok=True)


def arguments() -> argparse.Namespace:
    """What the command line says. Raises SystemExit where it makes no sense."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--rows", type=Path, nargs="+", default=[], help="without any, what it begins with is written"
    )
    parser.add_argument(
        "--from",
        dest="starts",
        type=Path,
        nargs="+",
        required=True,
        metavar="WEIGHTS",
        help=".safetensors, .pt or .onnx; of several, their mean",
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--words", type=float, default=1.0, help="weight of the words' loss beside the rows'")
    parser.add_argument(
        "--ranked",
        type=float,
        default=0.0,
        help="weight of what the rows of a pair are told apart by, beside what each is labelled with",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--frozen", type=int, default=0, help="how many layers, from the words up, stay as they are"
    )
    parser.add_argument("--tokens", type=int, default=TOKENS, help="in a batch")
    parser.add_argument(
        "--precision",
        choices=("bfloat16", "float32"),
        default="bfloat16",
        help="float32 for want of AMX or AVX-512",
    )
    parser.add_argument(
        "--kept",
        type=float,
        default=0.0,
        help="share of the weights that it began with in those that it writes",
    )
    parser.add_argument("--kept-of", type=Path, metavar="WEIGHTS", help="that share is of these instead")
    parser.add_argument(
        "--taught-by",
        type=Path,
        nargs="+",
        default=[],
        metavar="WEIGHTS",
        help="learn what these say, their mean, as much as what rows are labelled with",
    )
    parser.add_argument(
        "--device",
        default="cuda" if torch.cuda.is_available() else "cpu",
        help="what it learns on: a GPU, where PyTorch finds one",
    )
    parser.add_argument("--minutes", type=float, default=math.inf, help="end by then, the rate brought down")
    args = parser.parse_args()
    if not args.rows and (args.taught_by or args.ranked):
        parser.error("--taught-by and --ranked are for what learns: give --rows")
    if not args.rows and bool(args.kept) != bool(args.kept_of):
        parser.error("without --rows, --kept is a share of --kept-of: give both, or neither")
    return args


def schedule(
    packed: Packed, epochs: float, seed: int, tokens: int = TOKENS, *, in_pairs: bool = False
) -> list[tuple[list[int], int]]:
    """All batches of all epochs in order; part of an epoch is its first batches."""
    made: list[tuple[list[int], int]] = []
    for epoch in range(math.ceil(epochs)):
        these = list(batches(packed, np.random.default_rng([seed, epoch]), tokens, in_pairs=in_pairs))
        made += these[: round(len(these) * min(1.0, epochs - epoch))]
    return made


def rate(done: float) -> float:
    """The share of the full rate: up over the first steps, then down in a straight line."""
    return min(done / WARM_UP + 0.01, 1.0, (1 - done) / (1 - WARM_UP) + 0.01)


def begun_from(path: Path) -> Encoder:
    """What a stage begins with: all-MiniLM-L6-v2, what another stage wrote, or what was exported."""
    if path.suffix == ".onnx":
        from training.encoder_restore import restored  # noqa: PLC0415 - needs onnx, which no other stage does

        return restored(path)
    return from_minilm(path) if path.suffix == ".safetensors" else read(path)


def mean_of(models: Sequence[Encoder]) -> Encoder:
    """The first of them, its weights the mean of all (Wortsman et al., 2022, arXiv:2203.05482)."""
    for known, model in enumerate(models[1:], start=1):
        between(models[0], model, 1 / (known + 1))
    return models[0]


def between(model: Encoder, other: Encoder, kept: float) -> Encoder:
    """The model with a share of the weights of another, such as the one that it began with.

    Wortsman et al., 2022, arXiv:2109.01903.
    """
    with torch.no_grad():
        for new, old in zip(model.parameters(), other.parameters(), strict=True):
            new.lerp_(old, kept)
    return model


def read(path: Path) -> Encoder:
    """An encoder as ``main`` wrote it."""
    model = Encoder()
    model.load_state_dict(torch.load(path, weights_only=True))
    return model


def write(state: dict[str, Any], path: Path) -> None:
    """A file that is there is whole, whenever training was stopped."""
    unfinished = path.with_name(f"unfinished-{path.name}")
    torch.save(state, unfinished)
    unfinished.replace(path)


@dataclass(kw_only=True)
class Fit:
    """A model that learns, the average of its latest weights, and how many steps it has made."""

    model: Encoder
    averaged: Encoder
    optimizer: Any
    precision: torch.dtype = torch.bfloat16
    step: int = 0
    teachers: Sequence[Encoder] = ()
    ranked: float = 0.0

    @classmethod
    def begun(
        cls,
        model: Encoder,
        *,
        frozen: int = 0,
        precision: torch.dtype = torch.bfloat16,
        teachers: Sequence[Encoder] = (),
        ranked: float = 0.0,
    ) -> Fit:
        """At the first step. Matrices decay; biases, norms and embeddings of words don't.

        With ``frozen`` layers, those, and the embeddings that they read, don't learn; dropout stays on.
        """
        if frozen:
            for part in (model.words, model.kinds, model.norm, *model.layers[:frozen]):
                part.requires_grad_(False)
        named = list(model.named_parameters())
        decayed = [p for name, p in named if p.ndim > 1 and "words" not in name]
        rest = [p for name, p in named if p.ndim <= 1 or "words" in name]
        groups = [{"params": decayed}, {"params": rest, "weight_decay": 0.0}]
        optimizer = torch.optim.AdamW(groups, weight_decay=DECAY, betas=BETAS, fused=on_gpu(model))
        averaged = copy.deepcopy(model).eval()
        return cls(
            model=model.train(),
            averaged=averaged,
            optimizer=optimizer,
            precision=precision,
            teachers=teachers,
            ranked=ranked,
        )

    def learn(self, batch: Batch, rate: float, words: float) -> tuple[Tensor, Tensor]:
        """One step; the losses of rows and words before it, which a GPU may still be working out."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        of_rows, of_words = losses(self.model, batch, self.precision, self.teachers, self.ranked)
        self.optimizer.zero_grad(set_to_none=True)
        (of_rows + words * of_words).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), LARGEST_GRADIENT)
        self.optimizer.step()
        self.step += 1
        return of_rows.detach(), of_words.detach()

    def average(self, share: float) -> None:
        """Move the averaged weights towards the model's."""
        with torch.no_grad():
            move = get_ema_multi_avg_fn(1 - share)
            move(list(self.averaged.parameters()), list(self.model.parameters()), self.step)

    def save(self, path: Path, settings: Mapping[str, Any]) -> None:
        parts = {name: part.state_dict() for name, part in self._parts().items()}
        write({"step": self.step, "settings": dict(settings), **parts}, path)

    def resume(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Go on from what ``save`` wrote. The batches are the same; what dropout leaves out is drawn anew.

        Raises SystemExit where it was begun with other ``settings``.
        """
        state = torch.load(path, weights_only=True, map_location=self.model.device)
        begun = state["settings"]
        other = [
            f"{name} {begun.get(name)}, not {now}" for name, now in settings.items() if begun.get(name) != now
        ]
        if other:
            raise SystemExit(
                f"{path.name} was begun with {'; '.join(other)}: give what it was begun with, or delete it"
            )
        for name, part in self._parts().items():
            part.load_state_dict(state[name])
        for group in self.optimizer.param_groups:
            group["fused"] = on_gpu(self.model)  # it may have begun elsewhere
        self.step = state["step"]

    def _parts(self) -> dict[str, Any]:
        return {"model": self.model, "averaged": self.averaged, "optimizer": self.optimizer}


def on_gpu(model: Encoder) -> bool:
    """Whether it learns there, where one step for all weights at once is worth it."""
    return bool(model.device.type == "cuda")


def losses(
    model: Encoder,
    batch: Batch,
    precision: torch.dtype,
    teachers: Sequence[Encoder] = (),
    ranked: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """The weighted mean loss of the rows, and that of their words.

    With teachers, half of it is how far the model is from what they say together (Hinton et al., 2015,
    arXiv:1503.02531): from the mean of their log probabilities. To that of the rows comes, ``ranked`` times,
    what the two rows of a pair are told apart by.
    """
    device = model.device
    ids, kinds, words, labels, weights, paired = (torch.from_numpy(part).to(device) for part in batch)
    as_fast = torch.autocast(device.type, torch.bfloat16, enabled=precision == torch.bfloat16)
    with as_fast:
        of_rows, of_tokens = model(ids, kinds)
    words_weights = weights[:, None] * torch.where(words > Label.SUPPORTED, FLAGGED_WORDS, 1.0)
    rows_loss = mean(of_rows.float(), labels, weights)
    words_loss = mean(of_tokens.float().flatten(0, 1), words.flatten(), words_weights.flatten())
    if teachers:
        with torch.no_grad(), as_fast:
            said = [teacher(ids, kinds) for teacher in teachers]
        rows_said = torch.stack([rows.float() for rows, _ in said])
        words_said = torch.stack([tokens.float() for _, tokens in said])
        known = words_weights * (words != Label.IGNORED)
        rows_loss = (rows_loss + distance(of_rows.float(), rows_said, weights)) / 2
        words_loss = (words_loss + distance(of_tokens.float(), words_said, known)) / 2
    if ranked:
        rows_loss = rows_loss + ranked * told_apart(of_rows.float(), labels, weights, paired)
    return rows_loss, words_loss


def told_apart(logits: Tensor, labels: Tensor, weights: Tensor, paired: Tensor) -> Tensor:
    """How little the wrong row of each pair is read as worse than the right one, over the weight of all rows.

    The logistic loss of the difference of their log-odds (Burges et al., 2005, "Learning to rank using
    gradient descent"). Rows labelled alike are no pair.
    """
    against = torch.logsumexp(logits[:, 1:], -1) - logits[:, 0]
    wrong = labels > Label.SUPPORTED
    known = paired[1:] & (wrong[1:] != wrong[:-1])
    worse = torch.where(wrong[1:], against[1:] - against[:-1], against[:-1] - against[1:])
    each = known * torch.minimum(weights[1:], weights[:-1]) * functional.softplus(-worse)
    return each.sum() / weights.sum().clamp(min=1e-6)


def distance(logits: Tensor, said: Tensor, weights: Tensor) -> Tensor:
    """The weighted mean cross-entropy with what teachers say: ``said`` is (teachers, ..., classes)."""
    wanted = torch.softmax(functional.log_softmax(said, -1).mean(0), -1)
    each = -(wanted * functional.log_softmax(logits, -1)).sum(-1)
    return (weights * each).sum() / weights.sum().clamp(min=1e-6)


def mean(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Cross-entropy; NOT_SUPPORTED asks for either of the two classes that are not supported."""
    each = functional.log_softmax(logits, -1)
    either = torch.logsumexp(each[:, 1:], -1)
    known = each.gather(1, labels.clamp(0, 2)[:, None])[:, 0]
    use = weights * (labels != Label.IGNORED)
    return -(use * torch.where(labels == Label.NOT_SUPPORTED, either, known)).sum() / use.sum().clamp(
        min=1e-6
    )


@dataclass(kw_only=True)
class Pace:
    """How much of a run is done, by its steps or by its time, whichever is further."""

    steps: int
    first: int
    minutes: float
    begun: float = field(default_factory=time.monotonic)

    def done(self, step: int) -> float:
        """The share; 1 or more at the end."""
        before = self.first / self.steps
        spent = (time.monotonic() - self.begun) / 60 / self.minutes
        return max(step / self.steps, before + (1 - before) * spent)


@dataclass(kw_only=True)
class Curve:
    """Says the mean losses of every so many steps, and their speed."""

    say: Callable[[str], None]
    steps: int = 0
    rows: Tensor | float = 0.0
    words: Tensor | float = 0.0
    tokens: int = 0
    begun: float = field(default_factory=time.monotonic)

    def add(self, step: int, of_rows: Tensor, of_words: Tensor, tokens: int, *, last: bool) -> None:
        """One more step."""
        self.steps += 1
        self.rows = self.rows + of_rows
        self.words = self.words + of_words
        self.tokens += tokens
        if step % SAID_EVERY == 0 or last:
            # Only here does it wait for a GPU.
            rows, words = float(self.rows) / self.steps, float(self.words) / self.steps
            speed = self.tokens / (time.monotonic() - self.begun)
            of_each = f"rows {rows:.4f} words {words:.4f}"
            self.say(f"step {step} {of_each} tokens/s {speed:.0f}")
            self.steps, self.rows, self.words, self.tokens = 0, 0.0, 0.0, 0
            self.begun = time.monotonic()


if __name__ == "__main__":
    main()
