"""What a database's error means: whether it may pass, and its cause in words.

No word of what people wrote goes into them, and no password: a database repeats the values that it refuses,
but not where it can't be reached, opened or used.
"""

from __future__ import annotations

from sqlalchemy.exc import (
    DatabaseError,
    DBAPIError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from groundwire.core.errors import GroundwireError
from groundwire.core.secrets import without_secrets

# PostgreSQL's codes, or the classes that they begin with.
ONLY_READS = "25006"  # a server that takes no writes, as a standby
_LIMITS = "54"  # what is more than a server can ever hold
GONE = ("3F000", "42P01")  # a schema or table is not there
_NOT_ALLOWED = "42501"
_OF_NO_ROW = ("08", "25", "28", "3D", "3F", "42", "53", "55", "57", "58")
_OF_ITS_OWN_KIND = (OperationalError, InterfaceError, ProgrammingError)
_MOST = 300  # characters


def is_away(error: BaseException) -> bool:
    """Whether a database's error may pass: no connection, no lock, no room, no right, a file that is damaged.

    Other errors stay, such as a row that is beyond a limit: who tried it again would keep all others waiting.
    What is damaged is told by a DatabaseError of no kind; the rows are none of its reason.
    """
    code = state(error)
    if code.startswith(_LIMITS):
        return False
    if code in (ONLY_READS, _NOT_ALLOWED, *GONE):
        return True
    if type(error) is DatabaseError or (isinstance(error, DBAPIError) and error.connection_invalidated):
        return True
    return isinstance(error, OperationalError | InterfaceError | PoolTimeoutError | OSError)


def cause(error: BaseException) -> str:
    """Why something failed, as whoever refused it says; the error's kind where that may be secret."""
    if isinstance(error, GroundwireError):
        below = error.__cause__
        return cause(below) if isinstance(below, SQLAlchemyError | OSError) else str(error)
    if isinstance(error, PoolTimeoutError):
        return "TimeoutError: every connection is in use"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if not isinstance(error, DBAPIError):
        return type(error).__name__
    words = _words(error)
    words = words if len(words) <= _MOST else f"{words[:_MOST].rstrip()} …"
    return words or type(error.orig).__name__


def state(error: BaseException) -> str:
    """PostgreSQL's code of an error; "" where there is none."""
    return str(getattr(getattr(error, "orig", None), "sqlstate", None) or "")


def _words(error: DBAPIError) -> str:
    if code := state(error):
        # Beside the first sentence a server shows the statement, and whole rows.
        said = getattr(getattr(error.orig, "diag", None), "message_primary", None)
        return _cleaned(str(said or "")) if code.startswith(_OF_NO_ROW) else ""
    if isinstance(error, _OF_ITS_OWN_KIND) or type(error) is DatabaseError:
        return _cleaned(str(error.orig))
    return ""


def _cleaned(words: str) -> str:
    # libpq asks on a second line whether the server is running.
    lines = (line.strip() for line in words.splitlines())
    words = without_secrets("; ".join(line for line in lines if not line.endswith("?")))
    for prefix in ("connection failed: ", "connection is bad: "):
        words = words.removeprefix(prefix)
    return words
