"""Optional encoders: a classifier from the Hugging Face hub or a folder, loaded as a Reader.

What can't be told from a model's own config, or would run its code, is refused here. Needs
``groundwire[encoder]``; nothing is downloaded unless the name is a hub id.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from groundwire.core.errors import ConfigurationError, MissingExtraError
from groundwire.core.fork import renew_after_fork
from groundwire.core.plan import EncoderSetup
from groundwire.local import labels
from groundwire.local.folders import escapes
from groundwire.local.reader import Reader

T = TypeVar("T")


def load(name: str, setup: EncoderSetup) -> Reader:
    """The reader of the model in the folder ``name``, or on the hub under the id ``name``. Loaded once.

    A folder is preferred to a hub id. Raises MissingExtraError without the packages, and ConfigurationError
    for a model that is not there, that is no classifier, or whose labels nobody explains.
    """
    return _SHELF.get(name, setup)


class _Shelf:
    """What has been loaded, for all threads. What could not be is tried again."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[str, EncoderSetup], Reader] = {}
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        self._lock = threading.Lock()

    def get(self, name: str, setup: EncoderSetup) -> Reader:
        with self._lock:
            if (name, setup) not in self._loaded:
                self._loaded[name, setup] = _load(name, setup)
            return self._loaded[name, setup]


_SHELF = _Shelf()


def _load(name: str, setup: EncoderSetup) -> Reader:
    transformers = _package("transformers")
    torch = _package("torch")
    classifiers = import_module("groundwire.local.classifiers")  # imports PyTorch
    network = import_module("groundwire.local.network")

    source, options = _source(name)
    raw = _config(transformers, name, source, options)
    per_token = _per_token(name, raw)
    task = "TokenClassification" if per_token else "SequenceClassification"
    own_code = "auto_map" in raw

    def made(what: str, kind: Any, **more: Any) -> Any:
        return _made(what, lambda: kind.from_pretrained(source, **options, **more), name, own_code=own_code)

    config = made("config", transformers.AutoConfig)
    named = [str(config.id2label[i]) for i in range(config.num_labels)]
    meanings = labels.read(named, dict(setup.labels), model=name)
    tokenizer = _checked_tokenizer(name, made("tokenizer", transformers.AutoTokenizer, use_fast=True))
    # In full precision, whatever it was stored in: CPUs are slow at less, and padding would show in it.
    model, told = made(
        "weights", getattr(transformers, f"AutoModelFor{task}"), output_loading_info=True, dtype=torch.float32
    )
    if told["missing_keys"]:
        raise ConfigurationError(
            f"encoder {name!r} lacks weights ({', '.join(sorted(told['missing_keys'])[:3])}), which would be "
            "random: it was not trained, or not saved, as the classifier that its config says it is"
        )
    model = _placed(name, model.eval(), setup.device)
    ready = network.Network(
        tokenizer,
        model,
        meanings=meanings,
        per_token=per_token,
        length=_length(name, tokenizer, model, setup.max_length),
    )
    reader: Reader = (
        classifiers.TokenReader(ready, _prompt(name, setup, ready, classifiers))
        if per_token
        else classifiers.PairReader(_unprompted(name, setup, ready))
    )
    return reader


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError("an encoder of your own", package=name, extra="encoder") from error


