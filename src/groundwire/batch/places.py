"""Where tables and parts lie: paths, folders and globs on this machine, and whatever URL fsspec opens.

Anything written appears whole under its name, or not at all.
"""

from __future__ import annotations

import contextlib
import glob
import os
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

from groundwire.core.errors import ConfigurationError, MissingExtraError
from groundwire.tables import TableError

_ENDINGS = (".parquet", ".pq", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab")
_TEMPORARY = ".groundwire-"
# Where an object appears whole once it is uploaded, so that nothing need be renamed.
_WHOLE = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "r2", "memory"}


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file to read: its path or URL, its size in bytes, and what changes when its content does."""

    name: str
    size: int | None
    stamp: str


def find(inputs: Iterable[str], *, outside: str = "") -> list[Source]:
    """Every table that these lead to: paths, folders, globs and URLs, in this order, each file once.

    What lies in ``outside`` is left out. Folders and patterns are sorted. In folders, names that begin with a
    dot or an underscore are passed over, and endings that no table has. Raises TableError for one that leads
    nowhere.
    """
    found: dict[str, Source] = {}
    for given in inputs:
        here = _remote(given) if is_url(given) else _local(given)
        for source in sorted(here, key=lambda one: one.name):
            if not _within(source.name, outside):
                found.setdefault(source.name, source)
        if not here:
            raise TableError(f"{given}: there is no such file, nor a folder or pattern with tables in it")
    if not found:
        raise TableError(f"{', '.join(inputs)}: all of it lies in {outside!r}, where the outcomes go")
    return list(found.values())


def opened(name: str) -> BinaryIO:
    """The file, to read from its beginning or, where it can, from anywhere."""
    if not is_url(name):
        return Path(name).open("rb")
    fs, path = _filesystem(name)
    stream: BinaryIO = fs.open(path, "rb")
    return stream


def is_url(name: str) -> bool:
    """Whether fsspec is to open it: a name with a protocol, other than that of this machine's files."""
    return "://" in name and not name.startswith("file://")


class Folder(Protocol):
    """A folder that is written to. Names are relative to it, with ``/`` between their parts."""

    name: str

    def names(self, within: str = "") -> set[str]:
        """The files that lie in it, or in a folder of it; not those in folders of that."""
        ...

    def open(self, name: str) -> BinaryIO: ...

    def writing(self, name: str) -> contextlib.AbstractContextManager[Path]:
        """A file of this machine to write to, which gets its name when all went well."""
        ...

    def write(self, name: str, content: bytes) -> None: ...

    def delete(self, names: Iterable[str]) -> None: ...

    def sweep(self) -> None:
        """Delete what somebody was writing when the process died."""
        ...


def folder(name: str) -> LocalFolder | RemoteFolder:
    """The folder of a path or URL. It need not exist yet."""
    return RemoteFolder(name) if is_url(name) else LocalFolder(name)


class LocalFolder:
    """A folder of this machine, or one that several machines mount."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = Path(_plain(name))
        if self.path.exists() and not self.path.is_dir():
            raise ConfigurationError(f"{name!r} is a file: name a folder for the outcomes")

    def names(self, within: str = "") -> set[str]:
        place = self.path / within
        if not place.is_dir():
            return set()
        return {entry.name for entry in os.scandir(place) if not entry.name.startswith(_TEMPORARY)}

    def open(self, name: str) -> BinaryIO:
        return (self.path / name).open("rb")

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        final = self.path / name
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary = final.with_name(f"{_TEMPORARY}{uuid.uuid4().hex}")
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

    def sweep(self) -> None:
        for left in self.path.rglob(f"{_TEMPORARY}*"):
            left.unlink(missing_ok=True)

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Nobody else's until it ends. Raises ConfigurationError where somebody is writing to it."""
        place = self.path / "_groundwire" / "lock"
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("ab") as file:
            _lock(file, self.name)
            yield


