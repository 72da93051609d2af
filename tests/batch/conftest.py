"""One Ray cluster for all tests of this folder: it takes seconds to start."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack

import pytest

# Read by Ray when it is imported, or by the processes that it starts.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # 127.0.0.1, as on those systems, and no other address
os.environ["RAY_AUTH_MODE"] = "token"
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(16))
os.environ["RAY_raylet_start_wait_time_s"] = "120"  # noqa: SIM112 - its own name; for a busy machine
_PORTS = (
    "--port",
    "--node-manager-port",
    "--object-manager-port",
    "--dashboard-agent-listen-port",
    "--dashboard-agent-grpc-port",
    "--runtime-env-agent-port",
    "--metrics-export-port",
)


@pytest.fixture(scope="package")
def cluster():
    """Ray, connected to a cluster of three processors on 127.0.0.1; or to the one that RAY_ADDRESS names.

    With ports of ours: where its processes choose them, they give each other 15 seconds to tell, which a busy
    machine needs for itself.
    """
    ray = pytest.importorskip("ray")
    if address := os.environ.pop("RAY_ADDRESS", None):
        ray.init(address=address, log_to_driver=False)
        yield ray
        ray.shutdown()
        return
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as place:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in _PORTS]
        ports = [one.getsockname()[1] for one in held]
        stack.close()
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--num-cpus=3"]
        command += ["--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={place}"]
        command += ["--node-ip-address=127.0.0.1", "--object-store-memory=150000000"]
        command += [f"{name}={port}" for name, port in zip(_PORTS, ports, strict=True)]
        head = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            _connect(ray, f"127.0.0.1:{ports[0]}", head)
            yield ray
        finally:
            ray.shutdown()
            head.terminate()
            try:
                head.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(head.pid, signal.SIGKILL)


def _connect(ray, address, head):
    until = time.monotonic() + 100
    while True:
        try:
            ray.init(address=address, log_to_driver=False)
        except Exception:
            if head.poll() is not None:
                # Its processes give each other 15 seconds to start, and nothing sets that.
                pytest.skip(
                    "Ray's cluster did not start on this machine, within the time that Ray gives itself"
                )
            if time.monotonic() > until:
                raise
            time.sleep(0.5)
        else:
            return
