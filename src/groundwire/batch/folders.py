"""Folders that outcomes are written to. Anything written appears whole under its name, or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, Protocol

from groundwire.batch.places import filesystem, is_url, plain_path
from groundwire.core.errors import ConfigurationError

STATE = "_groundwire"
"""The folder beside the parts."""

_TEMPORARY = re.compile(r"\.groundwire-[0-9a-f]{32}")
# Where an object appears whole once it is uploaded, so that nothing need be renamed.
_WHOLE = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "r2", "memory"}


class Folder(Protocol):
    """A folder that is written to. Names are relative to it, with ``/`` between their parts."""

    name: str

    def names(self, within: str = "") -> set[str]:
        """What lies in it, or in a folder of it; nothing that lies in folders of that."""
        ...

    def open(self, name: str) -> BinaryIO: ...

    def size(self, name: str) -> int:
        """How many bytes a file has."""
        ...

    def writing(self, name: str) -> contextlib.AbstractContextManager[Path]:
        """A file of this machine to write to, which gets its name when all went well."""
        ...

    def write(self, name: str, content: bytes) -> None: ...

    def delete(self, names: Iterable[str]) -> None: ...

    def sweep(self, *places: str) -> None:
        """Delete what somebody was writing in these folders of it when the process died."""
        ...


def folder(name: str) -> LocalFolder | RemoteFolder:
    """The folder of a path or URL. It need not exist yet."""
    return RemoteFolder(name) if is_url(name) else LocalFolder(name)


class LocalFolder:
    """A folder of this machine, or one that several machines mount."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = Path(plain_path(name))
        if "\0" in name:
            raise ConfigurationError(f"{name!r} is no name that a folder can have")
        if self.path.exists() and not self.path.is_dir():
            raise ConfigurationError(f"{name!r} is a file: name a folder for the outcomes")

    def names(self, within: str = "") -> set[str]:
        place = self.path / within
        if not place.is_dir():
            return set()
        return {entry.name for entry in os.scandir(place) if not _TEMPORARY.fullmatch(entry.name)}

    def open(self, name: str) -> BinaryIO:
        return (self.path / name).open("rb")

    def size(self, name: str) -> int:
        return (self.path / name).stat().st_size

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        final = self.path / name
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary = final.with_name(_temporary())
        try:
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(final)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def write(self, name: str, content: bytes) -> None:
        with self.writing(name) as path:
            path.write_bytes(content)

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            (self.path / name).unlink(missing_ok=True)

    def sweep(self, *places: str) -> None:
        for place in filter(Path.is_dir, (self.path / one for one in places)):
            for entry in os.scandir(place):
                if _TEMPORARY.fullmatch(entry.name):
                    Path(entry.path).unlink(missing_ok=True)

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Nobody else's until it ends. Raises ConfigurationError where somebody is writing to it."""
        place = self.path / STATE / "lock"
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("ab") as file:
            _lock(file, self.name)
            yield


class RemoteFolder:
    """A folder of any file system that fsspec knows."""

    def __init__(self, name: str) -> None:
        self.name = name.rstrip("/")
        self._fs, self._path = filesystem(self.name)

    def __reduce__(self) -> tuple[type[RemoteFolder], tuple[str]]:
        return type(self), (self.name,)

    def names(self, within: str = "") -> set[str]:
        names = {path.rpartition("/")[2] for path in self._listed(within)}
        return {name for name in names if name and not _TEMPORARY.fullmatch(name)}

    def open(self, name: str) -> BinaryIO:
        stream: BinaryIO = self._fs.open(f"{self._path}/{name}", "rb")
        return stream

    def size(self, name: str) -> int:
        return int(self._fs.size(f"{self._path}/{name}"))

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="groundwire-") as place:
            local = Path(place) / "part"
            yield local
            final = f"{self._path}/{name}"
            self._fs.makedirs(final.rpartition("/")[0], exist_ok=True)
            protocol = self._fs.protocol
            if _WHOLE & {protocol} if isinstance(protocol, str) else _WHOLE & set(protocol):
                self._fs.put_file(str(local), final)
                return
            temporary = f"{final.rpartition('/')[0]}/{_temporary()}"
            self._fs.put_file(str(local), temporary)
            self._fs.mv(temporary, final)

    def write(self, name: str, content: bytes) -> None:
        with self.writing(name) as path:
            path.write_bytes(content)

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                self._fs.rm_file(f"{self._path}/{name}")

    def sweep(self, *places: str) -> None:
        for place in places:
            for path in self._listed(place):
                if _TEMPORARY.fullmatch(path.rpartition("/")[2]):
                    self._fs.rm_file(path)

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Nothing holds it: object stores have no locks. Two runs write the same parts, each twice."""
        yield

    def _listed(self, within: str) -> list[str]:
        place = f"{self._path}/{within}".rstrip("/")
        try:
            entries = self._fs.ls(place, detail=True, refresh=True)
        except FileNotFoundError:
            return []
        except TypeError:  # a file system that keeps no listings
            entries = self._fs.ls(place, detail=True)
        return [str(entry["name"]).rstrip("/") for entry in entries]


def _temporary() -> str:
    return f".groundwire-{uuid.uuid4().hex}"


def _lock(file: IO[bytes], name: str) -> None:
    try:
        import fcntl  # noqa: PLC0415 - Windows has none; there two runs must not share a folder
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ConfigurationError(
            f"another run is writing to {name!r}: wait for it, or name another folder"
        ) from error
    except OSError:  # some network file systems have no locks
        return
