"""A PostgreSQL server of one's own on 127.0.0.1, run by an ordinary user in a folder that goes with it."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path


def binaries():
    """Where PostgreSQL's programs are, the newest of several versions; None where there are none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    there = shutil.which("initdb")
    return Path(there).parent if there else None


class PostgresServer:
    """Starts and stops one server; ``url`` leads to a database of it."""

    def __init__(self):
        self._bin = binaries()
        self._folder = Path(tempfile.mkdtemp(prefix="groundwire-postgres-", dir="/tmp"))
        self._data = self._folder / "data"
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            user = next(u for u in ("postgres", "nobody") if _known(u))
            account = pwd.getpwnam(user)
            os.chown(self._folder, account.pw_uid, account.pw_gid)
            self._as = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        else:
            self._as = {}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._do(
            "initdb",
            "-D",
            self._data,
            "-A",
            "trust",
            "-U",
            "groundwire",
            "--no-locale",
            "-E",
            "UTF8",
            "--no-sync",
        )
        self.start()

    @property
    def url(self):
        return f"postgresql://groundwire@127.0.0.1:{self.port}/postgres"

    def fresh(self, name):
        """The URL of a new, empty database."""
        self._do("createdb", "-h", "127.0.0.1", "-p", self.port, "-U", "groundwire", name)
        return f"postgresql://groundwire@127.0.0.1:{self.port}/{name}"

    def start(self):
        options = (
            f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self._folder}"
        )
        log = self._folder / "log"
        self._do("pg_ctl", "-D", self._data, "-l", log, "-w", "-o", f"{options} -c fsync=off", "start")

    def stop(self):
        self._do("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    @contextlib.contextmanager
    def halted(self):
        """The server does nothing in here, while its machine goes on taking what is sent to it."""
        import psycopg

        (first, *_) = (self._data / "postmaster.pid").read_text().splitlines()
        with psycopg.connect(self.url) as asking:
            others = asking.execute(
                "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            ).fetchall()
        halted = [int(first), *(pid for (pid,) in others)]
        for pid in halted:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in halted:
                os.kill(pid, signal.SIGCONT)

    def remove(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _do(self, program, *arguments):
        subprocess.run(
            [self._bin / program, *map(str, arguments)],
            check=True,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            env={**os.environ, "HOME": str(self._folder)},
            **self._as,
        )


def _known(user):
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
