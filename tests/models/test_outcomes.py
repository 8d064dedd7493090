"""`engramdown.models.provider`: whatever a server sends, we know what it means."""

from __future__ import annotations

import gzip
import json
import socket
import struct
from typing import Any, Final

import pytest
from pydantic import BaseModel, ConfigDict

from engramdown.errors import ModelError
from engramdown.models.ledger import Ledger, Limits
from engramdown.models.port import Asker, Run
from engramdown.models.provider import InstructorModel
from tests.consolidation.wire import Sends, call, completion, http, says, tools, wired

PLENTY: Final = Limits(99, 10**9, 24, 99, 10**9)
BROKEN: Final = "openai/small: the connection broke off, or what came over it was not an answer"
NO_USE: Final = "openai/small: an answer of no use: no JSON, or none at all"


class Fact(BaseModel):
    """A fact."""

    model_config = ConfigDict(extra="forbid")

    text: str


FACT: Final = {"text": "Use uv"}
SAID: Final = json.dumps(FACT)


def ask(send: Sends, **how: Any) -> tuple[Fact | ModelError, Run]:  # noqa: ANN401 - settings
    """Ask a server that sends this; return what came of it, and what it cost."""
    run = Run(Ledger(None), PLENTY)
    with wired(send) as wire:
        settings = {"timeout": 20, "retries": 0, "max_tokens": 500} | how
        model = InstructorModel("openai/small", wire.url, sleep=lambda _: None, **settings)
        try:
            return Asker(model, "replay", run).ask(Fact, "Look.", "What?"), run
        except ModelError as error:
            return error, run


def reset(connection: socket.socket) -> None:
    """Close a connection as if the machine behind it had died."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def headers(connection: socket.socket) -> None:
    """Send headers without an end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(1_000_000):
        connection.sendall(b"X-%d: %s\r\n" % (number, b"a" * 1000))


def assistant(**fields: object) -> bytes:
    """Return a response with a message."""
    return http(completion({"role": "assistant", "content": None, **fields}))


