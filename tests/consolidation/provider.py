"""A provider on this machine: OpenAI's chat completions, with scripted answers.

It speaks as much of Anthropic's messages, too: whatever the path asks for.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, NamedTuple

__all__ = ["Provider", "Reply", "Thinking", "answering", "failing", "serving"]


class Reply(NamedTuple):
    """What one call is answered.

    Attributes:
        text: What the model says: the arguments of its tool call, or the content of its message.
        status: The HTTP status.
        headers: Headers of the response.
        finish: Why the model stopped.
        usage: Tokens asked and answered, or ``None`` for a server that does not count.
        way: ``hang``, ``drip``, ``html``, ``refusal``, or ``plain`` (text, though a tool call was
            asked for).
    """

    text: str = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    finish: str = "stop"
    usage: tuple[int, int] | None = (11, 7)
    way: str = ""


Thinking = Callable[[dict[str, Any]], Reply]
"""Makes the reply to what was asked."""


def answering(answer: object, **other: Any) -> Reply:  # noqa: ANN401 - the fields of a reply
    """Reply with an answer: a value as JSON, or a text as it is."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return Reply(text=text, **other)


def failing(status: int, message: str = "no", **headers: str) -> Reply:
    """Reply with an error."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Reply(text=message, status=status, headers=named)


class Provider(BaseHTTPRequestHandler):
    """Answers by its script; after the last reply, with that one again."""

    script: ClassVar[list[Reply | Thinking]] = []
    seen: ClassVar[list[dict[str, Any]]] = []
    sent: ClassVar[list[tuple[str, dict[str, str]]]] = []
    over: ClassVar[threading.Event] = threading.Event()
    guard: ClassVar[threading.Lock] = threading.Lock()

    def do_POST(self) -> None:
        """Answer the next call."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.guard:
            reply = self.script[min(len(self.seen), len(self.script) - 1)]
            self.seen.append(asked)
            named = {name.lower(): value for name, value in self.headers.items()}
            self.sent.append((self.path, named))
        reply = reply if isinstance(reply, Reply) else reply(asked)
        if reply.way == "hang":
            self.over.wait(30)
            self.close_connection = True
        elif reply.way == "drip":
            self._drip()
        else:
            self._answer(reply, _body(reply, asked, self.path))

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, reply: Reply, body: bytes) -> None:
        self.send_response(reply.status)
        kind = "text/html" if reply.way == "html" else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        try:
            while not self.over.is_set():
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.02)
        except OSError:
            return


def _body(reply: Reply, asked: dict[str, Any], path: str) -> bytes:
    if reply.way == "html":
        return b"<html>Welcome</html>"
    if reply.status != 200:
        error = {"type": "error", "message": reply.text}
        return json.dumps({"type": "error", "error": error}).encode()
    make = _message if path.endswith("/messages") else _completion
    return json.dumps(make(reply, asked)).encode()


def _completion(reply: Reply, asked: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if asked.get("tools") and not reply.way:
        function = {"name": asked["tools"][0]["function"]["name"], "arguments": reply.text}
        call = {"id": "call_1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    if reply.way == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "I would rather not"}
    made = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
    }
    if reply.usage:
        there, back = reply.usage
        made["usage"] = {
            "prompt_tokens": there,
            "completion_tokens": back,
            "total_tokens": there + back,
        }
    return made


def _message(reply: Reply, asked: dict[str, Any]) -> dict[str, Any]:
    there, back = reply.usage or (0, 0)
    name = asked["tools"][0]["name"]
    call = {"type": "tool_use", "id": "call_1", "name": name, "input": json.loads(reply.text)}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "content": [call],
        "stop_reason": reply.finish,
        "stop_sequence": None,
        "usage": {"input_tokens": there, "output_tokens": back},
    }


@contextmanager
def serving(*script: Reply | Thinking) -> Iterator[str]:
    """Serve a script, and yield the URL for OpenAI's protocol."""
    Provider.script[:] = script
    Provider.seen.clear()
    Provider.sent.clear()
    Provider.over.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        Provider.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
