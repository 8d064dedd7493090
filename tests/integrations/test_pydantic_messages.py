"""`engramdown.integrations.pydantic_ai`: a message of pydantic-ai is lines of a transcript."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from engramdown.integrations.external_session import Item, Summary, as_meta, as_value
from engramdown.integrations.pydantic_ai import (
    message_lines,
    messages_of,
    places,
    plain_part,
    visible,
)
from engramdown.transcripts.episode import ROLES, Episode
from tests.tables import every

AT = datetime(2026, 3, 1, 10, 15, 0, 123456, tzinfo=UTC)

texts = st.text(max_size=30)
ids = st.sampled_from(["c1", "c2", "c3"])
flat = st.dictionaries(st.text(max_size=4), st.none() | st.booleans() | st.integers() | texts)
asked: st.SearchStrategy[list[Any]] = st.lists(
    st.one_of(
        st.builds(UserPromptPart, texts, timestamp=st.just(AT)),
        st.builds(
            UserPromptPart,
            st.lists(
                texts
                | st.builds(TextContent, texts)
                | st.just(ImageUrl("https://example.org/a.png"))
                | st.just(BinaryContent(b"\0\1", media_type="image/png")),
                max_size=3,
            ),
            timestamp=st.just(AT),
        ),
        st.builds(SystemPromptPart, texts, timestamp=st.just(AT)),
        st.builds(
            ToolReturnPart,
            st.just("shell"),
            texts | flat | st.none() | st.lists(texts),
            ids,
            timestamp=st.just(AT),
        ),
    ),
    max_size=4,
)
answered: st.SearchStrategy[list[Any]] = st.lists(
    st.one_of(
        st.builds(TextPart, texts),
        st.builds(ThinkingPart, texts, signature=st.none() | st.just("sig")),
        st.builds(ToolCallPart, st.just("shell"), texts | flat | st.none(), ids),
    ),
    max_size=4,
)
messages: st.SearchStrategy[list[ModelMessage]] = st.lists(
    st.builds(ModelRequest, asked, timestamp=st.just(AT), run_id=st.sampled_from(["r1", "r2"]))
    | st.builds(
        ModelResponse,
        answered,
        usage=st.just(RequestUsage(input_tokens=3)),
        timestamp=st.just(AT),
        model_name=st.none() | st.just("m"),
    ),
    max_size=4,
)


def dumped(given_messages: list[ModelMessage]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ModelMessagesTypeAdapter.dump_python(given_messages, mode="json")
    return found


def kept(given_messages: list[ModelMessage]) -> list[Item]:
    """Return what a transcript would keep of messages."""
    lines = [line for message in dumped(given_messages) for line in message_lines(message)]
    made = [json.loads(json.dumps(as_meta(line, lambda text: text))) for line in lines]
    return [
        Item(as_value(each, line.text), line.call, seq=at)
        for at, (each, line) in enumerate(zip(made, lines, strict=True), 1)
    ]


def read(entries: list[Item]) -> list[ModelMessage]:
    return ModelMessagesTypeAdapter.validate_json(json.dumps(messages_of(entries)))


def pair() -> list[ModelMessage]:
    """Return a question, two calls with what came back, and an answer."""
    return [
        ModelRequest([UserPromptPart("Why?", timestamp=AT)], timestamp=AT, run_id="r1"),
        ModelResponse(
            [
                TextPart("Let me look"),
                ToolCallPart("shell", {}, "a"),
                ToolCallPart("date", {}, "b"),
            ],
            timestamp=AT,
        ),
        ModelRequest(
            [
                ToolReturnPart("shell", "1", "a", timestamp=AT),
                ToolReturnPart("date", "2", "b", timestamp=AT),
            ],
            timestamp=AT,
        ),
        ModelResponse([TextPart("So")], timestamp=AT),
    ]


@given(messages)
def test_messages_come_back_as_they_were(given_messages: list[ModelMessage]) -> None:
    assert dumped(read(kept(given_messages))) == dumped(given_messages)


@given(messages)
def test_every_part_has_a_line_that_a_transcript_takes(given_messages: list[ModelMessage]) -> None:
    for message in dumped(given_messages):
        for line in message_lines(message):
            assert line.role in ROLES
            assert line.text or line.role not in ("user", "assistant", "system")


@every(
    "message, told",
    [
        (
            ModelRequest([UserPromptPart(["Look", ImageUrl("https://example.org/a.png"), "?"])]),
            ("user", "Look\n\n[image-url]\n\n?", "", "", False),
        ),
        (ModelRequest([UserPromptPart("")]), ("user", "(empty)", "", "", False)),
        (ModelRequest([UserPromptPart([TextContent("Hi")])]), ("user", "Hi", "", "", False)),
        (ModelRequest([SystemPromptPart("Be brief")]), ("system", "Be brief", "", "", False)),
        (
            ModelRequest([ToolReturnPart("shell", {"code": 1}, "c1", outcome="failed")]),
            ("tool_result", '{"code": 1}', "shell", "c1", True),
        ),
        (ModelResponse([ThinkingPart("Hm")]), ("scratchpad", "Hm", "reasoning", "", False)),
        (ModelResponse([ThinkingPart("")]), ("scratchpad", "", "reasoning", "", False)),
        (
            ModelResponse([ToolCallPart("shell", '{"a": 1}', "c1")]),
            ("tool_call", '{"a": 1}', "shell", "c1", False),
        ),
        (ModelResponse([]), ("scratchpad", "[response]", "message", "", False)),
    ],
)
def test_a_line_says_what_a_person_would_read(
    message: ModelMessage, told: tuple[str, str, str, str, bool]
) -> None:
    (line,) = message_lines(dumped([message])[0])
    assert (line.role, line.text, line.name, line.call, line.error) == told


@pytest.mark.parametrize(
    "kind, tool, role, name",
    [
        ("retry-prompt", "shell", "tool_result", "shell"),
        ("retry-prompt", None, "scratchpad", "retry"),
        ("retry-feedback", None, "scratchpad", "retry"),
    ],
)
def test_what_a_model_is_asked_to_do_again_failed(
    kind: str, tool: str | None, role: str, name: str
) -> None:
    part = {"part_kind": kind, "content": [{"loc": 1}], "tool_name": tool, "tool_call_id": "c1"}
    (line,) = message_lines({"kind": "request", "parts": [part]})
    assert (line.role, line.text, line.name, line.error) == (role, '[{"loc": 1}]', name, True)


def test_a_part_of_a_kind_that_is_not_known_is_kept() -> None:
    message = {"kind": "response", "parts": [{"part_kind": "smell", "of": "coffee"}, {"a": 1}]}
    lines = message_lines(message)
    assert [(line.role, line.text, line.name) for line in lines] == [
        ("scratchpad", "[smell]", "smell"),
        ("scratchpad", "[part]", "part"),
    ]
    assert messages_of([Item(line.rest) for line in lines]) == [message]


def test_what_something_else_recorded_is_a_message_if_it_was_said() -> None:
    user = Episode(1, "2026-03-01T10:15:00.123456Z", "", "user", "Hi")
    lines = [user, user._replace(role="assistant", text="Ho"), user._replace(role="system")]
    parts = [plain_part(each) for each in lines]
    assert parts[2] is None
    assert plain_part(user._replace(text="")) is None
    assert read([Item(each) for each in parts[:2]]) == [
        ModelRequest([UserPromptPart("Hi", timestamp=AT)], timestamp=AT),
        ModelResponse([TextPart("Ho")], timestamp=AT),
    ]


class TestTakenBack:
    """What a person took back takes along the other half of a call."""

    def test_a_call_goes_with_its_result(self) -> None:
        entries = kept(pair())
        at = next(at for at, each in enumerate(entries) if each.call == "a")
        entries[at] = Item(None, "a", is_gone=True)
        left = read(entries)
        assert [len(each.parts) for each in left] == [1, 2, 1, 1]
        assert "shell" not in json.dumps(dumped(left))

    def test_the_rest_of_a_message_stays_a_message(self) -> None:
        entries = kept(pair())
        entries[1] = Item(None, is_gone=True)
        left = read(entries)
        assert [each.kind for each in left] == ["request", "response", "request", "response"]
        assert [part.part_kind for part in left[1].parts] == ["tool-call", "tool-call"]

    def test_parts_of_two_messages_do_not_become_one(self) -> None:
        first, second = pair()[1], pair()[1]
        entries = [*kept([first]), Item(None, is_gone=True), *kept([second])[1:]]
        entries = [entry._replace(call="") for entry in entries]
        assert [len(each["parts"]) for each in messages_of(entries)] == [3, 2]


def test_where_the_parts_of_a_message_stand_is_known_by_its_kind_run_and_time() -> None:
    entries = [*kept(pair()), Item(None, is_gone=True), Item({"of": "response"})]
    found = places(entries)
    assert found["request", "r1", "2026-03-01T10:15:00.123456Z"] == [1]
    assert found["response", "", "2026-03-01T10:15:00.123456Z"] == [2, 3, 4, 7]


def test_what_no_summary_covers_is_seen() -> None:
    first, second = Summary(1, 3, "a"), Summary(4, 6, "b")
    assert visible((2, 5, 9), [first, second]) == ([False, False, True], [first, second])
    assert visible((2, 3), [first, second]) == ([False, False], [first])
    assert visible((), [first]) == ([], [])
