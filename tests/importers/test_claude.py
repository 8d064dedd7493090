"""Reading the data export of Claude."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from engramdown.importers.claude import CLAUDE
from tests.importers.told import read

AT = "2026-02-14T10:04:22.500000Z"


def message(sender: str, *blocks: Any, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"uuid": f"m-{sender}", "sender": sender, "created_at": AT, "content": blocks} | more


def conversation(*messages: Any, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    known = {"uuid": "c1", "name": "Talk", "created_at": AT, "model": "claude-sonnet"}
    return known | {"chat_messages": list(messages)} | more


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def listed(value: dict[str, Any]) -> dict[str, Any]:
    return value | {"content": list(value["content"])}


def test_messages_tools_and_attachments_are_taken() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "name": "search", "is_error": True}
    person = listed(message("human", text("Read this"), text="Read this"))
    person["attachments"] = [
        {"file_name": "a.txt", "extracted_content": "inside"},
        {"file_name": "", "extracted_content": "pasted"},
        {"file_name": "b.bin"},
    ]
    person["files"] = [{"file_name": "c.png"}, {}]
    assistant = listed(
        message(
            "assistant",
            {"type": "thinking", "thinking": "hm"},
            call | {"start_timestamp": "2026-02-14T10:04:30Z"},
            result | {"content": [text("none")]},
            {"type": "token_budget"},
            text("Nothing found"),
            {"type": "voice_note", "text": "spoken"},
        )
    )
    told = read(CLAUDE, conversation(person, assistant))
    assert told.lines == [
        ("user", "Read this"),
        ("user", "[file a.txt]\ninside"),
        ("user", "[pasted text]\npasted"),
        ("user", "[file b.bin]"),
        ("user", "[file c.png]"),
        ("user", "[file]"),
        ("tool_call", '{"q": "x"}'),
        ("tool_result", "none"),
        ("assistant", "Nothing found"),
        ("assistant", "spoken"),
    ]
    assert told.reasons == ["thoughts", "bookkeeping"]
    said = {each.role: each for each in told.said}
    assert (said["tool_call"].name, said["tool_call"].call) == ("search", "t1")
    assert said["tool_call"].at == datetime(2026, 2, 14, 10, 4, 30, tzinfo=UTC)
    assert (said["tool_result"].error, said["tool_result"].call) == (True, "t1")
    assert (said["user"].model, said["assistant"].model) == ("", "claude-sonnet")
    assert len({each.origin for each in told.said}) == 10
    (found,) = told.conversations
    assert (found.id, found.title, found.whole, found.everywhere) == ("c1", "Talk", True, True)
    assert found.at == datetime(2026, 2, 14, 10, 4, 22, 500000, tzinfo=UTC)


def test_older_exports_have_the_words_beside_the_blocks() -> None:
    old = listed(message("assistant", text="Hello"))
    assert read(CLAUDE, conversation(old)).lines == [("assistant", "Hello")]
    nameless = {"sender": "human", "text": "Hi"}
    told = read(CLAUDE, conversation(nameless, nameless, uuid=None))
    assert [said.origin for said in told.said] == ["@0", "@1"]
    assert (told.conversations[0].key, told.conversations[0].everywhere) == ("@100", False)


def test_what_is_no_conversation_is_skipped() -> None:
    told = read(CLAUDE, {"chat_messages": None}, conversation("x", {"sender": "robot"}))
    assert told.said == []
    assert told.reasons == [
        "is not a conversation of Claude!",
        "message of an unknown sender!",
        "message of an unknown sender!",
    ]