def _source(name: str) -> tuple[str, Mapping[str, Any]]:
    """Where to load from, and how: a folder without the network, a hub id with it."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise ConfigurationError(
                f"encoder {name!r}: the folder has no config.json; expected what save_pretrained writes: "
                "config.json, the weights and the tokenizer's files"
            )
        if outside := escapes(folder):
            raise ConfigurationError(
                f"encoder {name!r}: {outside}, leads out of the folder: a model is read from its own folder "
                "alone; put the file there, if you trust it"
            )
        return str(folder), {"local_files_only": True, "trust_remote_code": False}
    if not _HUB_ID.fullmatch(name):
        raise ConfigurationError(
            f"encoder {name!r} is no folder, and no id of the Hugging Face hub ('owner/model') either"
        )
    return name, {"trust_remote_code": False}


def _config(transformers: Any, name: str, source: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    offline = {key: value for key, value in options.items() if key == "local_files_only"}
    try:
        raw: Mapping[str, Any] = transformers.PretrainedConfig.get_config_dict(source, **offline)[0]
    except Exception as error:  # the hub's client has a dozen
        raise ConfigurationError(
            f"encoder {name!r}: there is no such folder, and the Hugging Face hub gave no config.json: "
            f"{_told(error)} Check the name and the network, or download the model and give its folder"
            if not offline
            else f"encoder {name!r}: its config.json can't be read: {_told(error)}"
        ) from error
    return raw


def _per_token(name: str, raw: Mapping[str, Any]) -> bool:
    architecture = str((raw.get("architectures") or ["nothing"])[0])
    if architecture.endswith("ForTokenClassification"):
        return True
    if architecture.endswith("ForSequenceClassification"):
        return False
    raise ConfigurationError(
        f"encoder {name!r} is of another kind: its config names {architecture!r} as its architecture; "
        "expected a ...ForTokenClassification or a ...ForSequenceClassification"
    )


def _made(what: str, make: Callable[[], T], name: str, *, own_code: bool) -> T:
    try:
        return make()
    except Exception as error:  # whatever it is, this model can't be used
        if own_code:
            raise ConfigurationError(
                f"encoder {name!r} comes with Python code of its own, which groundwire never runs "
                "(trust_remote_code is off): use a model whose architecture transformers knows itself, "
                "or, to run that code, call it from a detector of your own"
            ) from error
        raise ConfigurationError(f"encoder {name!r}: its {what} can't be loaded: {_told(error)}") from error


def _checked_tokenizer(name: str, tokenizer: Any) -> Any:
    # transformers makes one up, with no words in it, where the files are missing.
    lacks = [
        what
        for what, missing in (
            ("words", len(tokenizer) <= len(tokenizer.all_special_tokens)),
            ("offsets (it needs a tokenizer.json)", not tokenizer.is_fast),
            ("padding token", tokenizer.pad_token_id is None),
        )
        if missing
    ]
    if lacks:
        raise ConfigurationError(
            f"encoder {name!r}: its tokenizer has no {', no '.join(lacks)}; save the tokenizer beside the "
            "model, as it was trained with"
        )
    return tokenizer


def _placed(name: str, model: Any, device: str) -> Any:
    try:
        return model.to(device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # PyTorch's ways to say no
        raise ConfigurationError(
            f"encoder {name!r} can't run on device {device!r}: {_told(error)} Expected 'cpu', or one that "
            "PyTorch finds here, such as 'cuda'"
        ) from error


def _length(name: str, tokenizer: Any, model: Any, wanted: int | None) -> int:
    """The most tokens of a row: as asked for, else the least of what tokenizer, config and weights say."""
    places = [
        embedding.num_embeddings - (0 if embedding.padding_idx is None else embedding.padding_idx + 1)
        for part, embedding in model.named_modules()
        if part.endswith("position_embeddings") and hasattr(embedding, "num_embeddings")
    ]
    if wanted is not None:
        if places and wanted > min(places):
            raise ConfigurationError(
                f"encoder {name!r} has places for {min(places)} tokens: max_length={wanted} is too many"
            )
        return wanted
    stated = getattr(model.config, "max_position_embeddings", None)
    said = [tokenizer.model_max_length, *places, *([stated] if stated else [])]
    # A tokenizer that was not told answers with a number beyond all models.
    return min((length for length in said if length < _UNTOLD), default=_USUAL)


def _prompt(name: str, setup: EncoderSetup, network: Any, classifiers: Any) -> str:
    prompt: str = setup.prompt or classifiers.PROMPT
    taken, room = network.sizes([prompt])[0], network.length // 4
    if taken > room:
        raise ConfigurationError(
            f"encoder {name!r}: the prompt takes {taken} tokens, and of {network.length} it may take {room}; "
            "expected a shorter prompt, or a larger max_length"
        )
    return prompt


def _unprompted(name: str, setup: EncoderSetup, network: Any) -> Any:
    if setup.prompt:
        raise ConfigurationError(
            f"encoder {name!r} reads pairs of texts, which take no prompt: leave prompt out"
        )
    return network


def _told(error: Exception) -> str:
    """The first line of what went wrong, as a sentence."""
    return f"{(str(error).strip().partition(chr(10))[0] or type(error).__name__).rstrip('.')}."


_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_UNTOLD = 1_000_000
_USUAL = 512