class RemoteFolder:
    """A folder of any file system that fsspec knows."""

    def __init__(self, name: str) -> None:
        self.name = name.rstrip("/")
        self._fs, self._path = _filesystem(self.name)

    def __reduce__(self) -> tuple[type[RemoteFolder], tuple[str]]:
        return type(self), (self.name,)

    def names(self, within: str = "") -> set[str]:
        place = f"{self._path}/{within}".rstrip("/")
        try:
            entries = self._fs.ls(place, detail=True, refresh=True)
        except FileNotFoundError:
            return set()
        except TypeError:  # a file system that keeps no listings
            entries = self._fs.ls(place, detail=True)
        names = (str(entry["name"]).rstrip("/").rpartition("/")[2] for entry in entries)
        return {name for name in names if name and not name.startswith(_TEMPORARY)}

    def open(self, name: str) -> BinaryIO:
        stream: BinaryIO = self._fs.open(f"{self._path}/{name}", "rb")
        return stream

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix=_TEMPORARY) as place:
            local = Path(place) / "part"
            yield local
            final = f"{self._path}/{name}"
            self._fs.makedirs(final.rpartition("/")[0], exist_ok=True)
            protocol = self._fs.protocol
            if _WHOLE & {protocol} if isinstance(protocol, str) else _WHOLE & set(protocol):
                self._fs.put_file(str(local), final)
                return
            temporary = f"{final.rpartition('/')[0]}/{_TEMPORARY}{uuid.uuid4().hex}"
            self._fs.put_file(str(local), temporary)
            self._fs.mv(temporary, final)

    def write(self, name: str, content: bytes) -> None:
        with self.writing(name) as path:
            path.write_bytes(content)

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                self._fs.rm_file(f"{self._path}/{name}")

    def sweep(self) -> None:
        for place in ("", "_groundwire"):
            with contextlib.suppress(FileNotFoundError):
                for path in self._fs.ls(f"{self._path}/{place}".rstrip("/"), detail=False):
                    if str(path).rpartition("/")[2].startswith(_TEMPORARY):
                        self._fs.rm_file(path)

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Nothing holds it: object stores have no locks. Two runs write the same parts, each twice."""
        yield


def _local(given: str) -> list[Source]:
    path = Path(_plain(given))
    if path.is_dir():
        paths = [one for one in path.rglob("*") if one.is_file() and _is_table(one.relative_to(path).parts)]
    elif path.exists():
        paths = [path]
    else:
        paths = [one for one in map(Path, glob.glob(str(path), recursive=True)) if one.is_file()]  # noqa: PTH207 - Path's own refuses absolute patterns
    return [
        Source(name=str(one), size=stat.st_size, stamp=str(stat.st_mtime_ns))
        for one in paths
        for stat in [one.stat()]
    ]


def _remote(given: str) -> list[Source]:
    fs, path = _filesystem(given)
    try:
        if glob.has_magic(path):
            infos = [one for one in fs.glob(path, detail=True).values() if one["type"] == "file"]
        elif (info := fs.info(path))["type"] == "directory":
            found = fs.find(path, detail=True).values()
            infos = [one for one in found if _is_table(str(one["name"]).removeprefix(path).split("/"))]
        else:
            return [_source(given, info)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [_source(str(fs.unstrip_protocol(info["name"])), info) for info in infos]


def _source(name: str, info: dict[str, Any]) -> Source:
    keys = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "mtime", "updated", "created")
    stamp = next((str(info[key]) for key in keys if info.get(key) is not None), "")
    return Source(name=name, size=info.get("size"), stamp=stamp)


def _is_table(parts: Iterable[str]) -> bool:
    named = [part for part in parts if part]
    if any(part.startswith((".", "_")) for part in named):
        return False
    return named[-1].lower().removesuffix(".gz").endswith(_ENDINGS)


def _within(name: str, place: str) -> bool:
    if not place or is_url(name) != is_url(place):
        return False
    if is_url(name):
        return name.startswith(place.rstrip("/") + "/")
    return Path(_plain(place)).resolve() in Path(name).resolve().parents


def _plain(name: str) -> str:
    return name.removeprefix("file://")


def _filesystem(name: str) -> tuple[Any, str]:
    try:
        core = import_module("fsspec.core")
    except ImportError as error:
        raise MissingExtraError(f"reading {name!r}", package="fsspec", extra="batch") from error
    try:
        fs, path = core.url_to_fs(name)
    except (ValueError, ImportError) as error:
        raise ConfigurationError(f"{name!r} can't be opened: {error}") from error
    return fs, str(path)


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
