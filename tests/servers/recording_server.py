"""A server on 127.0.0.1 that keeps what it is sent, and answers as a test says."""

import gzip
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Request:
    """What was sent; ``body`` is its JSON, None where there is none."""

    method: str
    path: str
    body: Any


class RecordingServer:
    """``answer`` takes a Request and returns a status and what to send as JSON."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.open = threading.Event()  # cleared, it lets every request hang until it is set again
        self.open.set()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def keep(self, request):
        with self._lock:
            self.requests.append(request)
        self.open.wait(30)
        return self.answer(request)

    def sent(self, path, *, method="POST"):
        """The bodies of the requests whose path holds ``path``, in the order of their arrival."""
        with self._lock:
            return [r.body for r in self.requests if r.method == method and path in r.path]

    def close(self):
        self.open.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@contextmanager
def recording_server(answer):
    server = RecordingServer(answer)
    try:
        yield server
    finally:
        server.close()


def _handler_of(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self):
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                raw = gzip.decompress(raw)
            try:
                body = json.loads(raw) if raw else None
            except ValueError:
                body = raw
            status, told = server.keep(Request(self.command, urlsplit(self.path).path, body))
            answer = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PATCH = _any  # noqa: N815 - names that the standard library looks for

        def log_message(self, *_):
            pass

    return Handler
