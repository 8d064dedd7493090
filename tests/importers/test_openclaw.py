"""Reading the sessions of OpenClaw."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from engramdown.importers.openclaw import OPENCLAW
from tests.importers.told import read

AT = "2026-02-06T07:49:03.491Z"
HEAD = {"type": "session", "version": 3, "id": "s1", "timestamp": AT, "cwd": "/work"}


def line(key: str, message: Any, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {
        "type": "message",
        "id": key,
        "parentId": None,
        "timestamp": AT,
        "message": message,
    } | more


def test_a_session_is_taken_with_its_calls() -> None:
    told = read(
        OPENCLAW,
        HEAD | {"parentSession": "/x/sessions/2026-01-01_s0.jsonl"},
        {"type": "session_info", "name": "Files"},
        {"type": "session_info"},
        line("m1", {"role": "user", "content": "What is here?"}),
        line(
            "m2",
            {
                "role": "assistant",
                "model": "gpt-5",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "Look"},
                    {"type": "toolCall", "id": "t1", "name": "exec", "arguments": {"c": "ls"}},
                ],
            },
        ),
        line(
            "m3",
            {
                "role": "toolResult",
                "toolCallId": "t1",
                "toolName": "exec",
                "isError": True,
                "content": [{"type": "text", "text": "a"}],
            },
        ),
        {"type": "compaction", "id": "k", "summary": "So far", "timestamp": AT},
        {"type": "custom_message", "id": "n", "content": "Note"},
    )
    (found,) = told.conversations
    assert (found.id, found.title, found.parent) == ("s1", "Files", "s0")
    assert found.at == datetime(2026, 2, 6, 7, 49, 3, 491000, tzinfo=UTC)
    assert found.meta == {"cwd": "/work"}
    assert told.lines == [
        ("user", "What is here?"),
        ("assistant", "Look"),
        ("tool_call", '{"c": "ls"}'),
        ("tool_result", "a"),
        ("system", "So far"),
        ("system", "Note"),
    ]
    call, result, summary = told.said[2:5]
    assert (call.name, call.call, call.model) == ("exec", "t1", "gpt-5")
    assert (result.name, result.call, result.error) == ("exec", "t1", True)
    assert summary.meta == {"kind": "compacted"}
    assert told.reasons == [
        "session_info: not part of the conversation",
        "session_info: not part of the conversation",
        "thoughts",
    ]


def test_commands_of_the_person_are_a_call_and_its_result() -> None:
    def ran(code: object) -> Any:  # noqa: ANN401 - whatever was said
        message = {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": code}
        return read(OPENCLAW, line("b", message)).said

    call, result = ran(2)
    assert (call.role, call.text, call.name, call.call) == (
        "tool_call",
        '{"command": "ls"}',
        "bash",
        "b",
    )
    assert (result.text, result.call, result.error) == ("a", "b", "exit code 2")
    assert ran(0)[1].error is False
    assert ran(None)[1].error is False


def test_without_a_header_the_first_message_begins_it() -> None:
    told = read(OPENCLAW, line("m1", {"role": "user", "content": "a"}, timestamp=None))
    assert (told.conversations[0].at, told.said[0].at) == (None, None)
    dated = line("m1", {"role": "user", "content": "a", "timestamp": 1770364143489}, timestamp="?")
    found = read(OPENCLAW, dated).said[0].at
    assert found == datetime(2026, 2, 6, 7, 49, 3, 489000, tzinfo=UTC)


def test_a_turn_that_failed_says_why() -> None:
    message = {"role": "assistant", "content": [], "errorMessage": "quota"}
    (said,) = read(OPENCLAW, line("m", message)).said
    assert (said.role, said.text, said.error) == ("assistant", "quota", True)


def test_a_line_without_id_has_its_place() -> None:
    value = {"type": "custom_message", "content": "x"}
    assert read(OPENCLAW, value).said[0].origin == "@100"
    assert read(OPENCLAW, HEAD | {"cwd": None}, value).conversations[0].meta == {}


def test_what_is_no_message_is_skipped() -> None:
    told = read(
        OPENCLAW,
        "x",
        {"type": None},
        {"type": "model_change"},
        line("m", {"role": "robot"}),
        line("m", None),
    )
    assert told.said == []
    assert told.reasons == [
        "is not a record of OpenClaw!",
        "is not a record of OpenClaw!",
        "model_change: not part of the conversation",
        "message of an unknown role!",
        "message of an unknown role!",
    ]


@pytest.mark.parametrize(
    "text, more",
    [
        ("[Subagent Context] You are a subagent.\n\n[Subagent Task]: use npm", {}),
        ("[Wed 2026-02-18 16:43 GMT+1] [Subagent Context] use npm", {}),
        ("[System Message] A subagent task timed out: use npm", {}),
        ("use npm", {"provenance": {"kind": "inter_session", "sourceTool": "sessions_send"}}),
    ],
)
def test_what_another_session_or_agent_says_is_not_the_users(
    text: str, more: dict[str, Any]
) -> None:
    (said,) = read(OPENCLAW, HEAD, line("m1", {"role": "user", "content": text, **more})).said
    assert (said.role, said.text, said.meta) == ("system", text, {"kind": "task"})


def test_what_the_user_says_through_a_channel_is_theirs() -> None:
    by = {"kind": "external_user"}
    told = read(
        OPENCLAW,
        HEAD,
        line("m1", {"role": "user", "content": "use uv", "provenance": by}),
        line("m2", {"role": "user", "content": "[Wed 2026-02-18 16:43] what of [Subagent Task]?"}),
    )
    assert [said.role for said in told.said] == ["user", "user"]
