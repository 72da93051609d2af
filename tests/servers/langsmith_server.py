"""A LangSmith server on 127.0.0.1, as far as the real SDK needs one, and as strict as the hosted one.

It takes runs (multipart, zstd or plain, or one at a time) and merges what was posted with what was patched;
it refuses feedback for runs and projects it has not seen yet. Tests read ``runs``, ``feedback``, ``datasets``
and ``queues``; the SDK reads them back.
"""

import json
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from urllib.parse import parse_qs, urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

import pytest
import zstandard

VERSION = "0.13.0"
_BEGAN = "2026-01-01T00:00:00+00:00"
INFO = {
    "version": VERSION,
    "batch_ingest_config": {
        "use_multipart_endpoint": True,
        "size_limit": 100,
        "size_limit_bytes": 20_971_520,
        "scale_up_nthreads_limit": 4,
        "scale_up_qsize_trigger": 1000,
        "scale_down_nempty_trigger": 4,
    },
    "instance_flags": {"zstd_compression_enabled": True, "dataset_examples_multipart_enabled": True},
}


class LangSmithServer:
    """What arrived, and how to answer it. ``requests`` holds (method, path) of everything asked."""

    def __init__(self):
        self._lock = threading.Lock()
        self._runs = {}
        self._versions = {}
        self._feedback = {}
        self._failures = {}
        self._datasets = {}
        self._queues = {}
        self._recreated = Counter()
        self.requests = []
        self.encodings = Counter()
        self.open = threading.Event()  # cleared, it lets every request hang until it is set again
        self.open.set()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def environment(self, project):
        """What makes a process trace to this server, into ``project``."""
        return {
            "LANGSMITH_ENDPOINT": self.url,
            "LANGSMITH_API_KEY": "lsv2_not_a_key",
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_PROJECT": project,
        }

    def close(self):
        self.open.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def runs(self):
        """Every run, merged, in order of arrival."""
        with self._lock:
            return [dict(run) for run in self._runs.values()]

    @property
    def feedback(self):
        """Every feedback, in order of first arrival; the same id replaces."""
        with self._lock:
            return [dict(item) for item in self._feedback.values()]

    @property
    def roots(self):
        return [run for run in self.runs if not run.get("parent_run_id")]

    def run(self, run_id):
        with self._lock:
            return dict(self._runs[str(run_id)])

    def feedback_on(self, run_id):
        return [item for item in self.feedback if item["run_id"] == str(run_id)]

    def add_dataset(self, name, rows):
        """A dataset of examples, each a dict of inputs, outputs and metadata."""
        dataset = uuid5(NAMESPACE_URL, f"dataset {name}")
        self._datasets[name] = [
            {
                "id": str(uuid5(dataset, str(number))),
                "dataset_id": str(dataset),
                "created_at": _BEGAN,
                **row,
            }
            for number, row in enumerate(rows)
        ]

    @property
    def datasets(self):
        """The examples of each dataset, by its name."""
        with self._lock:
            return {name: [dict(row) for row in rows] for name, rows in self._datasets.items()}

    @property
    def queues(self):
        """The runs of each annotation queue, by its name, in the order they were put there."""
        with self._lock:
            return {queue["name"]: list(queue["runs"]) for queue in self._queues.values()}

    def say(self, run_id, key, *, score=None, value=None, comment=None, source="app", name="ann", **more):
        """What a person, or a machine, says of a run in LangSmith's own page."""
        id_ = str(uuid5(NAMESPACE_URL, f"{run_id} {key} {source} {name} {len(self._feedback)}"))
        told = {"key": key, "score": score, "value": value, "comment": comment}
        told |= {"created_at": _BEGAN, "modified_at": _BEGAN, **more}
        origin = {"type": source, "metadata": {}, "user_name": name}
        self._feedback[id_] = {"id": id_, "run_id": str(run_id), "feedback_source": origin, **told}

    def project_id(self, name):
        return uuid5(NAMESPACE_URL, f"{name}/{self._recreated[name]}")

    def recreate(self, name):
        """Delete a project and all that is in it; the next run makes another of the same name."""
        with self._lock:
            self._recreated[name] += 1
            self._runs.clear()

    def asked(self, method, path):
        return sum(1 for request in self.requests if request == (method, path))

    def fail(self, path, status, *, times=10**6, headers=()):
        """Answer the next ``times`` requests for ``path`` with ``status``."""
        with self._lock:
            self._failures[path] = [status, times, dict(headers)]

    def answer(self, method, target, headers, body):
        """The status, JSON body and headers for one request."""
        path = urlsplit(target).path
        with self._lock:
            self.requests.append((method, path))
            failure = self._failures.get(path)
            if failure and failure[1] > 0:
                failure[1] -= 1
                return failure[0], {"detail": f"told to fail; was sent {body[:2000]!r}"}, failure[2]
            if method == "GET":
                return *self._read(path, parse_qs(urlsplit(target).query)), {}
            return *self._write(method, path, headers, body), {}

    def _read(self, path, query):  # noqa: PLR0911 - a return a path
        if path == "/info":
            return 200, INFO
        if path == "/sessions":
            if "name" not in query:  # the SDK asks any project for the workspace it is in
                return 200, [self._project("default")]
            (name,) = query["name"]
            known = any(run.get("session_name") == name for run in self._runs.values())
            return 200, [self._project(name)] if known else []
        if path == "/datasets":
            return 200, [self._dataset(name) for name in query["name"] if name in self._datasets]
        if path == "/examples":
            found = [row for rows in self._datasets.values() for row in rows]
            return 200, [row for row in found if row["dataset_id"] in query["dataset"]]
        if path == "/annotation-queues":
            named = [queue for queue in self._queues.values() if queue["name"] in query["name"]]
            return 200, [{key: value for key, value in queue.items() if key != "runs"} for queue in named]
        if path == "/feedback":
            found = [
                {"trace_id": item["run_id"], **item}
                for item in self._feedback.values()
                if item["run_id"] in query["run"]
            ]
            return 200, [item for item in found if item["key"] in query.get("key", [item["key"]])]
        return 404, {"detail": "not found"}

    def _write(self, method, path, headers, body):  # noqa: C901, PLR0911 - a return a path
        if path == "/runs/multipart":
            for name, content in self._parts(headers, body):
                self._store(name, content)
            return 202, {}
        if path == "/runs/query":
            return 200, {"runs": list(self._queried(json.loads(body))), "cursors": {}}
        if path == "/runs" and method == "POST":
            run = json.loads(body)
            self._merge(run["id"], "post", run)
            return 202, {}
        if path.startswith("/runs/") and method == "PATCH":
            self._merge(str(UUID(path.removeprefix("/runs/"))), "patch", json.loads(body))
            return 202, {}
        if path == "/feedback":
            return self._accept(json.loads(body))
        if path.startswith("/feedback/") and method == "PATCH":
            self._feedback[path.removeprefix("/feedback/")].update(json.loads(body))
            return 200, {}
        if path == "/datasets":
            name = json.loads(body)["name"]
            self._datasets[name] = []
            return 200, self._dataset(name)
        if path.startswith("/v1/platform/datasets/"):
            return 200, self._examples(path.split("/")[4], headers, body)
        if path.startswith("/annotation-queues"):
            return self._queued(path, json.loads(body))
        return 404, {"detail": "not found"}

    def _accept(self, item):
        run = self._runs.get(item["run_id"])
        if run is None:
            return 404, {"detail": "run not found"}
        if item.get("session_id") not in (None, str(self.project_id(run["session_name"]))):
            return 404, {"detail": "run not found in this project"}
        self._feedback[item["id"]] = item
        return 200, item

    def _parts(self, headers, body):
        self.encodings[headers.get("Content-Encoding", "plain")] += 1
        if headers.get("Content-Encoding") == "zstd":
            body = zstandard.ZstdDecompressor().stream_reader(BytesIO(body), read_across_frames=True).read()
        kind = headers["Content-Type"].encode()
        message = BytesParser().parsebytes(b"Content-Type: " + kind + b"\r\n\r\n" + body)
        for part in message.get_payload():
            name = part.get_param("name", header="Content-Disposition")
            yield name, json.loads(part.get_payload(decode=True))

    def _examples(self, dataset, headers, body):
        (rows,) = (rows for name, rows in self._datasets.items() if self._dataset(name)["id"] == dataset)
        told = {}
        for name, content in self._parts(headers, body):
            id_, *part = name.split(".")
            told.setdefault(id_, {}).update({part[0]: content} if part else content)
        known = {row["id"]: row for row in rows}
        for id_, fields in told.items():
            if id_ in known:
                known[id_].update(fields)
            else:
                rows.append({"id": id_, "dataset_id": dataset, "created_at": _BEGAN, **fields})
        return {"count": len(told), "example_ids": list(told)}

    def _queued(self, path, body):
        if path == "/annotation-queues":
            queue = {**body, "tenant_id": str(uuid5(NAMESPACE_URL, "tenant")), "created_at": _BEGAN}
            self._queues[body["id"]] = {**queue, "runs": []}
            return 200, queue
        queue = self._queues[path.split("/")[2]]
        for key in body:
            run = self._runs.get(key["run_id"])
            if run is None or key["session_id"] != str(self.project_id(run["session_name"])):
                return 404, {"detail": "run not found in this project"}
            queue["runs"].append(key["run_id"])
        return 200, []

    def _store(self, name, content):
        operation, id_, *field = name.split(".")
        if operation == "feedback":
            self._feedback[id_] = content
        elif operation in ("post", "patch"):
            self._merge(id_, operation, {field[0]: content} if field else content)

    def _merge(self, id_, operation, fields):
        # What was patched outweighs what was posted, in whichever order the two arrive.
        versions = self._versions.setdefault(id_, {"post": {}, "patch": {}})
        versions[operation].update({key: value for key, value in fields.items() if value is not None})
        self._runs[id_] = versions["post"] | versions["patch"]

    def _queried(self, asked):
        for run in self._runs.values():
            inside = str(self.project_id(run["session_name"])) in asked["session"]
            chosen = "id" not in asked or run["id"] in asked["id"]
            if inside and chosen and not (asked.get("is_root") and run.get("parent_run_id")):
                yield {**run, "session_id": str(self.project_id(run["session_name"]))}

    def _dataset(self, name):
        return {
            "id": str(uuid5(NAMESPACE_URL, f"dataset {name}")),
            "name": name,
            "created_at": _BEGAN,
        }

    def _project(self, name):
        return {
            "id": str(self.project_id(name)),
            "name": name,
            "tenant_id": str(uuid5(NAMESPACE_URL, "tenant")),
            "start_time": _BEGAN,
            "reference_dataset_id": None,
        }


