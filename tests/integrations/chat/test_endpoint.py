"""A model is asked over a real connection, whatever comes back over it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest

from engramdown.errors import ModelError
from engramdown.integrations.chat import endpoint as module
from engramdown.integrations.chat.endpoint import Endpoint, Reply, address_of, is_installed
from tests.consolidation.wire import Sends, Wire, http, wired
from tests.integrations.chat.streams import calls, chunk, hangs, says, stream

ASKED = [{"role": "user", "content": "Why?"}]
TOOL = {"type": "function", "function": {"name": "recall", "parameters": {"type": "object"}}}


def ask(url: str, timeout: float = 20) -> tuple[Reply, list[str]]:
    heard: list[str] = []
    model = Endpoint(address_of("small", url, {"OPENAI_API_KEY": "secret"}), timeout)
    try:
        return model.ask(ASKED, [TOOL], heard.append), heard
    finally:
        model.close()


def refusal(*sends: Sends, timeout: float = 20) -> ModelError:
    with wired(*sends) as server, pytest.raises(ModelError) as found:
        ask(server.url, timeout)
    return found.value


@pytest.mark.slow
def test_an_answer_is_heard_as_it_comes() -> None:
    with wired(says("Because of the clock")) as server:
        reply, heard = ask(server.url)
    assert heard == ["Because", " of", " the", " clock"]
    assert reply == Reply("Because of the clock", (), "stop", 11, 7)
    assert server.asked[0]["tools"] == [TOOL]
    assert server.asked[0]["stream"] is True


@pytest.mark.slow
def test_a_call_is_put_together() -> None:
    with wired(calls("recall", {"query": "uv"}, before="Hm.")) as server:
        reply, _ = ask(server.url)
    assert (reply.text, reply.calls[0].arguments) == ("Hm.", '{"query": "uv"}')


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent, outcome, said",
    [
        pytest.param(stream(b"{nope"), "malformed", "no JSON", id="no-json"),
        pytest.param(stream([1], "a", 3, None), "malformed", "said nothing", id="no-objects"),
        pytest.param(stream(chunk({"content": " "}, "length")), "truncated", "cut", id="length"),
        pytest.param(
            stream(chunk({}, "content_filter")), "refused", "held the answer back", id="held-back"
        ),
        pytest.param(http(b"<html>", kind="text/html"), "not_found", "a web page", id="a-page"),
        pytest.param(http({"choices": []}), "malformed", "nothing", id="no-stream"),
        pytest.param(
            stream({"error": {"message": "overloaded"}}), "server_error", "overloaded", id="error"
        ),
        pytest.param(
            http({"error": {"message": "who?"}}, "401 No"), "unauthorized", "who?", id="401"
        ),
        pytest.param(http(b"", "500 Oops"), "server_error", "500", id="500"),
        pytest.param(b"nonsense\r\n\r\n", "unreachable", "connection broke", id="no-http"),
        pytest.param(b"", "unreachable", "connection broke", id="nothing"),
        pytest.param(
            http(b"no", content_encoding="gzip"), "unreachable", "connection broke", id="not-packed"
        ),
        pytest.param(
            http(b"data: " + b"x" * 5_000_000, kind="text/event-stream"),
            *("failed", "more than 4 MB"),
            id="endless",
        ),
        pytest.param(
            http(b"", "307 There", location="http://127.0.0.1:1/"), "refused", "307", id="redirect"
        ),
    ],
)
def test_what_is_no_answer_is_told(sent: bytes, outcome: str, said: str) -> None:
    error = refusal(sent)
    assert error.outcome == outcome
    assert said in str(error)


def test_a_stream_that_is_cut_is_told() -> None:
    assert refusal(says("one two three")[:-40]).outcome == "unreachable"


def test_nobody_is_waited_for_longer_than_said() -> None:
    assert refusal(hangs("I am"), timeout=0.2).outcome == "timeout"


def test_an_answer_that_drips_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONGEST_SECONDS", 0.1)

    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for _ in range(500):
            connection.sendall(stream(chunk({"content": "a"})).partition(b"\r\n\r\n")[2][:-14])
            time.sleep(0.01)

    assert "took more than" in str(refusal(drip))


def test_nobody_there_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ModelError) as found:
        ask(f"http://127.0.0.1:{port}/v1")
    assert found.value.outcome == "unreachable"


def without(word: str) -> bytes:
    return http({"error": {"message": f"{word} is not supported"}}, "400 Bad Request")


def asked_with(server: Wire) -> list[tuple[bool, bool]]:
    return [("tools" in each, "stream_options" in each) for each in server.asked]


def test_a_model_without_tools_is_asked_without_them() -> None:
    with wired(without("stream_options"), without("tools"), says("Yes"), says("Yes")) as server:
        model = Endpoint(address_of("small", server.url, {}))
        assert model.ask(ASKED, [TOOL], str).text == "Yes"
        assert model.ask(ASKED, [TOOL], str).text == "Yes"
        model.close()
    assert model.lacking == {"tools", "stream_options"}
    assert asked_with(server) == [(True, True), (True, False), (False, False), (False, False)]


def test_who_goes_on_complaining_of_tools_is_not_asked_for_ever() -> None:
    assert refusal(without("tools")).outcome == "refused"


@pytest.mark.slow
def test_the_package_is_loaded_with_the_first_question() -> None:
    code = (
        "import sys\n"
        "from engramdown.integrations.chat.endpoint import address_of\n"
        "from engramdown.integrations.chat.endpoint import Endpoint, is_installed\n"
        "model = Endpoint(address_of('small', 'http://localhost:1/v1', {}))\n"
        "assert is_installed() and 'openai' not in sys.modules\n"
        "model.close()\n"
        "model.warm_up()\n"
        "assert 'openai' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert is_installed()
