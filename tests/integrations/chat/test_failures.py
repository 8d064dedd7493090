"""Whatever a client raises is one line that tells how the call ended."""

from __future__ import annotations

import json

import pytest

from engramdown.integrations.chat.endpoint import failure, lacks
from engramdown.models import TooLongError
from tests.tables import every


class FakeStatusError(Exception):
    """What a client raises for an answer that is an error."""

    def __init__(self, status: int, body: object = None) -> None:
        """Take what the server said."""
        super().__init__("raw words of a package")
        self.status_code = status
        self.body = body


class RemoteProtocolError(Exception):
    """What a client raises when the connection breaks."""


class ReadTimeout(Exception):  # noqa: N818 - so it is called
    """What a client raises when nothing comes."""


class ConnectError(Exception):
    """What a client raises when nobody is there."""


class WrappedError(Exception):
    """What a package makes of that."""

    body: object = None


@every(
    "status, body, outcome, said",
    [
        pytest.param(401, {"message": "no"}, "unauthorized", "answered 401: no", id="401"),
        pytest.param(404, {"error": {"message": "no x"}}, "not_found", "404: no x", id="404"),
        pytest.param(429, {"error": "slow"}, "rate_limited", "429: slow", id="429"),
        pytest.param(500, None, "server_error", "500: it gives no reason", id="500"),
        pytest.param(503, "<html>", "server_error", "it gives no reason", id="a-page"),
        pytest.param(400, {"detail": [1]}, "refused", "it gives no reason", id="a-list"),
        pytest.param(400, {"other": 1}, "refused", "it gives no reason", id="other-words"),
        pytest.param(307, "", "refused", "it gives no reason", id="redirect"),
        pytest.param(400, {"message": "a\n\x1b[2Jb"}, "refused", "400: a ␛[2Jb", id="escapes"),
    ],
)
def test_an_answer_that_is_an_error_is_told(
    status: int, body: object, outcome: str, said: str
) -> None:
    told = failure(FakeStatusError(status, body))
    assert told.outcome == outcome
    assert str(told).endswith(said)


def test_a_long_reason_is_cut_and_a_deep_one_left() -> None:
    assert len(str(failure(FakeStatusError(400, {"message": "x" * 999})))) < 400
    deep: object = "here"
    for _ in range(50):
        deep = {"error": deep}
    assert "no reason" in str(failure(FakeStatusError(400, deep)))


def test_a_key_that_a_server_quotes_is_hidden() -> None:
    key = "sk-proj-" + "a1B2" * 10
    assert key not in str(failure(FakeStatusError(401, {"message": f"bad key {key}"})))


def test_what_led_to_an_error_says_what_it_is() -> None:
    for inner, outcome, said in (
        (ReadTimeout(), "timeout", "no answer in time"),
        (ConnectError(), "unreachable", "no connection to the server"),
        (RemoteProtocolError(), "unreachable", "the connection broke off"),
        (TooLongError("4 MB"), "failed", "4 MB"),
    ):
        wrapped = WrappedError()
        wrapped.__cause__ = inner
        told = failure(wrapped)
        assert (told.outcome, said in str(told)) == (outcome, True)


def test_errors_that_led_to_each_other_have_an_end() -> None:
    first, second = WrappedError(), WrappedError()
    first.__cause__, second.__cause__ = second, first
    assert failure(first).outcome == "failed"


def test_other_errors_are_told_by_what_they_are() -> None:
    in_stream = WrappedError()
    in_stream.body = {"message": "overloaded"}
    assert str(failure(in_stream)) == "the server broke off: overloaded"
    assert failure(json.JSONDecodeError("x", "", 0)).outcome == "malformed"
    assert str(failure(AttributeError("/home/me"))) == "something went wrong (AttributeError)"


@every(
    "status, said, found",
    [
        pytest.param(400, "registry/gemma:2b does not support tools", "tools", id="ollama"),
        pytest.param(422, "Unknown field: stream_options", "stream_options", id="strict"),
        pytest.param(400, "tool choice is wrong", "", id="another"),
        pytest.param(400, "images are not supported", "", id="no-tool"),
        pytest.param(401, "tools are not supported", "", id="no-key"),
        pytest.param(0, "tools are not supported", "", id="no-status"),
    ],
)
def test_what_a_server_does_not_understand_is_seen(status: int, said: str, found: str) -> None:
    assert lacks(FakeStatusError(status, {"message": said})) == found
