"""An endpoint on this machine that speaks OpenAI's embeddings protocol, and its model."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

# What means the same has the same axis.
_MEANINGS = (
    ("boat", "ship", "vessel"),
    ("car", "automobile"),
    ("dog", "hound"),
    ("blue", "azure"),
)


def vector_of(text: str) -> list[float]:
    """Return how often a text speaks of each meaning, and that it says anything at all."""
    words = text.lower().replace("?", "").split()
    return [*(float(sum(map(words.count, group))) for group in _MEANINGS), 0.01]


class FakeEmbedder:
    """Embeds without a model, and keeps what it was given.

    Behind a closed ``gate`` it hangs, but for the first ``open_for`` calls.
    """

    def __init__(self, name: str = "fake") -> None:
        """Answer under ``name``."""
        self.name = name
        self.texts: list[str] = []
        self.error: Exception | None = None
        self.gate: threading.Event | None = None
        self.open_for = 0
        self.answer: Any = None

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per text, unless told otherwise."""
        if self.gate is not None and self.open_for == 0:
            assert self.gate.wait(30), "nobody opened the gate"
        self.open_for = max(self.open_for - 1, 0)
        if self.error is not None:
            raise self.error
        self.texts += texts
        found: Sequence[Sequence[float]] = self.answer or [vector_of(text) for text in texts]
        return found


class Endpoint(BaseHTTPRequestHandler):
    """Answers as it is told to."""

    mode: ClassVar[str] = "good"
    seen: ClassVar[list[tuple[str, dict[str, str], Any]]] = []

    def do_POST(self) -> None:
        """Answer with one vector per text, or as the mode says."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.path, dict(self.headers), body))
        mode = type(self).mode
        if mode.isdecimal():
            error = {"error": {"message": f"no\n{mode} sk-proj-{'a1B2' * 10}"}}
            self._answer(json.dumps(error).encode(), int(mode))
        elif mode == "drip":
            self._drip()
        elif mode == "redirect":
            self.send_response(307)
            self.send_header("Location", f"http://{self.headers['Host']}/elsewhere")
            self.end_headers()
        else:
            if mode == "slow":
                time.sleep(1.5)
            self._answer(self._made(mode, body["input"]))

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _made(self, mode: str, texts: list[str]) -> bytes:
        data: list[Any] = [
            {"object": "embedding", "index": place, "embedding": vector_of(text)}
            for place, text in enumerate(texts)
        ]
        data.reverse()  # the order is that of the index
        answers = {
            "malformed": b"<html>",
            "no-data": b'{"data": [1]}',
            "nan": json.dumps({"data": data}).replace("0.01", "NaN").encode(),
            "text": json.dumps({"data": data}).replace("0.01", '"x"').encode(),
            "few": json.dumps({"data": data[1:]}).encode(),
        }
        return answers.get(mode, json.dumps({"data": data}).encode())

    def _answer(self, body: bytes, code: int = 200) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(40):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            return


@contextmanager
def serving(mode: str = "good") -> Iterator[str]:
    """Serve in a mode, and yield the URL."""
    Endpoint.mode, Endpoint.seen[:] = mode, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
