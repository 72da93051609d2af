"""The database: how it is opened, brought up to date under a lock, and read and written in transactions.

SQLite in WAL mode and PostgreSQL are told apart here, and nowhere else but where a statement needs it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from groundwire.core.errors import ConfigurationError, GroundwireError, InputError, MissingExtraError
from groundwire.core.fork import renew_after_fork
from groundwire.core.sqlite import write_ahead
from groundwire.monitor import schema
from groundwire.monitor.causes import GONE, ONLY_READS, cause, state

_LOCK = 0x6772_6E64  # names our lock among those of a PostgreSQL server
# How long a PostgreSQL server may be silent, in libpq's own words; a URL may say otherwise. Where its machine
# or the way there has gone, the system would wait for a quarter of an hour, or for two hours.
_SILENT = {
    "connect_timeout": "5",  # seconds, as are those of keepalives
    "tcp_user_timeout": "10000",  # milliseconds
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
}
# How much longer than another's lock a server may keep silent that has stopped, while its machine goes on.
_STOPPED = 15.0  # seconds
# What of a connection says which tables it leads to; libpq's own names.
_TARGET = ("service", "hostaddr", "host", "port", "dbname", "user", "options")


class StoreError(GroundwireError, RuntimeError):
    """The store can't be read or written now, or does not hold what was asked for."""


class Durability(StrEnum):
    """What a committed row of SQLite survives: the end of its PROCESS, or a loss of POWER too (slower)."""

    PROCESS = "process"
    POWER = "power"


