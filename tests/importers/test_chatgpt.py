"""Reading the data export of ChatGPT."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from engramdown.importers.chatgpt import CHATGPT
from tests.importers.told import read


def node(
    key: str, parent: str | None, role: str, content: object, at: object = None, **more: object
) -> tuple[str, dict[str, Any]]:
    told = content if isinstance(content, dict) else {"content_type": "text", "parts": [content]}
    author = {"role": role, "name": more.pop("name", None)}
    message = {"id": key, "author": author, "create_time": at, "content": told, **more}
    return key, {"id": key, "parent": parent, "children": [], "message": message}


def conversation(*nodes: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:  # noqa: ANN401
    mapping: dict[str, Any] = {"root": {"id": "root", "parent": None, "message": None}}
    mapping |= dict(nodes)
    for name, each in nodes:
        above = mapping.get(each["parent"])
        if above:
            above.setdefault("children", []).append(name)
    return {"title": "Talk", "create_time": 1736209400.5, "mapping": mapping, **more}


def test_the_branch_that_was_shown_last_is_taken() -> None:
    told = read(
        CHATGPT,
        conversation(
            node("q", "root", "user", "Why?", 1736209412.345),
            node("a1", "q", "assistant", "Because", 1736209413),
            node("a2", "q", "assistant", "Since", 1736209420, metadata={"model_slug": "gpt-4o"}),
            current_node="a2",
            conversation_id="c1",
            gizmo_id="g-1",
        ),
    )
    assert told.lines == [("user", "Why?"), ("assistant", "Since")]
    assert told.said[0].at == datetime(2025, 1, 7, 0, 23, 32, 345000, tzinfo=UTC)
    assert told.said[1].model == "gpt-4o"
    assert told.reasons == ["message on an abandoned branch"]
    (found,) = told.conversations
    assert (found.id, found.title, found.everywhere, found.whole) == ("c1", "Talk", True, True)
    assert found.at == datetime(2025, 1, 7, 0, 23, 20, 500000, tzinfo=UTC)
    assert found.meta == {"gizmo": "g-1"}
    assert {said.key for said in told.said} == {found.key}


@pytest.mark.parametrize("current", [None, "gone", 5])
def test_without_a_current_node_it_is_the_newest_leaf(current: object) -> None:
    value = conversation(
        node("q", "root", "user", "Why?", 10**9),
        node("new", "q", "assistant", "new", 10**9 + 5),
        node("old", "q", "assistant", "old", 10**9 + 1),
        node("undated", "q", "assistant", "undated"),
        current_node=current,
    )
    assert read(CHATGPT, value).lines == [("user", "Why?"), ("assistant", "new")]


def test_a_circle_of_nodes_ends() -> None:
    value = conversation(node("a", "b", "user", "a"), node("b", "a", "assistant", "b"))
    assert len(read(CHATGPT, value | {"current_node": "b"}).lines) == 2
    assert read(CHATGPT, value).lines == []


def test_tools_are_called_and_answer() -> None:
    code = {"content_type": "code", "text": "1/0"}
    output = {"content_type": "execution_output", "text": "ZeroDivisionError"}
    told = read(
        CHATGPT,
        conversation(
            node("c", "root", "assistant", code, recipient="python"),
            node("r", "c", "tool", output, name="python"),
            node("e", "r", "tool", {"content_type": "system_error", "text": "no"}, name="web"),
            node("d", "e", "tool", {"content_type": "tether_browsing_display", "result": "page"}),
            node("x", "d", "tool", {"content_type": "odd", "n": 1}),
            node("y", "x", "assistant", {}),
            current_node="y",
        ),
    )
    call, result, fault, *_ = told.said
    assert (call.role, call.text, call.name, call.call) == ("tool_call", "1/0", "python", "c")
    assert (result.role, result.name, result.call, result.error) == (
        "tool_result",
        "python",
        "c",
        False,
    )
    assert (fault.error, fault.call) == (True, "")
    assert [said.text for said in told.said[3:]] == ["page", '{"content_type": "odd", "n": 1}', ""]


def test_what_was_hidden_or_thought_is_left_out() -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    told = read(
        CHATGPT,
        conversation(
            node("s", "root", "system", "", weight=0.0),
            node("i", "s", "user", {"content_type": "user_editable_context"}),
            node("h", "i", "system", "secret", metadata=hidden),
            node("t", "h", "assistant", {"content_type": "thoughts", "thoughts": []}),
            node("o", "t", "critic", "?"),
            node(
                "q",
                "o",
                "user",
                {
                    "content_type": "multimodal_text",
                    "parts": ["see", {"content_type": "image_asset_pointer"}],
                },
            ),
            current_node="q",
        ),
    )
    assert told.lines == [("user", "see\n[image]")]
    assert told.reasons == [
        "hidden message",
        "custom instructions",
        "hidden message",
        "thoughts",
        "message of an unknown role!",
    ]


def test_the_same_conversation_has_one_key_and_others_have_others() -> None:
    def key(**more: Any) -> str:  # noqa: ANN401 - JSON
        return read(CHATGPT, conversation(**more)).conversations[0].key

    assert key(id="c1") == key(conversation_id="c1", title="Other")
    assert key(id="c1") != key(id="c2")
    assert key(id="c1") != key(id="c1", create_time=1736209499)
    nameless = read(CHATGPT, conversation()).conversations[0]
    assert (nameless.key, nameless.everywhere) == ("@100", False)


def test_what_is_no_conversation_is_skipped() -> None:
    told = read(CHATGPT, {"mapping": []}, 5, {"mapping": {"a": None, "b": 3}})
    assert told.reasons == ["is not a conversation of ChatGPT!"] * 2
    assert told.said == []
