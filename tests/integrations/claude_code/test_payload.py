"""What an agent says of an event, whatever it says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.integrations.claude_code import payload
from engramdown.integrations.claude_code.payload import (
    EVENTS,
    LONGEST,
    Event,
    answer,
    event_named,
    read_event,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = (
    *("hook_event_name", "session_id", "transcript_path", "cwd", "source", "reason", "prompt"),
    *("tool_name", "tool_input", "tool_response", "tool_use_id", "error", "agent_id"),
    *("is_error", "last_assistant_message", "stop_hook_active"),
)
NAMES = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop"]


def told(**fields: Any) -> Event:  # noqa: ANN401 - JSON
    """Return what is read of these fields."""
    return read_event(json.dumps(fields).encode())


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()), st.sampled_from(EVENTS))
def test_any_bytes_give_an_event(data: bytes, name: str) -> None:
    assert read_event(data, name).name == name


@given(st.dictionaries(st.sampled_from(FIELDS), JSON), st.sampled_from(NAMES))
def test_any_fields_give_texts_that_can_be_written(fields: dict[str, Any], name: str) -> None:
    event = told(**{**fields, "hook_event_name": name})
    assert event.name == event_named(name)
    for value in event:
        assert isinstance(value, (str, bool))
        assert isinstance(value, bool) or value.encode("utf-8") is not None


@pytest.mark.parametrize(
    "data",
    [b"", b"nonsense", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5_000, b"[1]", b"\xff\xfe", b"7"],
)
def test_what_is_no_object_tells_nothing(data: bytes) -> None:
    assert read_event(data) == Event()


def test_the_fields_of_claude_code_are_read() -> None:
    event = told(
        session_id="s-1",
        transcript_path="/t/s-1.jsonl",
        cwd="/work",
        hook_event_name="SessionStart",
        source="compact",
        model="any",
    )
    assert event == Event(
        name="session-start",
        said="SessionStart",
        session="s-1",
        transcript="/t/s-1.jsonl",
        folder="/work",
        source="compact",
    )


def test_names_in_camel_case_are_read_too() -> None:
    event = told(hookEventName="UserPromptSubmit", sessionId="s", prompt="Hi")
    assert (event.name, event.session, event.text) == ("prompt-submit", "s", "Hi")


def test_the_name_on_the_command_line_wins() -> None:
    data = json.dumps({"hook_event_name": "Stop", "last_assistant_message": "Done"}).encode()
    event = read_event(data, "session-end")
    assert (event.name, event.said, event.text) == ("session-end", "Stop", "")


@pytest.mark.parametrize(
    "response, got, failed",
    [
        ({"stdout": "a\n", "stderr": "b", "interrupted": False}, "a\n\nb", False),
        ({"stdout": "", "stderr": ""}, '{"stdout": "", "stderr": ""}', False),
        ("plain", "plain", False),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo", False),
        ({"is_error": True, "content": "boom"}, "boom", True),
        ({"isError": True, "content": [{"text": "x"}]}, None, True),
        ({"filePath": "a.py", "success": True}, '{"filePath": "a.py", "success": true}', False),
        (None, "", False),
        (7, "7", False),
    ],
)
def test_what_a_tool_gave_back_is_read_as_a_person_would(
    response: object, got: str | None, *, failed: bool
) -> None:
    event = told(
        hook_event_name="PostToolUse",
        tool_name="Bash",
        tool_use_id="t1",
        tool_input={"command": "ls"},
        tool_response=response,
    )
    assert (event.tool, event.call, event.given) == ("Bash", "t1", '{"command": "ls"}')
    assert event.error is failed
    assert got is None or event.got == got


def test_a_failure_tells_why() -> None:
    event = told(hook_event_name="PostToolUseFailure", tool_name="Bash", error="Exit code 1")
    assert (event.error, event.got) == ("Exit code 1", "Exit code 1")
    bare = told(hook_event_name="PostToolUseFailure", tool_name="Bash")
    assert (bare.error, bare.got) == (True, "")


def test_other_agents_call_a_result_output() -> None:
    assert told(hook_event_name="post_tool", tool_name="x", tool_output="y").got == "y"


def test_what_is_too_long_is_cut_or_left_out() -> None:
    event = told(
        hook_event_name="PostToolUse",
        session_id="s" * 501,
        cwd="/" + "x" * 5_000,
        tool_input="x" * (LONGEST + 5),
        tool_response={"output": "y" * (LONGEST + 5)},
    )
    assert (event.session, event.folder) == ("", "")
    assert (len(event.given), len(event.got)) == (LONGEST, LONGEST)


@pytest.mark.parametrize("value", ["a\nb", "a\x1b[2J", 7, None, ["x"], {"a": 1}, "\ud800"])
def test_an_id_is_one_line_of_text(value: object) -> None:
    event = told(hook_event_name="Stop", session_id=value)
    assert event.session in ("", "\ufffd")


def test_a_path_with_a_zero_in_it_is_none() -> None:
    assert told(hook_event_name="Stop", transcript_path="/a\0b").transcript == ""


@pytest.mark.slow
def test_what_is_nested_too_deep_to_be_written_is_left_out() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert payload._as_text(deep) == ""


def test_what_a_sub_agent_did_is_known() -> None:
    assert told(hook_event_name="PostToolUse", agent_id="a1").aside


@pytest.mark.parametrize(
    "event, expected",
    [
        pytest.param(Event(name="session-start", said="SessionStart"), "told", id="claude"),
        pytest.param(Event(name="post-tool"), "told", id="no-name"),
        pytest.param(
            Event(name="post-tool", said="PostToolUse", agent="codex"),
            {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "told"}},
            id="tool",
        ),
        pytest.param(
            Event(name="prompt-submit", said="BeforeAgent", agent="gemini"),
            {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "told"}},
            id="gemini",
        ),
        pytest.param(
            Event(name="post-tool", said="postToolUse", agent="cursor"),
            {"additional_context": "told"},
            id="cursor",
        ),
    ],
)
def test_each_agent_is_answered_as_it_expects(event: Event, expected: object) -> None:
    said = answer(event, "told")
    assert said == expected or json.loads(said) == expected
    assert answer(event, "") == ""


def test_what_gemini_and_cursor_say_is_read() -> None:
    data = {"hook_event_name": "AfterTool", "tool_name": "shell", "workspace_roots": ["/a", "/b"]}
    failed = data | {"tool_response": {"llmContent": "x", "error": {"message": "no such file"}}}
    event = read_event(json.dumps(failed).encode(), "gemini/post-tool")
    assert (event.agent, event.name, event.folder, event.got) == ("gemini", "post-tool", "/a", "x")
    assert "no such file" in str(event.error)
    assert not read_event(json.dumps(data).encode(), "gemini/post-tool").error
    assert read_event(b'{"workspace_roots": [1]}', "cursor/stop").folder == ""
    other = data | {"error_message": "gone", "failure_type": "error"}
    assert read_event(json.dumps(other).encode(), "cursor/post-tool").error == "gone"
