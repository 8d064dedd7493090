"""Answers of a model in a stream, as the bytes that a server sends: for :mod:`wire`."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from typing import Any, Final

from tests.consolidation.wire import http

__all__ = ["calls", "chunk", "hangs", "says", "stream", "streamed"]

_USAGE: Final = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def chunk(delta: object, finish: object = None) -> dict[str, Any]:
    """Return a piece of an answer."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "small",
        "choices": [choice],
    }


def stream(*events: object, ends: bool = True) -> bytes:
    """Return a response of events: bytes as they are, and values as JSON."""
    data = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in events]
    data += [b"[DONE]"] if ends else []
    return http(b"".join(b"data: " + each + b"\n\n" for each in data), kind="text/event-stream")


def says(text: str, *, finish: str = "stop", usage: object = _USAGE) -> bytes:
    """Return a response that says a text, word by word."""
    words = [chunk({"content": word}) for word in text.split(" ")]
    for piece in words[1:]:
        piece["choices"][0]["delta"]["content"] = " " + piece["choices"][0]["delta"]["content"]
    counted = {**chunk({}), "choices": [], "usage": usage}
    return stream(chunk({"role": "assistant"}), *words, chunk({}, finish), counted)


def calls(name: str, given: object, *, before: str = "", call: str = "call_1") -> bytes:
    """Return a response that calls a tool, its arguments in two parts."""
    text = given if isinstance(given, str) else json.dumps(given)
    half = len(text) // 2
    first = {"index": 0, "id": call, "type": "function"}
    head = {**first, "function": {"name": name, "arguments": text[:half]}}
    tail = {"index": 0, "function": {"arguments": text[half:]}}
    said = [chunk({"content": before})] if before else []
    parts = [chunk({"tool_calls": [part]}) for part in (head, tail)]
    return stream(*said, *parts, chunk({}, "tool_calls"))


def hangs(*texts: str) -> Callable[[socket.socket], object]:
    """Return what says a few pieces, and then nothing for a long time."""

    def send(connection: socket.socket) -> None:
        connection.sendall(_HEAD)
        for text in texts:
            connection.sendall(b"data: " + json.dumps(chunk({"content": text})).encode() + b"\n\n")
        time.sleep(30)

    return send


def streamed(*texts: str, pause: float = 0.01) -> Callable[[socket.socket], object]:
    """Return what says pieces one after the other, as a slow model does."""

    def send(connection: socket.socket) -> None:
        connection.sendall(_HEAD)
        for text in texts:
            connection.sendall(b"data: " + json.dumps(chunk({"content": text})).encode() + b"\n\n")
            time.sleep(pause)
        end = json.dumps(chunk({}, "stop")).encode()
        connection.sendall(b"data: " + end + b"\n\ndata: [DONE]\n\n")

    return send