@pytest.mark.slow
@pytest.mark.parametrize(
    "send",
    [
        pytest.param(http(b""), id="nothing"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", id="no-content"),
        pytest.param(http(b"<html>hello</html>", kind="text/html"), id="web-page"),
        pytest.param(http(b"data: {}\n\ndata: [DONE]\n\n", kind="text/event-stream"), id="stream"),
        pytest.param(http(None), id="null"),
        pytest.param(http(7), id="number"),
        pytest.param(http("x"), id="text"),
        pytest.param(http([]), id="list"),
        pytest.param(http({}), id="empty"),
        pytest.param(http({"error": {"message": "no"}}), id="error-with-200"),
        pytest.param(http(b'{"choices": NaN}'), id="nan"),
        pytest.param(http(b'{"id": "\xff"}'), id="no-utf-8"),
        pytest.param(http(b'{"id": "\\ud800", "choices": []}'), id="half-a-character"),
        pytest.param(http(b"[" * 100_000), id="deep-list"),
        pytest.param(http(b'{"a":' * 50_000), id="deep-object"),
        pytest.param(http(b'{"created": ' + b"9" * 10_000 + b"}"), id="long-number"),
        pytest.param(http({"choices": None}), id="no-choices"),
        pytest.param(http({"choices": []}), id="empty-choices"),
        pytest.param(http({"choices": [None]}), id="null-choice"),
        pytest.param(http({"choices": "x"}), id="choices-text"),
        pytest.param(http({"choices": {"a": 1}}), id="choices-object"),
        pytest.param(http(completion(None)), id="no-message"),
        pytest.param(http(completion("x")), id="message-text"),
        pytest.param(assistant(content=[{"type": "text", "text": SAID}]), id="content-of-objects"),
        pytest.param(assistant(content=5), id="content-number"),
        pytest.param(assistant(tool_calls=None), id="null-calls"),
        pytest.param(assistant(tool_calls=[]), id="no-calls"),
        pytest.param(assistant(tool_calls="x"), id="calls-text"),
        pytest.param(tools(None), id="null-call"),
        pytest.param(tools({"id": "1", "type": "function", "function": None}), id="null-function"),
        pytest.param(tools(call(None)), id="null-arguments"),
        pytest.param(http(b"no", Content_Encoding="br"), id="packed-as-nobody-asked"),
    ],
)
def test_an_answer_of_no_known_form_is_malformed_whatever_a_client_trips_over(send: Sends) -> None:
    error, run = ask(send)
    assert str(error) == NO_USE
    assert isinstance(error, ModelError)
    assert error.outcome == "malformed"
    assert run.spent.calls == 1


@pytest.mark.parametrize(
    "send",
    [
        pytest.param(reset, id="reset"),
        pytest.param(b"", id="closed"),
        pytest.param(headers, id="headers-without-end"),
        pytest.param(b"\x00\x01SSH-2.0\r\n\r\n", id="another-protocol"),
        pytest.param(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", id="switching"),
        pytest.param(http({})[:-1], id="half-a-body"),
        pytest.param(http(b"no", Content_Encoding="gzip"), id="not-packed"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nno\r\n", id="bad-chunks"
        ),
    ],
)
def test_a_connection_that_breaks_is_told_from_one_that_is_never_made(send: Sends) -> None:
    error, run = ask(send)
    assert str(error) == BROKEN
    # A model may have worked on it: who pays for it does not know how long.
    (attempt,) = run.ledger.known().calls
    assert (attempt.outcome, attempt.tokens_out, attempt.estimated) == ("unreachable", 500, True)


@pytest.mark.parametrize(
    "send",
    [
        pytest.param(tools(call(SAID), call('{"text": "other"}')), id="two-calls"),
        pytest.param(tools(call(SAID, name="rm_rf")), id="another-tool"),
        pytest.param(tools(call(FACT)), id="arguments-as-object"),
        pytest.param(assistant(content=SAID), id="content"),
        pytest.param(
            assistant(content=f"<think>{{is it pip?}} No.</think>\n{SAID}"), id="thinks-aloud"
        ),
        pytest.param(tools(call('{"text": "a", "text": "Use uv"}')), id="key-twice"),
        pytest.param(says(FACT, finish=None), id="no-reason-to-stop"),
        pytest.param(says(FACT, finish=5), id="odd-reason-to-stop"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" * 5 + says(FACT), id="continue-and-continue"),
        pytest.param(
            http(gzip.compress(says(FACT).partition(b"\r\n\r\n")[2]), Content_Encoding="gzip"),
            id="packed",
        ),
    ],
)
def test_an_answer_of_the_form_is_taken_however_it_is_wrapped(send: Sends) -> None:
    assert ask(send)[0] == Fact(**FACT)


@pytest.mark.parametrize(
    "answer, said",
    [
        pytest.param({"text": 5}, "another form: text: Input should be a valid string", id="type"),
        pytest.param({}, "another form: text: Field required", id="missing"),
        pytest.param(
            {"text": "a", "x\x1b[2J\n": 1}, "another form: x␛[2J : Extra inputs", id="more"
        ),
        pytest.param({"text": "a", "x" * 999: 1}, f"another form: {'x' * 100}", id="long"),
        pytest.param("{", "or none at all: Invalid JSON: EOF while parsing", id="no-json"),
    ],
)
def test_what_is_wrong_with_the_form_is_told_without_what_was_answered(
    answer: object, said: str
) -> None:
    error, _ = ask(says(answer))
    assert said in str(error)
    assert str(error).isprintable()
    assert len(str(error)) < 250


def message(*blocks: object, **fields: object) -> bytes:
    """Return a message of Anthropic's."""
    plain = {"id": "msg_1", "type": "message", "role": "assistant", "model": "small"}
    usage = {"input_tokens": 11, "output_tokens": 7}
    told = {"content": list(blocks), "stop_reason": "end_turn", "usage": usage}
    return http(plain | told | fields)


@pytest.mark.parametrize(
    "send, outcome",
    [
        pytest.param(message({"type": "text", "text": f"Here: {SAID}"}), "", id="text"),
        pytest.param(message({"type": "tool_use", "id": "1", "name": "x", "input": FACT}), "",
                     id="another-tool"),
        pytest.param(message(stop_reason="refusal"), "refused", id="refusal"),
        pytest.param(message(), "wrong_schema", id="nothing"),
        pytest.param(message(content=None), "malformed", id="null"),
        pytest.param(message(None), "malformed", id="null-block"),
        pytest.param(http({}), "malformed", id="empty"),
        pytest.param(http({"error": {"message": "no"}}, status="529 Busy"), "server_error",
                     id="overloaded"),
    ],
)  # fmt: skip
def test_what_anthropic_answers_is_understood_as_well(send: bytes, outcome: str) -> None:
    with wired(send) as wire:
        model = InstructorModel("anthropic/small", wire.url.removesuffix("/v1"), retries=0)
        if not outcome:
            assert model.ask(Fact, "", "") == Fact(**FACT)
            return
        with pytest.raises(ModelError) as caught:
            model.ask(Fact, "", "")
    assert caught.value.outcome == outcome


@pytest.mark.parametrize(
    "usage",
    [
        pytest.param(None, id="none"),
        pytest.param("x", id="text"),
        pytest.param([1], id="list"),
        pytest.param({"prompt_tokens": -5, "completion_tokens": "7"}, id="wrong"),
        pytest.param({"prompt_tokens": 0, "completion_tokens": 0}, id="nothing"),
    ],
)
def test_what_was_not_counted_is_estimated_and_marked_so(usage: object) -> None:
    _, run = ask(says(FACT, usage=usage))
    (made,) = run.ledger.known().calls
    assert made.estimated
    assert made.tokens_in > 10
    assert made.tokens_out > 3
    _, run = ask(says(FACT))
    assert not run.ledger.known().calls[0].estimated


def test_a_bad_answer_that_was_not_counted_counts_as_the_most_it_can_have_cost() -> None:
    _, run = ask(says("no JSON", usage=None))
    (made,) = run.ledger.known().calls
    assert (made.outcome, made.tokens_out, made.estimated) == ("malformed", 500, True)
    assert run.spent.tokens == made.tokens_in + 500


def test_a_count_beyond_all_measure_is_bounded() -> None:
    _, run = ask(says(FACT, usage={"prompt_tokens": 10**30, "completion_tokens": 1}))
    assert run.spent.tokens == 10_000_001


@pytest.mark.parametrize(
    "body, said",
    [
        pytest.param({"error": {"message": "no such model"}}, "no such model", id="openai"),
        pytest.param({"error": "no such model"}, "no such model", id="ollama"),
        pytest.param({"message": "no such model"}, "no such model", id="flat"),
        pytest.param({"detail": "no such model"}, "no such model", id="detail"),
        pytest.param({"detail": [{"msg": "x"}]}, "it gives no reason", id="detail-list"),
        pytest.param({"error": {"message": None}}, "it gives no reason", id="null"),
        pytest.param({"error": " "}, "it gives no reason", id="blank"),
        pytest.param(b"", "it gives no reason", id="nothing"),
    ],
)
def test_why_a_server_refused_is_told_in_one_line_and_it_is_asked_once(
    body: object, said: str
) -> None:
    error, run = ask(http(body, status="404 Not Found"), retries=2)
    assert str(error) == f"openai/small: the server answered 404: {said}"
    assert (run.spent.calls, run.spent.tokens) == (1, 0)


@pytest.mark.parametrize(
    "asks, said",
    [
        pytest.param("3600", "it asks to wait 3,600 seconds, try again then", id="an-hour"),
        pytest.param("9" * 30, "it asks to wait more than a day, try again then", id="ages"),
        pytest.param("1e999", "it asks to wait more than a day, try again then", id="for-ever"),
        pytest.param("Fri, 31 Dec 9999 23:59:59 GMT", "more than a day", id="date"),
    ],
)
def test_who_asks_to_wait_absurdly_long_is_not_waited_for(asks: str, said: str) -> None:
    error, run = ask(http({}, status="429 Slow", Retry_After=asks), retries=2)
    assert said in str(error)
    assert run.spent.calls == 1


@pytest.mark.parametrize("asks", ["-10", "soon", "", "nan", "Fri, 99 Dec 99999 23:59:59 GMT"])
def test_who_asks_to_wait_in_no_known_words_is_asked_as_often_as_is_allowed(asks: str) -> None:
    error, run = ask(http({}, status="429 Slow", Retry_After=asks), retries=2)
    assert str(error).endswith("it gives no reason, 3 times")
    assert run.spent.calls == 3