class Database:
    """One database. Safe to share between threads; a forked child opens connections of its own.

    Opens nothing by itself. Raises ConfigurationError for a URL that can't work.
    """

    def __init__(self, url: str, *, durability: Durability, busy: float) -> None:
        self.url = database_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.path = Path(self.url.database or "").absolute() if self.is_sqlite else None
        self._durability = durability
        self._busy = busy
        self.engine = self._engine()
        self.after_fork()
        renew_after_fork(self)

    def __repr__(self) -> str:
        return f"Database({self.name!r})"

    def after_fork(self) -> None:
        """Leave the parent's connections to the parent."""
        self.engine.dispose(close=False)
        self._opened: tuple[int, int] | None = None
        self._lock = threading.Lock()

    def close(self) -> None:
        """Give up the connections; the next use opens others."""
        self.engine.dispose()

    # -- transactions ------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that reads, all as of one moment. Raises StoreError when the database is away."""
        with self._told(), self.ready().connect() as connection:
            if not self.is_sqlite:  # there every transaction is so
                connection.execution_options(isolation_level="REPEATABLE READ")
            self._hurry(connection)
            with self._at_leisure(connection):
                yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes, and commits at its end. Raises StoreError when the database is away."""
        with self._told(), self.transaction() as connection, self._at_leisure(connection):
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """``writing`` with the database's own errors, and for what a server does at once."""
        try:
            with self.ready().connect() as opened:
                connection = opened.execution_options(groundwire_writes=True)
                with connection.begin():
                    self._hurry(connection)
                    yield connection
        except DBAPIError as error:
            if state(error) == ONLY_READS:
                self.engine.dispose()  # only who connects anew gets to the server that has taken over
            elif state(error) in GONE:
                self._opened = None  # the next use makes the tables anew
            raise

    @contextmanager
    def bare(self) -> Iterator[Any]:
        """A cursor of SQLite itself, some of whose statements may be in no transaction. Raises StoreError."""
        with self._told(), closing(self.ready().raw_connection()) as opened:
            try:
                with closing(opened.cursor()) as cursor:
                    yield cursor
            except sqlite3.Error as error:
                raise StoreError(f"{self.name} can't be used now: {error}") from error

    def _hurry(self, connection: sa.Connection) -> None:
        """Wait no longer for another's lock than SQLite does: what waits is kept on disk meanwhile."""
        if not self.is_sqlite:
            connection.execute(sa.text(f"SET LOCAL lock_timeout = {max(1, round(self._busy * 1000))}"))

    def _at_leisure(self, connection: sa.Connection) -> AbstractContextManager[None]:
        """Where there may be much to read, or to change, the server may take as long as it needs."""
        driver: Any = connection.connection.driver_connection
        leisure: AbstractContextManager[None] = nullcontext() if self.is_sqlite else driver.at_leisure()
        return leisure

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except DataError as error:
            # PostgreSQL holds no null character, and no text that is longer than its column.
            raise InputError(f"{self.name} can't hold or look up what was given") from error
        except (DBAPIError, PoolTimeoutError) as error:
            raise self._unusable(error) from error

    def _unusable(self, error: BaseException) -> StoreError:
        return StoreError(f"{self.name} can't be used now: {cause(error)}")

    @property
    def name(self) -> str:
        """The database as people know it, without a password."""
        # A driver takes passwords among its options, too.
        return self.url.set(query={}).render_as_string(hide_password=True)

    @property
    def target(self) -> str:
        """What tells PostgreSQL's tables that this leads to from all others: a digest, of no password."""
        from psycopg.pq import Conninfo  # noqa: PLC0415 - an extra

        # What the URL leaves out is in the environment; its options may say another host than it does.
        known = {one.keyword.decode(): (one.val or b"").decode() for one in Conninfo.get_defaults()}
        _, given = self.engine.dialect.create_connect_args(self.url)
        named = [str(given.get(name) or known.get(name) or "") for name in _TARGET]
        return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:12]

    def one_at_a_time(self, connection: sa.Connection) -> None:
        """Let no other process in until this transaction ends; SQLite's writers are alone anyway."""
        if not self.is_sqlite:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK + 1})

    def insert(self, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
        """An insert that can be told what to do about a row that is there already."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    # -- opening -----------------------------------------------------------------------------------------

    def ready(self) -> sa.Engine:
        """The engine of a database that is up to date, migrating it first if it must be.

        Raises ConfigurationError when a newer groundwire has been at it, or it is a file of something else's,
        and StoreError when it can't be opened, for whatever reason.
        """
        if self._opened is None or self._opened != self._file():
            with self._lock:
                if self._opened is None or self._opened != self._file():
                    if self._opened is not None:  # what is written into a file that has gone, nobody finds
                        self.engine.dispose()
                    try:
                        self._migrate()
                    except (SQLAlchemyError, OSError) as error:
                        raise self._unusable(error) from error
                    self._opened = self._file()
        return self.engine

    def _file(self) -> tuple[int, int] | None:
        """What tells SQLite's file from another one of its name; None where there is no file."""
        if self.path is None:
            return (0, 0)
        try:
            found = self.path.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino)

    def _migrate(self) -> None:
        if self.path is not None:
            _refuse_foreign(self.path, self.name)
            _own(self.path)
        with self.engine.connect() as opened:
            connection = opened.execution_options(groundwire_writes=True)
            with connection.begin():
                self._hurry(connection)
                if not self.is_sqlite:  # SQLite's writing transaction is a lock itself
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
                version = self._version(connection)
                if version is not None and version > schema.HEAD:
                    raise ConfigurationError(
                        f"{self.name} was made by a newer groundwire (schema {version}, this one knows "
                        f"{schema.HEAD}): upgrade groundwire, or give another url"
                    )
                if version != schema.HEAD:
                    with self._at_leisure(connection):
                        _upgrade(connection)

    @staticmethod
    def _version(connection: sa.Connection) -> str | None:
        if not sa.inspect(connection).has_table("alembic_version"):
            return None
        found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
        return None if found is None else str(found)

    def _engine(self) -> sa.Engine:
        # An error that told the parameters would put what people wrote into somebody's log.
        quiet: dict[str, Any] = {"hide_parameters": True}
        try:
            if not self.is_sqlite:
                # A pooler such as PgBouncer gives each transaction another connection of the server, where a
                # statement that was prepared on the last one is unknown, or somebody else's of that name.
                silent = {name: most for name, most in _SILENT.items() if name not in self.url.query}
                arguments = {**silent, "prepare_threshold": None}
                engine = sa.create_engine(self.url, pool_pre_ping=True, connect_args=arguments, **quiet)
                event.listen(engine, "do_connect", self._connect)
                return engine
            engine = sa.create_engine(self.url, connect_args={"timeout": self._busy}, **quiet)
        except ModuleNotFoundError as error:
            package = error.name or "a database driver"
            extra = "monitor" if self.is_sqlite else "postgres"
            raise MissingExtraError(f"a monitor on {self.name}", package=package, extra=extra) from error
        event.listen(engine, "connect", self._prepare)
        event.listen(engine, "begin", _begin)
        return engine

    def _connect(self, _: object, __: object, where: list[Any], options: dict[str, Any]) -> Any:
        """A connection to PostgreSQL, which SQLAlchemy makes of psycopg's usual kind."""
        from groundwire.monitor.patience import Impatient  # noqa: PLC0415 - an extra

        connection = Impatient.connect(*where, **options)
        connection.patience = self._busy + _STOPPED
        return connection

    def _prepare(self, connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin where we say
        full = self._durability is Durability.POWER
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # heard only by a database that is still empty
        write_ahead(connection, busy=self._busy)
        for pragma in (
            f"synchronous={'FULL' if full else 'NORMAL'}",
            "foreign_keys=ON",
            "secure_delete=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        # SQLite's own knows the letters of ASCII alone.
        connection.create_function("lower", 1, _folded, deterministic=True)


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("groundwire_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _folded(text: Any) -> Any:
    return text.casefold() if isinstance(text, str) else text


def database_url(text: str) -> sa.URL:
    """The URL of a database. Raises ConfigurationError for what is none, or is none of ours."""
    expected = "expected 'sqlite:///path/to/file.db' or 'postgresql://user@host/database'"
    try:
        url = sa.make_url(text)
        backend = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigurationError(f"url is no database's: {expected}") from error
    if "@" in (url.host or ""):  # which has taken the end of a password for the host, and would be told
        raise ConfigurationError("url has an @ in its user's name or password, which is written %40 there")
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise ConfigurationError(f"url names a database of kind {backend!r}: {expected}")
    if not url.database or url.database == ":memory:":
        raise ConfigurationError(f"url names a database in memory, which keeps nothing: {expected}")
    return url


def _refuse_foreign(path: Path, name: str) -> None:
    """Raise ConfigurationError for a file that is no monitor's, before anything of it is changed."""
    if not path.exists() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            raise ConfigurationError(f"{name} is no SQLite database: name a file for the monitor alone")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            rows = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            tables = [table for (table,) in rows]
    except sqlite3.Error:  # busy or damaged: that is told when it is used
        return
    if tables and schema.metadata.tables.keys().isdisjoint(tables):
        raise ConfigurationError(
            f"{name} has tables of something else ({', '.join(tables[:3])}): name a file for the monitor "
            "alone"
        )


_SQLITE = b"SQLite format 3\0"


def _own(path: Path) -> None:
    """Make the file readable by its owner alone; the files that SQLite puts beside it follow it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    with suppress(PermissionError):  # another owner's file has another owner's mode
        path.chmod(0o600)


def _upgrade(connection: sa.Connection) -> None:
    # Half a second to import, and not needed by a database that is up to date.
    try:
        from alembic import command  # noqa: PLC0415
        from alembic.config import Config  # noqa: PLC0415
    except ModuleNotFoundError as error:  # others bring SQLAlchemy alone, such as LlamaIndex
        raise MissingExtraError("a monitor", package=error.name or "alembic", extra="monitor") from error

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
