"""Reading chat-completions messages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from engramdown.importers.openai import OPENAI
from engramdown.importers.records import FILE
from tests.importers.told import read

CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"p":"."}'}}


def test_a_line_is_a_conversation() -> None:
    told = read(
        OPENAI,
        {
            "custom_id": "row-1",
            "model": "gpt-4o",
            "created": 1736209400,
            "messages": [
                {"role": "developer", "content": "Be brief"},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "See"},
                        {"type": "image_url", "image_url": {"url": "data:"}},
                    ],
                    "name": "ann",
                },
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [CALL, {"id": "c2", "custom": {"name": "sh", "input": "ls"}}],
                },
                {"role": "tool", "tool_call_id": "c1", "content": ""},
                {"role": "assistant", "content": None, "refusal": "No"},
                {"role": "assistant", "function_call": {"name": "old", "arguments": "{}"}},
                {"role": "function", "name": "old", "content": "done"},
            ],
        },
    )
    assert told.lines == [
        ("system", "Be brief"),
        ("user", "See\n[image]"),
        ("tool_call", '{"p":"."}'),
        ("tool_call", "ls"),
        ("tool_result", ""),
        ("assistant", "No"),
        ("tool_call", "{}"),
        ("tool_result", "done"),
    ]
    names = [said.name for said in told.said]
    assert names == ["", "ann", "ls", "sh", "", "", "old", "old"]
    assert [said.call for said in told.said] == ["", "", "c1", "c2", "c1", "", "", ""]
    assert told.said[2].model == "gpt-4o"
    assert told.said[0].at is None
    (found,) = told.conversations
    assert found.at == datetime(2025, 1, 7, 0, 23, 20, tzinfo=UTC)
    assert (found.id, found.meta, found.whole) == ("row-1", {"id": "row-1"}, True)


def test_equal_lines_are_one_conversation_and_others_are_others() -> None:
    def key(words: str) -> str:
        value = {"messages": [{"role": "user", "content": words}]}
        return read(OPENAI, value).conversations[0].key

    assert key("a") == key("a")
    assert key("a") != key("b")


def test_a_message_a_line_is_one_conversation() -> None:
    told = read(
        OPENAI,
        {"role": "user", "content": "a", "timestamp": "2026-02-27T10:15:00Z"},
        {"role": "assistant", "content": "b", "id": "m2", "model": "m"},
        {"role": "assistant", "tool_calls": [CALL]},
    )
    (found,) = told.conversations
    assert (found.key, found.whole) == (FILE, False)
    assert found.at == told.said[0].at == datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
    assert told.lines == [("user", "a"), ("assistant", "b"), ("tool_call", '{"p":"."}')]
    assert [said.origin for said in told.said] == ["@100", "m2", "@300/0"]


def test_what_is_no_message_is_skipped() -> None:
    bad: list[Any] = [{"role": "robot", "content": "x"}, "x", {"role": "user"}, {"content": "x"}]
    told = read(OPENAI, *bad, {"messages": ["x"]})
    assert told.said == []
    assert told.reasons == [
        "message of an unknown role!",
        "is neither a conversation nor a message!",
        "is neither a conversation nor a message!",
        "is neither a conversation nor a message!",
        "message of an unknown role!",
    ]
