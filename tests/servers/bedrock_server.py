"""Amazon Bedrock's runtime on 127.0.0.1, as far as the real client needs it, and how it fails.

It speaks Converse, ConverseStream, Titan's embeddings and ApplyGuardrail.

A test scripts one act for each request; past the script, ``always`` acts. ``requests`` holds what was asked.
"""

import json
import os
import socket
import struct
import threading
import zlib
from collections import deque
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

MODEL = "anthropic.claude-3-haiku-20240307-v1:0"


def says(text, *, input_tokens=11, output_tokens=7, stop="end_turn"):
    """A reply. ``text`` is a str, a list of content blocks, or a function from the request to either."""

    def act(http, body):
        said = text(body) if callable(text) else text
        content = [{"text": said}] if isinstance(said, str) else said
        http.answer(
            200,
            {
                "output": {"message": {"role": "assistant", "content": content}},
                "stopReason": stop,
                "usage": {
                    "inputTokens": input_tokens,
                    "outputTokens": output_tokens,
                    "totalTokens": input_tokens + output_tokens,
                },
                "metrics": {"latencyMs": 1},
            },
        )

    return act


def embeds(size=3):
    """Titan's vector of a text: its length, then ones; as long as was asked for."""

    def act(http, body):
        vector = [float(len(body["inputText"]))] + [1.0] * (body.get("dimensions", size) - 1)
        http.answer(200, {"embedding": vector, "inputTextTokenCount": 3})

    return act


def grounds(grounding, relevance=None, *, action="NONE"):
    """What ApplyGuardrail tells of a text; None leaves a filter out."""
    told = {"GROUNDING": grounding, "RELEVANCE": relevance}
    filters = [
        {"type": kind, "threshold": 0.7, "score": score, "action": action}
        for kind, score in told.items()
        if score is not None
    ]
    policy = {"contextualGroundingPolicy": {"filters": filters}} if filters else {}
    content = {"action": action, "outputs": [], "assessments": [policy], "usage": dict.fromkeys(_UNITS, 0)}
    return lambda http, body: http.answer(200, content)


_UNITS = (
    "topicPolicyUnits",
    "contentPolicyUnits",
    "wordPolicyUnits",
    "sensitiveInformationPolicyUnits",
    "sensitiveInformationPolicyFreeUnits",
    "contextualGroundingPolicyUnits",
)


def streams(*words):
    """A reply in pieces, as ConverseStream frames them."""

    def act(http, body):
        events = [("messageStart", {"role": "assistant"})]
        events += [("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": w}}) for w in words]
        events += [
            ("contentBlockStop", {"contentBlockIndex": 0}),
            ("messageStop", {"stopReason": "end_turn"}),
        ]
        usage = {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}
        events.append(("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}))
        payload = b"".join(_frame(name, data) for name, data in events)
        http.raw(200, payload, kind="application/vnd.amazon.eventstream")

    return act


def breaks_off(error, message="told to"):
    """A reply in pieces that ends in an error after the first one; its status was 200."""

    def act(http, body):
        began = _frame("messageStart", {"role": "assistant"})
        ended = _frame(error, {"message": message}, kind="exception")
        http.raw(200, began + ended, kind="application/vnd.amazon.eventstream")

    return act


def _frame(name, data, *, kind="event"):
    """One message of an event stream: lengths, headers, payload, and a checksum of each half."""
    told = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    headers = b"".join(
        struct.pack("!B", len(key)) + key.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for key, value in told.items()
    )
    payload = json.dumps(data).encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack("!I", zlib.crc32(message))


def refuses(status, code, message="told to"):
    return lambda http, body: http.answer(status, {"message": message}, error=code)


def throttles(after=None):
    """Too much was asked; ``after`` says in seconds, or as a date, when to come again."""
    headers = {} if after is None else {"Retry-After": after}
    told = {"message": "Too many requests"}
    return lambda http, body: http.answer(429, told, error="ThrottlingException", headers=headers)


def breaks():
    return refuses(503, "ServiceUnavailableException")


def denies(action="bedrock:InvokeModel"):
    """What an account without the permission is told."""
    user = "arn:aws:iam::123456789012:user/desk"
    return refuses(403, "AccessDeniedException", f"User: {user} is not authorized to perform: {action}")


def babbles(http, body):
    """Status 200 and something that is not JSON, as a proxy's error page is."""
    http.raw(200, b"<html>Bad gateway</html>")


def resets(http, body):
    """The connection is cut in the middle of it all."""
    http.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(http.connection.detach())  # closing it would wait for the files that were made of it


def hangs(http, body):
    """Nothing comes back until the server closes."""
    http.bedrock.closing.wait()
    http.close_connection = True


def trickles(http, body):
    """A byte now and then, so that no read ever times out, until the server closes."""
    http.send_response(200)
    http.send_header("Content-Length", "1000000")
    http.end_headers()
    while not http.bedrock.closing.wait(0.05):
        http.wfile.write(b" ")
        http.wfile.flush()
    http.close_connection = True


class BedrockServer:
    """``script`` is acted out, one act a request, then ``always``.

    ``requests`` holds (model or guardrail id, body), ``actions`` what each of them was.
    """

    def __init__(self):
        self.script = deque()
        self.always = says("scripted")
        self.requests = []
        self.actions = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def next_act(self, model, body):
        with self._lock:
            self.requests.append((model, body))
            return self.script.popleft() if self.script else self.always

    def close(self):
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _handler_of(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        bedrock = server

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            kind, model, *action = unquote(self.path).strip("/").split("/")
            self.bedrock.actions.append(action[-1])
            spoken = {"model": ("converse", "converse-stream", "invoke"), "guardrail": ("apply",)}
            assert action[-1] in spoken[kind], f"this stub does not speak {self.path}"
            server.next_act(model, body)(self, body)

        def answer(self, status, content, *, error=None, headers=None):
            self.raw(status, json.dumps(content).encode(), error=error, headers=headers)

        def raw(self, status, payload, *, error=None, kind="application/json", headers=None):
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            if error:
                self.send_header("x-amzn-ErrorType", error)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def handle(self):
            with suppress(OSError):  # a client that gave up, or a connection that was cut on purpose
                super().handle()

        def log_message(self, *args):
            pass

    return Handler


@pytest.fixture
def bedrock(monkeypatch):
    """A Bedrock runtime, and an environment in which the real client finds it, with keys that are none."""
    server = BedrockServer()
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIANOTAKEYNOTAKEY00")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-a-secret")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", server.url)
    yield server
    server.close()
