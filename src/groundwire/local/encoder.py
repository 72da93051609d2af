"""The embedded encoder: its weights, checked and loaded once, and the session that reads rows with them.

A row is read by itself, at its own length and on one thread. So what it is read as depends on nothing else:
not on the rows beside it, not on padding, not on how many threads there are (docs/decisions/0009).
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import EncoderError
from groundwire.core.fork import renew_after_fork
from groundwire.local.rows import Row

OLDEST_RUNTIME = "1.20"
"""The oldest version of onnxruntime that the weights are tested with."""


class Probabilities(NamedTuple):
    """How likely each kind of support is, for a row, (3,), and for each of its words, (words, 3)."""

    row: NDArray[np.float32]
    words: NDArray[np.float32]


class Encoder:
    """A folder's weights, loaded. Safe to use from many threads at once; a row keeps one core busy.

    Raises EncoderError, saying what to do, when they or the run time that they need can't be used.
    """

    def __init__(self, folder: Traversable) -> None:
        self._session = _session(_checked(folder))

    def read(self, row: Row) -> Probabilities:
        """What the encoder makes of one row."""
        # The first token stands for the row.
        asked = [0, *(place for place, _ in row.words)]
        given = {
            name: np.array(values, dtype=np.int64)
            for name, values in (("ids", row.ids), ("kinds", row.kinds), ("asked", asked))
        }
        of_row, of_asked = self._session.run(None, given)
        return Probabilities(of_row[0], of_asked[1:])


class Loaded:
    """The embedded encoder, loaded when it is first asked for, and anew in a forked child."""

    def __init__(self, folder: Traversable | None = None) -> None:
        self._folder = folder or resources.files("groundwire.local") / "data"
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: the run time's own locks may have been held by threads that the child has not."""
        self._encoder: Encoder | None = None
        self._lock = threading.Lock()

    def get(self) -> Encoder:
        """The encoder. Raises EncoderError; asked again, it tries again."""
        with self._lock:
            if self._encoder is None:
                self._encoder = Encoder(self._folder)
            return self._encoder


def _checked(folder: Traversable) -> bytes:
    """The weights, when they and the vocabulary are the ones that the manifest names."""
    try:
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        expected: dict[str, str] = {name: files[name]["sha256"] for name in (VOCABULARY, WEIGHTS)}
        contents = {name: (folder / name).read_bytes() for name in expected}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise EncoderError(
            f"the embedded encoder's files can't be read ({type(error).__name__}: {error}): {_REINSTALL}"
        ) from error
    for name, known in expected.items():
        found = hashlib.sha256(contents[name]).hexdigest()
        if found != known:
            raise EncoderError(
                f"{str(folder / name)!r} is not the file that groundwire was released with: its SHA-256 is "
                f"{found:.12}..., expected {known:.12}...: {_REINSTALL}"
            )
    return contents[WEIGHTS]


def _session(weights: bytes) -> Any:
    try:
        with _unreported():
            import onnxruntime  # noqa: PLC0415 - slow to import, and needed by this detector alone
    except ImportError as error:
        raise EncoderError(
            f"the embedded encoder needs onnxruntime {OLDEST_RUNTIME} or newer, and it can't be imported "
            f"({error}): pip install 'onnxruntime>={OLDEST_RUNTIME}', or choose detector='lexical'"
        ) from error
    if _version(onnxruntime.__version__) < _version(OLDEST_RUNTIME):
        raise EncoderError(
            f"the embedded encoder needs onnxruntime {OLDEST_RUNTIME} or newer, not "
            f"{onnxruntime.__version__}: pip install 'onnxruntime>={OLDEST_RUNTIME}'"
        )
    options = onnxruntime.SessionOptions()
    # One thread a row: rows are what is done side by side, and the result can't depend on how many are.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Rows come in hundreds of lengths, and both of these remember something for each.
    options.enable_mem_pattern = False
    options.enable_cpu_mem_arena = False
    # The file is the graph as it should run: fusions beyond the basic ones have slowed it down.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the run time's own errors have no common class
        raise EncoderError(
            f"onnxruntime {onnxruntime.__version__} can't run the embedded encoder: {error!s:.300}"
        ) from error


@contextmanager
def _unreported() -> Iterator[None]:
    """Have onnxruntime, which is imported in here, report to nobody, unless the environment says otherwise.

    Newer releases write an id of the machine into the home folder as they are imported, and send what they
    load and run to their makers; to ask for silence afterwards is too late for the id. Where the application
    has imported it before, this is the application's to say.
    """
    if _SILENCE in os.environ:
        yield
        return
    os.environ[_SILENCE] = "1"
    try:
        yield
    finally:
        os.environ.pop(_SILENCE, None)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


_SILENCE = "ORT_DISABLE_TELEMETRY"
MANIFEST, VOCABULARY, WEIGHTS = "encoder.json", "vocab.txt", "encoder.onnx"
_REINSTALL = (
    "install groundwire again (pip install --force-reinstall --no-deps groundwire), or choose "
    "detector='lexical'"
)
