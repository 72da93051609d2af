"""Rows on disk, in order, while the database is away.

One file a process, a row a line, each batch on the disk before it counts as kept. A process that died leaves
its file; the next one that starts takes it over. Rows carry their ids, so that replaying one twice is
harmless.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from io import BufferedReader, FileIO
from pathlib import Path

from groundwire.monitor.answer import Row

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

_LOG = logging.getLogger(__name__)
_AT_ONCE = 500


class Spool:
    """The files of rows in one folder, which is made when it is first needed.

    At most ``limit`` bytes are kept by one process; what would be more is refused.
    """

    def __init__(self, folder: Path, *, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._file: FileIO | None = None
        self._orphans: list[FileIO] = []
        self._rows = 0
        self._read_to: dict[str, int] = {}

    @property
    def rows(self) -> int:
        """How many rows of this process wait on disk."""
        return self._rows

    @property
    def empty(self) -> bool:
        return not self._rows and not self._orphans

    def adopt(self) -> None:
        """Take over the files of processes that have ended."""
        for path in self._elsewhere():
            try:
                file = path.open("r+b", buffering=0)
            except OSError:
                continue
            if _locked(file):
                self._orphans.append(file)
            else:
                file.close()

    @property
    def waits_elsewhere(self) -> bool:
        """Whether a process that still runs has put rows into the folder."""
        return any(map(_size, self._elsewhere()))

    def append(self, rows: Sequence[Row]) -> int:
        """Put rows behind what is there; how many there was room for. Raises OSError as the disk does."""
        if not rows:
            return 0
        file = self._file or self._open()
        start = room = file.seek(0, os.SEEK_END)
        taken, lines = 0, []
        for row in rows:
            line = row.to_json().encode() + b"\n"
            if room + len(line) > self._limit:
                break
            room += len(line)
            taken += 1
            lines.append(line)
        try:
            left = memoryview(b"".join(lines))
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except OSError:
            file.truncate(start)  # half a batch would be replayed as if it had been taken
            raise
        self._rows += taken
        return taken

    def batches(self) -> Iterator[list[Row]]:
        """Every row in order, the dead processes' first. A batch is forgotten when the next one is asked for.

        Whoever stops in between goes on there. A file goes when all of it was read, so that another process
        replays it from its start.
        """
        while self._orphans:
            yield from self._read(self._orphans[0])
            self._remove(self._orphans.pop(0))
        if self._file is not None and self._rows:
            for rows in self._read(self._file):
                yield rows
                self._rows -= len(rows)
            self._remove(self._file)
            self._file, self._rows = None, 0

    def close(self) -> None:
        """Let go of the files; what they hold is for another process."""
        for file in self._own():
            file.close()
        self._orphans, self._file, self._rows = [], None, 0
        self._read_to.clear()

    def _own(self) -> list[FileIO]:
        return [*self._orphans, *([self._file] if self._file else [])]

    def _elsewhere(self) -> list[Path]:
        own = {Path(file.name) for file in self._own()}
        return sorted(path for path in self._folder.glob("*.jsonl") if path not in own)

    def _read(self, file: FileIO) -> Iterator[list[Row]]:
        end = self._read_to.get(file.name, 0)
        file.seek(end)
        reader = BufferedReader(file)
        group: list[Row] = []
        try:
            for line in reader:
                end += len(line)
                try:
                    group.append(Row.from_json(line.decode()))
                except ValueError:
                    # The last line of a process that was killed while it wrote: nobody was told it is kept.
                    _LOG.warning("a line of %s is cut off and left out", file.name)
                    continue
                if len(group) == _AT_ONCE:
                    yield group
                    group, self._read_to[file.name] = [], end
            if group:
                yield group
                self._read_to[file.name] = end
        finally:
            reader.detach()

    def _remove(self, file: FileIO) -> None:
        self._read_to.pop(file.name, None)
        Path(file.name).unlink(missing_ok=True)
        file.close()

    def _open(self) -> FileIO:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{os.getpid()}-{os.urandom(4).hex()}.jsonl"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.close(descriptor)
        self._file = path.open("r+b", buffering=0)
        _locked(self._file)
        return self._file


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # written, and gone, meanwhile
        return 0


def _locked(file: FileIO) -> bool:
    """Whether the file is ours now: its lock ends with the process that holds it."""
    if fcntl is None:  # pragma: no cover - Windows
        return False
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