def _handler_of(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self):
            body = self._body()
            server.open.wait()
            status, content, headers = server.answer(self.command, self.path, self.headers, body)
            payload = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def _body(self):
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

        def handle(self):
            with suppress(BrokenPipeError, ConnectionResetError):  # a client that gave up waiting
                super().handle()

        def log_message(self, *args):
            pass

        do_GET = do_POST = do_PATCH = _answer  # noqa: N815 - named by http.server

    return Handler


@contextmanager
def serving():
    """A server for the length of a with statement."""
    server = LangSmithServer()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def langsmith_server():
    """A LangSmith server that nobody uses yet; ``langsmith_tracing`` points the SDK at it."""
    with serving() as server:
        yield server


def forget_settings():
    """Make the SDK read its environment again, as a new process would."""
    from langsmith import run_trees, utils

    utils.get_env_var.cache_clear()
    utils.get_tracer_project.cache_clear()
    run_trees._CLIENT = None


@pytest.fixture
def langsmith_tracing(langsmith_server, monkeypatch):
    """LangSmith tracing as its users switch it on: by the environment, into the project ``airline``."""
    from langsmith import run_trees

    for name in ("LANGSMITH_HIDE_INPUTS", "LANGSMITH_HIDE_OUTPUTS", "LANGSMITH_TRACING_SAMPLING_RATE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in langsmith_server.environment("airline").items():
        monkeypatch.setenv(name, value)
    forget_settings()
    yield langsmith_server
    langsmith_server.open.set()
    if run_trees._CLIENT is not None:
        run_trees._CLIENT.cleanup()
    forget_settings()
